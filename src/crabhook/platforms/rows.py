"""The row that an agent's table has for each of its events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import Generic, TypeVar

from crabhook.model.decision import Verdict
from crabhook.model.event import Scope
from crabhook.model.fields import Told
from crabhook.platforms.protocol import Reads

W_co = TypeVar("W_co", bound=Enum, covariant=True)
"""An agent's ways to write a verdict."""


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


class Also(Flag):
    """What an answer may say beside its verdict."""

    NOTHING = 0
    CONTEXT = auto()  # hookSpecificOutput.additionalContext, for the model
    HALT = auto()  # continue: false, which ends the turn
    USER = auto()  # systemMessage, for the agent's user


TELL = Also.USER | Also.CONTEXT
HALT = Also.USER | Also.HALT
ALL = TELL | Also.HALT


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a hook may take, in seconds.

    `client` is our client's own limit and always the shorter one, so that it
    is the client that gives up, in good order, and not the agent that kills it.
    """

    timeout: float
    client: int


@dataclass(frozen=True, slots=True)
class EventRow(Generic[W_co]):
    """All that is known of one event of one agent.

    `verdicts`: those an operator may give, and how each is written; no opinion
    can always be given.  `also`: what the answer may carry beside the verdict.
    `closes`: what the event tells to be over; of a call that was not decided
    here it is the only sign.  `phase`: what the event means for a call.
    `outcome`: what became of a call that nobody decided, in words.
    `silence_decides`: the event is decided by what is printed, so a hook that
    only watches must not be registered on it.  `hook`: how our hook is
    installed on it: with None it can wait for the operator, with a Patience it
    is only observed, and with a text it is left out, for that reason.
    `reads`: what the linter has to know.  `told`: the fields that tell most.
    """

    held: Held = Held.NEVER
    verdicts: Mapping[Verdict, W_co] = field(default_factory=dict)
    also: Also = Also.NOTHING
    closes: Scope = Scope.NOTHING
    phase: Phase = Phase.OTHER
    outcome: str = ""
    hook: Patience | str | None = None
    reads: Reads = Reads()  # noqa: RUF009 - it is frozen
    told: Mapping[str, Told] = field(default_factory=dict)
    silence_decides: bool = False


def holdable(events: Mapping[str, EventRow[Enum]]) -> tuple[str, ...]:
    """Return the events of a table that an operator may ask to hold."""
    asked = (Held.AT_THE_GATE, Held.ON_REQUEST)
    return tuple(name for name, row in events.items() if row.held in asked)
