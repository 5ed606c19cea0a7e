"""Short ways to make what the store is given, and to look at what it keeps."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from crabhook.store.change import KeptReply, Waiting
from crabhook.store.opening import Place, is_shared, open_history, open_writer
from crabhook.store.postgres.journal import lead
from crabhook.store.postgres.leader import Leader
from crabhook.store.record import Entry, Head, Record, RecordKind
from crabhook.store.verify import Verified, verify_here
from crabhook.store.writer import Writer

NOON = 1_767_960_000.0  # 2026-01-09T12:00:00Z


@contextmanager
def laid_open(folder: Path) -> Iterator[sqlite3.Connection]:
    """Yield the database as a person with `sqlite3` has it: the triggers are out of the way.

    They are put back at the end, as a forger would who knows that the schema is compared.
    """
    with closing(sqlite3.connect(folder / "record.db")) as connection, connection:
        triggers = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        found = connection.execute(triggers).fetchall()
        for name, _ in found:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, text in found:
            connection.execute(text)


def entry(kind: RecordKind = RecordKind.EVENT, at: float = NOON, **fields: Any) -> Entry:
    """An entry of a session of Claude's."""
    named = {"platform": "claude", "session": "s1", "cwd": "/home/dev", "tool": "Bash"}
    return Entry(kind, at, **{**named, **fields})


def decision(number: int = 1, verdict: str = "allow", **fields: Any) -> Entry:
    """The record of a decision the operator made after two seconds."""
    body = {"by": "operator", "waited": 2.0, "input": {"command": f"ls {number}"}}
    named = {"body": body, "request_id": f"r{number}"}
    return entry(RecordKind.DECIDED, verdict=verdict, card=number, **{**named, **fields})


def waiting(request_id: str = "r1", secret: str = "s3", card: int = 1, **fields: Any) -> Waiting:
    """A request that may wait ten minutes."""
    payload = b'{"hook_event_name": "PreToolUse"}'
    times = {"asked": NOON, "wait_until": NOON + 600}
    return Waiting(request_id, secret, "claude", payload, "gate", card=card, **{**times, **fields})


def answer(request_id: str = "r1", secret: str = "s3", decided: float = NOON) -> KeptReply:
    """An allow."""
    return KeptReply(request_id, secret, b'{"decision":"approve"}\n', "", 0, decided)


def open_after_a_kill(place: Place) -> Writer:
    """Open a record whose writer was killed: PostgreSQL has its lock until it hears of that."""
    if not is_shared(place):
        return open_writer(place)
    writer, _ = lead(str(place), Leader(), 60.0)
    return writer


def records(place: Place) -> list[Record]:
    """Return all that is recorded."""
    with open_history(place) as history:
        return list(history.find())


def verified(place: Place, *elsewhere: Head, thorough: bool = True) -> Verified:
    """Verify the record against its own head and others."""
    with open_history(place) as history:
        return verify_here(history, elsewhere, thorough=thorough)
