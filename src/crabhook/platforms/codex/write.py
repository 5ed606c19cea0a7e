"""What an event of Codex can be told, and its JSON: only forms that Codex takes.

Any other form is void, and then the call runs. Its JSON reader is stricter than Python's writer. A
hook cannot answer request_user_input, but the model reads why the tool was refused, so answers go
there.
"""

from collections.abc import Mapping

from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, canonical
from crabhook.platforms import common
from crabhook.platforms.codex import events
from crabhook.platforms.event_table import Also

DEEPEST = 100  # levels; past 128 of the whole answer its reader gives up
_LEAST, _MOST = -(2**63), 2**64 - 1  # whole numbers past these would come out changed


def readable(text: str) -> str:
    """Return `text` without halves of characters, which no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def why_unreadable(value: Value, depth: int = 0) -> str:
    """Return why `value` would not arrive unchanged; empty if it would."""
    if depth > DEEPEST:
        return f"it is nested deeper than {DEEPEST} levels"
    inner: list[Value] = []
    why = ""
    match value:
        case str() if readable(value) != value:
            why = "it holds half a character"
        case int() if not _LEAST <= value <= _MOST:
            why = "it holds a number of too many digits"
        case float() if not abs(value) < float("inf"):
            why = "it holds a number out of range"
        case list():
            inner = value
        case dict():
            inner = [*value, *value.values()]
    return why or next(filter(None, (why_unreadable(item, depth + 1) for item in inner)), "")


_BEFORE_A_CALL = frozenset({"PreToolUse", "PermissionRequest"})
_EDITS = frozenset({"apply_patch"})


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them."""
    row = events.EVENTS[event.name]
    has_tool = event.tool is not None
    return common.offering(
        row,
        (Beside.NOTE, Also.CONTEXT in row.also or event.name == "PermissionRequest"),
        (Beside.INPUT, event.name == "PreToolUse" and has_tool),
        (Beside.RULE, event.name in _BEFORE_A_CALL and has_tool and not events.asks(event)),
        runs=common.runs(event, row, _EDITS, events.QUESTION_TOOL),
    )


_ANSWERED_BY_REFUSAL = (
    "Codex takes no answers from a hook: yours reach the model as a refusal that states them."
)
_MAY_BE_REFUSED = (
    "Outside its Plan mode Codex refuses these questions itself and does not say so here: "
    "passed or allowed, they may be seen by nobody."
)
_APPROVES_NOTHING = (
    "An allow approves nothing here: Codex goes by its own rules and sandbox, and asks nobody in "
    "this session. A denial or a changed input is followed."
)
_APPROVES_WHAT_FOLLOWS = (
    "An allow approves nothing by itself: Codex goes by its own rules. Should it ask about this "
    "call within a minute, as before running it outside its sandbox, it is told this allow."
)
_DIALOG_WAITS = "Codex shows its own dialog only when this is passed or handed back."
_INPUT_STAYS = "The input cannot be changed here: deny it, saying what to do instead."


def limits(event: Event) -> tuple[str, ...]:
    """Return what a decision on the event will not bring about, a sentence each."""
    if event.name == "PermissionRequest":
        return _DIALOG_WAITS, _INPUT_STAYS
    if event.name != "PreToolUse":
        return ()
    if events.asks(event):
        return _ANSWERED_BY_REFUSAL, _MAY_BE_REFUSED
    unasked = event.permission_mode in events.UNASKED_MODES
    return (_APPROVES_NOTHING if unasked else _APPROVES_WHAT_FOLLOWS,)


_LIMITS: common.Limits = common.LIMITS | {
    "halt": (common.ALLOWS | {Verdict.PASS}, "stops no session"),
    "suppress_output": ((), "suppresses nothing: Codex takes the whole answer for void"),
    "interrupt": (common.ANY, "interrupts nothing"),
    "output": (common.ANY, "replaces no output"),
}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    who, offered = f"Codex's {event.name}", choices(event)
    common.check_verdict(who, decision.verdict, offered, events.EVENTS[event.name].verdicts)
    common.check_reason(decision, ", and Codex goes ahead without one")
    common.check_parts(who, decision, offered, _LIMITS)
    if decision.updated_input is not None and events.asks(event):
        common.check_answers(lambda: common.refusal_with_answers(decision))
    elif decision.updated_input is not None:
        _check_input(event, decision.updated_input)


def _check_input(event: Event, updated: Mapping[str, Value]) -> None:
    """Refuse an input that Codex would refuse or ignore."""
    if why := why_unreadable(dict(updated)):
        raise DecisionError(f"the changed input cannot be sent to Codex: {why}")
    if event.calls(*events.COMMANDS) and not isinstance(updated.get("command"), str):
        tool = event.tool.name if event.tool else ""
        raise DecisionError(f'the changed input of {tool} has no text "command"')


_UNSAID = "The operator gave no reason."


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Codex the decision; no opinion is silence."""
    row, words = events.EVENTS[event.name], common.ReplyDraft()
    _verdict(words, event, decision)
    answered = (
        decision.updated_input is not None and event.name == "PreToolUse" and events.asks(event)
    )
    if decision.note and Also.CONTEXT in row.also and not answered:
        words.specific["additionalContext"] = readable(decision.note)
    if decision.halt and Also.HALT in row.also:
        words.halt(readable(decision.halt))
    if decision.user_message and Also.USER in row.also:
        words.top["systemMessage"] = readable(decision.user_message)
    return words.reply(event)


def _way(event: Event, decision: Decision) -> events.Way:
    way = events.EVENTS[event.name].verdicts.get(decision.verdict, events.Way.SILENCE)
    if decision.verdict is Verdict.ALLOW and decision.updated_input is not None:
        if event.name == "PreToolUse":
            return events.Way.PERMISSION
        if not _asks_for(event, decision):
            return events.Way.SILENCE  # another input was allowed: Codex has to ask its own user
    return way


def _asks_for(event: Event, decision: Decision) -> bool:
    """Whether the request has the allowed input, with any input before."""
    return event.tool is not None and canonical(event.tool.bare) == canonical(
        dict(decision.updated_input or {})
    )


def _verdict(words: common.ReplyDraft, event: Event, decision: Decision) -> None:
    match _way(event, decision):
        case events.Way.SILENCE:
            words.pass_on(decision)
        case events.Way.PERMISSION:
            _permission(words, event, decision)
        case events.Way.DECISION:
            denied = decision.verdict is Verdict.DENY
            body: common.Body = {"behavior": decision.verdict.value}
            words.specific["decision"] = body | (
                {"message": _said(decision.reason)} if denied else {}
            )
        case events.Way.BLOCK:
            words.top |= {"decision": "block", "reason": _said(decision.reason)}


def _permission(words: common.ReplyDraft, event: Event, decision: Decision) -> None:
    if decision.verdict is Verdict.DENY or decision.updated_input is None:
        _deny(words, decision.reason)
    elif events.asks(event):
        _deny(words, common.refusal_with_answers(decision))
    else:
        words.specific["permissionDecision"] = "allow"
        words.specific["updatedInput"] = dict(decision.updated_input)


def _deny(words: common.ReplyDraft, reason: str) -> None:
    words.permission("deny", _said(reason))


def _said(reason: str) -> str:
    """Return the reason or a default: a denial without any is void."""
    return readable(reason) if reason.strip() else _UNSAID
