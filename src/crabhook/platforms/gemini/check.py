"""What an event of Gemini CLI cannot carry: refused when decided, not lost when written."""

from crabhook.model.choices import Beside
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import compact
from crabhook.platforms.gemini.choices import choices
from crabhook.platforms.gemini.events import QUESTION_TOOL, is_call_of, rule_of

_NEEDS_REASON = frozenset({Verdict.DENY, Verdict.KEEP_GOING})
_ANY = frozenset(Verdict)
_NEVER: frozenset[Verdict] = frozenset()
_ALLOWS = frozenset({Verdict.ALLOW})
_DENIES = frozenset({Verdict.DENY})


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    name, verdict = event.name, decision.verdict
    offered = choices(event)
    if verdict not in offered.verdicts:
        can = ", ".join([*rule_of(event).verdicts, Verdict.PASS])
        raise DecisionError(f"{name} cannot be answered with {verdict}; it can with: {can}")
    if verdict in _NEEDS_REASON and not decision.reason:
        what = "a denial needs a reason" if verdict is Verdict.DENY else "say how to go on"
        raise DecisionError(f"{what}: the model reads it")
    changed = decision.updated_input is not None
    for carried, part, verdicts, what in (
        (decision.halt, Beside.HALT, _ANY, "stops no agent"),
        (decision.user_message, Beside.MESSAGE, _ANY, "shows its user no message"),
        (decision.note, Beside.NOTE, _ALLOWS, "takes no note"),
        (decision.interrupt, Beside.INTERRUPT, _DENIES, "has nothing to interrupt"),
        (decision.permissions, Beside.PERMISSIONS, _ALLOWS,
         "takes no permissions: Gemini CLI keeps none that a hook gives it"),
        (decision.output is not None, Beside.OUTPUT, _ALLOWS, "has no output to replace"),
        (decision.content is not None, Beside.NOTHING, _NEVER, "takes no form's values"),
        (changed, Beside.INPUT, _ALLOWS, "takes no changed input"),
    ):  # fmt: skip
        if carried and not (verdict in verdicts and part in offered.beside):
            raise DecisionError(f"{name}, answered with {verdict}, {what}")
    _check_values(event, decision)


def _check_values(event: Event, decision: Decision) -> None:
    """Refuse what cannot be written, and questions that would come to nothing."""
    for value, what in ((decision.updated_input, "changed input"), (decision.output, "output")):
        try:
            compact(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise DecisionError(f"the {what} cannot be written as JSON: {error}") from error
    updated = decision.updated_input
    if updated is not None and is_call_of(event, QUESTION_TOOL) and "questions" not in updated:
        raise DecisionError("the questions must be sent back with their answers")
