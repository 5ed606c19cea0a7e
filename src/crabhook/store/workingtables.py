"""The tables of what waits and what was just answered: rows from values, and values from rows.

They are no part of the chain: what is in them is needed for minutes, and
then wiped.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from crabhook.store.change import Change
from crabhook.store.errors import TicketError
from crabhook.store.working import Answer, Recovered, Waiting

_LARGEST = 2**63 - 1

_WAIT = """
INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (request_id) DO UPDATE SET wait_until = excluded.wait_until, card = excluded.card
"""
_ANSWER = "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?, ?)"
_OWNERS = """
SELECT secret FROM waiting WHERE request_id = :id
UNION ALL SELECT secret FROM answer WHERE request_id = :id
"""
_LAST_CARD = "UPDATE counter SET value = :card WHERE name = 'card' AND value < :card"


def check_ticket(connection: sqlite3.Connection, one: Waiting | Answer) -> None:
    """Raise TicketError if its id is known by another secret."""
    for (known,) in connection.execute(_OWNERS, {"id": one.request_id}):
        if not one.belongs_to(known):
            raise TicketError(f"the request id {one.request_id} belongs to another secret")


def apply(connection: sqlite3.Connection, change: Change) -> None:
    """Write what a change says of requests and answers.  Raises TicketError."""
    for waiting in change.waiting:
        check_ticket(connection, waiting)
    for answer in change.answers:
        check_ticket(connection, answer)
    connection.executemany(_WAIT, map(_waiting_row, change.waiting))
    connection.executemany("DELETE FROM waiting WHERE request_id = ?", _ids(change.ended))
    connection.executemany(_ANSWER, map(_answer_row, change.answers))
    connection.executemany(
        "UPDATE answer SET delivered = 1 WHERE request_id = ?", _ids(change.delivered)
    )
    cards = [entry.card for entry in change.entries if entry.card is not None]
    cards += [waiting.card for waiting in change.waiting]
    if cards:
        connection.execute(_LAST_CARD, {"card": max(cards)})


def recovered(connection: sqlite3.Connection, since: float) -> Recovered:
    """Return all that waits, and what was answered from `since` on, in a steady order."""
    waiting = connection.execute(
        "SELECT * FROM waiting ORDER BY card, asked, request_id"
    ).fetchall()
    answers = connection.execute(
        "SELECT * FROM answer WHERE decided >= ? ORDER BY decided, request_id", (since,)
    ).fetchall()
    (card,) = connection.execute("SELECT value FROM counter WHERE name = 'card'").fetchone()
    return Recovered(tuple(map(_waiting, waiting)), tuple(map(_answer, answers)), int(card))


def _waiting_row(one: Waiting) -> tuple[object, ...]:
    return (
        one.request_id,
        one.secret,
        one.platform,
        one.payload,
        one.stance,
        one.asked,
        one.wait_until,
        one.card,
        _storable(one.host),
        min(one.pid, _LARGEST),
        _storable(one.user),
        one.gives_up_at,
        one.note.encode("utf-8", "surrogatepass"),
    )


def _answer_row(one: Answer) -> tuple[object, ...]:
    stderr = one.stderr.encode("utf-8", "surrogatepass")  # as it was: a blob takes anything
    return (
        one.request_id,
        one.secret,
        one.stdout,
        stderr,
        one.exit_code,
        one.decided,
        one.delivered,
    )


def _waiting(row: Sequence[Any]) -> Waiting:
    *rest, note = row
    return replace(Waiting(*rest), note=note.decode("utf-8", "surrogatepass"))


def _answer(row: tuple[str, str, bytes, bytes, int, float, int]) -> Answer:
    request_id, secret, stdout, stderr, exit_code, decided, delivered = row
    text = stderr.decode("utf-8", "surrogatepass")
    return Answer(request_id, secret, stdout, text, exit_code, decided, bool(delivered))


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _ids(ids: tuple[str, ...]) -> list[tuple[str]]:
    return [(one,) for one in ids]
