"""Answers in GitHub Copilot CLI's words (1.0.102), for hooks under PascalCase names.

PermissionRequest reads a flat answer, and runs the original where an allow brings another input.
Context stands at the top level but on PreToolUse. Any other exit code than 0 denies a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.event import Answer, Body, Verdict, text_of
from crabhook.sdk.events import calls, session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value
    from crabhook.sdk.event import Event, Reply

_CHANGED = "A hook wants this to run with another input, which Copilot takes on PreToolUse alone."
_TAKES_CONTEXT = (
    calls.PostToolUse,
    calls.PostToolUseFailure,
    session.UserPromptSubmit,
    session.SessionStart,
)
_BLOCKED = (calls.PostToolUse, session.UserPromptSubmit, session.Stop)


def write(event: Event, answer: Answer) -> Reply:
    """Return the reply that tells Copilot the answer; no opinion is silence."""
    body = Body(event)
    context = answer.context
    match event:
        case calls.PreToolUse():
            _before_call(body, answer)
        case calls.PermissionRequest():
            _request(body, answer)
        case calls.PostToolUseFailure():
            context = "\n".join(filter(None, (answer.reason, context)))
        case _:
            _other(body, answer)
    if context and isinstance(event, calls.PreToolUse):
        body.specific["additionalContext"] = context
    elif context and isinstance(event, _TAKES_CONTEXT):
        body.top["additionalContext"] = context
    elif context:
        body.leave_out("the context: Copilot gives the model none here")
    body.leave_out_display(answer)
    return body.reply()


def _before_call(body: Body, answer: Answer) -> None:
    if answer.halt or answer.verdict in (Verdict.DENY, Verdict.DEFER):
        body.permission("deny", calls.words(answer.reason or answer.halt))
        if answer.verdict is not Verdict.DENY:
            body.leave_out("all but the denial: Copilot cannot defer or end the turn here")
        return
    if answer.verdict:
        body.permission(answer.verdict.value, answer.reason)
    if answer.updated_input is not None:
        body.specific["updatedInput"] = dict(answer.updated_input)


def _request(body: Body, answer: Answer) -> None:
    if answer.updated_input is not None:
        body.top |= {"behavior": "deny", "message": _CHANGED}
        body.leave_out("the allow: Copilot would run the call as it was")
    elif answer.verdict is Verdict.DENY:
        body.top |= {"behavior": "deny", "message": answer.reason}
        body.top |= {"interrupt": True} if answer.interrupt else {}
    elif answer.verdict is Verdict.ALLOW:
        body.top["behavior"] = "allow"
        if answer.permissions:
            body.leave_out("the permissions: Copilot keeps none that a hook gives it")


def _other(body: Body, answer: Answer) -> None:
    """Block the event; where a block is not read, say so."""
    output = "" if answer.output is None else text_of(answer.output) or "(nothing)"
    reason = answer.reason or answer.halt or output
    if isinstance(body.event, _BLOCKED) and reason:
        ends = isinstance(body.event, session.Stop) and not answer.verdict
        body.top |= {} if ends else {"decision": "block", "reason": reason}
    elif reason or answer.verdict:
        body.leave_out("the decision: Copilot takes none here")


def named(raw: Mapping[str, Value]) -> dict[str, Value]:
    """Return an input with the names that most events have for its fields and itself.

    PermissionRequest has `hookName` and camelCase alone. SubagentStart names itself nowhere.
    """
    fields = {_snake(key): value for key, value in raw.items()}
    if "hook_event_name" in fields:
        return fields
    asks = fields.pop("hook_name", None) == "permissionRequest"
    begins = not asks and "agent_name" in fields and "agent_id" in fields
    name = "PermissionRequest" if asks else "SubagentStart" if begins else ""
    return {"hook_event_name": name, **fields}


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
