"""The tables of the SQLite database, and rows outside the record.

`steps` create the tables. A released step never changes: an older database takes its missing steps
in a single transaction, and a newer database is refused. Waiting and answered requests are not in
the chain: they are wiped after minutes.
"""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from crabhook.broker.pending import same_secret
from crabhook.store import sql
from crabhook.store.change import Change, Halt, Recovered
from crabhook.store.interface import ForeignError, TicketError
from crabhook.store.record import Document

APPLICATION = 0x43524142  # "CRAB": marks a file as our record

_FOLDER = Path(__file__).with_name("steps")
STEPS: Sequence[str] = [_FOLDER.joinpath(f"{step}.sql").read_text("utf-8") for step in range(1, 9)]


def migrate(connection: sqlite3.Connection, steps: Sequence[str] = STEPS) -> None:
    """Bring the database to the newest version; ForeignError if it is too new or not ours."""
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
    """Return the version of our database, if it is not too new; 0 for an empty database."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if application not in (0, APPLICATION) or (application == 0 and tables):
        raise ForeignError("the file is a database, but no record of crabhook's: move it away")
    if version > len(steps):
        raise ForeignError(
            f"the record is of version {version}, and this crabhook knows up to {len(steps)}. "
            "Use the newer crabhook, or another state folder"
        )
    return version


SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_SQLITES_OWN = re.compile("(table|index) sqlite_(stat[0-9]|autoindex_[a-z_]+_[0-9]+|sequence) ")


def schema_line(row: Sequence[object]) -> str:
    """Return a row of `SCHEMA` as a line.

    SQLite puts other quotes and blanks into the text of a table that was changed, by its version.
    What it makes for itself counts as nothing.
    """
    kind, name, table, text = map(str, row)
    line = f"{kind} {name} of {table}: {' '.join(text.replace(chr(34), '').split())}"
    return "" if _SQLITES_OWN.match(line) else line


@cache
def made_by(version: int) -> frozenset[str]:
    """Return the lines of a database that the steps up to this version make."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("".join(STEPS[:version]))
        return frozenset({"", *map(schema_line, connection.execute(SCHEMA))})


_WAIT = """
INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (request_id) DO UPDATE SET
  asked = excluded.asked, wait_until = excluded.wait_until, card = excluded.card,
  gives_up_at = excluded.gives_up_at
"""
_ENDED = "DELETE FROM waiting WHERE request_id = ?"
_ANSWER = "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_HAS_IT = """
UPDATE answer SET delivered = 1, card = NULL, platform = NULL, payload = NULL, decision = NULL
WHERE request_id = ?
"""
_WAS_GONE = "UPDATE answer SET delivered = 2 WHERE request_id = ?"
FORGET = "DELETE FROM answer WHERE decided < ? AND (delivered <> 0 OR card IS NULL)"
_REMEMBERED = """
SELECT * FROM answer WHERE decided >= ? OR (delivered = 0 AND card IS NOT NULL)
ORDER BY decided, request_id
"""
_OWNERS = """
SELECT secret FROM waiting WHERE request_id = ?1
UNION ALL SELECT secret FROM answer WHERE request_id = ?1
"""
_LAST_CARD = "UPDATE counter SET value = :card WHERE name = 'card' AND value < :card"


def is_anothers(connection: sqlite3.Connection, request_id: str, secret: str) -> bool:
    """Whether a request's id has another secret."""
    owners = connection.execute(_OWNERS, (request_id,)).fetchall()
    return any(not same_secret(own_secret, secret) for (own_secret,) in owners)


def _claim(cursor: sqlite3.Cursor, request_id: str, secret: str) -> None:
    if is_anothers(cursor.connection, request_id, secret):
        raise TicketError(f"the request id {request_id} belongs to another secret")


def apply(cursor: sqlite3.Cursor, change: Change) -> None:
    """Write a change's requests and answers. Raises TicketError for an id with another secret."""
    for waiting in change.waiting:
        _claim(cursor, waiting.request_id, waiting.secret)
        cursor.execute(_WAIT, sql.waiting_row(waiting))
    for answer in change.answers:  # before what waits is deleted, since that has the id too
        _claim(cursor, answer.request_id, answer.secret)
    for request_id in change.ended:
        cursor.execute(_ENDED, (request_id,))
    for answer in change.answers:
        cursor.execute(_ANSWER, sql.answer_row(answer))
    for request_id, whole in change.delivered:
        cursor.execute(_HAS_IT if whole else _WAS_GONE, (request_id,))
    if change.halts is not None:
        cursor.execute("DELETE FROM halt")
        rows = map(sql.halt_row, change.halts)
        cursor.executemany("INSERT OR REPLACE INTO halt VALUES (?, ?)", rows)
    for document in change.documents:
        cursor.execute(
            "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?)", sql.document_row(document)
        )
    cards = [entry.card for entry in change.entries if entry.card is not None]
    cards += [waiting.card for waiting in change.waiting]
    if cards:
        cursor.execute(_LAST_CARD, {"card": max(cards)})


def recovered(connection: sqlite3.Connection, since: float) -> Recovered:
    """Return all that waits, and what was answered from `since` on, in a steady order.

    Owed answers are never too old: the last process may have had another clock.
    """
    waiting = connection.execute(
        "SELECT * FROM waiting ORDER BY card, asked, request_id"
    ).fetchall()
    answers = connection.execute(_REMEMBERED, (since,)).fetchall()
    (card,) = connection.execute("SELECT value FROM counter WHERE name = 'card'").fetchone()
    halts = connection.execute("SELECT session, why FROM halt ORDER BY session").fetchall()
    return Recovered(
        tuple(map(sql.waiting_in, waiting)),
        tuple(map(sql.answer_in, answers)),
        int(card),
        tuple(Halt(*row) for row in halts),
        tuple(Document(*row) for row in connection.execute(sql.DOCUMENTS)),
    )
