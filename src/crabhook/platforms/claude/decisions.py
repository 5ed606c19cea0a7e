"""What an event of Claude Code can be told, and what became of a call that nobody decided."""

from collections.abc import Mapping
from functools import lru_cache

from crabhook.model.choices import Beside, Choices
from crabhook.model.decision import Decision, Verdict
from crabhook.model.elicitation import check_content
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value, compact
from crabhook.platforms.claude.events import (
    EVENTS,
    PLAN_TOOL,
    QUESTION_TOOL,
    UNASKED_MODE,
    asks,
    row_named,
    row_of,
)
from crabhook.platforms.dialect import (
    ALLOWS,
    ANY,
    DENIES,
    Limits,
    check_parts,
    check_reason,
    check_verdict,
)
from crabhook.platforms.rows import Also

_BEFORE_A_CALL = frozenset({"PreToolUse", "PermissionRequest"})
LONGEST = 200  # characters of the agent's own words
_DETAIL: Mapping[str, str] = {"PostToolUseFailure": "error", "PermissionDenied": "reason"}
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


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    What goes with a verdict the event does not take is in vain, whatever it says here.
    """
    name = event.name if event.name in EVENTS else ""
    return _choices(name, event.tool is not None, asks(event), reaches_request(event))


@lru_cache  # an arrival asks two or three times, and there are not sixty answers
def _choices(name: str, calls: bool, asking: bool, reaches: bool) -> Choices:  # noqa: FBT001 - a key
    row = row_named(name)
    before = name in _BEFORE_A_CALL and calls
    beside = Beside.NOTHING
    for part, can_be in (
        # A note reaches the model on this event, or with the result of its call.
        (Beside.NOTE, Also.CONTEXT in row.also or name == "PermissionRequest"),
        (Beside.INPUT, before),
        (Beside.PERMISSIONS, reaches),
        (Beside.RULE, before and not asking),
        (Beside.OUTPUT, name == "PostToolUse"),
        (Beside.INTERRUPT, name == "PermissionRequest"),
        (Beside.HALT, Also.HALT in row.also),
        (Beside.MESSAGE, Also.USER in row.also),
        (Beside.SUPPRESS, Also.USER in row.also),
    ):
        if can_be:
            beside |= part
    return Choices(frozenset({*row.verdicts, Verdict.PASS}), beside)


def reaches_request(event: Event) -> bool:
    """Whether the decision can be given on PermissionRequest, now or when it follows."""
    if event.name == "PermissionRequest":
        return True
    is_plan = event.tool is not None and event.tool.name == PLAN_TOOL
    return event.name == "PreToolUse" and is_plan and event.permission_mode != UNASKED_MODE


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    name, verdict = event.name, decision.verdict
    offered = choices(event)
    check_verdict(name, verdict, offered, row_of(event).verdicts)
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


def outcome(event: Event) -> str:
    """Return what became of the call, in words; some of them the agent's own, so not yet safe."""
    if event.name == "PostToolUse" and event.tool and event.tool.name == PLAN_TOOL:
        return "the plan was approved"
    if event.name == "PostToolUse" and (answers := _answers(event)):
        return f"answered {answers}"
    told = row_of(event).outcome
    if event.fields.get("is_interrupt") is True:
        return "it was interrupted"
    detail = _short(event.text(_DETAIL.get(event.name, "")))
    return f"{told}: {detail}" if detail else told


def compared(tool: ToolCall) -> Mapping[str, Value]:
    """Return what of a call's input has to be the same when it runs, by name.

    The agent adds the answers to questions that were allowed without any, and
    a plan is the file's, whatever the input says.
    """
    if tool.name == PLAN_TOOL:
        return {}
    if tool.name == QUESTION_TOOL and isinstance(tool.input, dict):
        return {key: tool.input[key] for key in ("questions", "answers") if key in tool.input}
    return {"input": tool.bare}


def _answers(event: Event) -> str:
    if event.tool is None or event.tool.name != QUESTION_TOOL:
        return ""
    given = event.tool.input.get("answers") if isinstance(event.tool.input, dict) else None
    if not isinstance(given, dict):
        return ""
    return _short("; ".join(answer for answer in given.values() if isinstance(answer, str)))


def _short(text: str) -> str:
    """Return a text's words in one line, cut where they are many."""
    line = " ".join(text[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
