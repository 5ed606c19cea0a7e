"""Decisions in the words Codex reads: only forms that it takes, since any other is void.

A void answer is no refusal: the call runs.  So nothing is printed that the
protocol's page does not call good, and the exit code is always 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, canonical
from crabhook.model.reply import Reply
from crabhook.platforms.codex.events import Way, asks, row_of
from crabhook.platforms.codex.wording import readable, stated
from crabhook.platforms.rows import Also

_Body = dict[str, Value]

_UNSAID = "The operator gave no reason."


@dataclass(slots=True)
class _Words:
    """A reply in the making: the top level, and hookSpecificOutput."""

    top: _Body = field(default_factory=dict)
    specific: _Body = field(default_factory=dict)
    stderr: str = ""


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Codex the decision; no opinion is silence."""
    row, words = row_of(event), _Words()
    _WRITERS[_way(event, decision)](words, event, decision)
    if decision.note and Also.CONTEXT in row.also and not _is_answered(event, decision):
        words.specific["additionalContext"] = readable(decision.note)
    if decision.halt and Also.HALT in row.also:
        words.top |= {"continue": False, "stopReason": readable(decision.halt)}
    if decision.user_message and Also.USER in row.also:
        words.top["systemMessage"] = readable(decision.user_message)
    return _reply(event, words)


def remark(event: Event, note: str) -> Reply | None:
    """Return a silent reply that carries `note` to the model, or None if the event takes none."""
    if Also.CONTEXT not in row_of(event).also:
        return None
    return _reply(event, _Words(specific={"additionalContext": readable(note)}))


def _way(event: Event, decision: Decision) -> Way:
    way = row_of(event).verdicts.get(decision.verdict, Way.SILENCE)
    if decision.verdict is Verdict.ALLOW and decision.updated_input is not None:
        if event.name == "PreToolUse":
            return Way.PERMISSION
        if not _asks_for(event, decision):
            return Way.SILENCE  # another input was allowed: Codex has to ask its own user
    return way


def _asks_for(event: Event, decision: Decision) -> bool:
    """Whether what is asked for is the input that was allowed, whatever it had been before."""
    return event.tool is not None and canonical(event.tool.bare) == canonical(
        dict(decision.updated_input or {})
    )


def _is_answered(event: Event, decision: Decision) -> bool:
    return decision.updated_input is not None and event.name == "PreToolUse" and asks(event)


def _reply(event: Event, words: _Words) -> Reply:
    output = dict(words.top)
    if words.specific:
        output["hookSpecificOutput"] = {"hookEventName": event.name, **words.specific}
    return Reply(output or None, words.stderr)


def _silence(words: _Words, _: Event, decision: Decision) -> None:
    if decision.verdict is Verdict.PASS and decision.reason:
        words.stderr = f"crabhook: no opinion: {decision.reason}\n"  # which Codex does not show


def _permission(words: _Words, event: Event, decision: Decision) -> None:
    if decision.verdict is Verdict.DENY or decision.updated_input is None:
        _deny(words, decision.reason)
    elif asks(event):
        told = stated(dict(decision.updated_input))
        _deny(words, "\n".join(filter(None, (told, decision.note))))
    else:
        words.specific["permissionDecision"] = "allow"
        words.specific["updatedInput"] = dict(decision.updated_input)


def _deny(words: _Words, reason: str) -> None:
    words.specific["permissionDecision"] = "deny"
    words.specific["permissionDecisionReason"] = _said(reason)


def _decision(words: _Words, _: Event, decision: Decision) -> None:
    body: _Body = {"behavior": decision.verdict.value}
    if decision.verdict is Verdict.DENY:
        body["message"] = _said(decision.reason)
    words.specific["decision"] = body


def _block(words: _Words, _: Event, decision: Decision) -> None:
    words.top |= {"decision": "block", "reason": _said(decision.reason)}


def _said(reason: str) -> str:
    """Return the reason, or words in its place: a denial without any is void."""
    return readable(reason) if reason.strip() else _UNSAID


_WRITERS: Mapping[Way, Callable[[_Words, Event, Decision], None]] = {
    Way.SILENCE: _silence,
    Way.PERMISSION: _permission,
    Way.DECISION: _decision,
    Way.BLOCK: _block,
}
