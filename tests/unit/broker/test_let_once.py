"""A call that its agent's own check refused: a person may let that very call run, once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from crabhook.broker.arriving import MOST_STANDING, STANDS_FOR
from crabhook.broker.broker import Broker
from crabhook.broker.messages import (
    Arrived,
    Commanded,
    OrderSpent,
    Outcome,
    Refusal,
    Refuse,
    Resolve,
    Restored,
    RestoredRequest,
)
from crabhook.desk.commands import EndOrders, Steer
from crabhook.model.actor import OWNER, Operator
from crabhook.model.card import Because, Brought, Request, Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import LET_ONCE_FOR, Order, OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import RuleVerdict, Ruling
from tests.support.playbook import (
    ALLOW,
    PASS,
    WAIT,
    Playbook,
    asking,
    bash,
    done,
    is_allow,
    of_machine,
    prompt,
)

RETRY = Decision(Verdict.RETRY)
AUTO: dict[str, Any] = {"stance": Stance.COMPANION, "permission_mode": "auto"}


def refused(ticket: str, command: str = "touch made", use_id: str = "t1", **how: Any) -> Request:
    """A companion's PermissionDenied: the classifier of auto mode refused a command."""
    how = {"event": "PermissionDenied", "reason": "not today", **AUTO, **how}
    return bash(ticket, command, use_id, **how)


def again(ticket: str, command: str = "touch made", use_id: str = "t2", **how: Any) -> Request:
    """A companion's PreToolUse of a command in auto mode."""
    return bash(ticket, command, use_id, **{**AUTO, **how})


def let_once(book: Playbook, request: Request | None = None, number: int = 1) -> Playbook:
    """Have a call refused, and let it run once."""
    return book.asks(request or refused("d")).answers(number, RETRY)


def runs(book: Playbook, request: Request) -> bool:
    """Whether this PreToolUse is allowed at once."""
    book.asks(request)
    replies = [effect.reply for effect in book.effects if hasattr(effect, "reply")]
    return any(map(is_allow, replies))


def once(book: Playbook) -> list[Order]:
    return [order for order in book.broker.orders() if order.kind is OrderKind.LET_ONCE]


def test_the_hook_has_its_answer_at_once_and_a_card_stands_all_the_same(book: Playbook) -> None:
    book.asks(refused("d"))
    book.sees(
        "d hears nothing",
        "feed: PermissionDenied",
        "#1 waiting: d",
    )
    card = book.broker.card(1)
    assert card is not None
    assert card.reason == Because(Brought.AGENT, "the agent's own check refused it")
    assert card.choices.verdicts == {Verdict.ALLOW, Verdict.RETRY, Verdict.PASS}


def test_a_yes_lets_the_next_such_call_run_and_tells_the_model(book: Playbook) -> None:
    let_once(book)
    assert [str(order) for order in once(book)] == ["let run once Bash session=s times=1 #1"]
    book.asks(bash("r", "ls", "t9", event="PostToolUse", **AUTO))
    told = repr(book.effects[0].reply.stdout)  # type: ignore[union-attr]
    assert "may run once now" in told
    assert "touch made" in told
    assert runs(book, again("x"))
    assert once(book) == []


def test_the_second_such_call_is_the_agents_own_again(book: Playbook) -> None:
    let_once(book)
    assert runs(book, again("x"))
    assert not runs(book, again("y", use_id="t3"))
    book.asks(refused("e", use_id="t3")).sees(
        "e hears nothing", "feed: PermissionDenied", "#2 waiting: e"
    )


def wider() -> Request:
    request = again("x")
    tool = request.event.tool
    assert tool is not None
    assert isinstance(tool.input, dict)
    wider = replace(tool, input={**tool.input, "run_in_background": True})
    return replace(request, event=replace(request.event, tool=wider))


OTHER: dict[str, Callable[[], Request]] = {
    "a changed byte": lambda: again("x", "touch made "),
    "another tool": lambda: replace(
        again("x"),
        event=replace(again("x").event, tool=replace(again("x").event.tool, name="Zsh")),  # type: ignore[type-var]
    ),
    "a field more": wider,
    "another session": lambda: again("x", session="t"),
    "another agent of the session": lambda: again("x", agent="sub"),
    "another machine": lambda: of_machine("far", again("x")),
    "another folder": lambda: again("x", cwd="/elsewhere"),
    "a call that is served for another session": lambda: again("x", caller_session_id="far"),
    "another platform": lambda: again("x", platform="qwen"),
}


@pytest.mark.parametrize("other", OTHER)
def test_nothing_else_runs_by_it_and_the_order_still_stands(other: str, book: Playbook) -> None:
    let_once(book)
    assert not runs(book, OTHER[other]())
    assert len(once(book)) == 1
    assert runs(book, again("own"))


def test_the_main_agent_does_not_run_what_a_subagent_may(book: Playbook) -> None:
    let_once(book, refused("d", agent="sub"))
    assert not runs(book, again("x"))
    assert runs(book, again("y", agent="sub"))


@pytest.mark.parametrize("halted", ["", "other"])
def test_a_subagents_order_outlives_its_turn_whoever_else_is_halted(
    halted: str, book: Playbook
) -> None:
    let_once(book, refused("d", agent="sub"))
    if halted:
        book.orders(Order(OrderKind.HALT, session=halted, words="stop"))
    book.asks(asking("end", "SubagentStop", agent="sub", stance=Stance.COMPANION))
    assert len(once(book)) == 1
    assert runs(book, again("x", agent="sub"))


def test_it_ends_after_ten_minutes(book: Playbook) -> None:
    let_once(book).waits(LET_ONCE_FOR - 1)
    assert len(once(book)) == 1
    book.now += 1  # the clock's own news come later
    assert not runs(book, again("x"))
    book.waits(0)
    assert once(book) == []


LAWS = {
    "a denial": Ruling(RuleVerdict.DENY, None, "no"),
    "a question": Ruling(RuleVerdict.ASK_OPERATOR, None, "ask"),
    "a question for the agent's user": Ruling(RuleVerdict.ASK_AGENTS_USER, None, "ask there"),
}


@pytest.mark.parametrize("law", LAWS)
def test_rules_that_deny_or_ask_come_first(law: str) -> None:
    book = Playbook()
    let_once(book)
    book.judge = lambda _: LAWS[law]
    assert not runs(book, again("x"))
    assert len(once(book)) == 1


def test_a_rule_that_passes_the_call_leaves_the_yes_its_force() -> None:
    book = Playbook(lambda _: Ruling(RuleVerdict.PASS, None, "its own rules"))
    let_once(book)
    assert runs(book, again("x"))


@pytest.mark.parametrize("kind", [OrderKind.HALT, OrderKind.HOLD_ALL])
def test_an_order_that_stops_or_holds_the_session_comes_first(
    kind: OrderKind, book: Playbook
) -> None:
    let_once(book).orders(Order(kind, session="s", words="stop"))
    assert not runs(book, again("x"))


def test_a_yes_holds_while_the_operator_is_away(book: Playbook) -> None:
    let_once(book).orders(Order(OrderKind.AWAY))
    assert runs(book, again("x"))
    book.asks(refused("e", "touch other")).sees("e hears nothing", "feed: PermissionDenied")


def test_only_a_card_gives_it(book: Playbook) -> None:
    event = refused("d").event
    forged = Order.letting_run(event, book.now + 60, 1)
    for order in (forged, Order(OrderKind.LET_ONCE, session="s", times=1)):
        with pytest.raises(DecisionError, match="only the card"):
            book.orders(order)
    assert once(book) == []


def test_nothing_that_a_hook_sends_gives_it(book: Playbook) -> None:
    events = [name for platform in PLATFORMS.values() for name in platform.events]
    for place, name in enumerate(dict.fromkeys(events)):
        for stance in Stance:
            fields = {"tool_name": "Bash", "tool_input": {"command": "touch made"}}
            fields |= {"retry": True, "decision": "retry", "verdict": "retry"}
            asked = asking(f"{place} {stance}", name, **{**AUTO, "stance": stance}, **fields)
            book.asks(asked)
            assert once(book) == []


def test_no_other_answer_to_the_card_gives_it(book: Playbook) -> None:
    for number, decision in enumerate((ALLOW, PASS), 1):
        book.asks(refused(f"d{number}", f"touch {number}")).answers(number, decision)
        assert not runs(book, again(f"x{number}", f"touch {number}", f"u{number}"))
    assert once(book) == []


def test_the_same_call_refused_again_has_one_card_and_is_tried_again_after_a_yes(
    book: Playbook,
) -> None:
    book.asks(refused("d")).asks(refused("e", use_id="t2"))
    book.sees("e hears nothing", "feed: PermissionDenied")
    book.answers(1, RETRY).asks(refused("f", use_id="t3"))
    book.sees(
        'f hears PermissionDenied {"retry": true}', "feed: PermissionDenied RETRIED: operator"
    )
    assert len(once(book)) == 1


def test_a_call_that_rules_deny_has_no_card() -> None:
    book = Playbook(lambda _: LAWS["a denial"])
    book.asks(refused("d")).sees("d hears nothing", "feed: PermissionDenied")


def test_a_hook_that_comes_back_has_its_answer_again_and_is_not_held(book: Playbook) -> None:
    book.asks(refused("d")).asks(refused("d")).sees("d/2 hears nothing")
    book.answers(1, RETRY)
    assert len(once(book)) == 1


def test_an_agent_that_goes_on_leaves_the_card_and_its_sessions_end_takes_it(
    book: Playbook,
) -> None:
    book.asks(refused("d"))
    for ticket, event in enumerate(("PostToolBatch", "Stop", "UserPromptSubmit", "SubagentStop")):
        book.asks(asking(f"e{ticket}", event, stance=Stance.COMPANION))
        assert len(book.broker.waiting()) == 1
    book.asks(asking("end", "SessionEnd", stance=Stance.COMPANION))
    assert not book.broker.waiting()


def test_a_subagents_end_takes_its_card(book: Playbook) -> None:
    book.asks(refused("d", agent="sub")).asks(refused("e"))
    book.asks(asking("end", "SubagentStop", agent="sub", stance=Stance.COMPANION))
    assert [card.number for card in book.broker.waiting()] == [2]


def test_a_card_ends_by_itself(book: Playbook) -> None:
    book.asks(refused("d")).waits(STANDS_FOR)
    assert not book.broker.waiting()


def test_cards_of_refused_calls_leave_room_for_others(book: Playbook) -> None:
    for place in range(MOST_STANDING + 5):
        book.asks(refused(f"d{place}", f"touch {place}"))
    assert len(book.broker.waiting()) == MOST_STANDING
    book.asks(refused("other", session="t"))
    assert len(book.broker.waiting()) == MOST_STANDING + 1


def test_at_a_gate_the_call_is_only_observed_unless_it_is_held(book: Playbook) -> None:
    gate: dict[str, Any] = {"stance": Stance.GATE}
    book.asks(refused("d", **gate)).sees("d hears nothing", "feed: PermissionDenied")
    book.orders(Order(OrderKind.HOLD, "PermissionDenied")).asks(refused("e", **gate))
    book.sees("#1 waiting: e").answers(1, RETRY)
    assert 'e hears PermissionDenied {"retry": true}, confirms' in repr(book)
    assert "may run once now" not in repr(book)  # the hook that waited was told
    assert runs(book, again("x", **gate))


def test_a_model_that_tries_by_itself_is_not_told_any_more(book: Playbook) -> None:
    let_once(book).asks(again("x"))
    assert "note 1 was not needed: the call was made again" in repr(book)
    assert "may run once" not in repr(book.effects[-2:])
    assert not book.broker.notes()


def time_is_up(book: Playbook) -> None:
    book.waits(LET_ONCE_FOR)


def an_operator_ends_it(book: Playbook) -> None:
    ids = frozenset(order.id for order in book.broker.orders())
    book.broker.handle(Commanded(EndOrders(ids), OWNER, book.now))


@pytest.mark.parametrize("ends", [time_is_up, an_operator_ends_it])
def test_no_model_is_told_of_a_yes_that_counts_no_more(
    ends: Callable[[Playbook], None], book: Playbook
) -> None:
    ends(let_once(book))
    assert not book.broker.notes()
    book.asks(bash("r", "ls", "t9", event="PostToolUse", **AUTO)).sees(
        "r hears nothing", "feed: PostToolUse"
    )


def test_the_record_hears_of_each_use_before_the_call_is_allowed(book: Playbook) -> None:
    let_once(book).asks(again("x"))
    assert sum(isinstance(effect, OrderSpent) for effect in book.effects) == 1


def unspent(book: Playbook, request: Request) -> None:
    """Have a call's use of a yes not recorded."""
    fact = Arrived(request, None, 9, book.now)
    effects = book.broker.unspent(fact, book.broker.handle(fact))
    assert Refuse(request.id, 9, Refusal.UNSPENT) in effects
    assert not any(isinstance(effect, Resolve | OrderSpent) for effect in effects)


def test_a_use_that_is_not_recorded_leaves_the_order_and_its_note(book: Playbook) -> None:
    other = Order(OrderKind.HOLD, "Stop")
    let_once(book).orders(other)
    before = book.broker.orders(), book.broker.notes()
    for ticket in "xy":
        unspent(book, again(ticket, use_id=f"id of {ticket}"))
        assert (book.broker.orders(), book.broker.notes()) == before
    assert not any("ALLOWED" in entry.text for entry in book.broker.feed())
    assert runs(book, again("x"))
    assert once(book) == []
    assert not runs(book, again("y"))


def test_an_operators_note_waits_on_where_a_use_is_not_recorded(book: Playbook) -> None:
    let_once(book)
    book.broker.handle(Commanded(Steer("s", "mind the dog"), OWNER, book.now))
    before = {kept.note for kept in book.broker.notes()}
    unspent(book, again("x"))
    assert {kept.note for kept in book.broker.notes()} == before
    assert all(not kept.request_id for kept in book.broker.notes())


def test_a_later_event_of_the_call_uses_the_order_anew(book: Playbook) -> None:
    qwen: dict[str, Any] = {"platform": "qwen", "tool": "run_shell_command"}
    ask, other = (replace(prompt(each, "make", **qwen), when_lost="deny") for each in "ax")
    book.asks(ask).waits(WAIT).answers(1, ALLOW)
    assert len(once(book)) == 1
    unspent(book, other)
    book.asks(bash("y", "make", **qwen))
    assert any(isinstance(effect, OrderSpent) for effect in book.effects)
    assert once(book) == []


def test_what_runs_after_all_was_not_allowed_by_a_use_that_is_not_recorded(book: Playbook) -> None:
    let_once(book)
    unspent(book, again("x"))
    book.asks(done("r", "touch made", "t2", **AUTO))
    assert not any(isinstance(effect, Outcome) for effect in book.effects)


def test_an_operator_can_end_it_before_its_use(book: Playbook) -> None:
    let_once(book)
    ids = frozenset(order.id for order in book.broker.orders())
    book.broker.handle(Commanded(EndOrders(ids), OWNER, book.now))
    assert not runs(book, again("x"))


def test_it_is_the_persons_allow_who_gave_it(book: Playbook) -> None:
    ann = Operator("ann", "Ann", "laptop")
    book.asks(refused("d")).answers(1, RETRY, ann).asks(again("x"))
    decided = [effect.decided for effect in book.effects if hasattr(effect, "decided")]
    assert [each and each.by for each in decided] == [ann]


def test_orders_and_cards_are_there_again_after_a_restart(book: Playbook) -> None:
    book.asks(refused("d")).asks(refused("e", "touch other")).answers(2, RETRY)
    (card,), lasting = book.broker.waiting(), book.broker.lasting()
    leg = Request(**{**_fields(card.requests[0]), "secret": "secret of d"})
    book.broker = Broker(PLATFORMS)
    book.broker.handle(Restored((RestoredRequest(1, leg),), (), (), 2, book.now, halts=lasting))
    book.waits(200)  # no hook comes back, and none has to
    assert [each.number for each in book.broker.waiting()] == [1]
    assert runs(book, again("x", "touch other"))
    assert not runs(book, again("y", "touch other", "t3"))
    book.answers(1, RETRY)
    assert runs(book, again("z", use_id="t4"))


def test_a_restarted_server_tells_no_model_to_repeat_a_call_that_it_allows(book: Playbook) -> None:
    lasting, notes = let_once(book).broker.lasting(), book.broker.notes()
    book.broker = Broker(PLATFORMS)
    book.broker.handle(Restored((), (), (), 1, book.now, halts=lasting, notes=notes))
    assert runs(book, again("x"))
    assert "may run once" not in repr(book.effects[-2:])
    assert not book.broker.notes()


def _fields(leg: Any) -> dict[str, Any]:
    names = [
        "id",
        "event",
        "wait_until",
        "stance",
        "origin",
        "gives_up_at",
        "note",
        "size",
        "when_lost",
    ]
    return {name: getattr(leg, name) for name in names}


def test_a_question_or_an_event_without_a_call_has_no_card(book: Playbook) -> None:
    book.asks(asking("d", "PermissionDenied", **AUTO)).sees(
        "d hears nothing", "feed: PermissionDenied"
    )
    asked = {"tool_name": "AskUserQuestion", "tool_input": {"questions": []}}
    book.asks(asking("e", "PermissionDenied", **AUTO, **asked))
    assert not book.broker.waiting()


def test_a_refusal_in_another_session_has_its_own_card(book: Playbook) -> None:
    let_once(book).asks(refused("e", session="t"))
    book.sees("e hears nothing", "feed: PermissionDenied", "#2 waiting: e")


def test_a_request_of_the_agents_own_dialog_comes_to_a_person(book: Playbook) -> None:
    let_once(book).asks(prompt("p", "touch made", stance=Stance.COMPANION))
    assert [card.number for card in book.broker.waiting()] == [2]
    assert len(once(book)) == 1
