"""A record that others may write, too: nothing leaves the server before it is there, or without it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from crabhook.broker.messages import Refusal
from crabhook.desk.commands import Decide, Done, GiveOrder, Refused, Snooze, Steer
from crabhook.desk.updates import Snapshot
from crabhook.model.card import State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order, OrderKind
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core import runner as module
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.server.operators.update_log import UpdateLog
from crabhook.store.change import Change
from crabhook.store.interface import Batch, WriterEndedError
from crabhook.store.recorder import OnTrouble, Recorder
from crabhook.store.sqlite.journal import SqliteJournal
from crabhook.store.writer import Writer
from tests.support.playbook import DENY, bash
from tests.support.runners import bare_runner
from tests.support.seat import seat

if TYPE_CHECKING:
    from pathlib import Path

ALLOWED = Ruling(RuleVerdict.ALLOW, None, "so it is")
GONE = WriterEndedError("another crabhook writes the record")


class Shared(SqliteJournal):
    """A record that others may write, whose commits end when a test says so."""

    shared = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.queue: list[tuple[Batch, asyncio.Future[None]]] = []
        self.lost: WriterEndedError | None = None

    def commit(self, batch: Batch) -> asyncio.Future[None]:  # type: ignore[override]
        self.heed()
        self.queue.append((batch, asyncio.get_running_loop().create_future()))
        return self.queue[-1][1]

    def heed(self) -> None:
        if self.lost:
            raise self.lost

    async def write_all(self) -> None:
        """End all commits, in order; what they release may bring others."""
        while self.queue:
            batch, pending = self.queue.pop(0)
            super().commit(batch)
            pending.set_result(None)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def end_writer(self) -> None:
        """Let another have written; nothing of what waits is."""
        self.lost, queue, self.queue = GONE, self.queue, []
        for _, pending in queue:
            pending.set_exception(GONE)
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.fixture
def journal(tmp_path: Path) -> Shared:
    return Shared(tmp_path / "state")


@pytest.fixture
def ends() -> list[bool]:
    """What a runner tells when its writer ends."""
    return []


@pytest.fixture
def runner(journal: Shared, ends: list[bool]) -> Runner:
    recorder = Recorder(lambda: Writer(journal), on_trouble=OnTrouble.REFUSE)
    return bare_runner(recorder, writer_ended=lambda: ends.append(True))


def enter(runner: Runner, ticket: str, ruling: Ruling | None = None) -> PendingCall:
    return runner.enter(bash(ticket, "ls", f"id of {ticket}", wait=runner.now() + 60), ruling)


def refusal(place: PendingCall) -> Refusal:
    error = place.refused
    assert isinstance(error, RefusedError)
    return error.refusal


async def test_a_rules_reply_leaves_when_it_is_on_record_and_not_before(
    runner: Runner, journal: Shared
) -> None:
    place = enter(runner, "a", ALLOWED)
    await asyncio.sleep(0.01)
    assert not place.over
    await journal.write_all()
    assert b"allow" in (await place.wait()).stdout
    runner.close()


async def test_an_operators_reply_leaves_when_it_is_on_record_and_not_before(
    runner: Runner, journal: Shared
) -> None:
    place = enter(runner, "a")
    await journal.write_all()
    assert seat(runner).decide(1, DENY) is None  # not settled yet
    await asyncio.sleep(0.01)
    assert not place.over
    await journal.write_all()
    assert b"not here" in (await place.wait()).stdout
    runner.close()


async def test_a_hook_hears_that_it_was_accepted_when_its_request_is_on_record(
    runner: Runner, journal: Shared
) -> None:
    place = enter(runner, "a")
    accepted = asyncio.create_task(place.recorded())
    await asyncio.sleep(0.01)
    assert not accepted.done()
    await journal.write_all()
    await asyncio.wait_for(accepted, 60)
    assert not place.over
    runner.close()


@pytest.mark.parametrize("how", ["refused", "gone"])
async def test_a_hook_that_waits_to_be_on_record_can_be_turned_away_and_can_leave(
    runner: Runner, journal: Shared, how: str
) -> None:
    place = enter(runner, "a")
    accepted = asyncio.create_task(place.recorded())
    await asyncio.sleep(0)
    if how == "refused":
        place.refuse(Refusal.UNRECORDED)
        await asyncio.wait_for(accepted, 60)
        assert refusal(place) is Refusal.UNRECORDED
    else:
        accepted.cancel()
        await asyncio.wait([accepted])
        await journal.write_all()
        assert not runner.broker.waiting()
    await journal.write_all()
    runner.close()


async def test_a_server_whose_writer_ended_gives_no_reply_that_is_not_on_record_and_says_that_it_ends(
    runner: Runner, journal: Shared, ends: list[bool]
) -> None:
    waits = enter(runner, "a")
    await journal.write_all()
    by_rule = enter(runner, "b", ALLOWED)
    assert seat(runner).decide(1, Decision(Verdict.ALLOW)) is None  # not settled yet
    await journal.end_writer()
    for place in (waits, by_rule):
        assert refusal(place) is Refusal.HANDED_OVER  # its hook asks the next server
    assert (runner.writer_ended, ends) == (GONE, [True])
    with pytest.raises(RefusedError, match=Refusal.HANDED_OVER.value):
        enter(runner, "c", ALLOWED)


@pytest.mark.parametrize("closed", [False, True])
async def test_a_server_whose_writer_ended_tells_no_desk_that_something_is_done(
    runner: Runner, journal: Shared, closed: bool
) -> None:
    enter(runner, "a")
    enter(runner, "b")
    await journal.write_all()
    sits = seat(runner)
    assert sits.decide(1, DENY) is None  # not settled yet
    await journal.end_writer()
    assert runner.recorder is not None
    if closed:  # as on its way to stand by, while its listeners are open still
        runner.recorder.close()
    outcome = sits.decide(2, DENY)
    await asyncio.sleep(0)
    assert not isinstance(outcome, Done)
    assert not isinstance(sits.outcome(Snooze(2, 60.0)), Done)
    assert [card.state for card in sits.replica.waiting()] == [State.WAITING] * 2


@pytest.mark.parametrize("closed", [False, True])
async def test_a_server_whose_writer_ended_tells_of_no_order_and_no_note_that_is_not_on_record(
    runner: Runner, journal: Shared, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    monkeypatch.setattr(module, "SESSIONS_EVERY", 0.0)
    enter(runner, "a")
    await journal.write_all()
    sits = seat(runner)
    session = sits.replica.waiting()[0].event.session
    await asyncio.sleep(0.01)
    given = [GiveOrder(Order(OrderKind.HOLD_ALL, session=session)), Steer(session, "use ninja")]
    before = sits.replica.orders(), sits.replica.live()
    for command in given:
        assert not isinstance(sits.outcome(command), Done)
    await journal.end_writer()
    if closed:
        runner.close()
    sits.outcome(GiveOrder(Order(OrderKind.AWAY)))
    runner.look_at_troubles()
    await asyncio.sleep(0.05)
    assert (sits.replica.orders(), sits.replica.live()) == before


async def test_a_desk_that_comes_to_a_server_whose_writer_ended_sees_no_decision_that_is_not_on_record(
    runner: Runner, journal: Shared
) -> None:
    enter(runner, "a")
    await journal.write_all()
    log = UpdateLog(runner)
    found = await log.snapshot()
    assert found is not None
    (place, snapshot) = found
    assert isinstance(snapshot, Snapshot)
    assert [card.number for card in snapshot.waiting] == [1]
    assert seat(runner).decide(1, DENY) is None  # not settled yet
    came_before = asyncio.create_task(log.snapshot())
    await asyncio.sleep(0)
    await journal.end_writer()
    assert await asyncio.wait_for(came_before, 60) is None
    assert log.closed  # which ends the watches
    assert await asyncio.wait_for(log.snapshot(), 60) is None
    assert log.card(1) is None
    told = log.after(place)
    assert told is not None
    assert not [one for one in told if getattr(one.news, "number", 0) == 1]


async def test_nobody_is_too_late_for_a_decision_that_is_not_on_record(
    runner: Runner, journal: Shared
) -> None:
    enter(runner, "a")
    await journal.write_all()
    first, second = seat(runner), seat(runner)
    seen = runner.broker.waiting()[0].revision
    assert first.outcome(Decide(1, seen, DENY)) is None  # not settled yet
    told: list[object] = []
    given = Decide(1, seen, Decision(Verdict.ALLOW))
    second.replica.submit(given, told.append)
    assert not told
    await journal.end_writer()
    second.replica.submit(given, told.append)
    assert [type(one) for one in told] == [Refused, Refused]


async def test_a_closed_record_that_others_write_takes_nothing_into_memory(journal: Shared) -> None:
    recorder = Recorder(lambda: Writer(journal), on_trouble=OnTrouble.REFUSE)
    recorder.close()
    assert isinstance(recorder.write(Change()).error, WriterEndedError)


async def test_a_request_that_comes_before_the_server_knows_that_its_writer_ended_gets_no_reply(
    runner: Runner, journal: Shared
) -> None:
    journal.lost = GONE
    with pytest.raises(RefusedError, match=Refusal.HANDED_OVER.value):
        enter(runner, "a", ALLOWED)
    assert runner.writer_ended is GONE


async def test_a_server_that_stands_idle_hears_that_its_writer_ended(
    runner: Runner, journal: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.01)
    journal.lost = GONE
    keeping = asyncio.create_task(runner.keep_record())
    async with asyncio.timeout(60):
        while runner.writer_ended is None:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)
    keeping.cancel()
    assert runner.writer_ended is GONE


async def test_while_the_record_is_away_hooks_are_turned_away_at_once_or_soon(
    runner: Runner, journal: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(module, "RECORDED_WITHIN", 0.05)
    place = enter(runner, "a", ALLOWED)
    journal.trouble = "the database does not answer"
    with pytest.raises(RefusedError, match=Refusal.UNRECORDED.value):
        enter(runner, "b", ALLOWED)
    keeping = asyncio.create_task(runner.keep_record())
    await asyncio.wait_for(place.recorded(), 60)
    assert refusal(place) is Refusal.UNRECORDED
    journal.trouble = ""
    keeping.cancel()
    await journal.write_all()
    assert runner.writer_ended is None
    runner.close()
