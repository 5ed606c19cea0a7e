"""What an event can be told, and what is refused when it is decided."""

from typing import Any

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, ToolCall
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.claude.write import check
from crabhook.platforms.event_table import Also
from tests.support.rows import every_row

HELD = {"PreToolUse", "PermissionRequest"}


def event(name: str, tool: str = "Bash", tool_input: Any = None, **fields: Any) -> Event:
    called = ToolCall(tool, tool_input) if tool else None
    return Event("claude", name, tool=called, fields=fields)


class _Unwritable:
    """No JSON can be made of it; its name is the same in every run."""

    def __repr__(self) -> str:
        return "unwritable"


UNWRITABLE = _Unwritable()


@every_row("name", sorted(HELD))
@every_row(
    "decision",
    [
        Decision(Verdict.ALLOW),
        Decision(Verdict.ALLOW, note="n", updated_input={"command": "x"}),
        Decision(Verdict.DENY, reason="r"),
        Decision(Verdict.ASK, reason="r"),
        Decision(Verdict.PASS),
        Decision(Verdict.PASS, reason="r"),
    ],
)
def test_a_held_event_takes_every_verdict(decision: Decision, name: str) -> None:
    check(event(name, tool_input={"command": "y"}), decision)


@every_row("name", sorted(HELD))
@every_row(
    "decision, words",
    [
        (Decision(Verdict.DENY), "needs a reason"),
        (Decision(Verdict.DENY, reason="r", updated_input={}), "takes no changed input"),
        (Decision(Verdict.ASK, updated_input={}), "takes no changed input"),
        (Decision(Verdict.DENY, reason="r", note="n"), "takes no note"),
        (Decision(Verdict.ASK, note="n"), "takes no note"),
        (Decision(Verdict.ALLOW, updated_input={"a": float("nan")}), "written as JSON"),
        (Decision(Verdict.ALLOW, updated_input={"a": UNWRITABLE}), "written as JSON"),  # type: ignore[dict-item]
    ],
)
def test_a_decision_no_event_can_carry_is_refused(
    decision: Decision, words: str, name: str
) -> None:
    with pytest.raises(DecisionError, match=words):
        check(event(name), decision)


@every_row("name", [*EVENTS, "Brand-New"])
@every_row("verdict", Verdict)
def test_only_the_verdicts_of_the_table_are_taken(verdict: Verdict, name: str) -> None:
    given = Decision(verdict, reason="r")
    rule = EVENTS.get(name)
    if verdict is Verdict.PASS or (rule and verdict in rule.verdicts):
        check(event(name), given)
    else:
        with pytest.raises(DecisionError, match=f"{name} cannot be answered with {verdict}"):
            check(event(name), given)


@every_row("name", EVENTS)
def test_a_session_is_stopped_only_by_events_that_stop_one(name: str) -> None:
    verdict = Verdict.DENY if name == "PermissionRequest" else Verdict.PASS
    halting = Decision(verdict, reason="r", halt="enough")
    telling = Decision(Verdict.PASS, user_message="look")
    for decision, carried in ((halting, Also.HALT), (telling, Also.USER)):
        if carried in EVENTS[name].also:
            check(event(name), decision)
        else:
            with pytest.raises(DecisionError, match=name):
                check(event(name), decision)


@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.ASK, Verdict.PASS])
def test_a_prompt_is_halted_by_its_denial_alone(verdict: Verdict) -> None:
    with pytest.raises(DecisionError, match="stops no session"):
        check(event("PermissionRequest"), Decision(verdict, halt="enough"))


def test_only_the_denial_of_a_request_interrupts() -> None:
    interrupting = Decision(Verdict.DENY, reason="r", interrupt=True)
    check(event("PermissionRequest"), interrupting)
    with pytest.raises(DecisionError, match="interrupt"):
        check(event("PreToolUse"), interrupting)


def test_permissions_go_with_the_allow_of_a_request_alone() -> None:
    update = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    allow = Decision(Verdict.ALLOW, permissions=(update,))
    check(event("PermissionRequest"), allow)
    check(event("PreToolUse", "ExitPlanMode", {"plan": "a"}), allow)  # given when it is asked again
    with pytest.raises(DecisionError, match="permissions"):
        check(event("PreToolUse"), allow)


def test_a_form_is_held_against_its_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form = event("Elicitation", "", requested_schema=schema)
    check(form, Decision(Verdict.ACCEPT, content={"n": 3}))
    check(form, Decision(Verdict.DECLINE))
    with pytest.raises(DecisionError, match="'x' is not of type 'integer'"):
        check(form, Decision(Verdict.ACCEPT, content={"n": "x"}))
    with pytest.raises(DecisionError, match="required"):
        check(form, Decision(Verdict.ACCEPT))


def test_an_input_for_no_tool_is_refused() -> None:
    with pytest.raises(DecisionError, match="no tool"):
        check(event("PreToolUse", ""), Decision(Verdict.ALLOW, updated_input={}))


@pytest.mark.parametrize("name", sorted(HELD))
def test_answers_without_their_questions_are_refused(name: str) -> None:
    asked = event(name, "AskUserQuestion", {"questions": []})
    check(asked, Decision(Verdict.ALLOW, updated_input={"questions": [], "answers": {}}))
    with pytest.raises(DecisionError, match="questions"):
        check(asked, Decision(Verdict.ALLOW, updated_input={"answers": {}}))


def test_a_changed_plan_is_refused_where_nobody_would_read_it() -> None:
    changed = Decision(Verdict.ALLOW, updated_input={"plan": "b"})
    plan = event("PreToolUse", "ExitPlanMode", {"plan": "a"})
    check(event("PermissionRequest", "ExitPlanMode", {"plan": "a"}), changed)
    check(plan, changed)  # the request that follows carries it
    unasked = Event("claude", "PreToolUse", tool=plan.tool, permission_mode="dontAsk")
    with pytest.raises(DecisionError, match="ignore the changed plan"):
        check(unasked, changed)
