"""What an event of Claude Code cannot carry: refused when decided, not lost when written."""

from collections.abc import Mapping

from crabhook.model.choices import Beside
from crabhook.model.decision import Decision, Verdict
from crabhook.model.elicitation import check_content
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.platforms.claude.choices import choices, reaches_request
from crabhook.platforms.claude.events import PLAN_TOOL, QUESTION_TOOL, rule_of

_NEEDS_REASON = frozenset({Verdict.DENY, Verdict.KEEP_GOING})
_NO_REASON_SHOWN = frozenset({"ConfigChange"})
_ANY = frozenset(Verdict)
_ALLOWS = frozenset({Verdict.ALLOW})
_DENIES = frozenset({Verdict.DENY})
_ACCEPTS = frozenset({Verdict.ACCEPT})


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    name, verdict = event.name, decision.verdict
    offered = choices(event)
    if verdict not in offered.verdicts:
        can = ", ".join([*rule_of(event).verdicts, Verdict.PASS])
        raise DecisionError(f"{name} cannot be answered with {verdict}; it can with: {can}")
    if verdict in _NEEDS_REASON and not decision.reason and name not in _NO_REASON_SHOWN:
        what = "a denial needs a reason" if verdict is Verdict.DENY else "say how to go on"
        raise DecisionError(f"{what}: the model reads it")
    changed = decision.updated_input is not None
    if changed and event.tool is None:
        raise DecisionError(f"this {name} names no tool whose input could be changed")
    for carried, part, verdicts, what in (
        (decision.halt, Beside.HALT, _halting(event), "stops no session"),
        (decision.user_message, Beside.MESSAGE, _ANY, "shows its user no message"),
        (decision.note, Beside.NOTE, _ALLOWS, "takes no note"),
        (decision.interrupt, Beside.INTERRUPT, _DENIES,
         "has nothing to interrupt: only the denial of a PermissionRequest does"),
        (decision.permissions, Beside.PERMISSIONS, _ALLOWS,
         "takes no permissions: only the allow of a PermissionRequest does"),
        (decision.output is not None, Beside.OUTPUT, _ALLOWS, "has no output to replace"),
        (decision.content is not None, Beside.NOTHING, _ACCEPTS, "takes no form's values"),
        (changed, Beside.INPUT, _ALLOWS, "takes no changed input"),
    ):  # fmt: skip
        if carried and not (verdict in verdicts and part in offered.beside):
            raise DecisionError(f"{name}, answered with {verdict}, {what}")
    if decision.updated_input is not None:
        _check_input(event, decision.updated_input)
    if verdict is Verdict.ACCEPT:
        check_content(event.fields, decision.content)


def _halting(event: Event) -> frozenset[Verdict]:
    """Return the verdicts a halt can go with; a prompt is halted by a denial that interrupts."""
    return _DENIES if event.name == "PermissionRequest" else _ANY


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
