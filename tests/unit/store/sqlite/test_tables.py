"""Older databases are brought forward; newer and foreign ones are refused."""

import sqlite3
from collections.abc import Iterator

import pytest

from crabhook.store.change import Change, KeptReply
from crabhook.store.interface import ForeignError, TicketError
from crabhook.store.sqlite.tables import (
    APPLICATION,
    STEPS,
    apply,
    check,
    is_anothers,
    migrate,
    recovered,
)

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


def test_an_id_belongs_to_the_first_secret_however_many_are_known(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection)
    for number in range(200):
        request_id = f"r{number}"
        assert not is_anothers(connection, request_id, "theirs")  # nobody has it yet
        connection.execute(f"{_KEEP} VALUES (?, 'mine', '', '', 0, 0, 0)", (request_id,))
    for number in range(200):
        assert is_anothers(connection, f"r{number}", "theirs")
        assert not is_anothers(connection, f"r{number}", "mine")


def test_no_answer_takes_the_place_of_one_with_another_secret(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection)
    connection.execute(f"{_KEEP} VALUES ('r0', 'mine', 'allow', '', 0, 0, 0)")
    theirs = KeptReply("r0", "theirs", b"", "", 0, 1.0)
    with pytest.raises(TicketError):
        apply(connection.cursor(), Change(answers=(theirs,)))
    assert connection.execute("SELECT secret, stdout FROM answer").fetchall() == [("mine", "allow")]
