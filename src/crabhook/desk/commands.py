"""An operator's commands and their outcomes: values, so that a desk may be elsewhere.

A command gets its id where it is given. Submitted again, as after a lost connection, it has the
same outcome and nothing is done twice.
"""

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import ClassVar, TypeAlias

from crabhook.model.actor import Actor
from crabhook.model.decision import Decision
from crabhook.model.order import Order


@dataclass(frozen=True, slots=True)
class Command:
    """Something that is submitted to a desk."""

    id: str = field(default_factory=partial(token_hex, 8), kw_only=True)


BARE_DENIAL = "the operator denied it in a shell, and said no more"
"""The reason of a denial by a key that lies open: an agent may hold it, so it has no own words."""


@dataclass(frozen=True, slots=True)
class Decide(Command):
    """Decide a card in the revision `seen`, the one that the operator saw.

    For a changed call, `AskObjections` comes first and `despite` names all objections.
    """

    card: int
    seen: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class TakenOffer:
    """An offer that the operator takes, by its id, and when the rule is to end; None for never."""

    offer: str
    expires: datetime | None


@dataclass(frozen=True, slots=True)
class AllowWithRule(Command):
    """Write an offered rule into the operator's file and decide the card, both or neither.

    Other waiting cards that the rule allows are decided too.
    """

    card: int
    seen: int
    taken: TakenOffer
    decision: Decision


@dataclass(frozen=True, slots=True)
class GiveOrder(Command):
    """Give a standing order; its `until` is on the desk's clock."""

    order: Order


@dataclass(frozen=True, slots=True)
class EndOrders(Command):
    """End the standing orders with these ids."""

    ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class Steer(Command):
    """Give a note to a session's main agent, or to the subagent `agent`, with its next call."""

    session: str
    text: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class TakeBackNote(Command):
    """Take back a note that was not given yet, by its number."""

    note: int


@dataclass(frozen=True, slots=True)
class StopSession(Command):
    """Stop a session, or its subagent `agent` alone, at its next call; the agent reads why."""

    session: str
    why: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Extend(Command):
    """Let a card wait so many seconds longer, as far as its agent can."""

    card: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Snooze(Command):
    """Put a card aside for so many seconds; with none it is brought back.  It goes on waiting."""

    card: int
    seconds: float


@dataclass(frozen=True, slots=True)
class KeepRule(Command):
    """Write a rule that was offered for an entry of the history into the operator's own file."""

    entry: int
    taken: TakenOffer


@dataclass(frozen=True, slots=True)
class Claim(Command):
    """Tell the other desks for a minute that the operator looks at a card, or `release` that.

    A claim decides nothing and stops nobody from deciding.
    """

    card: int
    release: bool = False


@dataclass(frozen=True, slots=True)
class Ask(Command):
    """Have something read; it comes as an update, before the outcome."""


@dataclass(frozen=True, slots=True)
class AskOffers(Ask):
    """Ask which rules could allow calls like a card's, or like an `entry`'s: `OffersReady`."""

    card: int = 0
    entry: int = 0


@dataclass(frozen=True, slots=True)
class AskContext(Ask):
    """Ask what the card's agent last said: `ContextReady`."""

    card: int


@dataclass(frozen=True, slots=True)
class AskObjections(Ask):
    """Ask what the rules say against a call as a decision changes it: `ObjectionsReady`."""

    card: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class AskHistory(Ask):
    """Ask for a page of what ended before the entry `before`, or the newest: `HistoryRead`."""

    before: int = 0


@dataclass(frozen=True, slots=True)
class AskDesks(Ask):
    """Ask who is at a desk of the server now: `DesksRead`."""


@dataclass(frozen=True, slots=True)
class AskEntry(Ask):
    """Ask for all of one entry of the history: `EntryRead`."""

    entry: int


# The outcomes.


@dataclass(frozen=True, slots=True)
class Done:
    """The command is done, and the updates about it have come."""

    why: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class TooLate:
    """The card had ended and nothing changed; `by` decided it, None where nobody did.

    `at` is on the server's clock; 0 if unknown.
    """

    why: str
    by: Actor | None = None
    at: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Stale:
    """The card changed after the revision `seen`, to `now`; the command did nothing."""

    why: str
    now: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The command cannot be done; nothing changed."""

    why: str


@dataclass(frozen=True, slots=True)
class NotAllowed(Refused):
    """This operator may not do it; nothing changed."""


Outcome: TypeAlias = Done | TooLate | Stale | Refused
"""What became of a command; `why` says why it was not done, and may quote an agent."""
