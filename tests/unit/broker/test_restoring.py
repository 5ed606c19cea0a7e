"""After a restart what waited is on its card again, and a hook that comes back finds its place."""

from dataclasses import replace

from crabhook.broker.messages import (
    Mirrored,
    Restored,
    RestoredAnswer,
    RestoredDecision,
    RestoredRequest,
    Show,
    TimePassed,
)
from crabhook.broker.restoring import COME_BACK_WITHIN
from crabhook.model.actor import OWNER, Ended, OrderKind
from crabhook.model.card import Request, State
from crabhook.model.decision import Decided, Decision, Reply, Verdict
from crabhook.model.order import Order, Standing
from crabhook.platforms import PLATFORMS
from tests.support.playbook import ALLOW, ASK, Playbook, bash, calling, done, prompt


def restore(
    book: Playbook,
    *waiting: tuple[int, Request],
    left: float = 600,
    answers: tuple[RestoredAnswer, ...] = (),
    decided: tuple[RestoredDecision, ...] = (),
) -> None:
    legs = tuple(
        RestoredRequest(number, replace(one, wait_until=book.now + left)) for number, one in waiting
    )
    book.broker.handle(Restored(legs, answers, decided, 40, book.now))


def decided_before(book: Playbook, request: Request, decision: Decision) -> None:
    """Begin again after a server that decided a call on card 7 and died before it said so."""
    said = PLATFORMS["claude"].write(request.event, decision)
    given = RestoredAnswer(request.id, request.secret, said)
    restore(
        book, answers=(given,), decided=(RestoredDecision(7, request, Decided(decision, OWNER)),)
    )


def test_a_hook_that_comes_back_is_put_back_on_the_same_card_and_decided_once() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")))
    assert [card.number for card in book.broker.waiting()] == [7]
    book.asks(bash("a", "ls"))
    book.answers(7, ALLOW).sees("a hears PreToolUse allow, confirms", "#7 decided ALLOWED: a")


def test_an_order_that_no_operator_could_give_is_left_out_and_the_server_begins() -> None:
    book = Playbook()
    endless = Standing.of(Order(OrderKind.ALLOW_ALL, session="s"), 0, OWNER)
    of_nobody = Standing.of(Order(OrderKind.HALT, session=""), 0, OWNER)
    stop = Standing.of(Order(OrderKind.HALT, session="s"), 0, OWNER)
    halts = (endless, of_nobody, stop)
    book.broker.handle(Restored((), (), (), 40, book.now, halts=halts))
    assert [order.about for order in book.broker.orders()] == [stop.about]


def test_new_cards_have_new_numbers() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")))
    book.asks(bash("b", "rm", "t2")).sees("#41 waiting: b")


def test_two_legs_are_one_card_again() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")), (7, prompt("b", "ls")))
    (card,) = book.broker.waiting()
    assert [leg.id for leg in card.requests] == ["a", "b"]


def test_what_is_decided_before_the_hook_is_back_waits_for_it() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")))
    book.answers(7, ALLOW)
    book.asks(bash("a", "ls")).sees("a hears PreToolUse allow, confirms")


def test_an_answer_given_before_the_end_is_given_to_its_ticket_and_to_no_other() -> None:
    book = Playbook()
    said = Reply({"said": 1})
    restore(book, answers=(RestoredAnswer("a", "secret of a", said),))
    book.asks(bash("a", "ls", secret="guess"))
    assert "NOT_YOURS" in repr(book.effects)
    book.asks(bash("a", "ls"))
    assert book.effects[0].reply == said  # type: ignore[union-attr]


def test_a_hook_that_never_comes_back_leaves_no_card_waiting_for_nobody() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")), (8, bash("b", "rm", "t2")))
    book.asks(bash("b", "rm", "t2"))
    book.waits(COME_BACK_WITHIN)
    assert [card.number for card in book.broker.waiting()] == [8]
    gone = book.broker.card(7)
    assert gone is not None
    assert gone.end is Ended.NEVER_CAME_BACK


def test_the_receipt_of_an_answer_from_before_is_told() -> None:
    book = Playbook()
    decided_before(book, bash("a", "ls"), ALLOW)
    book.asks(bash("a", "ls")).sees("a hears PreToolUse allow, confirms")
    book.confirms("a").sees(
        "#7 decided ALLOWED, delivered: a", "feed: #7 PreToolUse ALLOWED · delivered in 0 ms"
    )
    book.confirms("a").sees()


def test_a_decision_from_before_still_reaches_the_request_that_follows() -> None:
    book = Playbook()
    changed = {"plan": "# two"}
    plan = calling("a", {"plan": "# one"}, "t1", tool="ExitPlanMode")
    decided_before(book, plan, Decision(Verdict.ALLOW, updated_input=changed))
    book.asks(plan)
    follows = calling("b", {"plan": "# one"}, event="PermissionRequest", tool="ExitPlanMode")
    book.asks(follows)
    assert book.effects[0].reply.output["hookSpecificOutput"]["decision"] == {  # type: ignore[union-attr,index]
        "behavior": "allow",
        "updatedInput": changed,
    }
    assert not book.broker.waiting()


def test_a_call_handed_back_before_is_not_asked_about_again() -> None:
    book = Playbook()
    decided_before(book, bash("a", "ls"), ASK)
    book.asks(bash("a", "ls"))
    book.asks(prompt("b", "ls"))
    assert not book.broker.waiting()


def test_a_note_from_before_goes_with_the_result() -> None:
    book = Playbook()
    decided_before(book, prompt("a", "ls"), Decision(Verdict.ALLOW, note="only this once"))
    book.asks(prompt("a", "ls")).asks(done("b", "ls"))
    assert b"only this once" in book.effects[0].reply.stdout  # type: ignore[union-attr]


def test_an_allow_whose_hook_does_not_come_back_allows_nothing_else() -> None:
    book = Playbook()
    decided_before(book, bash("a", "ls"), ALLOW)
    book.asks(prompt("b", "ls")).sees("#41 waiting: b")


def test_an_answer_whose_receipt_has_come_allows_nothing_else() -> None:
    book = Playbook()
    decided_before(book, bash("a", "ls"), ALLOW)
    book.confirms("a")
    book.asks(bash("a", "ls")).asks(prompt("b", "ls")).sees("#41 waiting: b")


def test_an_allow_from_before_is_said_to_one_request_that_follows() -> None:
    book = Playbook()
    decided_before(book, bash("a", "ls"), ALLOW)
    book.asks(bash("a", "ls")).asks(prompt("b", "ls"))
    assert not book.broker.waiting()
    book.asks(bash("a", "ls")).asks(prompt("c", "ls")).sees("#41 waiting: c")


def test_a_wait_that_a_wrong_clock_says_is_over_is_as_long_as_its_hook_says() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")), left=0)
    book.waits(2)
    assert [card.number for card in book.broker.waiting()] == [7]
    book.asks(bash("a", "ls", wait=400))
    book.waits(399)
    assert [card.number for card in book.broker.waiting()] == [7]
    book.waits(2)
    assert "refused UNDECIDED" in repr(book)
    assert not book.broker.waiting()


def test_a_wait_that_is_not_over_is_as_long_as_it_was() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")), left=300)
    book.waits(2)
    book.asks(bash("a", "ls", wait=3000))
    assert book.broker.waiting()[0].wait_until == book.now + 298


def test_a_wait_that_is_over_and_whose_hook_is_gone_ends_with_the_others() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")), left=0)
    book.waits(COME_BACK_WITHIN)
    assert not book.broker.waiting()


def test_a_card_that_is_put_back_has_waited_as_long_as_it_has() -> None:
    book = Playbook()
    leg = replace(bash("a", "ls"), wait_until=book.now + 600)
    book.broker.handle(Restored((RestoredRequest(3, leg, 42.0),), (), (), 40, book.now))
    (card,) = book.broker.waiting()
    assert book.now - card.asked_at == 42.0


def test_what_another_server_shows_is_on_its_cards_and_no_clock_or_rule_ends_it_here() -> None:
    book = Playbook()
    first, second = bash("a", "ls", wait=book.now + 5), prompt("b", "ls", wait=book.now + 5)
    shown = tuple(RestoredRequest(7, one) for one in (first, second))
    assert [type(one) for one in book.broker.handle(Mirrored(shown, (), book.now))] == [Show] * 2
    (card,) = book.broker.waiting()
    assert (card.number, [leg.id for leg in card.requests]) == (7, ["a", "b"])
    assert not card.restored
    assert book.broker.handle(TimePassed(book.now + 600)) == []
    ended = replace(card, state=State.DECIDED, decided=Decided(ALLOW, OWNER), ended_at=book.now)
    (effect,) = book.broker.handle(Mirrored((), (ended,), book.now))
    assert isinstance(effect, Show)
    assert (effect.card.state, effect.card.revision) == (State.DECIDED, card.revision + 1)
    assert not book.broker.waiting()
