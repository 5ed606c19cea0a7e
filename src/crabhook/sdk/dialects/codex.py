"""Answers in Codex's words (0.169).

For an unknown key or value Codex drops the whole output, and the call runs. So only words seen to
work are printed; an answer without a word becomes the next stricter one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.event import Answer, Body, Verdict, text_of
from crabhook.sdk.events.calls import PermissionRequest, PostToolUse, PreToolUse
from crabhook.sdk.events.session import PreCompact, UserPromptSubmit

if TYPE_CHECKING:
    from crabhook.sdk.event import Event, Reply

_NO_ASKING = "A person has to be asked about this, which a hook cannot have Codex do here."


def write(event: Event, answer: Answer) -> Reply:
    """Return the reply that tells Codex the answer; no opinion is silence."""
    body = Body(event)
    match event:
        case PreToolUse():
            _before_call(body, answer)
        case PermissionRequest():
            _request(body, answer)
        case PreCompact():
            if answer.verdict:
                body.leave_out("the decision: Codex takes none here")
        case _:
            _other(body, answer)
    if answer.context:
        body.specific["additionalContext"] = answer.context
    if answer.user_message:
        body.top["systemMessage"] = answer.user_message
    if answer.suppress_output:
        body.leave_out("suppressOutput: Codex takes an answer that has it for void")
    return body.reply()


def _before_call(body: Body, answer: Answer) -> None:
    if answer.halt or answer.verdict in (Verdict.DENY, Verdict.ASK, Verdict.DEFER):
        body.permission("deny", answer.reason or answer.halt or _NO_ASKING)
        if answer.verdict is not Verdict.DENY:
            body.leave_out("all but the denial: Codex cannot ask, defer or end the turn here")
    elif answer.updated_input is not None:  # the allow belongs to it, and approves nothing
        body.specific["permissionDecision"] = "allow"
        body.specific["updatedInput"] = dict(answer.updated_input)


def _request(body: Body, answer: Answer) -> None:
    if answer.verdict is Verdict.DENY:
        body.specific["decision"] = {"behavior": "deny", "message": answer.reason}
        if answer.interrupt:
            body.leave_out("the interrupt: Codex would drop the denial with it")
    elif answer.updated_input is not None or answer.permissions:
        body.leave_out("the allow: Codex takes no other input and no permissions here, and asks")
    elif answer.verdict is Verdict.ALLOW:
        body.specific["decision"] = {"behavior": "allow"}


def _other(body: Body, answer: Answer) -> None:
    """Block the event, or end the turn as far as possible; where it ends anyway, say nothing."""
    if answer.verdict:
        body.top |= {"decision": "block", "reason": answer.reason}
    elif answer.output is not None:  # a block without a reason is none
        body.top |= {"decision": "block", "reason": text_of(answer.output) or "(nothing)"}
    elif isinstance(body.event, UserPromptSubmit) and answer.halt:
        body.top |= {"decision": "block", "reason": answer.halt}
    elif isinstance(body.event, PostToolUse) and answer.halt:  # the reason replaces the result
        body.top |= {"continue": False, "stopReason": answer.halt}
        body.leave_out("the end of the turn: Codex shows the model the reason, and goes on")
