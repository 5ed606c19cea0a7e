-- Texts that belong to a shared record: a record that comes from PostgreSQL, or goes there, takes them along.
CREATE TABLE document (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  text TEXT NOT NULL,
  at TEXT NOT NULL,
  "by" TEXT NOT NULL
) WITHOUT ROWID, STRICT;
