"""Answers in Claude Code's words (hook protocol 2.1.330, sections 2 to 8).

`crabhook.platforms.claude.write` says the same for the server; a test holds both together. Its
dataclasses would cost a hook more than starting Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.event import Answer, Body, Verdict
from crabhook.sdk.events import session
from crabhook.sdk.events.calls import (
    PermissionDenied,
    PermissionRequest,
    PreSkillShellCommand,
    PreToolUse,
)

if TYPE_CHECKING:
    from crabhook.model.jsontext import Value
    from crabhook.sdk.event import Event, Reply

_BLOCKED = 2  # the exit code that blocks; the reason is read from standard error
_PLAN_TOOL = "ExitPlanMode"


def write(event: Event, answer: Answer) -> Reply:
    """Return the reply that tells Claude Code the answer; no opinion is silence."""
    body = Body(event)
    if _left_to_request(event, answer):
        body.leave_out("the changed plan: Claude Code takes it on PermissionRequest, which follows")
    elif answer.verdict:
        _decide(body, answer, answer.verdict)
    elif isinstance(event, PreToolUse) and answer.updated_input is not None:
        body.specific["updatedInput"] = dict(answer.updated_input)
    if answer.context:
        body.specific["additionalContext"] = answer.context
    if answer.output is not None:
        body.specific["updatedToolOutput"] = answer.output
    body.go_beside(answer)
    return body.reply()


def _left_to_request(event: Event, answer: Answer) -> bool:
    """Whether PreToolUse stays silent for the PermissionRequest that follows.

    PreToolUse ignores a changed plan (section 6); an unapproved plan always gets a request.
    """
    return (
        isinstance(event, PreToolUse)
        and event.tool_name == _PLAN_TOOL
        and answer.verdict is Verdict.ALLOW
        and answer.updated_input not in (None, event.tool_input)
    )


def _decide(body: Body, answer: Answer, verdict: Verdict) -> None:
    """Say the verdict as the event takes it; most events are blocked at the top level."""
    updated = _updated_input(body.event, answer)
    match body.event:
        case PreToolUse() | PreSkillShellCommand() | session.PreModelSwitch():
            body.permission(verdict.value, answer.reason)
            if updated is not None:
                body.specific["updatedInput"] = updated
        case PermissionRequest():
            body.specific["decision"] = _requested(answer, verdict, updated)
        case session.TeammateIdle() | session.TaskCompleted():
            body.stderr, body.exit_code = f"{answer.reason}\n", _BLOCKED
        case session.Elicitation() | session.ElicitationResult():
            body.specific["action"] = verdict.value
            if answer.content is not None:
                body.specific["content"] = dict(answer.content)
        case PermissionDenied():
            body.specific["retry"] = True
        case _:
            body.top |= {"decision": "block", "reason": answer.reason}


def _requested(
    answer: Answer, verdict: Verdict, updated: dict[str, Value] | None
) -> dict[str, Value]:
    decision: dict[str, Value] = {"behavior": verdict.value}
    if verdict is Verdict.DENY:
        decision["message"] = answer.reason
        if answer.interrupt:
            decision["interrupt"] = True
    if updated is not None:
        decision["updatedInput"] = updated
    if answer.permissions:
        decision["updatedPermissions"] = [dict(update) for update in answer.permissions]
    return decision


def _updated_input(event: Event, answer: Answer) -> dict[str, Value] | None:
    """Return the input to send back: the answer's, or a plan's own, which releases it."""
    if answer.updated_input is not None:
        return dict(answer.updated_input)
    approves = answer.verdict is Verdict.ALLOW
    if approves and isinstance(event, PreToolUse | PermissionRequest):
        return event.tool_input if event.tool_name == _PLAN_TOOL else None
    return None
