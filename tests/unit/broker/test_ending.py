"""How cards end is told in test_broker; here, what an end leaves behind for the call's later events."""

from dataclasses import replace

import pytest

from crabhook.broker.broker import Broker
from crabhook.broker.cards import StaleError
from crabhook.broker.messages import Answered, Arrived, Commanded
from crabhook.broker.orders import against
from crabhook.broker.pending import Limits
from crabhook.desk.commands import Snooze
from crabhook.model.actor import OWNER
from crabhook.model.card import Request, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import Order, OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import Ruling
from tests.support.playbook import ALLOW, Playbook, asking, bash, calling, done, prompt
from tests.support.ruled import RM_DENIED, judge_by

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


BY_RULES = judge_by()


class Ruled:
    """A broker under the rule against rm, asked about these."""

    def __init__(self, *commands: str) -> None:
        self.broker = Broker(PLATFORMS)
        for place, command in enumerate(commands, 1):
            request = replace(bash(f"r{place}", command, f"t{place}"), wait_until=600.0)
            self.broker.handle(Arrived(request, BY_RULES(request.event), 1, 0.0))

    def rulings(self, decision: Decision) -> dict[str, Ruling | None]:
        """What the rules say of #1 as a decision changes it."""
        changed = self.broker.changed(1, decision)
        return {leg: BY_RULES(event) for leg, event in changed.items()}

    def objections(self, decision: Decision) -> tuple[str, ...]:
        return against(self.rulings(decision).values())

    def answers(self, decision: Decision) -> None:
        self.broker.handle(Answered(1, decision, OWNER, 1.0, rulings=self.rulings(decision)))


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
    ruled, decision = Ruled("ls"), changed(command)
    assert ruled.objections(decision) == said
    if said:
        with pytest.raises(DecisionError, match="the rules are against"):
            ruled.answers(decision)
        assert ruled.broker.waiting()
    ruled.answers(replace(decision, despite=said))
    assert not ruled.broker.waiting()


def test_a_changed_call_that_nobody_judged_is_not_sent() -> None:
    ruled = Ruled("ls")
    with pytest.raises(DecisionError, match="the rules were not asked"):
        ruled.broker.handle(Answered(1, changed("ls -l"), OWNER, 1.0))
    assert ruled.broker.waiting()


def test_a_leg_that_joined_since_a_change_was_judged_is_judged_too() -> None:
    ruled, decision = Ruled("ls"), changed("ls -l")
    rulings = ruled.rulings(decision)
    joins = replace(prompt("p", "ls"), wait_until=600.0)
    ruled.broker.handle(Arrived(joins, None, 2, 0.0))
    with pytest.raises(DecisionError, match="the rules were not asked"):
        ruled.broker.handle(Answered(1, decision, OWNER, 1.0, rulings=rulings))
    ruled.answers(decision)
    assert not ruled.broker.waiting()


def test_a_yes_to_one_objection_is_none_to_another() -> None:
    ruled = Ruled("ls")
    yes = ruled.objections(changed("rm -rf build"))
    with pytest.raises(DecisionError):
        ruled.answers(replace(changed("rm -rf src"), despite=yes))


def test_answers_to_questions_and_calls_that_are_not_changed_are_not_judged_again() -> None:
    broker = Broker(PLATFORMS)
    asked = calling("q", {"questions": []}, "q1", event="PermissionRequest", tool="AskUserQuestion")
    broker.handle(Arrived(asked, None, 1, 0.0))
    broker.handle(
        Answered(
            1, Decision(Verdict.ALLOW, updated_input={"questions": [], "answers": {}}), OWNER, 1.0
        )
    )
    assert not broker.waiting()
    assert not Ruled("ls").objections(Decision(Verdict.ALLOW))


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
    asked: Request, when_lost: str, follows: str
) -> None:
    book = Playbook(bounds=Limits(open_for=0))
    book.asks(replace(asked, when_lost=when_lost)).waits(600)
    card = book.broker.card(1)
    assert card is not None
    assert (card.state, card.why) == (State.EXPIRED, f"nobody decided in time: {follows}")


def test_a_decision_on_a_leg_that_was_never_shown_is_stale_and_changes_nothing(
    book: Playbook,
) -> None:
    book.asks(bash("a", "ls", "t1"))
    (seen,) = book.broker.waiting()
    book.asks(prompt("b", "ls"))
    (now,) = book.broker.waiting()
    assert (len(now.requests), now.grown, now.revision > seen.revision) == (2, now.revision, True)
    with pytest.raises(StaleError, match="there is more to see"):
        book.broker.handle(Answered(1, ALLOW, OWNER, book.now, seen=seen.revision))
    assert book.broker.waiting() == (now,)
    book.broker.handle(Answered(1, ALLOW, OWNER, book.now, seen=now.revision))
    assert not book.broker.waiting()


def test_a_card_that_was_only_given_more_time_is_decided_as_it_was_seen(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1"))
    (seen,) = book.broker.waiting()
    book.broker.handle(Commanded(Snooze(1, 9), OWNER, book.now))
    (now,) = book.broker.waiting()
    assert (now.revision, now.grown) == (seen.revision + 1, seen.grown)
    book.broker.handle(Answered(1, ALLOW, OWNER, book.now, seen=seen.revision))
    assert not book.broker.waiting()
