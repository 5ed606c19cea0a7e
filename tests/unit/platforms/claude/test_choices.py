"""What is offered is what is taken: the choices of an event against its check."""

from typing import Any

from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, ToolCall
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.claude.write import check, choices
from tests.support.rows import every_row

WITH: dict[Beside, tuple[Verdict, dict[str, Any]]] = {
    Beside.NOTE: (Verdict.ALLOW, {"note": "n"}),
    Beside.INPUT: (Verdict.ALLOW, {"updated_input": {"command": "x"}}),
    Beside.PERMISSIONS: (Verdict.ALLOW, {"permissions": ({"type": "setMode"},)}),
    Beside.OUTPUT: (Verdict.ALLOW, {"output": "x"}),
    Beside.INTERRUPT: (Verdict.DENY, {"interrupt": True}),
    Beside.HALT: (Verdict.PASS, {"halt": "enough"}),
    Beside.MESSAGE: (Verdict.PASS, {"user_message": "look"}),
    Beside.SUPPRESS: (Verdict.PASS, {"suppress_output": True}),
}


def taken(event: Event, decision: Decision) -> bool:
    try:
        check(event, decision)
    except DecisionError:
        return False
    return True


@every_row("tool", ["Bash", "ExitPlanMode", ""])
@every_row("name", [*EVENTS, "Brand-New"])
def test_what_is_offered_is_taken_and_nothing_else(name: str, tool: str) -> None:
    event = Event("claude", name, tool=ToolCall(tool, {"command": "y"}) if tool else None)
    offered = choices(event)
    assert offered.verdicts == {v for v in Verdict if taken(event, Decision(v, reason="r"))}
    for part, (usual, said) in WITH.items():
        halted_prompt = part is Beside.HALT and name == "PermissionRequest"
        verdict = Verdict.DENY if halted_prompt else usual
        can_be = verdict in offered.verdicts and part in offered.beside
        assert taken(event, Decision(verdict, reason="r", **said)) == can_be, part
