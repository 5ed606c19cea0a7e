"""Answers in Gemini CLI's words (0.61).

Gemini reads standard output as JSON at any exit code, and standard error if that is blank; so
something is always printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.event import Answer, Body, Verdict, text_of
from crabhook.sdk.events.calls import PostToolUse
from crabhook.sdk.events.session import PreCompact, SessionStart, UserPromptSubmit

if TYPE_CHECKING:
    from crabhook.sdk.event import Event, Reply

_TAKES_CONTEXT = (PostToolUse, UserPromptSubmit, SessionStart)

# What Gemini has no word for becomes the next stricter that it has.
_VERDICTS = {
    Verdict.ALLOW: "allow",
    Verdict.ASK: "ask",
    Verdict.DENY: "deny",
    Verdict.DEFER: "deny",
    Verdict.KEEP_GOING: "deny",  # AfterAgent: the reason is the next prompt
}


def write(event: Event, answer: Answer) -> Reply:
    """Return the reply that tells Gemini the answer; no opinion is an empty object."""
    body = Body(event)
    if answer.verdict:
        _verdict(body, answer, answer.verdict)
    if answer.output is not None:
        body.top |= {"decision": "deny", "reason": text_of(answer.output)}
    if answer.updated_input is not None:
        body.specific["tool_input"] = dict(answer.updated_input)
    if answer.context:
        if isinstance(event, _TAKES_CONTEXT):
            body.specific["additionalContext"] = answer.context
        else:
            body.leave_out("the context: Gemini gives the model none here")
    body.go_beside(answer)
    body.specific |= answer.specific or {}
    return body.reply(silence={})


def _verdict(body: Body, answer: Answer, verdict: Verdict) -> None:
    if isinstance(body.event, PreCompact):
        body.leave_out("the decision: Gemini takes none here")
        return
    body.top["decision"] = _VERDICTS[verdict]
    if answer.reason:  # a dialog shows a message, and no reason
        body.top["systemMessage" if verdict is Verdict.ASK else "reason"] = answer.reason
