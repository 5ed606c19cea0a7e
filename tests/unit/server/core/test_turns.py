"""A runner takes turns: what is given and shown is on record before, in order, however late the record is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from crabhook.desk.commands import Decide, Done, Refused, TooLate
from crabhook.desk.updates import News, SessionsChanged, Snapshot
from crabhook.model.actor import OWNER
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.store.commit import Commit
from tests.support.desk import PlayedDesk
from tests.support.seat import hears
from tests.support.sitting import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crabhook.broker.messages import Effect, Fact
    from crabhook.desk.updates import Update

ALLOW = Decision(Verdict.ALLOW)


class LateRecord:
    """Makes a desk's core record later, when a test says so; it keeps what was not recorded."""

    def __init__(self, desk: PlayedDesk) -> None:
        self.writes: list[Commit] = []
        self.unrecorded: list[tuple[str, BaseException | None]] = []
        desk.runner.write = self._write  # type: ignore[method-assign]
        desk.runner.unrecorded = self._unrecorded  # type: ignore[method-assign]

    def _write(self, _fact: Fact, _effects: Sequence[Effect]) -> Commit:
        self.writes.append(Commit())
        return self.writes[-1]

    def _unrecorded(self, fact: Fact, error: BaseException | None) -> None:
        self.unrecorded.append((type(fact).__name__, error))


async def test_nothing_is_given_or_shown_before_it_is_on_record_and_then_in_order() -> None:
    desk = PlayedDesk()
    record = LateRecord(desk)
    shown: list[tuple[int, str]] = []
    hears(
        desk.runner,
        lambda news: shown.append((news.number, news.state)) if isinstance(news, Card) else None,
    )
    hook, _ = desk.ask(call(tool_use_id="t1")), desk.ask(call(tool_use_id="t2"))
    assert desk.seat.decide(1, ALLOW) is None  # it is not settled yet
    assert not shown
    first, second, third = record.writes
    second.end()
    third.end()
    await asyncio.sleep(0)
    assert not shown
    assert hook not in desk.replies
    first.end()
    await asyncio.sleep(0)
    assert shown == [(1, "waiting"), (2, "waiting"), (1, "decided")]
    assert hook in desk.replies


async def test_an_outcome_comes_when_it_is_on_record_a_refusal_not_before_what_it_tells_of() -> (
    None
):
    desk = PlayedDesk()
    desk.ask(call())
    record = LateRecord(desk)
    outcomes: list[object] = []
    for _ in range(2):
        desk.seat.replica.submit(Decide(1, 1, ALLOW), outcomes.append)
    await asyncio.sleep(0)
    assert not outcomes  # that it is too late would tell of a decision that is not on record
    record.writes[0].end()
    await asyncio.sleep(0)
    assert outcomes == [
        Done(),
        TooLate("#1 is already decided: this answer changed nothing", OWNER),
    ]


async def test_what_cannot_be_recorded_for_now_is_done_all_the_same_and_said_to_be_so() -> None:
    desk = PlayedDesk()
    record = LateRecord(desk)
    desk.ask(call())
    record.writes[0].end(recorded=False)
    await asyncio.sleep(0)
    assert [card.number for card in desk.waiting()] == [1]
    assert record.unrecorded == [("Arrived", None)]


async def test_what_follows_a_fact_whose_commit_fails_is_not_done_and_the_next_is() -> None:
    desk = PlayedDesk()
    desk.ask(call(tool_use_id="t1"))
    record, error = LateRecord(desk), OSError("the storage is gone")
    outcomes: list[object] = []
    desk.seat.replica.submit(Decide(1, 1, ALLOW), outcomes.append)
    desk.ask(call(tool_use_id="t2"))
    record.writes[0].refuse(error)
    record.writes[1].end()
    await asyncio.sleep(0)
    assert not desk.replies
    (outcome,) = outcomes
    assert isinstance(outcome, Refused)
    assert "the storage is gone" in outcome.why
    assert record.unrecorded == [("Answered", error)]
    assert [card.number for card in desk.waiting()] == [1, 2]


async def test_who_begins_to_listen_is_told_nothing_that_is_not_on_record() -> None:
    desk = PlayedDesk()
    record = LateRecord(desk)
    desk.ask(call(tool_use_id="t1"))
    updates: list[Update] = []
    desk.subscribe(updates.append)
    desk.ask(call(tool_use_id="t2"))  # which waits, so that the snapshot is of one moment
    assert not updates
    record.writes[0].end()
    await asyncio.sleep(0)
    ((number, snapshot),) = updates
    assert isinstance(snapshot, Snapshot)
    assert (number, [card.number for card in snapshot.waiting]) == (1, [1])
    record.writes[1].end()
    await asyncio.sleep(0)
    cards = [(update.number, update.news.number) for update in updates
             if isinstance(update.news, Card)]  # fmt: skip
    assert cards == [(2, 2)]


async def test_a_job_that_waits_for_the_record_publishes_no_older_figures() -> None:
    desk, counts = PlayedDesk(), list[int]()
    record = LateRecord(desk)
    desk.runner.listen(
        lambda news: counts.append(news.count) if isinstance(news, SessionsChanged) else None
    )
    desk.ask(call())
    desk.runner.do(lambda: desk.runner.after(lambda: None))
    record.writes[0].end()
    await asyncio.sleep(0)
    assert counts == [1]


def test_where_nobody_listens_no_news_is_made_and_who_has_stopped_hears_no_more() -> None:
    desk, heard = PlayedDesk(), list[News]()
    desk.seat.leave()
    stop = desk.runner.listen(heard.append)
    stop()
    desk.ask(call())
    assert [type(one) for one in heard] == [Snapshot]
    assert not desk.runner._listeners
