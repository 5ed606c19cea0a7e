"""Whatever is done to the record behind its back is found."""

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.store.change import happened, settled
from crabhook.store.interface import StoreError
from crabhook.store.opening import open_writer
from crabhook.store.record import COLUMNS, Head, Record, RecordKind, link
from crabhook.store.sqlite.files import HeadFile
from crabhook.store.writer import head_line
from tests.support.examples import examples
from tests.unit.store.making import answer, decision, entry, laid_open, records, verified

RECORDS = 12
SEQS = st.integers(1, RECORDS)
CHANGEABLE = tuple(name for name in COLUMNS if name != "seq")


@pytest.fixture(scope="module")
def written_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record of a dozen, closed."""
    folder = tmp_path_factory.mktemp("record") / "state"
    store = open_writer(folder)
    for number in range(RECORDS // 2):
        store.write([happened(entry(body={"n": number})), happened(decision(number))])
    store.close()
    return folder


class Tampered:
    """A copy of the record, laid open."""

    def __init__(self, original: Path, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder)
        self.folder = folder

    def do(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """Change the database the way a person with `sqlite3` would."""
        with laid_open(self.folder) as connection:
            for statement, values in statements:
                connection.execute(statement, values)


Open = Callable[[], Tampered]


@pytest.fixture(scope="module")
def opened(written_record: Path, tmp_path_factory: pytest.TempPathFactory) -> Open:
    """A way to lay a fresh copy open."""
    folder = tmp_path_factory.mktemp("copy") / "state"
    return lambda: Tampered(written_record, folder)


def test_what_nobody_touched_is_sound(written_record: Path) -> None:
    found = verified(written_record)
    assert (found.sound, found.records, found.first, found.head.seq) == (True, RECORDS, 1, RECORDS)
    assert not found.notes


@examples(60)
@given(seq=SEQS, column=st.sampled_from(CHANGEABLE), data=st.data())
def test_a_flipped_bit_is_found(opened: Open, seq: int, column: str, data: st.DataObject) -> None:
    copy = opened()
    before = getattr(records(copy.folder)[seq - 1], column)
    after = flipped(before, data)
    copy.do((f"UPDATE record SET {column} = ? WHERE seq = ?", (after, seq)))
    found = verified(copy.folder)
    assert seq in {fault.seq for fault in found.faults}


def flipped(value: Any, data: st.DataObject) -> Any:
    """Return the value with one bit the other way round; what is empty or missing is filled."""
    if not value:
        return "x"
    if isinstance(value, int):
        return value ^ (1 << data.draw(st.integers(0, 40)))
    raw = bytearray(value if isinstance(value, bytes) else value.encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 6))
    return bytes(raw) if isinstance(value, bytes) else raw.decode()


@examples(30)
@given(first=SEQS, number=st.integers(1, RECORDS - 1))
def test_deleted_records_are_found(opened: Open, first: int, number: int) -> None:
    copy = opened()
    copy.do(("DELETE FROM record WHERE seq BETWEEN ? AND ?", (first, first + number - 1)))
    found = verified(copy.folder)
    assert not found.sound
    if first + number <= RECORDS and first > 1:
        last = first + number - 1
        assert f"records {first} to {last} are missing" in found.faults[0].what


@examples(30)
@given(pair=st.lists(SEQS, min_size=2, max_size=2, unique=True))
def test_swapped_records_are_found(opened: Open, pair: list[int]) -> None:
    copy, (one, two) = opened(), pair
    move = "UPDATE record SET seq = ? WHERE seq = ?"
    copy.do((move, (-1, one)), (move, (one, two)), (move, (two, -1)))
    faults = {fault.seq for fault in verified(copy.folder).faults}
    assert {one, two} <= faults


@examples(30)
@given(place=SEQS)
def test_an_inserted_record_is_found(opened: Open, place: int) -> None:
    copy = opened()
    names = ", ".join(COLUMNS[1:])
    copy.do(
        ("UPDATE record SET seq = -seq - 1 WHERE seq >= ?", (place,)),
        ("UPDATE record SET seq = -seq WHERE seq < 0", ()),
        (f"INSERT INTO record SELECT ?, {names} FROM record WHERE seq = ?", (place, place + 1)),
    )
    assert place in {fault.seq for fault in verified(copy.folder).faults} | {
        fault.seq - 1 for fault in verified(copy.folder).faults
    }


@examples(20)
@given(kept=st.integers(0, RECORDS - 1))
def test_a_tail_that_was_cut_off_is_found_by_the_head_kept_apart(opened: Open, kept: int) -> None:
    copy = opened()
    copy.do(("DELETE FROM record WHERE seq > ?", (kept,)))
    found = verified(copy.folder)
    assert [fault.seq for fault in found.faults] == [kept]
    assert "cut off" in found.faults[0].what


@examples(20)
@given(seq=SEQS)
def test_a_chain_forged_from_some_record_on_differs_from_its_head(opened: Open, seq: int) -> None:
    copy = opened()
    forge(copy, seq)
    found = verified(copy.folder)
    assert [fault.seq for fault in found.faults] == [RECORDS]


def forge(copy: Tampered, seq: int) -> Head:
    """Change one record and compute every hash after it again, as a forger would."""
    kept = records(copy.folder)
    changes, before = [], kept[seq - 2].hash if seq > 1 else bytes(32)
    for record in kept[seq - 1 :]:
        values = {name: getattr(record, name) for name in COLUMNS}
        values["body"] = '{"n":99}' if record.seq == seq else record.body
        before = link(before, Record(**values)[:-1])
        changes.append(
            (
                "UPDATE record SET body = ?, hash = ? WHERE seq = ?",
                (values["body"], before, record.seq),
            )
        )
    copy.do(*changes)
    return Head(RECORDS, before)


def test_a_forger_who_has_our_head_as_well_is_found_by_one_that_was_sent_away(
    opened: Open,
) -> None:
    copy = opened()
    sent_away = HeadFile(copy.folder / "record.head").read()
    assert sent_away is not None
    HeadFile(copy.folder / "record.head").keep(forge(copy, 3))
    assert verified(copy.folder).sound
    assert not verified(copy.folder, sent_away).sound


def test_a_cut_is_found_for_ever_though_the_record_goes_on(opened: Open) -> None:
    copy = opened()
    copy.do(("DELETE FROM record WHERE seq > 5", ()))
    for _ in range(2):
        store = open_writer(copy.folder)
        store.write([happened(entry())])
        store.close()
    found = verified(copy.folder)
    assert [fault.seq for fault in found.faults] == [6]
    assert "cut off" in found.faults[0].what
    assert found.head.seq == 8


@pytest.mark.parametrize("head", ["gone", "garbage", head_line(Head(5, bytes(32)))])
def test_a_head_that_was_removed_or_changed_is_said_in_the_record(opened: Open, head: str) -> None:
    copy = opened()
    path = copy.folder / "record.head"
    path.unlink() if head == "gone" else path.write_text(head)
    open_writer(copy.folder).close()
    assert [fault.seq for fault in verified(copy.folder).faults] == [RECORDS + 1]


def test_a_database_ahead_of_its_head_is_as_it_should_be(opened: Open) -> None:
    copy = opened()
    third = records(copy.folder)[2]
    HeadFile(copy.folder / "record.head").keep(Head(3, third.hash))
    assert verified(copy.folder).sound


def test_what_cannot_be_text_or_json_is_a_fault_and_no_crash(opened: Open) -> None:
    copy = opened()
    copy.do(
        ("UPDATE record SET body = ? WHERE seq = 2", (b"\xff\xfe",)),
        ("UPDATE record SET body = CAST(? AS TEXT) WHERE seq = 4", (b"\xff{",)),
        ("UPDATE record SET hash = ? WHERE seq = 6", (7,)),
        ("UPDATE record SET card = ? WHERE seq = 8", ("x",)),
        ("UPDATE record SET at = ? WHERE seq = 10", (5,)),
    )
    assert {2, 4, 6, 8, 10} <= {fault.seq for fault in verified(copy.folder).faults}


def test_records_that_have_lost_their_numbers_are_a_fault_and_no_crash(opened: Open) -> None:
    copy = opened()
    path = copy.folder / "record.db"
    raw = path.read_bytes()
    for beside in ("record.db-wal", "record.db-shm"):
        (copy.folder / beside).unlink(missing_ok=True)
    assert raw.count(b"seq INTEGER PRIMARY KEY") == 1
    path.write_bytes(raw.replace(b"seq INTEGER PRIMARY KEY", b"seq INTEGER!PRIMARY KEY"))
    with contextlib.suppress(StoreError):  # or SQLite finds out by itself
        assert not verified(copy.folder).sound
    path.write_bytes(raw.replace(b"seq INTEGER PRIMARY KEY", b"seq INTEGES PRIMARY KEY"))
    assert not verified(copy.folder).sound


def test_a_gap_whose_body_is_no_text_is_a_fault_and_no_crash(opened: Open) -> None:
    copy = opened()
    copy.do(("UPDATE record SET kind = 'gap', body = ? WHERE seq = 2", (b"\xff",)))
    assert 2 in {fault.seq for fault in verified(copy.folder).faults}


def test_a_last_hash_that_is_no_hash_stops_no_writer(opened: Open) -> None:
    copy = opened()
    copy.do(("UPDATE record SET hash = 5 WHERE seq = ?", (RECORDS,)))
    store = open_writer(copy.folder)
    store.write([happened(entry())])
    store.close()
    assert RECORDS in {fault.seq for fault in verified(copy.folder).faults}


@examples(80)
@given(data=st.data())
def test_a_bit_of_the_file_flipped_anywhere_is_found_or_changes_no_record(
    opened: Open, data: st.DataObject
) -> None:
    copy = opened()
    path = copy.folder / "record.db"
    before = records(copy.folder)
    for beside in ("record.db-wal", "record.db-shm"):
        (copy.folder / beside).unlink(missing_ok=True)
    raw = bytearray(path.read_bytes())
    raw[data.draw(st.integers(100, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(raw)
    try:
        sound = verified(copy.folder).sound
    except StoreError:
        return  # it cannot even be opened, and says so
    assert not sound or records(copy.folder) == before


def test_an_answer_that_no_decision_on_record_gave_is_a_fault(folder: Path) -> None:
    store = open_writer(folder)
    store.write(
        [
            settled([answer("r1")], decision(1)),
            settled([answer("r3")], decision(2, body={"legs": ["r2", "r3"]})),
        ]
    )
    store.close()
    assert verified(folder).sound
    put = "INSERT INTO answer SELECT 'forged', secret, stdout, stderr, exit_code, decided, delivered, card, platform, payload, decision, signed FROM answer WHERE request_id = 'r1'"
    with sqlite3.connect(folder / "record.db") as connection:
        connection.execute(put)
    connection.close()
    (fault,) = verified(folder).faults
    assert "forged" in fault.what
    assert "no decision on record" in fault.what


def test_an_answer_whose_record_was_lost_in_a_gap_that_says_so_is_no_fault(folder: Path) -> None:
    store = open_writer(folder)
    gap = entry(RecordKind.GAP, body={"why": "the disk was full", "lost": 3})
    store.write([happened(gap), settled([answer("r1")], entry())])
    store.close()
    found = verified(folder)
    assert found.sound
    assert any("no decision on record" in note.what for note in found.notes)
