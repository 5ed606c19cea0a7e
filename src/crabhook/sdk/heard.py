"""What the operator's server replied, read back into an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import object_at, parse_object, text_at
from crabhook.sdk.event import Answer, Verdict
from crabhook.sdk.events.calls import words

if TYPE_CHECKING:
    from crabhook.hook.wire import WireReply
    from crabhook.model.jsontext import Value
    from crabhook.sdk.event import Event

_Body = dict[str, "Value"]

_BLOCKED = 2
_BLOCKS = (Verdict.DENY, Verdict.KEEP_GOING)  # an event has one of them at most


def output(reply: WireReply) -> _Body:
    """Return the JSON object that the reply prints, or an empty object."""
    try:
        return parse_object(reply.stdout) if reply.stdout.strip() else {}
    except PayloadError:
        return {}


def answer(event: Event, reply: WireReply) -> Answer | None:
    """Return the decision; None means that nobody decided: no opinion, never an allow."""
    top = output(reply)
    specific = object_at(top, "hookSpecificOutput")
    decision = object_at(specific, "decision")
    verdict, reason = _verdict(event, top, specific, decision)
    if reply.exit_code == _BLOCKED:
        verdict, reason = _block(event), words(reply.stderr.decode("utf-8", "replace"))
    context = text_at(specific, "additionalContext") or text_at(top, "additionalContext")
    updates = decision.get("updatedPermissions")
    permissions = updates if isinstance(updates, list) else []
    heard = Answer(
        verdict=verdict,
        reason=reason,
        context=context,
        updated_input=_first_object(
            (specific, "updatedInput"), (specific, "tool_input"), (decision, "updatedInput")
        ),
        output=specific.get("updatedToolOutput"),
        content=_first_object((specific, "content")),
        permissions=tuple(update for update in permissions if isinstance(update, dict)),
        interrupt=(decision or top).get("interrupt") is True,
        halt=words(top.get("stopReason")) if top.get("continue") is False else "",
        user_message=text_at(top, "systemMessage"),
        suppress_output=top.get("suppressOutput") is True,
    )
    return None if heard == Answer() else heard


def _verdict(
    event: Event, top: _Body, specific: _Body, decision: _Body
) -> tuple[Verdict | None, str]:
    if specific.get("retry") is True:
        return Verdict.RETRY, ""
    for body, key, reason in (
        (decision, "behavior", "message"),
        (top, "behavior", "message"),
        (specific, "permissionDecision", "permissionDecisionReason"),
        (specific, "action", ""),
        (top, "decision", "reason"),
    ):
        word = text_at(body, key)
        if word:
            named = "allow" if word == "approve" else word
            return _named(event, named), text_at(body, reason)
    return None, ""


def _named(event: Event, word: str) -> Verdict | None:
    """Return the verdict of that name; an unknown word is a no."""
    return next((verdict for verdict in event.verdicts if verdict == word), _block(event))


def _block(event: Event) -> Verdict | None:
    return next((verdict for verdict in _BLOCKS if verdict in event.verdicts), None)


def _first_object(*places: tuple[_Body, str]) -> _Body | None:
    bodies = (body.get(key) for body, key in places)
    return next((value for value in bodies if isinstance(value, dict)), None)
