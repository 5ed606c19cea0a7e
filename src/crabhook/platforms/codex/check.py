"""What an event of Codex cannot carry: refused when decided, since written it would be void."""

from collections.abc import Mapping

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError, QuestionError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value
from crabhook.platforms.carried import (
    ALLOWS,
    ANY,
    Limits,
    check_parts,
    check_reason,
    check_verdict,
)
from crabhook.platforms.codex.answering import stated
from crabhook.platforms.codex.choices import choices
from crabhook.platforms.codex.events import asks, rule_of
from crabhook.platforms.codex.strictness import why_unreadable

_LIMITS: Limits = {
    "halt": (ALLOWS | {Verdict.PASS}, "stops no session"),
    "user_message": (ANY, "shows its user no message"),
    "suppress_output": ((), "suppresses nothing: Codex takes the whole answer for void"),
    "note": (ALLOWS, "takes no note"),
    "interrupt": (ANY, "interrupts nothing"),
    "permissions": (ANY, "takes no permissions"),
    "output": (ANY, "replaces no output"),
    "content": (ANY, "takes no form's values"),
    "updated_input": (ALLOWS, "takes no changed input"),
}
# The tools whose input is one text.
_COMMANDS = frozenset({"Bash", "apply_patch"})


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    who, offered = f"Codex's {event.name}", choices(event)
    check_verdict(who, decision.verdict, offered, rule_of(event).verdicts)
    check_reason(decision, ", and Codex goes ahead without one")
    check_parts(who, decision, offered, _LIMITS)
    if decision.updated_input is not None:
        assert event.tool is not None  # noqa: S101 - without one, no input is taken
        _check_input(event, event.tool, decision.updated_input)


def _check_input(event: Event, tool: ToolCall, updated: Mapping[str, Value]) -> None:
    """Refuse an input that Codex would refuse, or would not read; and questions without answers."""
    if asks(event):
        _check_answers(updated)
        return
    if why := why_unreadable(dict(updated)):
        raise DecisionError(f"the changed input cannot be sent to Codex: {why}")
    if tool.name in _COMMANDS and not isinstance(updated.get("command"), str):
        raise DecisionError(f'the changed input of {tool.name} has no text "command"')


def _check_answers(updated: Mapping[str, Value]) -> None:
    try:
        told = stated(dict(updated))
    except QuestionError as error:
        raise DecisionError(f"the questions cannot be answered: {error}") from error
    if not told:
        raise DecisionError("Codex takes no changed questions, only answers to them")
