"""An agent that wants to stop is kept going eight times in a row at most."""

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import CAP, Order, OrderKind
from tests.support.playbook import Playbook, asking

ON = Decision(Verdict.KEEP_GOING, reason="the tests still fail")


def stop(book: Playbook, ticket: str, *, active: bool) -> None:
    book.asks(asking(ticket, "Stop", stop_hook_active=active))


def test_the_row_is_on_the_card_and_its_end_is_refused_when_decided(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, name="Stop"))
    for row in range(CAP):
        stop(book, f"t{row}", active=row > 0)
        (card,) = book.broker.waiting()
        assert card.kept_going == row
        book.answers(card.number, ON)
    stop(book, "last", active=True)
    (card,) = book.broker.waiting()
    with pytest.raises(DecisionError, match="8 times in a row"):
        book.answers(card.number, ON)
    book.answers(card.number, Decision(Verdict.ALLOW))


def test_an_order_counts_like_the_operator(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, name="Stop"))
    book.orders(Order(OrderKind.KEEP_GOING, name="Stop", times=2, words="on"))
    for row in range(2):  # which is not held, though the hold was ordered first
        stop(book, f"t{row}", active=row > 0)
        assert book.effects[0].reply.output == {  # type: ignore[union-attr]
            "decision": "block",
            "reason": "on",
        }
    stop(book, "then", active=True)
    assert book.broker.waiting()[0].kept_going == 2


def test_a_stop_of_its_own_begins_a_new_row(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, name="Stop"))
    stop(book, "a", active=False)
    book.answers(1, ON)
    stop(book, "b", active=False)
    assert book.broker.waiting()[0].kept_going == 0


def test_a_row_ends_what_goes_on_by_itself(book: Playbook) -> None:
    for round_ in range(2):
        book.orders(Order(OrderKind.KEEP_GOING, name="Stop", times=CAP, words="on"))
        for row in range(CAP):
            stop(book, f"{round_}.{row}", active=round_ > 0 or row > 0)
    assert book.effects[0].reply.stdout == b""  # type: ignore[union-attr]
