"""A store that fails takes no decision with it, and what is missing is written when it can be."""

import json
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from crabhook.store import recorder as module
from crabhook.store.change import Backlog, MemoryLimits, delivered, happened, left, settled, waits
from crabhook.store.interface import FullError, StoreError, TicketError
from crabhook.store.opening import open_writer
from crabhook.store.record import DAY, RecordKind, Retention
from crabhook.store.recorder import OnTrouble, Recorder
from crabhook.store.writer import Courier, Writer, read_head, through
from tests.unit.store.making import NOON, answer, decision, entry, records, verified, waiting


class Clock:
    """A wall clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recorder(folder: Path, clock: Clock) -> Iterator[Recorder]:
    made = Recorder(lambda: open_writer(folder), wall=clock)
    yield made
    made.close()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the database as another program would."""
    other = sqlite3.connect(folder / "record.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_while_all_is_well_a_recorder_is_its_store(folder: Path, recorder: Recorder) -> None:
    assert recorder.write(waits(waiting(), entry(RecordKind.ASKED))).recorded
    assert recorder.write(settled([answer()], decision())).recorded
    assert (recorder.trouble, recorder.refusal) == ("", "")
    assert recorder.recover().answers == (answer(),)
    assert [record.kind for record in records(folder)] == ["asked", "decided"]


def test_what_could_not_be_written_is_written_after_a_record_of_the_gap(
    folder: Path, recorder: Recorder, clock: Clock
) -> None:
    recorder.write(waits(waiting("r1"), entry(RecordKind.ASKED, request_id="r1")))
    with locked(folder):
        assert not recorder.write(settled([answer("r1")], decision(1))).recorded
        clock.now += 30
        assert not recorder.write(
            waits(waiting("r2"), entry(RecordKind.ASKED, request_id="r2"))
        ).recorded
        assert "NOT RECORDED" in recorder.trouble
        assert "2 entries" in recorder.trouble
        recorder.time_passed(100.0)
        assert recorder.trouble
    clock.now += 30
    recorder.time_passed(200.0)
    assert recorder.trouble == ""
    kept = records(folder)
    assert [record.kind for record in kept] == ["asked", "gap", "decided", "asked"]
    gap = json.loads(kept[1].body)
    assert (gap["from"], gap["to"]) == (
        "2026-01-09T12:00:00.000000Z",
        "2026-01-09T12:01:00.000000Z",
    )
    assert (gap["follow"], gap["lost"]) == (2, 0)
    found = recorder.recover()
    assert found.answers == (answer("r1"),)
    assert [one.request_id for one in found.waiting] == ["r2"]
    assert verified(folder).sound
    assert recorder.write(happened(entry())).recorded


def test_it_is_not_tried_at_every_write(folder: Path, recorder: Recorder) -> None:
    with locked(folder):
        recorder.write(happened(entry()))
    assert not recorder.write(happened(entry())).recorded
    recorder.time_passed(0.5)
    assert recorder.trouble
    recorder.time_passed(1.0)
    assert not recorder.trouble


def test_memory_is_bounded_and_what_was_lost_is_told(folder: Path, clock: Clock) -> None:
    recorder = Recorder(lambda: open_writer(folder), wall=clock, limits=MemoryLimits(entries=3))
    with locked(folder):
        for number in range(8):
            recorder.write(happened(entry(body={"n": number})))
        assert "3 entries wait in memory, 5 are lost" in recorder.trouble
    recorder.time_passed(50.0)
    kept = records(folder)
    recorder.close()
    assert [json.loads(record.body).get("n") for record in kept[1:]] == [5, 6, 7]
    assert json.loads(kept[0].body)["lost"] == 5


def test_bytes_are_bounded_too() -> None:
    backlog = Backlog(MemoryLimits(entries=1000, size=10_000))
    for _ in range(20):
        backlog.add([happened(entry(body={"text": "x" * 1500}))], NOON)
    assert len(backlog) == 5
    assert backlog.dropped == 15


def test_a_backlog_keeps_how_things_are_and_not_how_they_came_to_be() -> None:
    backlog = Backlog(MemoryLimits())
    backlog.add([waits(waiting("a")), waits(waiting("b")), waits(waiting("c"))], NOON)
    backlog.add([settled([answer("a")]), left(["b"]), delivered("a", whole=True)], NOON + 1)
    backlog.add([delivered("z", whole=False)], NOON + 1)
    backlog.add([left(["d"]), waits(waiting("d"))], NOON + 2)
    change = backlog.change()
    assert [one.request_id for one in change.waiting] == ["c", "d"]
    assert set(change.ended) == {"a", "b"}
    assert [(one.request_id, one.delivered) for one in change.answers] == [("a", True)]
    assert change.delivered == (("z", False),)
    assert backlog.since == NOON


def test_refusing_is_said_only_in_trouble_and_only_if_wanted(folder: Path, clock: Clock) -> None:
    recorder = Recorder(lambda: open_writer(folder), wall=clock, on_trouble=OnTrouble.REFUSE)
    assert recorder.refusal == ""
    with locked(folder):
        recorder.write(happened(entry()))
        assert "could not be recorded" in recorder.refusal
    recorder.time_passed(50.0)
    assert recorder.refusal == ""
    recorder.close()


def test_a_ticket_of_another_is_no_trouble_of_the_store(recorder: Recorder) -> None:
    recorder.write(waits(waiting("r1", secret="mine")))
    assert isinstance(recorder.write(waits(waiting("r1", secret="theirs"))).error, TicketError)
    assert recorder.trouble == ""


def test_whose_an_id_is_cannot_be_known_while_the_store_fails(
    folder: Path, recorder: Recorder
) -> None:
    recorder.write(waits(waiting("r1", secret="mine")))
    assert recorder.is_anothers("r1", "theirs")
    with locked(folder):
        recorder.write(happened(entry()))
        assert not recorder.is_anothers("r1", "theirs")
    recorder.time_passed(50.0)
    assert recorder.is_anothers("r1", "theirs")


def test_two_tickets_with_one_id_do_not_hold_up_the_backlog(
    folder: Path, recorder: Recorder
) -> None:
    recorder.write(waits(waiting("r1", secret="mine")))
    with locked(folder):
        recorder.write(
            waits(waiting("r1", secret="theirs"), entry(RecordKind.ASKED, request_id="r1"))
        )
    recorder.time_passed(50.0)
    assert recorder.trouble == ""
    assert [record.kind for record in records(folder)] == ["gap", "asked"]
    assert recorder.recover().waiting[0].secret == "mine"


@pytest.mark.slow
def test_a_store_that_cannot_be_opened_is_opened_later(folder: Path, clock: Clock) -> None:
    old = open_writer(folder)
    old.write([waits(waiting("old"), entry(RecordKind.ASKED, request_id="old"))])
    recorder = Recorder(lambda: open_writer(folder), wall=clock)
    assert "another crabhook" in recorder.trouble
    assert recorder.recover().waiting == ()
    assert not recorder.write(happened(decision())).recorded
    old.close()
    recorder.time_passed(50.0)
    assert recorder.trouble == ""
    assert [record.kind for record in records(folder)] == ["asked", "withdrawn", "gap", "decided"]
    assert recorder.recover().waiting == ()
    recorder.close()


def test_a_fault_nobody_foresaw_is_trouble_and_no_crash(
    folder: Path, recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    assert not recorder.write(happened(entry(at=float("nan")))).recorded
    assert recorder.trouble
    assert "reason unknown" in caplog.text


def test_what_waits_in_memory_is_written_at_the_end(folder: Path, clock: Clock) -> None:
    recorder = Recorder(lambda: open_writer(folder), wall=clock)
    with locked(folder):
        recorder.write(happened(decision()))
    recorder.close()
    assert [record.kind for record in records(folder)] == ["gap", "decided"]


def test_what_is_lost_at_the_end_is_logged(
    folder: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder(lambda: open_writer(folder), wall=clock)
    with locked(folder):
        recorder.write(happened(decision()))
        recorder.close()
    assert "What waits in memory is lost" in caplog.text
    open_writer(folder).close()


def test_house_is_kept_as_time_passes(folder: Path, clock: Clock) -> None:
    recorder = Recorder(lambda: open_writer(folder, Retention(days=1)), wall=clock)
    recorder.write(settled([answer()], *(decision(n) for n in range(700))))
    clock.now += 2 * DAY
    recorder.write(happened(entry(at=clock.now)))
    for second in range(4):
        recorder.time_passed(1000.0 + second)
    assert recorder.recover().answers == ()
    kept = [record.kind for record in records(folder)]
    recorder.close()
    assert kept == ["event", "checkpoint", "checkpoint"]
    assert verified(folder).sound


@pytest.mark.process
def test_the_head_is_sent_on_after_it_is_kept(folder: Path, tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "elsewhere"
    program = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    courier = Courier(through([sys.executable, "-c", program, str(place)]))
    recorder = Recorder(lambda: open_writer(folder), wall=clock, courier=courier)
    recorder.write(happened(entry()))
    recorder.time_passed(1.0)
    recorder.anchor()
    sent = read_head(place.read_text())
    recorder.close()
    assert sent.seq == 1
    assert verified(folder, sent).sound


def test_a_courier_in_trouble_is_shown(folder: Path, clock: Clock) -> None:
    def away(_: str) -> None:
        raise OSError("away")

    recorder = Recorder(lambda: open_writer(folder), wall=clock, courier=Courier(away))
    recorder.write(happened(entry()))
    recorder.anchor()
    assert "away" in recorder.trouble
    assert recorder.refusal == ""
    recorder.close()


def failing(times: int, then: Callable[[], Writer]) -> Callable[[], Writer]:
    """Open only after so many attempts."""
    attempts = iter(range(times))

    def open_store() -> Writer:
        if next(attempts, None) is not None:
            raise StoreError("not yet")
        return then()

    return open_store


def test_attempts_in_vain_grow_rarer(folder: Path, clock: Clock) -> None:
    recorder = Recorder(failing(6, lambda: open_writer(folder)), wall=clock)
    opened_at = 0
    while recorder.trouble and opened_at < 200:
        opened_at += 1
        recorder.time_passed(float(opened_at))
    recorder.close()
    assert 30 < opened_at < 70


def test_a_record_that_another_server_lets_go_of_at_once_is_waited_for(folder: Path) -> None:
    before = open_writer(folder)
    before.write([waits(waiting("r1"))])
    leaving = threading.Timer(0.3, before.close)
    leaving.start()
    after = Recorder(lambda: open_writer(folder))
    leaving.join()
    assert after.trouble == ""
    assert [one.request_id for one in after.recover().waiting] == ["r1"]
    after.close()


def test_a_record_that_another_server_keeps_is_not_waited_for_long(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HELD_AT_MOST", 0.1)
    before = open_writer(folder)
    beside = Recorder(lambda: open_writer(folder))
    assert "another crabhook" in beside.trouble
    beside.close()
    before.close()


def test_answers_nobody_would_come_back_for_leave_the_memory() -> None:
    backlog = Backlog(MemoryLimits())
    backlog.add([settled([answer("old", decided=NOON)])], NOON)
    backlog.add([settled([answer("new", decided=NOON + 800)])], NOON + 901)
    assert [one.request_id for one in backlog.change().answers] == ["new"]
    assert set(backlog.change().ended) == {"old", "new"}


def test_that_it_cannot_be_anchored_is_logged_once(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: Writer) -> NoReturn:
        raise FullError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "anchor", full)
        for _ in range(3):
            recorder.anchor()
    assert caplog.text.count("not anchored") == 1
    recorder.anchor()
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "anchor", full)
        recorder.anchor()
    assert caplog.text.count("not anchored") == 2
