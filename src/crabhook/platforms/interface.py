"""What every dialect of hook protocol offers to the rest of the house."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

from crabhook.model.choices import Choices
from crabhook.model.decision import Decision
from crabhook.model.event import Event, Scope, ToolCall
from crabhook.model.jsontext import Value
from crabhook.model.reply import Reply
from crabhook.model.request import Stance


class Held(Enum):
    """When an event waits for the operator."""

    ALWAYS = "always"
    AT_THE_GATE = "as a gate; as a companion when asked to"
    BY_RULE = "where a rule or a protected place speaks of it; else it passes at once"
    ON_REQUEST = "when the operator asked to hold it"
    NEVER = "never"


class Phase(Enum):
    """What an event means for a call of a tool, or for the turn it belongs to.

    BEFORE: the agent stands still until the hook has answered or was ended, so
    that nothing it says meanwhile can be about that call.  ASKING: a person at
    the agent may answer first.
    """

    BEFORE = "about to call"
    ASKING = "asks whether to call"
    RAN = "the call ran"
    REFUSED = "the agent itself refused the call"
    PROMPT = "a person begins a turn"
    OTHER = "none of these"


class Platform(Protocol):
    """One agent's hook protocol."""

    @property
    def name(self) -> str:
        """The name a client gives with `--platform`."""

    def read(self, payload: bytes) -> Event:
        """Return the event in a hook's standard input.

        Raises PayloadError, in words for a person.
        """

    def held(self, event: Event, stance: Stance) -> Held:
        """When this event waits for the operator; until it does it gets silence at once."""

    def holdable(self) -> Sequence[str]:
        """Return the names of the events that an operator may ask to hold."""

    def asks(self, event: Event) -> bool:
        """Whether the event itself asks a person something, so that no blanket allow answers it."""

    def phase(self, event: Event) -> Phase:
        """What the event means for a call, or for the turn."""

    def compared(self, tool: ToolCall) -> Mapping[str, Value]:
        """Return what of a call's input has to be the same when it runs, by name.

        All of it, but for what the agent itself changes between the two.
        """

    def closes(self, event: Event) -> Scope:
        """What the event tells to be over."""

    def outcome(self, event: Event) -> str:
        """Return how a call that was answered at the agent went, as far as this event tells."""

    def choices(self, event: Event) -> Choices:
        """Return what the event can be told; what it cannot, `check` refuses."""

    def limits(self, event: Event) -> Sequence[str]:
        """Return what a hook cannot do on this event, a sentence each, for its card.

        Only what an operator would otherwise take for granted: what their
        decision will not bring about at the agent, and what to do instead.
        """

    def check(self, event: Event, decision: Decision) -> None:
        """Raise DecisionError, saying why, if the event cannot carry the decision."""

    def write(self, event: Event, decision: Decision) -> Reply:
        """Return the decision in the words this event is answered with."""

    def remark(self, event: Event, note: str) -> Reply | None:
        """Return a reply that tells the model `note` on an observed event, if it can."""
