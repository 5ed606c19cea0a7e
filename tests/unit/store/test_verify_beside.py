"""What is done to the tables beside the record is found, and to their definition."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crabhook.store import entries
from crabhook.store.change import Halt, halted, happened, left, settled, waits
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind, Retention
from crabhook.store.verify import Verified
from tests.support.cluster import Cluster
from tests.unit.store.making import NOON, answer, decision, entry, verified, waiting

OTHER_FUNCTION = """
CREATE OR REPLACE FUNCTION crabhook.refuse_to_change() RETURNS trigger LANGUAGE plpgsql
AS 'BEGIN RETURN old; END'
"""
Do = Callable[..., Verified]
STOPPED = (Halt("s1", "stop"), Halt('{"note":1}', '{"text":"use make"}'))


def asked(number: int) -> object:
    about = entry(RecordKind.ASKED, request_id=f"r{number}", card=number)
    return waits(waiting(f"r{number}", card=number), about)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A record of a server that was killed: one waits, one was answered, one session is stopped."""
    folder = tmp_path / "state"
    store = open_writer(folder)
    store.write([asked(1), asked(2)])  # type: ignore[list-item]
    store.write([settled([answer("r1")], decision(1)), halted(STOPPED, entries.stops((), 1, NOON))])
    store.close()
    return folder


@pytest.fixture
def done(folder: Path) -> Do:
    """A way to change the database by hand; returns what verifying finds then."""

    def do(*statements: str) -> Verified:
        with closing(sqlite3.connect(folder / "record.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)
        return verified(folder)

    return do


def test_what_nobody_touched_is_sound(done: Do) -> None:
    assert (done().faults, done().notes) == ([], [])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DELETE FROM halt", "a stopped session may go on"),
        ("DELETE FROM halt WHERE session = 's1'", "a stopped session may go on"),
        ("UPDATE halt SET session = 's2' WHERE session = 's1'", "a stopped session may go on"),
        ("INSERT INTO halt VALUES ('s3', 'x')", "not what was written here"),
        ("DELETE FROM waiting", "request r2 of #2 waits, and its row is gone"),
        ("UPDATE waiting SET payload = x'7b7d'", "request r2 is not what was asked here"),
        ("UPDATE waiting SET secret = 'mine'", "request r2 is not what was asked here"),
        ("UPDATE waiting SET stance = 'observe'", "request r2 is not what was asked here"),
        ("UPDATE waiting SET request_id = 'r9'", "request r9 waits in the database"),
        ("UPDATE answer SET stdout = x'7b7d'", "answer to request r1 is not what"),
        ("UPDATE answer SET exit_code = 2", "answer to request r1 is not what"),
        ("UPDATE answer SET secret = 'mine'", "answer to request r1 is not what"),
        ("UPDATE answer SET request_id = 'r9'", "answer to request r9 was given by no decision"),
        ("UPDATE counter SET value = 1 WHERE name = 'card'", "the record has #2"),
        ("UPDATE counter SET value = 4 WHERE name = 'begins'", "the record begins at 4"),
    ],
)
def test_a_row_beside_the_record_that_was_changed_is_a_fault(
    done: Do, change: str, fault: str
) -> None:
    found = done(change)
    assert fault in " ".join(one.what for one in found.faults)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DROP TRIGGER record_never_changes", "lacks what crabhook makes: trigger"),
        ("DROP INDEX record_by_session", "lacks what crabhook makes: index"),
        ("CREATE TRIGGER x AFTER INSERT ON halt BEGIN DELETE FROM halt; END", "does not make"),
        ("ALTER TABLE waiting ADD COLUMN x", "does not make: table waiting"),
        ("CREATE VIEW shown AS SELECT 1", "does not make: view shown"),
    ],
)
def test_a_schema_that_is_not_the_one_that_was_made_is_a_fault(
    done: Do, change: str, fault: str
) -> None:
    assert fault in " ".join(one.what for one in done(change).faults)


def test_statistics_of_sqlite_itself_are_no_fault(done: Do) -> None:
    assert done("ANALYZE").sound


def test_a_request_that_ended_in_any_way_waits_no_more(folder: Path) -> None:
    store = open_writer(folder)
    store.write([asked(3), asked(4), asked(5)])  # type: ignore[list-item]
    store.write([left(["r2"], entry(RecordKind.WITHDRAWN, request_id="r2", card=2))])
    store.write([left(["r3"], entry(RecordKind.EXPIRED, request_id="r3", card=3))])
    store.write([left(["r4"], entry(RecordKind.LEFT, request_id="r4", card=4))])
    store.write([left(["r5"], entry(RecordKind.WITHDRAWN, request_id="r5"))])
    store.close()
    assert verified(folder).faults == []


def test_an_id_that_looks_like_a_secret_is_no_fault(folder: Path) -> None:
    name = "ghp_" + "a1B2" * 9
    store = open_writer(folder)
    store.write([waits(waiting(name, card=7), entry(RecordKind.ASKED, request_id=name, card=7))])
    assert verified(folder).faults == []
    both = entry(RecordKind.DECIDED, request_id=name, card=7, body={"legs": [name, "r8"]})
    store.write([settled([answer(name)], both)])
    store.close()
    assert verified(folder).faults == []


def test_what_a_server_takes_up_is_what_was_asked(folder: Path, done: Do) -> None:
    """The next server puts its fingerprint of the row on record: the first one goes on counting."""
    done("UPDATE waiting SET payload = x'7b7d' WHERE request_id = 'r2'")
    store = open_writer(folder)
    (row,) = store.journal.recover(NOON).waiting
    store.write([waits(row, entry(RecordKind.TAKEN_UP, request_id="r2", card=2))])
    store.close()
    (fault,) = verified(folder).faults
    assert "what was taken up as request r2 is not what was asked" in fault.what


def test_stops_stay_witnessed_when_retention_removes_their_record(tmp_path: Path) -> None:
    store = open_writer(tmp_path / "state", Retention(days=1))
    store.write([halted(STOPPED, entries.stops((), 1, NOON))])
    store.write([happened(entry(at=NOON + 86_400 * 8))])
    assert store.prune(NOON + 86_400 * 8) == 1
    store.close()
    assert verified(tmp_path / "state").faults == []
    with closing(sqlite3.connect(tmp_path / "state" / "record.db")) as connection, connection:
        connection.execute("DELETE FROM halt")
    assert not verified(tmp_path / "state").sound


def test_a_fingerprint_is_no_secret_and_stays(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "record.db")) as connection:
        (body,) = connection.execute("SELECT body FROM record WHERE kind = 'asked'").fetchone()
    assert len(json.loads(body)["kept"][0]) == 24


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("SELECT 1", ""),
        ("DELETE FROM crabhook.halt", "a stopped session may go on"),
        ("DELETE FROM crabhook.waiting", "its row is gone"),
        ("UPDATE crabhook.answer SET exit_code = 2", "is not what was decided"),
        ("UPDATE crabhook.head SET card = 0", "the counter of cards is at 0"),
        ("UPDATE crabhook.head SET at = 'x', hash = key", "the head in the database"),
        ("DROP TRIGGER record_never_changes ON crabhook.record", "lacks what crabhook makes"),
        ("ALTER TABLE crabhook.record DISABLE TRIGGER ALL", "trigger record_never_changes"),
        ("DROP VIEW crabhook.agent", "lacks what crabhook makes"),
        ("CREATE RULE x AS ON DELETE TO crabhook.halt DO INSTEAD NOTHING", "does not make: rule"),
        (OTHER_FUNCTION, "function refuse_to_change"),
    ],
)
def test_the_same_in_a_shared_record(cluster: Cluster, change: str, fault: str) -> None:
    place = cluster.emptied()
    store = open_writer(place)
    store.write([asked(1), asked(2)])  # type: ignore[list-item]
    store.write([settled([answer("r1")], decision(1)), halted(STOPPED, entries.stops((), 1, NOON))])
    store.close()
    cluster.sql(change)
    found = verified(place)
    assert found.sound is not bool(fault)
    assert fault in " ".join(one.what for one in found.faults)
