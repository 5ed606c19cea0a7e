"""A ticket that comes back is no news: it is given what it had, whatever was ordered since."""

import pytest

from crabhook.broker.broker import Broker
from crabhook.broker.messages import Arrived, Commanded, Restored, RestoredRequest
from crabhook.desk.commands import GiveOrder
from crabhook.model.actor import OWNER
from crabhook.model.card import Request, Stance
from crabhook.model.decision import Decision
from crabhook.model.order import Order, OrderKind
from crabhook.platforms import PLATFORMS
from tests.support.playbook import ALLOW, DENY, Playbook, asking, bash, calling, prompt
from tests.support.rows import every_row
from tests.support.ruled import judge_by

HOLD_STOP = Order(OrderKind.HOLD, name="Stop")
AWAY = Order(OrderKind.AWAY)
ALLOW_ALL = Order(OrderKind.ALLOW_ALL, session="s", until=9999.0)


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
    book.orders(Order(OrderKind.KEEP_GOING, name="Stop", times=2, words="go on"))
    book.asks(asking("a", "Stop")).asks(asking("a", "Stop"))
    book.sees('a/2 hears {"decision": "block", "reason": "go on"}, confirms')
    assert [order.times for order in book.broker.orders()] == [1]


ASKED = '[[rule]]\nverdict = "ask-operator"\nmatch = "Bash(rm *)"\nnote = "look twice"\n'
GATE = "its hook is a gate, and no rule covers it"


@every_row(
    "asked, because",
    [
        (bash("a", "rm x"), "rules.toml, line 1: ask-operator Bash(rm *) (look twice)"),
        (
            bash("a", "cat .env"),
            "files of secrets for a project always reach a person (protected: env-files): .env",
        ),
        (bash("a", "ls"), GATE),
        (prompt("a", "ls"), "the agent itself asks"),
        (prompt("a", "ls", stance=Stance.COMPANION), "the agent itself asks"),
        (asking("a", "Stop", stance=Stance.SUPERVISOR), "its hook is a supervisor: every end of"),
        (asking("a", "SubagentStart"), "your standing order: hold SubagentStart"),
        (bash("a", "ls", session="held"), "your standing order: hold everything of session=held"),
        (
            bash("a", "ls", session="held", stance=Stance.COMPANION),
            "your standing order: hold everything of session=held",
        ),
        (
            calling("a", {}, "t1", tool="ExitPlanMode"),
            "the agent itself asks",
        ),
    ],
)
def test_a_card_says_why_it_is_here_and_says_it_again_after_a_restart(
    asked: Request, because: str
) -> None:
    broker, ruling = Broker(PLATFORMS), judge_by(ASKED)(asked.event)
    broker.handle(Commanded(GiveOrder(Order(OrderKind.HOLD, name="SubagentStart")), OWNER, 0.0))
    broker.handle(
        Commanded(GiveOrder(Order(OrderKind.HOLD_ALL, session="held", until=60.0)), OWNER, 0.0)
    )
    broker.handle(Arrived(asked, ruling, 1, 0.0))
    (card,) = broker.waiting()
    assert card.reason.in_full.startswith(because)
    after = Broker(PLATFORMS)
    after.handle(Restored((RestoredRequest(1, asked, ruling=ruling),), (), (), 1, 0.0))
    (again,) = after.waiting()
    if "order" in because:
        because = "a standing order" if again.event.name == "SubagentStart" else GATE
        because = "a rule, or" if asked.stance is Stance.COMPANION else because
    assert again.reason.in_full.startswith(because)
