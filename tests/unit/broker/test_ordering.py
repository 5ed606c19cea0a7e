"""More time for a card, and later time."""

from dataclasses import replace

import pytest

from crabhook.broker.cards import TooLateError
from crabhook.broker.messages import Commanded
from crabhook.desk.commands import EndOrders, Extend, Snooze
from crabhook.model.actor import OWNER
from crabhook.model.errors import DecisionError
from crabhook.model.order import Order, OrderKind
from crabhook.model.wording import AWAY
from tests.support.playbook import ALLOW, Playbook, bash


def waiting(book: Playbook, ours: float, theirs: float) -> None:
    """A card that waits `ours` seconds for a hook that waits `theirs`."""
    book.asks(replace(bash("a", "ls", wait=ours), gives_up_at=book.now + theirs))


def test_a_card_waits_longer_as_long_as_its_hook_does(book: Playbook) -> None:
    waiting(book, 10, 100)
    book.broker.handle(Commanded(Extend(1, 30), OWNER, book.now))
    book.waits(39.9)
    assert book.broker.waiting()
    book.broker.handle(Commanded(Extend(1, 1000), OWNER, book.now))
    assert book.broker.waiting()[0].wait_until == book.now - 39.9 + 100
    with pytest.raises(DecisionError, match="as long as its hook does already"):
        book.broker.handle(Commanded(Extend(1, 5), OWNER, book.now))
    book.waits(61)
    assert not book.broker.waiting()


def test_an_ended_card_gets_no_more_time(book: Playbook) -> None:
    waiting(book, 10, 100)
    book.answers(1, ALLOW)
    for fact in (
        Commanded(Extend(1, 5), OWNER, book.now),
        Commanded(Snooze(1, 5), OWNER, book.now),
    ):
        with pytest.raises(TooLateError, match="already decided"):
            book.broker.handle(fact)


def test_a_card_that_was_put_aside_waits_on_and_still_ends_in_its_time(book: Playbook) -> None:
    waiting(book, 10, 10)
    book.broker.handle(Commanded(Snooze(1, 60), OWNER, book.now))
    assert book.broker.waiting()[0].snoozed_until == book.now + 60
    book.waits(10)
    assert not book.broker.waiting()


def test_what_was_put_aside_comes_back_once(book: Playbook) -> None:
    waiting(book, 100, 100)
    book.broker.handle(Commanded(Snooze(1, 60), OWNER, book.now))
    book.waits(60).sees("#1 waiting: a")
    assert book.broker.waiting()[0].snoozed_until == 0
    book.waits(1).sees()


def test_whoever_goes_away_lets_go_what_waits(book: Playbook) -> None:
    book.asks(bash("a", "ls")).orders(Order(OrderKind.AWAY))
    book.sees(
        "feed: Desk away",
        "a hears nothing",
        "#1 withdrawn: a",
        f"feed: #1 PreToolUse WITHDRAWN {AWAY}",
    )


@pytest.mark.parametrize("kind", [OrderKind.HOLD, OrderKind.KEEP_GOING])
@pytest.mark.parametrize("name", ["", "Stp", "PreToolUse", "SessionEnd"])
def test_only_what_can_be_held_on_request_is_ordered_to_be(
    name: str, kind: OrderKind, book: Playbook
) -> None:
    with pytest.raises(DecisionError, match="can be held"):
        book.orders(Order(kind, name=name))
    assert not book.broker.orders()
    assert name not in book.broker.holdable()


def test_an_order_that_does_not_stand_cannot_be_ended(book: Playbook) -> None:
    with pytest.raises(DecisionError, match="no such order"):
        book.broker.handle(Commanded(EndOrders(frozenset(range(100))), OWNER, book.now))
    book.orders(Order(OrderKind.AWAY))
    away = frozenset(order.id for order in book.broker.orders())
    book.broker.handle(Commanded(EndOrders(away), OWNER, book.now))
    assert not book.broker.orders()
