"""A ticket that comes back is no news: it is given what it had, whatever was ordered since."""

import pytest

from crabhook.broker.orders import Kind, Order
from crabhook.model.decision import Decision
from tests.support.playbook import ALLOW, DENY, Playbook, asking, bash, prompt

HOLD_STOP = Order(Kind.HOLD, name="Stop")
AWAY = Order(Kind.AWAY)
ALLOW_ALL = Order(Kind.ALLOW_ALL, session="s", until=9999.0)


def test_a_held_stop_that_comes_back_keeps_its_place(book: Playbook) -> None:
    book.orders(HOLD_STOP).asks(asking("a", "Stop")).sees("#1 waiting: a")
    book.asks(asking("a", "Stop")).sees("a refused SUPERSEDED")
    assert [card.number for card in book.broker.waiting()] == [1]


def test_a_thief_with_a_stop_ends_nothing(book: Playbook) -> None:
    book.asks(prompt("a", "ls"))
    book.asks(asking("a", "Stop", secret="guess")).sees("a/2 refused NOT_YOURS")
    assert [card.number for card in book.broker.waiting()] == [1]


@pytest.mark.parametrize("order", [AWAY, ALLOW_ALL])
@pytest.mark.parametrize("decision", [ALLOW, DENY])
def test_no_later_order_changes_an_answer_that_was_not_received(
    decision: Decision, order: Order, book: Playbook
) -> None:
    book.asks(bash("a", "ls")).answers(1, decision)
    given = book.effects[0].reply  # type: ignore[union-attr]
    book.orders(order).asks(bash("a", "ls"))
    (again,) = book.effects
    assert again.reply == given  # type: ignore[union-attr]


@pytest.mark.parametrize("order", [HOLD_STOP, ALLOW_ALL])
def test_no_order_takes_a_place_from_a_hook_that_comes_back(order: Order, book: Playbook) -> None:
    book.asks(bash("a", "ls")).orders(order).asks(bash("a", "ls")).sees("a refused SUPERSEDED")


def test_whoever_was_let_go_and_comes_back_hears_the_same(book: Playbook) -> None:
    book.asks(bash("a", "ls")).orders(AWAY).asks(bash("a", "ls")).sees(
        "a/2 hears nothing, confirms"
    )


@pytest.mark.parametrize("order", [AWAY, ALLOW_ALL])
def test_another_secret_gets_nothing_by_an_order(order: Order, book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, DENY).orders(order)
    book.asks(bash("a", "ls", secret="guess")).sees("a/2 refused NOT_YOURS")
    book.asks(bash("a", "ls"))
    assert "deny" in repr(book.effects[0])


def test_an_allow_of_everything_does_not_undo_a_denial_a_moment_ago(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, DENY).orders(ALLOW_ALL).asks(prompt("b", "ls"))
    assert book.effects[0].reply.output == {  # type: ignore[union-attr]
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "not here"},
        }
    }


def test_coming_back_uses_up_no_order(book: Playbook) -> None:
    book.orders(Order(Kind.KEEP_GOING, name="Stop", times=2, words="go on"))
    book.asks(asking("a", "Stop")).asks(asking("a", "Stop"))
    book.sees('a/2 hears {"decision": "block", "reason": "go on"}, confirms')
    assert [order.times for order in book.broker.orders()] == [1]
