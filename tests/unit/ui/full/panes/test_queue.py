"""The queue kept by news is the queue the desk would hand out, whatever happened and in whichever order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.ui.full.panes.queue import Queue
from crabhook.ui.options import kind_of
from tests.support.desk import PlayedDesk
from tests.support.sitting import call

if TYPE_CHECKING:
    from collections.abc import Sequence

TOOLS = ("Bash", "ExitPlanMode", "AskUserQuestion")
HAPPENINGS = ("ask", "leave", "answer", "snooze", "pass time")


def followed(desk: PlayedDesk) -> Queue:
    """Return a queue that hears of every card."""
    queue = Queue(desk.replica)
    desk.listen(lambda news: queue.news(news.number) if isinstance(news, Card) else None)
    return queue


def asked_anew(desk: PlayedDesk) -> Sequence[int]:
    """Return the numbers of the cards that wait, those put aside after the others."""
    order = sorted(desk.waiting(), key=lambda card: (card.snoozed_until > 0, card.number))
    return [card.number for card in order]


def happen(desk: PlayedDesk, what: str, which: int) -> None:
    """Let something happen to one of the cards that wait, if any does."""
    waiting = desk.waiting()
    if what == "ask":
        desk.ask(call(TOOLS[which % len(TOOLS)], session_id=f"s{which}"))
    elif what == "pass time":
        desk.pass_time(float(which * 20))
    elif waiting:
        card = waiting[which % len(waiting)]
        if what == "leave":
            for leg in card.requests:
                desk.leave(leg.id)
        elif what == "answer":
            desk.answer(card.number, Decision(Verdict.PASS))
        else:
            desk.snooze(card.number, 100.0)


@given(st.lists(st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 20)), max_size=30))
def test_it_is_always_what_the_desk_would_hand_out(story: list[tuple[str, int]]) -> None:
    desk = PlayedDesk()
    queue = followed(desk)
    for what, which in story:
        happen(desk, what, which)
        cards = queue.cards()
        assert [card.number for card in cards] == asked_anew(desk)
        assert list(cards) == [desk.card(card.number) for card in cards]
        assert queue.aside == sum(card.snoozed_until > 0 for card in cards)
        assert +Counter(queue.kinds) == Counter(map(kind_of, cards))


def test_it_begins_with_what_waits_already() -> None:
    desk = PlayedDesk()
    for number in range(3):
        desk.ask(call(session_id=f"s{number}"))
    desk.snooze(1, 100.0)
    assert [card.number for card in Queue(desk.replica).cards()] == [2, 3, 1]


def test_news_told_late_does_not_bring_a_card_back() -> None:
    desk = PlayedDesk()
    queue = Queue(desk.replica)
    desk.ask(call())
    queue.news(1)
    desk.answer(1, Decision(Verdict.ALLOW))
    queue.news(1)
    queue.news(1)  # of its coming, told after that of its end
    assert list(queue.cards()) == []


def test_what_was_handed_out_does_not_change_under_whoever_walks_it() -> None:
    desk = PlayedDesk()
    queue = followed(desk)
    for number in range(3):
        desk.ask(call(session_id=f"s{number}"))
    before = queue.cards()
    for card in before:
        desk.answer(card.number, Decision(Verdict.ALLOW))
    assert [card.number for card in before] == [1, 2, 3]
    assert list(queue.cards()) == []


def test_a_card_that_has_ended_has_the_place_it_would_have() -> None:
    desk = PlayedDesk()
    queue = followed(desk)
    for number in range(3):
        desk.ask(call(session_id=f"s{number}"))
    ended = desk.answer(2, Decision(Verdict.ALLOW))
    assert queue.place(ended) == 1
