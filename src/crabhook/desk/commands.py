"""An operator's commands and their outcomes: values, so that a desk may be elsewhere.

A command gets its id where it is given. Submitted again, as after a lost connection, it has the
same outcome and nothing is done twice.
"""

from dataclasses import field
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import ClassVar, TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.actor import Actor
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.model.signing import DecisionSignature


@frozen
class Command:
    """Something that is submitted to a desk."""

    id: str = field(default_factory=partial(token_hex, 8), kw_only=True)


BARE_DENIAL = "The operator denied this (no reason given)"
"""The reason of a denial by a key that lies open: an agent may hold it, so it has no own words."""


@frozen
class Decide(Command):
    """Decide a card in the revision `seen`, as the operator saw it.

    For a changed call, `AskObjections` comes first and `despite` names all objections. `signed`:
    what the desk signed for the card's strict hooks, once the decision could not be taken back.
    """

    card: int
    seen: int
    decision: Decision
    signed: tuple[DecisionSignature, ...] = ()


@frozen
class TakenOffer:
    """An offer that the operator takes, by its id, and when the rule is to end; None for never."""

    offer: str
    expires: datetime | None


@frozen
class DecideWithRule(Command):
    """Write an offered rule into the operator's file and decide the card, both or neither.

    With a denial the rule denies such calls, and allows nothing.

    Other waiting cards that the rule allows are decided too, except those in `spares`. This desk
    has another answer to those on its way.
    """

    card: int
    seen: int
    taken: TakenOffer
    decision: Decision
    spares: frozenset[int] = frozenset()


def decide(
    card: int, seen: int, decision: Decision, rule: TakenOffer | None = None
) -> Decide | DecideWithRule:
    """Return the command that gives a decision about a card, with a rule if there is one."""
    if rule is None:
        return Decide(card, seen, decision)
    return DecideWithRule(card, seen, rule, decision)


@frozen
class GiveOrder(Command):
    """Give a standing order; its `until` is on the desk's clock."""

    order: Order


@frozen
class EndOrders(Command):
    """End the standing orders with these ids."""

    ids: frozenset[int]


@frozen
class Steer(Command):
    """Give a note to a session's main agent, or to the subagent `agent`, with its next call."""

    session: str
    text: str
    agent: str = ""


@frozen
class TakeBackNote(Command):
    """Take back a note that was not given yet, by its number."""

    note: int


@frozen
class StopSession(Command):
    """Stop a session, or its subagent `agent` alone, at its next call; the agent reads why."""

    session: str
    why: str
    agent: str = ""


@frozen
class Extend(Command):
    """Let a card wait so many seconds longer, as far as its agent can."""

    card: int
    seconds: float


@frozen
class Snooze(Command):
    """Put a card aside for so many seconds; with none it is brought back. It goes on waiting."""

    card: int
    seconds: float


@frozen
class KeepRule(Command):
    """Write a rule that was offered for an entry of the history into the operator's own file.

    Waiting cards that the rule allows are decided, but for those that it `spares`: this desk has
    an answer to them on its way.
    """

    entry: int
    taken: TakenOffer
    spares: frozenset[int] = frozenset()


@frozen
class Claim(Command):
    """Tell the other desks for a minute that the operator looks at a card, or `release` that.

    With a `verdict` it tells that this desk holds such an answer and sends it at `due`, on the
    server's clock; `release` tells that it was taken back. A claim decides nothing and stops no
    person from deciding.
    """

    card: int
    release: bool = False
    verdict: Verdict | None = None
    due: float = 0.0


@frozen
class Ask(Command):
    """Have something read; it comes as an update, before the outcome."""


@frozen
class AskOffers(Ask):
    """Ask which rules could allow calls like a card's, or like an `entry`'s: `OffersReady`.

    `denies`: which rules could deny them.
    """

    card: int = 0
    entry: int = 0
    denies: bool = False


@frozen
class AskContext(Ask):
    """Ask what the card's agent last said: `ContextReady`."""

    card: int


@frozen
class AskObjections(Ask):
    """Ask what the rules say against a call as a decision changes it: `ObjectionsReady`."""

    card: int
    decision: Decision


@frozen
class AskHistory(Ask):
    """Ask for a page of what ended before the entry `before`, or the newest: `HistoryRead`."""

    before: int = 0


@frozen
class AskDesks(Ask):
    """Ask who is at a desk of the server now: `DesksRead`."""


@frozen
class AskEntry(Ask):
    """Ask for all of one entry of the history: `EntryRead`."""

    entry: int


# The outcomes.


@frozen
class Done:
    """The command is done, and the updates about it have come."""

    why: ClassVar[str] = ""


@frozen
class TooLate:
    """The card had ended and nothing changed; `by` decided it, None where nobody did.

    `at` is on the server's clock; 0 if unknown.
    """

    why: str
    by: Actor | None = None
    at: float = field(default=0.0, compare=False)


@frozen
class Stale:
    """The card changed after the revision `seen`, to `now`; the command did nothing."""

    why: str
    now: int


@frozen
class Refused:
    """The command cannot be done; nothing changed."""

    why: str


@frozen
class NotAllowed(Refused):
    """This operator may not do it; nothing changed."""


Outcome: TypeAlias = Done | TooLate | Stale | Refused
"""What became of a command; `why` says why it was not done, and may quote an agent."""
