"""Answers in Qwen Code's words (0.24).

It lets a call run where it does not understand: a changed input on PreToolUse is ignored, and so is
a block after a call. An answer without a word becomes the next stricter one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.event import Answer, Body, Verdict, text_of
from crabhook.sdk.events import calls, session

if TYPE_CHECKING:
    from crabhook.sdk.event import Event, Reply

_CHANGED = "A hook wants this to run with another input, which Qwen Code takes on no other event."
_TAKES_CONTEXT = (
    calls.PostToolUse,
    calls.PostToolUseFailure,
    session.UserPromptSubmit,
    session.SessionStart,
)
_BLOCKED = (calls.PostToolBatch, session.UserPromptSubmit, session.Stop)


def write(event: Event, answer: Answer) -> Reply:
    """Return the reply that tells Qwen Code the answer; no opinion is silence."""
    body = Body(event)
    context = answer.context
    match event:
        case calls.PreToolUse():
            _before_call(body, answer, event.tool_input)
        case calls.PermissionRequest():
            _request(body, answer)
        case calls.PostToolUse() | calls.PostToolUseFailure():
            output = "" if answer.output is None else text_of(answer.output)
            context = "\n".join(filter(None, (answer.reason, answer.halt, output, context)))
            if context != answer.context:
                body.leave_out("the block: Qwen Code shows the model the result, and your words")
        case _:
            _other(body, answer)
    if context and isinstance(event, _TAKES_CONTEXT):
        body.specific["additionalContext"] = context
    elif context:
        body.leave_out("the context: Qwen Code gives the model none here")
    body.leave_out_display(answer)
    return body.reply()


def _before_call(body: Body, answer: Answer, asked: dict[str, object]) -> None:
    """Deny the call, or have its user asked; an allow is silence, as it comes too late to grant."""
    changed = answer.updated_input is not None and answer.updated_input != asked
    if answer.verdict is Verdict.ASK and not answer.halt:
        body.permission("ask", answer.reason)
    elif answer.halt or changed or answer.verdict in (Verdict.DENY, Verdict.DEFER):
        body.permission("deny", calls.words(answer.reason or answer.halt or _CHANGED))
        if answer.verdict is not Verdict.DENY:
            body.leave_out("all but the denial: Qwen Code cannot change, defer or end here")


def _request(body: Body, answer: Answer) -> None:
    if answer.verdict is Verdict.DENY:
        body.specific["decision"] = {"behavior": "deny", "message": answer.reason}
        if answer.interrupt:
            body.leave_out("the interrupt: Qwen Code goes on with the turn")
    elif answer.verdict is Verdict.ALLOW:
        changed = answer.updated_input
        edit = {} if changed is None else {"updatedInput": dict(changed)}
        body.specific["decision"] = {"behavior": "allow", **edit}
        if answer.permissions:
            body.leave_out("the permissions: Qwen Code keeps none that a hook gives it")


def _other(body: Body, answer: Answer) -> None:
    reason = answer.reason or answer.halt
    if isinstance(body.event, _BLOCKED) and reason:
        ends = isinstance(body.event, session.Stop) and not answer.verdict
        body.top |= {} if ends else {"decision": "block", "reason": reason}
    elif reason or answer.verdict:
        body.leave_out("the decision: Qwen Code takes none here")
