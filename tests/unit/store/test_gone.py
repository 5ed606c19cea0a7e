"""A record that is deleted or replaced under a running server is told, and recorded anew."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crabhook.store.change import Halt, halted, happened, settled, waits
from crabhook.store.entries import stops
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from tests.unit.store.making import NOON, answer, decision, entry, records, verified, waiting

STOPPED = (Halt("s1", "stop"),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def recorder(folder: Path) -> Iterator[Recorder]:
    """A server's recorder: one request waits, one was answered, one session is stopped."""
    made = Recorder(lambda: open_writer(folder), wall=lambda: NOON)
    asked = (entry(RecordKind.ASKED, request_id=f"r{number}", card=number) for number in (1, 2))
    for number, one in enumerate(asked, 1):
        made.write(waits(waiting(f"r{number}", card=number), one))
    made.write(settled([answer("r1")], decision(1)), halted(STOPPED, stops((), 0, NOON)))
    made.time_passed(1.0)
    made.anchor()
    yield made
    made.close()


def whole(folder: Path) -> None:
    shutil.rmtree(folder)


def database(folder: Path) -> None:
    for path in folder.glob("record.db*"):
        path.unlink()


def only_the_database(folder: Path) -> None:
    (folder / "record.db").unlink()


def replaced(folder: Path) -> None:
    database(folder)
    with closing(sqlite3.connect(folder / "record.db")) as other, other:
        other.execute("PRAGMA application_id = 0")


@pytest.mark.parametrize("delete", [whole, database, only_the_database, replaced])
@pytest.mark.parametrize("first", ["a decision", "a second"])
def test_a_record_that_is_gone_is_told_and_begun_anew_with_all_that_waits(
    recorder: Recorder, folder: Path, delete: Callable[[Path], None], first: str
) -> None:
    key = (folder / "record.key").read_bytes()
    delete(folder)
    if first == "a decision":
        assert not recorder.write(settled([answer("r3")], decision(3))).recorded
        assert "NOT RECORDED" in recorder.trouble
        assert "while the server ran" in recorder.trouble
    recorder.time_passed(2.0)
    assert recorder.trouble == ""
    assert "its 4 records are gone, and a new record was begun" in recorder.anew
    assert recorder.write(settled([answer("r4")], decision(4))).recorded
    found = recorder.recover()
    answered = {"r1", "r4"} | ({"r3"} if first == "a decision" else set())
    assert [one.request_id for one in found.waiting] == ["r2"]
    assert {one.request_id for one in found.answers} == answered
    assert (found.halts, found.last_card) == (STOPPED, 4)
    assert (folder / "record.key").read_bytes() == key
    gaps = [json.loads(one.body) for one in records(folder) if one.kind == RecordKind.GAP]
    assert any("its 4 records are gone" in gap["why"] for gap in gaps)
    told = " ".join(fault.what for fault in verified(folder).faults)
    assert "while the server ran" in told
    assert "request" not in told


def test_a_new_record_marks_what_waits_for_a_strict_hook(recorder: Recorder, folder: Path) -> None:
    asked = entry(RecordKind.ASKED, request_id="r5", card=5, body={"strict": True})
    recorder.write(waits(waiting("r5", card=5, strict=1), asked))
    whole(folder)
    recorder.time_passed(2.0)
    again = (one for one in records(folder) if one.kind == RecordKind.TAKEN_UP)
    assert {one.request_id: one.data().get("strict") for one in again} == {"r2": None, "r5": True}


@pytest.mark.parametrize("name", ["record.db-wal", "record.db-shm", "record.lock"])
def test_a_file_beside_it_that_is_gone_costs_no_record(
    recorder: Recorder, folder: Path, name: str
) -> None:
    (folder / name).unlink()
    recorder.time_passed(2.0)
    assert recorder.trouble == ""
    assert "nothing of it is missing" in recorder.anew
    assert recorder.write(happened(entry())).recorded
    assert len(records(folder)) == 6
    assert verified(folder).faults == []


def test_a_key_that_is_gone_is_put_back(recorder: Recorder, folder: Path) -> None:
    key = (folder / "record.key").read_bytes()
    (folder / "record.key").unlink()
    recorder.time_passed(2.0)
    assert (folder / "record.key").read_bytes() == key
    assert (recorder.trouble, recorder.anew) == ("", "")


def test_where_the_folder_cannot_be_made_again_what_waits_is_kept_until_it_can(
    recorder: Recorder, folder: Path
) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file in its place")
    recorder.time_passed(2.0)
    assert "NOT RECORDED" in recorder.trouble
    folder.unlink()
    recorder.time_passed(60.0)
    assert recorder.trouble == ""
    assert [one.request_id for one in recorder.recover().waiting] == ["r2"]
