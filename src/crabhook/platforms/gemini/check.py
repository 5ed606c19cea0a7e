"""What an event of Gemini CLI cannot carry: refused when decided, not lost when written."""

from crabhook.model.decision import Decision
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import compact
from crabhook.platforms.carried import (
    ALLOWS,
    ANY,
    DENIES,
    Limits,
    check_parts,
    check_reason,
    check_verdict,
)
from crabhook.platforms.gemini.choices import choices
from crabhook.platforms.gemini.events import QUESTION_TOOL, is_call_of, rule_of

_LIMITS: Limits = {
    "halt": (ANY, "stops no agent"),
    "user_message": (ANY, "shows its user no message"),
    "suppress_output": (ANY, "has no output to suppress"),
    "note": (ALLOWS, "takes no note"),
    "interrupt": (DENIES, "has nothing to interrupt"),
    "permissions": (ALLOWS, "takes no permissions: Gemini CLI keeps none that a hook gives it"),
    "output": (ALLOWS, "has no output to replace"),
    "content": ((), "takes no form's values"),
    "updated_input": (ALLOWS, "takes no changed input"),
}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    offered = choices(event)
    check_verdict(event.name, decision.verdict, offered, rule_of(event).verdicts)
    check_reason(decision)
    check_parts(event.name, decision, offered, _LIMITS)
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
