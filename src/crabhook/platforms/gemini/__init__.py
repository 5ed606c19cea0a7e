"""Gemini CLI's dialect (hook protocol of 0.61): see `events` for the table of all events."""

from collections.abc import Mapping, Sequence

from crabhook.model.choices import Choices
from crabhook.model.decision import Decision
from crabhook.model.event import Event, Scope, ToolCall
from crabhook.model.jsontext import Value
from crabhook.model.reply import Reply
from crabhook.model.request import Stance
from crabhook.platforms.gemini import check, choices, events, outcome, read, write
from crabhook.platforms.interface import Held, Phase


class Gemini:
    """The platform "gemini"."""

    name = "gemini"

    def read(self, payload: bytes) -> Event:
        """Return the event in `payload`; see `read.read_event`."""
        return read.read_event(payload)

    def held(self, event: Event, stance: Stance) -> Held:  # noqa: ARG002 - the protocol's signature
        """When the event waits for the operator; see `events.EVENTS`.

        The stance makes no difference: Gemini's own dialog comes up only when
        the hook has answered, so there is nothing to be a companion to.
        """
        return events.rule_of(event).held

    def holdable(self) -> Sequence[str]:
        """Return the events an operator may ask to hold; see `events.EVENTS`."""
        return events.HOLDABLE

    def asks(self, event: Event) -> bool:
        """Whether it is a question or a plan; see `events.asks`."""
        return events.asks(event)

    def phase(self, event: Event) -> Phase:
        """What the event means for a call, or for the turn; see `events.PHASES`."""
        return events.PHASES.get(event.name, Phase.OTHER)

    def compared(self, tool: ToolCall) -> Mapping[str, Value]:
        """Return the whole input: Gemini CLI changes nothing of it."""
        return {"input": tool.bare}

    def closes(self, event: Event) -> Scope:
        """What the event tells to be over; see `events.EventRule`."""
        return events.rule_of(event).closes

    def outcome(self, event: Event) -> str:
        """Return why nobody waits any more; see `outcome.outcome`."""
        return outcome.outcome(event)

    def choices(self, event: Event) -> Choices:
        """Return what the event can be told; see `choices.choices`."""
        return choices.choices(event)

    def limits(self, event: Event) -> Sequence[str]:
        """Return what a decision here will not bring about; see `choices.limits`."""
        return choices.limits(event)

    def check(self, event: Event, decision: Decision) -> None:
        """Refuse what the event cannot carry; see `check.check`."""
        check.check(event, decision)

    def write(self, event: Event, decision: Decision) -> Reply:
        """Return the decision in the event's own words; see `write.write`."""
        return write.write(event, decision)

    def remark(self, event: Event, note: str) -> Reply | None:
        """Return `note` as context for the model, on an event that takes it; see `write.remark`."""
        return write.remark(event, note)
