"""What an event of Claude Code cannot carry: refused when decided, not lost when written."""

from collections.abc import Mapping

from crabhook.model.decision import Decision, Verdict
from crabhook.model.elicitation import check_content
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.platforms.carried import (
    ALLOWS,
    ANY,
    DENIES,
    Limits,
    check_parts,
    check_reason,
    check_verdict,
)
from crabhook.platforms.claude.choices import choices, reaches_request
from crabhook.platforms.claude.events import PLAN_TOOL, QUESTION_TOOL, rule_of

_NO_REASON_SHOWN = frozenset({"ConfigChange"})
_LIMITS: Limits = {
    "halt": (ANY, "stops no session"),
    "user_message": (ANY, "shows its user no message"),
    "suppress_output": (ANY, "has no output to suppress"),
    "note": (ALLOWS, "takes no note"),
    "interrupt": (
        DENIES,
        "has nothing to interrupt: only the denial of a PermissionRequest does",
    ),
    "permissions": (
        ALLOWS,
        "takes no permissions: only the allow of a PermissionRequest does",
    ),
    "output": (ALLOWS, "has no output to replace"),
    "content": (frozenset({Verdict.ACCEPT}), "takes no form's values"),
    "updated_input": (ALLOWS, "takes no changed input"),
}
# A call is halted by a denial that interrupts.
_LIMITS_OF_A_REQUEST: Limits = {**_LIMITS, "halt": (DENIES, "stops no session")}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    name, verdict = event.name, decision.verdict
    offered = choices(event)
    check_verdict(name, verdict, offered, rule_of(event).verdicts)
    if name not in _NO_REASON_SHOWN:
        check_reason(decision)
    if decision.updated_input is not None and event.tool is None:
        raise DecisionError(f"this {name} names no tool whose input could be changed")
    limits = _LIMITS_OF_A_REQUEST if name == "PermissionRequest" else _LIMITS
    check_parts(name, decision, offered, limits)
    if decision.updated_input is not None:
        _check_input(event, decision.updated_input)
    if verdict is Verdict.ACCEPT:
        check_content(event.fields, decision.content)


def _check_input(event: Event, updated: Mapping[str, Value]) -> None:
    """Refuse an input that the agent would refuse, or would not look at."""
    try:
        compact(updated)
    except (TypeError, ValueError, RecursionError) as error:
        raise DecisionError(f"the changed input cannot be written as JSON: {error}") from error
    tool = event.tool
    assert tool is not None  # noqa: S101 - without one, no input is taken
    if tool.name == QUESTION_TOOL and "questions" not in updated:
        raise DecisionError("the questions must be sent back with their answers")
    if tool.name == PLAN_TOOL and updated != tool.input and not reaches_request(event):
        raise DecisionError(
            "Claude Code would ignore the changed plan here: deny it, saying what to change, "
            "or hand it back"
        )
