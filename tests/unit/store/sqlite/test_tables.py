"""Older databases are brought forward; newer and foreign ones are refused."""

import sqlite3
from collections.abc import Iterator

import pytest

from crabhook.store.interface import ForeignError, TicketError
from crabhook.store.sqlite import tables
from crabhook.store.sqlite.tables import APPLICATION, STEPS, Owners, check, migrate, recovered

SECOND = "ALTER TABLE counter ADD COLUMN unit TEXT NOT NULL DEFAULT 'cards';"


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    yield opened
    opened.close()


def test_an_empty_file_becomes_a_record_of_the_newest_version(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection)
    assert check(connection) == len(STEPS)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)


def test_an_older_record_takes_the_steps_it_lacks_and_keeps_what_it_holds(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection)
    connection.execute("UPDATE counter SET value = 7 WHERE name = 'card'")
    migrate(connection, (*STEPS, SECOND))
    assert check(connection, (*STEPS, SECOND)) == len(STEPS) + 1
    assert connection.execute("SELECT * FROM counter WHERE name = 'card'").fetchall() == [
        ("card", 7, "cards")
    ]
    migrate(connection, (*STEPS, SECOND))  # which has nothing more to do


def test_a_step_that_fails_leaves_the_record_as_it_was(connection: sqlite3.Connection) -> None:
    migrate(connection)
    with pytest.raises(sqlite3.Error):
        migrate(connection, (*STEPS, SECOND + "CREATE TABLE counter (x);"))
    assert check(connection) == len(STEPS)
    assert connection.execute("SELECT * FROM counter WHERE name = 'card'").fetchall() == [
        ("card", 0)
    ]
    assert not connection.in_transaction


def test_a_newer_record_is_refused(connection: sqlite3.Connection) -> None:
    migrate(connection, (*STEPS, SECOND))
    with pytest.raises(ForeignError, match="newer crabhook"):
        migrate(connection)


@pytest.mark.parametrize("made", ["CREATE TABLE t (x)", "PRAGMA application_id = 5"])
def test_another_programs_database_is_refused(connection: sqlite3.Connection, made: str) -> None:
    connection.execute(made)
    with pytest.raises(ForeignError):
        migrate(connection)


def test_an_answer_of_the_first_version_is_still_there(connection: sqlite3.Connection) -> None:
    migrate(connection, STEPS[:1])
    connection.execute("INSERT INTO answer VALUES ('r1', 's', x'', x'', 0, 5.0, 0)")
    migrate(connection)
    (answer,) = recovered(connection, 0.0).answers
    assert (answer.request_id, answer.owed, answer.call) == ("r1", False, None)


_KEEP = "INSERT INTO answer (request_id, secret, stdout, stderr, exit_code, decided, delivered)"


@pytest.mark.parametrize("slots", [1, 8, 1 << 18])
def test_an_id_that_is_there_is_known_however_many_are(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, slots: int
) -> None:
    monkeypatch.setattr(tables, "_SLOTS", slots)
    migrate(connection)
    owners = Owners(connection)
    for number in range(200):
        request_id = f"r{number}"
        assert not owners.is_anothers(request_id, "theirs")  # nobody has it yet
        owners.claim(request_id, "mine")
        connection.execute(f"{_KEEP} VALUES (?, 'mine', '', '', 0, 0, 0)", (request_id,))
        assert owners.is_anothers(request_id, "theirs")
    for number in range(200):  # another start knows them too
        assert Owners(connection).is_anothers(f"r{number}", "theirs")
        assert not owners.is_anothers(f"r{number}", "mine")
        with pytest.raises(TicketError):
            owners.claim(f"r{number}", "theirs")


def test_the_database_is_not_asked_about_an_id_that_is_new(connection: sqlite3.Connection) -> None:
    migrate(connection)
    owners, asked = Owners(connection), []
    assert not owners.is_anothers("r0", "mine")  # reads all ids, once
    connection.set_trace_callback(asked.append)
    assert not owners.is_anothers("r1", "mine")
    assert asked == []
