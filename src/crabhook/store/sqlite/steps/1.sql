-- The triggers guard against slips, the hashes against intent.
CREATE TABLE record (
  seq INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  platform TEXT NOT NULL,
  session TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  agent_type TEXT NOT NULL,
  cwd TEXT NOT NULL,
  tool TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  card INTEGER,
  verdict TEXT NOT NULL,
  body TEXT NOT NULL,
  hash BLOB NOT NULL
);
CREATE INDEX record_by_session ON record (session, platform) WHERE session <> '';
CREATE INDEX record_checkpoints ON record (kind) WHERE kind = 'checkpoint';
CREATE TRIGGER record_never_changes BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'a record is never changed'); END;
CREATE TRIGGER record_goes_by_retention_alone BEFORE DELETE ON record
WHEN old.seq >= (SELECT value FROM counter WHERE name = 'begins')
BEGIN SELECT RAISE(ABORT, 'a record is removed by retention alone'); END;
CREATE VIEW agent AS
SELECT platform, session, agent_id, max(agent_type) AS agent_type,
  min(seq) AS first, max(seq) AS last, min(at) AS since, max(at) AS until,
  count(*) AS records, sum(kind = 'decided') AS decisions
FROM record WHERE session <> '' GROUP BY session, platform, agent_id;
CREATE TABLE waiting (
  request_id TEXT PRIMARY KEY,
  secret TEXT NOT NULL,
  platform TEXT NOT NULL,
  payload BLOB NOT NULL,
  stance TEXT NOT NULL,
  asked REAL NOT NULL,
  wait_until REAL NOT NULL,
  card INTEGER NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  user TEXT NOT NULL,
  gives_up_at REAL NOT NULL,
  note BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE answer (
  request_id TEXT PRIMARY KEY,
  secret TEXT NOT NULL,
  stdout BLOB NOT NULL,
  stderr BLOB NOT NULL,
  exit_code INTEGER NOT NULL,
  decided REAL NOT NULL,
  delivered INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
INSERT INTO counter VALUES ('card', 0), ('begins', 1);
