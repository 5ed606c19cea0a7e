"""What Gemini's events cannot carry is refused when it is decided."""

from typing import Any

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, ToolCall
from crabhook.platforms.gemini.events import EVENTS
from crabhook.platforms.gemini.write import check
from tests.support.rows import every_row

ALLOW, DENY = Verdict.ALLOW, Verdict.DENY
NAN: Any = float("nan")


def event(name: str = "BeforeTool", tool: str = "run_shell_command") -> Event:
    return Event("gemini", name, tool=ToolCall(tool, {"command": "ls"}))


@every_row(
    "name, decision",
    [
        ("BeforeTool", Decision(ALLOW)),
        ("BeforeTool", Decision(ALLOW, note="n", updated_input={"command": "ls -l"})),
        ("BeforeTool", Decision(DENY, reason="r", interrupt=True)),
        ("BeforeTool", Decision(ALLOW, halt="enough", user_message="m")),
        ("AfterTool", Decision(ALLOW, output={"llmContent": "x"}, note="n")),
        ("AfterTool", Decision(DENY, reason="r")),
        ("BeforeAgent", Decision(ALLOW, note="n")),
        ("BeforeAgent", Decision(DENY, reason="r", halt="stop")),
        ("BeforeModel", Decision(DENY, reason="r")),
        ("AfterAgent", Decision(Verdict.KEEP_GOING, reason="go on")),
        ("SessionStart", Decision(ALLOW, note="n", user_message="m")),
        *((name, Decision(Verdict.PASS)) for name in [*EVENTS, "Brand-New"]),
    ],
)
def test_what_an_event_can_carry_is_taken(name: str, decision: Decision) -> None:
    check(event(name), decision)


@every_row(
    "name, decision, why",
    [
        ("BeforeTool", Decision(Verdict.ASK), "cannot be answered with ask; it can with: allow"),
        ("BeforeTool", Decision(Verdict.DEFER), "cannot be answered with defer"),
        ("BeforeTool", Decision(DENY), "a denial needs a reason"),
        ("AfterAgent", Decision(Verdict.KEEP_GOING), "say how to go on"),
        ("AfterAgent", Decision(DENY, reason="r"), "cannot be answered with deny"),
        ("Notification", Decision(ALLOW), "cannot be answered with allow"),
        ("BeforeTool", Decision(DENY, reason="r", updated_input={}), "takes no changed input"),
        ("AfterTool", Decision(ALLOW, updated_input={}), "takes no changed input"),
        ("BeforeTool", Decision(ALLOW, output="x"), "has no output to replace"),
        ("BeforeTool", Decision(ALLOW, permissions=({"type": "setMode"},)), "takes no permissions"),
        ("BeforeTool", Decision(ALLOW, interrupt=True), "has nothing to interrupt"),
        ("BeforeTool", Decision(ALLOW, content={}), "takes no form's values"),
        ("BeforeTool", Decision(DENY, reason="r", note="n"), "takes no note"),
        ("AfterAgent", Decision(ALLOW, note="n"), "takes no note"),
        ("SessionStart", Decision(ALLOW, halt="no"), "stops no agent"),
        ("SessionEnd", Decision(Verdict.PASS, user_message="m"), "shows its user no message"),
        ("BeforeTool", Decision(ALLOW, updated_input={"x": NAN}), "cannot be written as JSON"),
        ("AfterTool", Decision(ALLOW, output=NAN), "cannot be written as JSON"),
    ],
)
def test_what_it_cannot_carry_is_refused_with_the_reason(
    name: str, decision: Decision, why: str
) -> None:
    with pytest.raises(DecisionError, match=why):
        check(event(name), decision)


def test_a_plan_takes_no_changed_input() -> None:
    with pytest.raises(DecisionError, match="takes no changed input"):
        check(event(tool="exit_plan_mode"), Decision(ALLOW, updated_input={"plan_filename": "x"}))


def test_answers_come_with_their_questions() -> None:
    asked = event(tool="ask_user")
    check(asked, Decision(ALLOW, updated_input={"questions": [], "answers": {}}))
    with pytest.raises(DecisionError, match="must be sent back with their answers"):
        check(asked, Decision(ALLOW, updated_input={"answers": {}}))
