"""How cards end is told in test_broker; here, what an end leaves behind for the call's later events."""

from dataclasses import replace

import pytest

from crabhook.broker.broker import Broker
from crabhook.broker.facts import Answered, Arrived
from crabhook.broker.law import Judge
from crabhook.broker.states import State
from crabhook.model.actor import OWNER
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import Order, OrderKind
from crabhook.model.request import Request
from crabhook.platforms import PLATFORMS
from tests.support.playbook import Playbook, asking, bash, calling, done, prompt
from tests.support.ruled import NO_RM, RM_DENIED, judge_by

PLAN = {"plan": "# one"}


def plan(ticket: str, event: str, use_id: str = "", **more: object) -> object:
    return calling(ticket, PLAN | more, use_id, event=event, tool="ExitPlanMode")


def test_a_changed_plan_is_carried_by_the_request_that_follows(book: Playbook) -> None:
    book.asks(plan("a", "PreToolUse", "t1"))  # type: ignore[arg-type]
    changed = {"plan": "# two"}
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    decision = Decision(Verdict.ALLOW, updated_input=changed, permissions=(mode,))
    book.answers(1, decision).sees("a hears nothing, confirms", "#1 decided ALLOWED: a")
    book.asks(plan("b", "PermissionRequest"))  # type: ignore[arg-type]
    told = book.effects[0].reply.output["hookSpecificOutput"]["decision"]  # type: ignore[union-attr,index,call-overload]
    assert told == {"behavior": "allow", "updatedInput": changed, "updatedPermissions": [mode]}


def test_a_note_goes_with_a_result_even_if_the_result_is_held(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).answers(1, Decision(Verdict.ALLOW, note="only this once"))
    book.orders(Order(OrderKind.HOLD, name="PostToolUse"))
    book.asks(done("b", "ls")).answers(2, Decision(Verdict.ALLOW))
    assert b"only this once" in book.effects[0].reply.stdout  # type: ignore[union-attr]


def test_a_halt_goes_with_any_verdict(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, name="Stop")).asks(asking("a", "Stop"))
    book.answers(1, Decision(Verdict.PASS, halt="enough"))
    assert book.effects[0].reply.output == {"continue": False, "stopReason": "enough"}  # type: ignore[union-attr]


def ruled(*commands: str) -> Broker:
    """Return a broker under the rule against rm, asked about these."""
    broker = Broker(PLATFORMS, judge_by())
    for place, command in enumerate(commands, 1):
        request = replace(bash(f"r{place}", command, f"t{place}"), wait_until=600.0)
        broker.handle(Arrived(request, 1, 0.0))
    return broker


def changed(command: str) -> Decision:
    return Decision(Verdict.ALLOW, updated_input={"command": command})


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rm -rf build", (RM_DENIED,)),
        (
            "cat .env",
            ("files of secrets for a project always reach a person (protected: env-files): .env",),
        ),
        ("ls -l", ()),
        ("ls", ()),  # as the agent asked it, so judged already
    ],
)
def test_an_edited_call_is_judged_again_before_it_is_sent(
    command: str, said: tuple[str, ...]
) -> None:
    broker, decision = ruled("ls"), changed(command)
    assert broker.objections(1, decision) == said
    if said:
        with pytest.raises(DecisionError, match="the rules are against"):
            broker.handle(Answered(1, decision, OWNER, 1.0))
        assert broker.waiting()
    broker.handle(Answered(1, replace(decision, despite=said), OWNER, 1.0))
    assert not broker.waiting()


def test_a_yes_to_one_objection_is_none_to_another() -> None:
    broker = ruled("ls")
    yes = broker.objections(1, changed("rm -rf build"))
    with pytest.raises(DecisionError):
        broker.handle(Answered(1, replace(changed("rm -rf src"), despite=yes), OWNER, 1.0))


def test_answers_to_questions_and_calls_that_are_not_changed_are_not_judged_again() -> None:
    rules = list[Judge]()
    broker = Broker(PLATFORMS, lambda event: rules[0](event) if rules else None)
    asked = calling("q", {"questions": []}, "q1", event="PermissionRequest", tool="AskUserQuestion")
    broker.handle(Arrived(asked, 1, 0.0))
    rules.append(judge_by(NO_RM.replace("Bash(rm *)", "AskUserQuestion")))
    broker.handle(
        Answered(
            1, Decision(Verdict.ALLOW, updated_input={"questions": [], "answers": {}}), OWNER, 1.0
        )
    )
    assert not broker.waiting()
    assert not ruled("ls").objections(1, Decision(Verdict.ALLOW))


GONE_ON = "the agent goes on by its own rules, which may run it unasked"


@pytest.mark.parametrize(
    ("asked", "when_lost", "follows"),
    [
        (bash("a", "ls"), "deny", "denied, as its hook was installed to"),
        (bash("a", "ls"), "pass", GONE_ON),
        (bash("a", "ls"), "", f"denied if its hook fails closed, else {GONE_ON}"),
        (bash("a", "ls"), "ask", "the agent's own user is asked, where it can be told to"),
        (calling("a", {}, event="BeforeTool", platform="gemini"), "pass", GONE_ON),
        (prompt("a", "ls"), "deny", "denied, as its hook was installed to"),
        (prompt("a", "ls"), "pass", "the agent's own user decides"),
        (asking("a", "Elicitation"), "deny", "the agent goes on as without crabhook"),
    ],
)
def test_what_follows_a_timeout_is_said_as_it_is(
    book: Playbook, asked: Request, when_lost: str, follows: str
) -> None:
    book.asks(replace(asked, when_lost=when_lost)).waits(600)
    card = book.broker.card(1)
    assert card is not None
    assert (card.state, card.why) == (State.EXPIRED, f"nobody decided in time: {follows}")
