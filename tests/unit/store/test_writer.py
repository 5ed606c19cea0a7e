"""The store itself: what was written is there again, whatever happened in between."""

import os
import stat
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crabhook.broker.pending import ANSWER_KEPT_FOR
from crabhook.store.change import (
    Change,
    DecidedCall,
    Waiting,
    delivered,
    happened,
    left,
    settled,
    waits,
)
from crabhook.store.interface import StoreError, TakenError, TicketError
from crabhook.store.opening import Place, is_shared, open_writer
from crabhook.store.record import Head, RecordKind
from crabhook.store.writer import Writer
from tests.unit.store.making import NOON, answer, decision, entry, records, verified, waiting


def test_what_is_written_is_there_again_in_its_order(place: Place, store: Writer) -> None:
    store.write([happened(entry(body={"n": 1}), entry(body={"n": 2})), happened(decision())])
    store.write([happened(entry(RecordKind.OPERATOR))])
    kept = records(place)
    assert [record.seq for record in kept] == [1, 2, 3, 4]
    assert [record.kind for record in kept] == ["event", "event", "decided", "operator"]
    assert kept[0].at == "2026-01-09T12:00:00.000000Z"
    assert (kept[2].verdict, kept[2].card, kept[2].tool) == ("allow", 1, "Bash")
    assert store.head == Head(4, kept[3].hash)
    assert verified(place).sound


def test_secrets_never_reach_the_disk(folder: Path) -> None:
    token, password = "ghp_" + "aB3dE6gH9j" * 4, "hunter2hunter2"
    store = open_writer(folder)
    body = {"input": {"command": f"DB_PASSWORD={password} push", "password": password}, token: 1}
    store.write([happened(entry(cwd=f"/tmp/{token}", tool=f"mcp__{token}", body=body))])
    raw = b"".join(path.read_bytes() for path in folder.iterdir())
    store.close()
    assert token.encode() not in raw
    assert password.encode() not in raw


def test_everything_is_for_this_user_alone(folder: Path) -> None:
    store = open_writer(folder)
    store.write([happened(entry())])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert {path.name for path in folder.iterdir()} >= {"record.db", "record.key", "record.head"}
    store.close()


def test_an_open_folder_is_closed_to_others(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    open_writer(folder).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_request_waits_on_disk_until_it_ends(store: Writer) -> None:
    store.write([waits(waiting("r1"), entry(RecordKind.ASKED))])
    store.write([waits(waiting("r2", card=2, host="h\ud800", note="n\ud800", pid=2**64))])
    assert [one.request_id for one in store.journal.recover(NOON).waiting] == ["r1", "r2"]
    store.write([left(["r1"], entry(RecordKind.WITHDRAWN))])
    (kept,) = store.journal.recover(NOON).waiting
    assert (kept.request_id, kept.card, kept.note) == ("r2", 2, "n\ud800")
    assert kept.payload == waiting().payload


def test_a_decision_its_record_and_its_answers_are_one(place: Place, store: Writer) -> None:
    for request_id in ("r1", "r2"):
        store.write([waits(waiting(request_id))])
    store.write([settled([answer("r1"), answer("r2")], decision())])
    found = store.journal.recover(NOON)
    assert found.waiting == ()
    assert found.answers == (answer("r1"), answer("r2"))
    assert [record.kind for record in records(place)] == ["decided"]


def test_a_new_server_finds_what_the_last_one_left(place: Place) -> None:
    first = open_writer(place)
    first.write([waits(waiting("r1", card=7), entry(RecordKind.ASKED, card=7))])
    first.write([settled([answer("r0")], decision(6))])
    first.close()
    second = open_writer(place)
    found = second.journal.recover(NOON + 60)
    second.close()
    assert found.waiting == (waiting("r1", card=7),)
    assert found.answers == (answer("r0"),)
    assert found.last_card == 7


def test_an_answer_is_kept_a_quarter_of_an_hour(store: Writer) -> None:
    store.write([settled([answer("r1", decided=NOON)])])
    assert store.journal.recover(NOON + ANSWER_KEPT_FOR).answers
    assert not store.journal.recover(NOON + ANSWER_KEPT_FOR + 1).answers


CALL = DecidedCall(1, "claude", b'{"a": "\xc3"}', b'{"verdict": "deny"}')


def test_what_is_owed_is_neither_too_old_nor_forgotten_until_its_fate_is_known(
    store: Writer,
) -> None:
    for request_id in ("has it", "was gone", "unknown"):
        store.write([settled([replace(answer(request_id), call=CALL)])])
    store.write([settled([answer("nobody asks")])])
    store.write([delivered("has it", whole=True), delivered("was gone", whole=False)])
    assert {one.request_id: one.owed for one in store.journal.recover(NOON).answers} == {
        "has it": False,
        "nobody asks": False,
        "unknown": True,
        "was gone": False,
    }
    years = NOON + 1e8  # as after a clock that was put right, too
    (owed,) = store.journal.recover(years).answers
    assert (owed.request_id, owed.call) == ("unknown", CALL)
    assert store.journal.forget_answers(years) == 3
    store.write([delivered("unknown", whole=False)])
    assert store.journal.forget_answers(years) == 1


def test_what_was_decided_is_wiped_when_its_client_has_it(place: Place, store: Writer) -> None:
    store.write([settled([replace(answer("r1"), call=CALL)])])
    store.write([delivered("r1", whole=True)])
    (kept,) = store.journal.recover(NOON).answers
    assert (kept.call, kept.delivered) == (None, True)
    store.write([settled([replace(answer("r2"), call=CALL, delivered=True)])])  # from a backlog
    assert store.journal.recover(NOON).answers[1].call is None


def test_an_answer_that_arrived_is_kept_as_delivered(store: Writer) -> None:
    store.write([settled([answer("r1")])])
    store.write([delivered("r1", entry(RecordKind.DELIVERED), whole=True)])
    assert store.journal.recover(NOON).answers[0].delivered


@pytest.mark.parametrize("first", ["waiting", "answered"])
def test_an_id_belongs_to_the_secret_it_first_came_with(
    place: Place, store: Writer, first: str
) -> None:
    store.write([waits(waiting("r1", secret="mine"))])
    if first == "answered":
        store.write([settled([answer("r1", secret="mine")])])
    with pytest.raises(TicketError):
        store.write([waits(waiting("r1", secret="theirs"), entry(RecordKind.ASKED))])
    with pytest.raises(TicketError):
        store.write([settled([answer("r1", secret="theirs")])])
    assert records(place) == []
    assert store.journal.is_anothers("r1", "theirs")
    assert not store.journal.is_anothers("r1", "mine")
    assert not store.journal.is_anothers("r2", "mine")
    store.write([waits(waiting("r1", secret="mine", wait_until=NOON + 900))])
    assert store.journal.recover(NOON).waiting[0].wait_until == NOON + 900


@pytest.mark.parametrize("looked_up", [("mine", "theirs"), ("theirs", "mine"), ("theirs",), ()])
def test_an_id_that_was_looked_up_before_it_was_written_is_the_first_ones_all_the_same(
    store: Writer, looked_up: tuple[str, ...]
) -> None:
    for secret in looked_up:
        assert not store.journal.is_anothers("r1", secret)
    with pytest.raises(TicketError):
        store.write([settled([answer("r1", secret="mine")]), waits(waiting("r1", secret="theirs"))])
    assert store.journal.recover(NOON).answers == ()
    store.write([settled([answer("r1", secret="mine")])])
    with pytest.raises(TicketError):
        store.write([settled([answer("r1", secret="theirs")])])
    assert store.journal.is_anothers("r1", "theirs")
    assert [one.secret for one in store.journal.recover(NOON).answers] == ["mine"]


def test_a_secret_is_compared_whole(store: Writer) -> None:
    store.write([waits(waiting("r1", secret="abc"))])
    assert not store.journal.is_anothers("r1", "abc")
    for guess in ("ab", "", "abcd", "ABC"):
        assert store.journal.is_anothers("r1", guess)


@pytest.mark.parametrize(("now", "left_over"), [(-1e6, 600), (0, 600), (200, 400), (601, 0)])
def test_a_clock_set_back_gives_no_request_more_time(now: float, left_over: float) -> None:
    one: Waiting = waiting()
    assert one.remaining(NOON + now) == left_over


def test_a_batch_is_written_whole_or_not_at_all(place: Place, store: Writer) -> None:
    store.write([waits(waiting("r1", secret="mine"))])
    before = store.head
    with pytest.raises(TicketError):
        store.write([happened(entry()), waits(waiting("r1", secret="theirs"))])
    assert store.head == before
    assert records(place) == []
    store.write([happened(entry())])
    assert verified(place).records == 1


def test_only_one_process_writes_a_record(place: Place, store: Writer) -> None:
    with pytest.raises(TakenError, match=str(os.getpid())):
        open_writer(place)
    store.close()
    open_writer(place).close()


@pytest.mark.process
def test_the_lock_goes_with_its_process(place: Place) -> None:
    program = "import sys, time; from crabhook.store.opening import *\n"
    program += "s = open_writer(sys.argv[1]); print('open', flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(place)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(TakenError, match=str(holder.pid)):
            open_writer(place)
        holder.kill()
        holder.wait()
        until = time.monotonic() + 60
        while is_shared(place) and _is_taken(place):  # PostgreSQL hears of it a moment later
            assert time.monotonic() < until
        open_writer(place).close()


def _is_taken(place: Place) -> bool:
    try:
        open_writer(place).close()
    except TakenError:
        return True
    return False


def test_a_clock_set_back_changes_no_order_and_is_noted(place: Place, store: Writer) -> None:
    store.write([happened(entry(at=NOON)), happened(entry(at=NOON - 3600))])
    store.write([happened(entry(at=NOON - 7200))])
    found = verified(place)
    assert found.sound
    assert [record.seq for record in records(place)] == [1, 2, 3]
    assert [note.seq for note in found.notes] == [2, 3]


def test_any_text_an_agent_sends_can_be_recorded(place: Place, store: Writer) -> None:
    hostile = "\0 \ud800 \x1b[31m \u202e " + "x" * 100_000
    fields: Any = dict.fromkeys(("session", "cwd", "tool", "agent_type"), hostile)
    body = {"f": float("nan"), hostile: [hostile, {"n": 2**200}]}
    store.write([happened(entry(body=body, **fields))])
    assert verified(place).sound
    assert len(records(place)[0].cwd) < 50_000


def test_closing_twice_does_nothing_and_a_closed_store_says_so(store: Writer) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.write([happened(entry())])


def test_an_empty_change_changes_nothing(place: Place, store: Writer) -> None:
    before = store.head
    store.write([Change()])
    store.write([])
    assert store.head == before
    assert verified(place).records == 0


def test_anchoring_in_a_thread_never_lets_the_head_lead(place: Place, store: Writer) -> None:
    done = threading.Event()
    leading = []

    def anchor() -> None:
        while not done.is_set():
            kept = store.anchor()
            if kept.seq > len(records(place)):
                leading.append(kept)

    beside = threading.Thread(target=anchor)
    beside.start()
    for number in range(200):
        store.write([happened(decision(number))])
    done.set()
    beside.join()
    assert not leading
    assert verified(place).sound


def test_readers_see_the_record_while_it_is_written(place: Place, store: Writer) -> None:
    for number in range(20):
        store.write([happened(decision(number))])
        assert len(records(place)) == number + 1
        assert verified(place).sound
