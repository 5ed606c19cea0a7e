"""One end of a turn that comes through two hooks is one event."""

import pytest

from crabhook.broker.recent import TOGETHER_WITHIN, Deduplicator
from crabhook.model.card import Request, Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order, OrderKind
from tests.support.playbook import PASS, Playbook, asking

OWN, SUPERVISOR = Stance.COMPANION, Stance.SUPERVISOR
GO_ON = Decision(Verdict.KEEP_GOING, reason="go on")


def stop(ticket: str, stance: Stance, *, event: str = "Stop", **more: object) -> Request:
    said = {"stop_hook_active": False, "last_assistant_message": "Done."}
    return asking(ticket, event, stance=stance, **(said | more))


@pytest.fixture
def book() -> Playbook:
    return Playbook()


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_the_own_hook_beside_it_does_not_end_the_supervisors_card(
    book: Playbook, event: str
) -> None:
    book.asks(stop("a", SUPERVISOR, event=event)).sees("#1 waiting: a")
    book.asks(stop("b", OWN, event=event)).sees("b hears nothing", f"feed: {event}")
    assert [card.number for card in book.broker.waiting()] == [1]


def test_the_supervisor_waits_whichever_hook_comes_first(book: Playbook) -> None:
    book.asks(stop("b", OWN)).sees("b hears nothing", "feed: Stop")
    book.asks(stop("a", SUPERVISOR)).sees("#1 waiting: a")


def test_the_next_stop_ends_the_card_of_the_last(book: Playbook) -> None:
    book.asks(stop("a", SUPERVISOR))
    book.asks(stop("b", OWN, last_assistant_message="Done again."))
    assert not book.broker.waiting()


def test_the_same_words_from_the_same_hook_are_the_next_stop(book: Playbook) -> None:
    book.asks(stop("a", SUPERVISOR)).asks(stop("b", OWN))
    book.asks(stop("c", SUPERVISOR))
    assert [card.requests[0].id for card in book.broker.waiting()] == ["c"]


@pytest.mark.parametrize("stances", [(OWN, SUPERVISOR), (SUPERVISOR, OWN)])
def test_an_order_to_keep_going_is_used_once_and_heard_by_both(
    book: Playbook, stances: tuple[Stance, Stance]
) -> None:
    book.orders(Order(OrderKind.KEEP_GOING, name="Stop", session="s", times=2, words="go on"))
    for number in "12":
        for stance in stances:
            book.asks(stop(f"{number}{stance}", stance, last_assistant_message=number))
            assert b'"go on"' in book.effects[0].reply.stdout  # type: ignore[union-attr]
    book.asks(stop("x", SUPERVISOR, last_assistant_message="3")).sees("#1 waiting: x")
    assert book.broker.waiting()[0].kept_going == 0  # it began by itself, as it says


def test_the_agents_cap_is_counted_once_for_both(book: Playbook) -> None:
    book.orders(Order(OrderKind.KEEP_GOING, name="Stop", session="s", times=8, words="go on"))
    for number in range(8):
        for stance in (OWN, SUPERVISOR):
            said = {"last_assistant_message": str(number), "stop_hook_active": number > 0}
            book.asks(stop(f"{number}{stance}", stance, **said))
            assert b'"go on"' in book.effects[0].reply.stdout  # type: ignore[union-attr]


def test_an_operator_who_is_away_is_not_waited_for_by_a_supervisor(book: Playbook) -> None:
    book.orders(Order(OrderKind.AWAY)).asks(stop("a", SUPERVISOR))
    assert not book.broker.waiting()
    assert b"block" not in book.effects[0].reply.stdout  # type: ignore[union-attr]


def test_a_supervised_stop_is_told_what_the_operator_says(book: Playbook) -> None:
    book.asks(stop("a", SUPERVISOR)).answers(1, GO_ON)
    assert b'"decision":"block"' in book.effects[0].reply.stdout.replace(b" ", b"")  # type: ignore[union-attr]
    book.asks(stop("b", SUPERVISOR, stop_hook_active=True)).answers(2, PASS)
    assert book.effects[0].reply.stdout == b""  # type: ignore[union-attr]


def test_two_tellings_far_apart_are_two_events() -> None:
    seen = Deduplicator()
    assert not seen.add(stop("a", OWN), 0.0).is_repeat
    assert seen.add(stop("b", SUPERVISOR), TOGETHER_WITHIN).is_repeat
    assert not seen.add(stop("c", Stance.GATE), TOGETHER_WITHIN + 1).is_repeat


def test_agents_are_told_apart_and_only_the_latest_are_kept() -> None:
    seen = Deduplicator()
    seen.add(stop("a", OWN, agent="one"), 0.0)
    assert not seen.add(stop("b", SUPERVISOR, agent="two"), 0.0).is_repeat
    for number in range(5000):
        seen.add(stop("x", OWN, agent=str(number)), 0.0)
    assert repr(seen) == "<Deduplicator of 4096 agents>"
    assert not seen.add(stop("c", SUPERVISOR, agent="one"), 0.0).is_repeat
