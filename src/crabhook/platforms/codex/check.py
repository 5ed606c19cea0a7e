"""What an event of Codex cannot carry: refused when decided, since written it would be void."""

from collections.abc import Mapping

from crabhook.model.choices import Beside
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError, QuestionError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value
from crabhook.platforms.codex.answering import stated
from crabhook.platforms.codex.choices import choices
from crabhook.platforms.codex.events import asks, rule_of
from crabhook.platforms.codex.strictness import why_unreadable

_NEEDS_REASON = frozenset({Verdict.DENY, Verdict.KEEP_GOING})
_ANY = frozenset(Verdict)
_ALLOWS = frozenset({Verdict.ALLOW})
# The tools whose input is one text.
_COMMANDS = frozenset({"Bash", "apply_patch"})


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    name, verdict = event.name, decision.verdict
    offered = choices(event)
    if verdict not in offered.verdicts:
        can = ", ".join([*rule_of(event).verdicts, Verdict.PASS])
        raise DecisionError(f"Codex's {name} cannot be answered with {verdict}; it can with: {can}")
    if verdict in _NEEDS_REASON and not decision.reason.strip():
        what = "a denial needs a reason" if verdict is Verdict.DENY else "say how to go on"
        raise DecisionError(f"{what}: the model reads it, and Codex goes ahead without one")
    changed = decision.updated_input is not None
    for carried, part, verdicts, what in (
        (decision.halt, Beside.HALT, _ALLOWS | {Verdict.PASS}, "stops no session"),
        (decision.user_message, Beside.MESSAGE, _ANY, "shows its user no message"),
        (decision.note, Beside.NOTE, _ALLOWS, "takes no note"),
        (decision.interrupt, Beside.INTERRUPT, _ANY, "interrupts nothing"),
        (decision.permissions, Beside.PERMISSIONS, _ANY, "takes no permissions"),
        (decision.output is not None, Beside.OUTPUT, _ANY, "replaces no output"),
        (decision.content is not None, Beside.NOTHING, _ANY, "takes no form's values"),
        (changed, Beside.INPUT, _ALLOWS, "takes no changed input"),
    ):
        if carried and not (verdict in verdicts and part in offered.beside):
            raise DecisionError(f"Codex's {name}, answered with {verdict}, {what}")
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
