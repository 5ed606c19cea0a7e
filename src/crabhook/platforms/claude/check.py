"""What an event of Claude Code cannot carry: refused when decided, not lost when written."""

from collections.abc import Mapping

from crabhook.model.decision import Decision, Verdict
from crabhook.model.elicitation import check_content
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.platforms.claude.events import (
    PLAN_TOOL,
    QUESTION_TOOL,
    UNASKED_MODE,
    Also,
    rule_of,
)

_NEEDS_REASON = frozenset({Verdict.DENY, Verdict.KEEP_GOING})
_NO_REASON_SHOWN = frozenset({"ConfigChange"})
_ALLOWS = frozenset({Verdict.ALLOW})


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    name, verdict = event.name, decision.verdict
    rule = rule_of(event)
    if verdict is not Verdict.PASS and verdict not in rule.verdicts:
        can = ", ".join([*rule.verdicts, Verdict.PASS])
        raise DecisionError(f"{name} cannot be answered with {verdict}; it can with: {can}")
    if verdict in _NEEDS_REASON and not decision.reason and name not in _NO_REASON_SHOWN:
        what = "a denial needs a reason" if verdict is Verdict.DENY else "say how to go on"
        raise DecisionError(f"{what}: the model reads it")
    for carried, can_be, what in (
        (decision.halt, Also.HALT in rule.also, "stops no session"),
        (decision.user_message, Also.USER in rule.also, "shows its user no message"),
        (decision.note, verdict in _ALLOWS and _takes_note(event), "takes no note"),
        (decision.interrupt, name == "PermissionRequest" and verdict is Verdict.DENY,
         "has nothing to interrupt: only the denial of a PermissionRequest does"),
        (decision.permissions, verdict in _ALLOWS and _reaches_request(event),
         "takes no permissions: only the allow of a PermissionRequest does"),
        (decision.output is not None, name == "PostToolUse" and verdict in _ALLOWS,
         "has no output to replace"),
        (decision.content is not None, verdict is Verdict.ACCEPT, "takes no form's values"),
        (decision.updated_input is not None, verdict in _ALLOWS, "takes no changed input"),
    ):  # fmt: skip
        if carried and not can_be:
            raise DecisionError(f"{name}, answered with {verdict}, {what}")
    if decision.updated_input is not None:
        _check_input(event, decision.updated_input)
    if verdict is Verdict.ACCEPT:
        check_content(event.fields, decision.content)


def _takes_note(event: Event) -> bool:
    """Whether a note reaches the model: on this event, or with the result of its call."""
    return Also.CONTEXT in rule_of(event).also or event.name == "PermissionRequest"


def _reaches_request(event: Event) -> bool:
    """Whether the decision can be given on PermissionRequest, now or when it follows."""
    if event.name == "PermissionRequest":
        return True
    is_plan = event.tool is not None and event.tool.name == PLAN_TOOL
    return event.name == "PreToolUse" and is_plan and event.permission_mode != UNASKED_MODE


def _check_input(event: Event, updated: Mapping[str, Value]) -> None:
    """Refuse an input that the agent would refuse, or would not look at."""
    try:
        compact(updated)
    except (TypeError, ValueError, RecursionError) as error:
        raise DecisionError(f"the changed input cannot be written as JSON: {error}") from error
    tool = event.tool
    if tool is None:
        raise DecisionError(f"this {event.name} names no tool whose input could be changed")
    if tool.name == QUESTION_TOOL and "questions" not in updated:
        raise DecisionError("the questions must be sent back with their answers")
    if tool.name == PLAN_TOOL and updated != tool.input and not _reaches_request(event):
        raise DecisionError(
            "Claude Code would ignore the changed plan here: deny it, saying what to change, "
            "or hand it back"
        )
