"""The door between a screen and the broker: commands go in, numbered updates come out, in order.

A snapshot comes first, then what changes.  Each update has the number after the one before, so that
a screen notices when one is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from crabhook.desk.commands import Command, Outcome
from crabhook.model.actor import Actor, Operator
from crabhook.model.card import UNTOLD, Card, FeedEntry, Risk
from crabhook.model.decision import Decision
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.model.session import SessionKey, SessionView


@dataclass(frozen=True, slots=True)
class Past:
    """A call or a wait that ended.

    `id` names it among what ended; where `recorded`, it is the number of its record in the chain.
    `at` is when it ended, wall seconds since 1970, `waited` for how many seconds it had waited.
    `card` is what was asked, without secrets, and how it ended; its number is 0 where it was
    decided at once, on no card.  In a page of the history it has the start of what was asked.
    `missing` says why the answer did not reach its hook, `why` how it ended where no more is known.
    """

    id: int
    at: float
    card: Card
    waited: float = 0.0
    missing: str = ""
    why: str = ""
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class HistoryRead:
    """A page of what ended before the entry `before`, or of all, the newest first.

    `goes_on`: before which entry the next page begins; 0 where there is no more.
    `why` says why there is no more to be had, where something is wrong.
    """

    before: int
    entries: tuple[Past, ...] = ()
    goes_on: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class EntryRead:
    """One entry of the history, whole; None where it is no longer kept."""

    id: int
    entry: Past | None


@dataclass(frozen=True, slots=True)
class Claimed:
    """These operators, at other desks, look at a card."""

    card: int
    by: tuple[Actor, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All there is: the cards that wait, the oldest first, and what ended and went by lately.

    `now` is the time on the desk's clock, seconds; all other times are on the same clock.
    `holdable` are the names of the events that can be held on request, by a standing order.
    `live` are the sessions heard of last, of those that `sessions` counts.  `me` sits at the
    desk that is told; None where that is not known.  At so many `desks` somebody sits who may
    decide.  `house` is how rules and record stand.
    """

    now: float
    waiting: tuple[Card, ...] = ()
    ended: tuple[Card, ...] = ()
    feed: tuple[FeedEntry, ...] = ()
    orders: tuple[Standing, ...] = ()
    sessions: int = 0
    troubles: tuple[str, ...] = ()
    holdable: tuple[str, ...] = ()
    live: tuple[SessionView, ...] = ()
    claims: tuple[Claimed, ...] = ()
    me: Actor | None = None
    desks: int = 0
    house: "HouseChanged | None" = None


@dataclass(frozen=True, slots=True)
class OrdersChanged:
    """These orders stand now, the oldest first; each ends by itself."""

    orders: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """So many sessions were heard of and have not ended."""

    count: int


@dataclass(frozen=True, slots=True)
class SessionsSeen:
    """These sessions are new or have changed, and those have ended; told once in a moment."""

    changed: tuple[SessionView, ...]
    ended: tuple[SessionKey, ...] = ()


@dataclass(frozen=True, slots=True)
class DesksChanged:
    """At so many desks somebody sits now who may decide."""

    count: int


@dataclass(frozen=True, slots=True)
class AttachedDesk:
    """A desk that is attached: who sits there, and since when on the desk's clock.

    `closing`: it is attached by the key that lies open, as a script is, so nobody need sit there.
    """

    by: Operator
    since: float = 0.0
    closing: bool = False


@dataclass(frozen=True, slots=True)
class DesksRead:
    """The desks that are attached, the first to come first."""

    desks: tuple[AttachedDesk, ...]


@dataclass(frozen=True, slots=True)
class TroublesChanged:
    """What is wrong with the rules, the record or the socket, for as long as it is."""

    troubles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HouseChanged:
    """How the rules and the record stand, and what was decided today, each in a few words of ours.

    `today` is empty where nobody counts, or the desk is not to see it.
    """

    state: str = ""
    today: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A rule that the operator may take by its `id`, in words, and how it did on past calls.

    `rule` says it with where it holds, `texts` are its matchers as a rule file has them, `expires`
    is when it ends unless it is taken with another end.  `covers` says what it allows, and
    `gives_away`, a warning each, what beside that.  It would have allowed `covered` past calls,
    among them `denied` that were denied: `denials` are the latest of these, each call once, with
    the start of its input and how often it was denied.
    """

    id: str
    rule: str
    texts: tuple[str, ...]
    expires: datetime | None
    covers: str
    gives_away: tuple[str, ...] = ()
    covered: int = 0
    denied: int = 0
    denials: tuple[tuple[Event, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Offering:
    """All that is offered for one call, the narrowest first.

    `tried_on`: on how many past calls of its kind, the latest; None where there is no record of
    any.  `why`: why nothing is offered, in words that may hold an agent's.  `file`: where a rule is
    written that is taken, as a person would name it; an older server's does not say.
    """

    offers: tuple[Offer, ...] = ()
    tried_on: int | None = None
    why: str = ""
    file: str = ""

    @property
    def where(self) -> str:
        """The file that a rule is written to, in words where it is not known."""
        return self.file or "your own rules.toml"


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """A desk elsewhere has lost its server, for this reason, or hears from it again: no reason.

    `now` is then the time on the desk's clock.  While it is lost, all that is shown is of before,
    and nothing can be done.
    """

    lost: str
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class OffersReady:
    """Which rules could allow a card's call, or an entry's, from now on, or why there is none."""

    card: int
    offering: Offering
    entry: int = 0


@dataclass(frozen=True, slots=True)
class ContextReady:
    """What a card's agent last said, and what its user asked for last, from its transcript.

    Each is empty where none is known, and holds an agent's letters.  `allowed` and `denied` calls
    like it were decided so today.
    """

    card: int
    words: str
    prompt: str = ""
    allowed: int = 0
    denied: int = 0


@dataclass(frozen=True, slots=True)
class ObjectionsReady:
    """What a deny rule or a protected place says of a card's call as a decision changes it.

    `risk`: what the call may do then.
    """

    card: int
    decision: Decision
    objections: tuple[str, ...]
    risk: Risk = UNTOLD


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a command that this desk submitted, by the command's id."""

    command: str
    outcome: Outcome


News: TypeAlias = (
    Snapshot
    | Card
    | FeedEntry
    | OrdersChanged
    | SessionsChanged
    | SessionsSeen
    | TroublesChanged
    | DesksChanged
    | DesksRead
    | HouseChanged
    | Claimed
    | LinkChanged
    | OffersReady
    | ContextReady
    | ObjectionsReady
    | HistoryRead
    | EntryRead
    | Settled
)
"""A card tells that it is new or has changed, a feed entry that it has come."""


class Update(NamedTuple):
    """One piece of news, and its place in the stream of its subscriber."""

    number: int
    news: News


class Desk(Protocol):
    """The desk of one operator, here or on another machine.

    No exception crosses it: what becomes of a command is an update, `Settled`.
    """

    def submit(self, command: Command) -> None:
        """Have a command carried out, when what was submitted before it is."""

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Tell `listener` a snapshot, then every update; return how to stop.

        An update that comes while the listener acts on another one waits for its turn.
        """
