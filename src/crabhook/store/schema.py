"""The database's tables, as the steps by which they came to be.

A step is never changed once released: an older database takes the steps it
has not had yet, in one transaction, and a newer one is refused.
"""

import sqlite3
from collections.abc import Sequence

from crabhook.store.errors import ForeignError

APPLICATION = 0x43524142  # "CRAB": how a file says that it is a record of ours

# The triggers guard against slips, the hashes against intent.
_FIRST = """
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
"""

# `delivered`: 0 while nobody knows, 1 for yes, 2 for a client that was gone.  The rest is NULL
# for an answer whose receipt nobody waits for.
_SECOND = """
ALTER TABLE answer ADD COLUMN card INTEGER;
ALTER TABLE answer ADD COLUMN platform TEXT;
ALTER TABLE answer ADD COLUMN payload BLOB;
ALTER TABLE answer ADD COLUMN decision BLOB;
"""

# Sessions whose calls are all denied until their next prompt.
_THIRD = """
CREATE TABLE halt (session TEXT PRIMARY KEY, why TEXT NOT NULL) WITHOUT ROWID;
"""

STEPS: Sequence[str] = (_FIRST, _SECOND, _THIRD)


def migrate(connection: sqlite3.Connection, steps: Sequence[str] = STEPS) -> None:
    """Bring the database to the newest version.

    Raises ForeignError for one that is newer than this program, or not ours.
    """
    version = check(connection, steps)
    if version == len(steps):
        return
    todo = "".join(
        f"{step}\nPRAGMA user_version = {number};\n"
        for number, step in enumerate(steps[version:], version + 1)
    )
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE;\nPRAGMA application_id = {APPLICATION};\n{todo}COMMIT;"
        )
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check(connection: sqlite3.Connection, steps: Sequence[str] = STEPS) -> int:
    """Return the version of a database that is ours and not too new; 0 for an empty one."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application not in (0, APPLICATION) or (application == 0 and _tables(connection)):
        raise ForeignError("the file is a database, but no record of crabhook's; move it away")
    if version > len(steps):
        raise ForeignError(
            f"the record is of version {version}, and this crabhook knows up to {len(steps)}; "
            "use the newer crabhook, or another state folder"
        )
    return version


def _tables(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
