"""What an event of Claude Code can be told, and its JSON; sections are of its page.

An HTTP hook has no exit code and no standard error (section 9). A block by exit code (`Way.EXIT`)
becomes a top-level decision there, which 2.1.330 takes on every event.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.elicitation import check_content
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value, canonical, compact, object_at
from crabhook.platforms import common
from crabhook.platforms.claude import events
from crabhook.platforms.event_table import Also, Phase

_BEFORE_A_CALL = frozenset({"PreToolUse", "PermissionRequest"})
LINE_OF_A_SKILL = "PreSkillShellCommand"
_UNECHOED = frozenset({"PermissionRequest", LINE_OF_A_SKILL})
"""The events on which an allow does not send the input back; a skill's line would not run."""
# Of commands the mode for edits runs those that change files by name: touch, mkdir, mv …
_EDITS = frozenset({"Bash", "Edit", "MultiEdit", "NotebookEdit", "Write"})
LONGEST = 200  # characters of the agent's own words
_DETAIL: Mapping[str, str] = {"PostToolUseFailure": "error", "PermissionDenied": "reason"}
_NO_REASON_SHOWN = frozenset({"ConfigChange"})
_LIMITS: common.Limits = common.LIMITS | {
    "interrupt": (
        common.DENIES,
        "has nothing to interrupt: only the denial of a PermissionRequest does",
    ),
    "permissions": (
        common.ALLOWS,
        "takes no permissions: only the allow of a PermissionRequest does",
    ),
    "content": (frozenset({Verdict.ACCEPT}), "takes no form's values"),
}
# A call is halted by a denial that interrupts.
_LIMITS_OF_A_REQUEST: common.Limits = _LIMITS | {"halt": (common.DENIES, "stops no session")}


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them."""
    name = event.name if event.name in events.EVENTS else ""
    may_run = common.runs(event, events.EVENTS[name], _EDITS, events.QUESTION_TOOL)
    if events.is_planned(event):
        may_run |= common.NO_OPINION
    return _choices(
        name, event.tool is not None, events.asks(event), reaches_request(event), may_run
    )


@lru_cache  # an arrival asks two or three times, and there are not a hundred answers
def _choices(
    name: str,
    calls: bool,  # noqa: FBT001 - as above
    asking: bool,  # noqa: FBT001 - as above
    reaches: bool,  # noqa: FBT001 - as above
    may_run: frozenset[Verdict],
) -> Choices:
    row = events.EVENTS[name]
    before = name in _BEFORE_A_CALL and calls
    return common.offering(
        row,
        # A note reaches the model on this event, or with the result of its call.
        (Beside.NOTE, Also.CONTEXT in row.also or name == "PermissionRequest"),
        (Beside.INPUT, before),
        (Beside.PERMISSIONS, reaches),
        (Beside.RULE, (before or (name == LINE_OF_A_SKILL and calls)) and not asking),
        (Beside.OUTPUT, name == "PostToolUse"),
        (Beside.INTERRUPT, name == "PermissionRequest"),
        (Beside.SUPPRESS, Also.USER in row.also),
        runs=may_run,
    )


def reaches_request(event: Event) -> bool:
    """Whether the decision can be given on PermissionRequest, now or when it follows."""
    if event.name == "PermissionRequest":
        return True
    unasked = event.permission_mode == events.UNASKED_MODE
    return event.name == "PreToolUse" and event.calls(events.PLAN_TOOL) and not unasked


_LOADING = frozenset({"Skill", "SlashCommand"})
_LINES_RUN = (
    "Loading a skill runs its shell lines (!`…`). Claude Code from 2.1.332 on asks crabhook about "
    "each line. An older version runs them unseen."
)
_ONCE = (
    "A yes is for this very call, once, within ten minutes. Rules and protected places still "
    "count. Its agent goes on meanwhile, and is told with its next call."
)
_PLANNED = (
    "In plan mode your allow is not the last word: Claude Code 2.1.332 still asks its own check, "
    "and changes no file. Older versions run what you allow."
)


def limits(event: Event) -> Sequence[str]:
    """Say what the decision does not decide: of a skill, of a refused call, and in plan mode."""
    if events.EVENTS[event.name].phase is Phase.REFUSED:
        return (_ONCE,)
    lines = (_LINES_RUN,) if event.calls(*_LOADING) else ()
    return (*lines, _PLANNED) if events.is_planned(event) else lines


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    name, verdict = event.name, decision.verdict
    offered = choices(event)
    common.check_verdict(name, verdict, offered, events.EVENTS[event.name].verdicts)
    if name not in _NO_REASON_SHOWN:
        common.check_reason(decision)
    if decision.updated_input is not None and event.tool is None:
        raise DecisionError(f"this {name} names no tool whose input could be changed")
    limits = _LIMITS_OF_A_REQUEST if name == "PermissionRequest" else _LIMITS
    common.check_parts(name, decision, offered, limits)
    if decision.updated_input is not None:
        _check_input(event, decision.updated_input)
    if verdict is Verdict.ACCEPT:
        check_content(event.fields, decision.content)


def _check_input(event: Event, updated: Mapping[str, Value]) -> None:
    """Refuse an input that the agent would refuse or ignore."""
    common.check_json("changed input", updated)
    tool = event.tool
    assert tool is not None  # noqa: S101 - without one, no input is taken
    if tool.name == events.QUESTION_TOOL and "questions" not in updated:
        raise DecisionError("the questions must be sent back with their answers")
    if tool.name == events.PLAN_TOOL and updated != tool.input and not reaches_request(event):
        raise DecisionError(
            "Claude Code would ignore the changed plan here: deny it, saying what to change, "
            "or hand it back"
        )


def outcome(event: Event) -> str:
    """Return what became of the call, in words; some of them the agent's own, so not yet safe."""
    if event.name == "PostToolUse" and event.calls(events.PLAN_TOOL):
        return "the plan was approved"
    if event.name == "PostToolUse" and (answers := _answers(event)):
        return f"answered {answers}"
    words = events.EVENTS[event.name].outcome
    if event.fields.get("is_interrupt") is True:
        return "it was interrupted"
    detail = _short(event.text(_DETAIL.get(event.name, "")))
    return f"{words}: {detail}" if detail else words


def compared(tool: ToolCall) -> Mapping[str, Value] | None:
    """Return what of a call's input must be the same when it runs, by name; None for all of it.

    The agent adds answers to questions, and it takes a plan from the file, not from the input.
    """
    if tool.name == events.PLAN_TOOL:
        return {}
    if tool.name == events.QUESTION_TOOL and isinstance(tool.input, dict):
        return {key: tool.input[key] for key in ("questions", "answers") if key in tool.input}
    return None


def _answers(event: Event) -> str:
    asked = event.tool.input if event.tool and event.calls(events.QUESTION_TOOL) else None
    answers = object_at(asked, "answers") if isinstance(asked, dict) else {}
    return _short("; ".join(answer for answer in answers.values() if isinstance(answer, str)))


def _short(text: str) -> str:
    """Return a text's words in one short line."""
    line = " ".join(text[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


LARGEST_ECHO = 16 << 20  # bytes of an input that is sent back just as it came
BLOCKED = 2  # the exit code that blocks; the reason is read from standard error


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Claude Code the decision; no opinion is silence."""
    row, words = events.EVENTS[event.name], common.ReplyDraft()
    way = row.verdicts.get(decision.verdict, events.Way.SILENCE)
    if left_to_request(event, decision):
        way = events.Way.SILENCE
    _verdict(words, way, event, decision)
    if decision.note and Also.CONTEXT in row.also:
        words.specific["additionalContext"] = decision.note
    if decision.output is not None:
        words.specific["updatedToolOutput"] = decision.output
    if decision.halt and way is not events.Way.DECISION:  # which says it by interrupting
        words.halt(decision.halt)
    if decision.user_message:
        words.top["systemMessage"] = decision.user_message
    if decision.suppress_output:
        words.top["suppressOutput"] = True
    return words.reply(event)


def left_to_request(event: Event, decision: Decision) -> bool:
    """Whether PreToolUse must stay silent, so that the following PermissionRequest can carry it.

    PreToolUse has no place for a changed plan and permission updates (sections 5 and 6); an
    unapproved plan always gets a request.
    """
    if event.name != "PreToolUse" or event.tool is None or event.tool.name != events.PLAN_TOOL:
        return False
    changed = decision.updated_input is not None and decision.updated_input != event.tool.input
    return decision.verdict is Verdict.ALLOW and (changed or bool(decision.permissions))


def _verdict(words: common.ReplyDraft, way: events.Way, event: Event, decision: Decision) -> None:
    match way:
        case events.Way.SILENCE:
            words.pass_on(decision)
        case events.Way.PERMISSION:
            words.specific["permissionDecision"] = str(decision.verdict)
            if decision.reason:
                words.specific["permissionDecisionReason"] = decision.reason
            if (updated := _updated_input(event, decision)) is not None:
                words.specific["updatedInput"] = updated
        case events.Way.DECISION:
            _decision(words, event, decision)
        case events.Way.BLOCK:
            words.top |= {"decision": "block", "reason": decision.reason}
        case events.Way.EXIT:
            words.stderr, words.exit_code = f"{decision.reason}\n", BLOCKED
        case events.Way.ACTION:
            content = {} if decision.content is None else {"content": dict(decision.content)}
            words.specific |= {"action": decision.verdict.value, **content}
        case events.Way.RETRY:
            words.specific["retry"] = True


def _decision(words: common.ReplyDraft, event: Event, decision: Decision) -> None:
    body: common.Body = {"behavior": decision.verdict.value}
    if decision.verdict is Verdict.DENY:
        body["message"] = decision.reason
        if decision.interrupt or decision.halt:
            body["interrupt"] = True
    updated = _updated_input(event, decision)
    if updated is not None and not _is_as_asked(event.tool, updated):
        body["updatedInput"] = updated
    if decision.permissions:
        body["updatedPermissions"] = [dict(update) for update in decision.permissions]
    words.specific["decision"] = body


def _is_as_asked(tool: ToolCall | None, updated: common.Body) -> bool:
    """Whether an input must not be sent back on PermissionRequest, since it is unchanged.

    The agent's ask rules would check a sent input again and ask about what was just allowed (seen
    with 2.1.330). Questions and plans always need their input.
    """
    if tool is None or tool.name in events.ASKING_TOOLS or updated != tool.input:
        return False
    return canonical(updated) == canonical(tool.input)  # to Python 1 and true are equal


def _updated_input(event: Event, decision: Decision) -> common.Body | None:
    """Return the input to send back: the operator's, or with any other allow the call's own.

    Of several rewriting hooks the last wins (seen with 2.1.330), so an allow without input would
    approve another hook's change. Not sent are questions without answers, which would count as
    unanswered, and too large inputs.
    """
    if decision.updated_input is not None:
        return dict(decision.updated_input)
    tool = event.tool
    if decision.verdict is not Verdict.ALLOW or tool is None or not isinstance(tool.input, dict):
        return None
    if tool.name == events.PLAN_TOOL and event.name != LINE_OF_A_SKILL:
        return tool.input
    echoed = event.name not in _UNECHOED and tool.name != events.QUESTION_TOOL
    return tool.input if echoed and tool.size <= LARGEST_ECHO else None


def body(reply: Reply) -> bytes:
    """Return a reply as the body that answers an HTTP hook; an empty body is no opinion."""
    output = dict(reply.output or {})
    if reply.exit_code == BLOCKED:
        output |= {"decision": "block", "reason": reply.stderr.strip()}
    return compact(output).encode("ascii") if output else b""
