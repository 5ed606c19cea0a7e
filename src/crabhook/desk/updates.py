"""Between a screen and the broker: commands go in, numbered updates come out, in order.

A snapshot comes first, then changes, numbered without gaps: a screen notices a lost update.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from crabhook.datatypes import frozen
from crabhook.desk.commands import (
    Ask,
    AskContext,
    AskDesks,
    AskEntry,
    AskHistory,
    AskObjections,
    AskOffers,
    Command,
    Outcome,
)
from crabhook.model.actor import Actor, Operator
from crabhook.model.card import UNTOLD, Card, FeedEntry, Risk
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.model.session import SessionKey, SessionView


@frozen
class Past:
    """A call or a wait that ended.

    `id` names it; where `recorded`, as the number of its record in the chain. `at` is when it
    ended, wall seconds since 1970, `waited` how many seconds it had waited. `card` is the request
    without secrets, and its end; number 0 means that no card was shown. A page of the history has
    only the start of the request. `missing`: why the answer did not reach its hook. `why`: the end,
    where no more is known.
    """

    id: int
    at: float
    card: Card
    waited: float = 0.0
    missing: str = ""
    why: str = ""
    recorded: bool = True


@frozen
class HistoryRead:
    """A page of the history before the entry `before`, or the newest.

    The next page begins before `goes_on`; 0 means no more. `why`: the error that ends the history.
    """

    before: int
    entries: tuple[Past, ...] = ()
    goes_on: int = 0
    why: str = ""


@frozen
class EntryRead:
    """One whole entry of the history; None if it is no longer kept."""

    id: int
    entry: Past | None


@frozen
class Holding:
    """An answer that an operator's desk holds, and sends at `due`, on the server's clock.

    It decides nothing until it is sent, and may be taken back.
    """

    by: Actor
    verdict: Verdict
    due: float


@frozen
class Claimed:
    """These operators, at other desks, look at a card, or have an answer to it that is held."""

    card: int
    by: tuple[Actor, ...]
    holding: tuple[Holding, ...] = ()

    def of(self, counts: Callable[[Actor], bool]) -> "Claimed":
        """Return the part of it that is about the operators who count."""
        held = tuple(answer for answer in self.holding if counts(answer.by))
        return Claimed(self.card, tuple(filter(counts, self.by)), held)


@frozen
class Snapshot:
    """All that a screen needs: the waiting cards, oldest first, and recent events.

    `now` is the time on the desk's clock, seconds; so are all other times. `holdable`: the events
    that a standing order can hold. `live`: the last sessions of `sessions` in all. `me`: who sits
    at this desk, None if unknown. `desks`: how many desks have a person who may decide. `house`:
    the state of rules and record.
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


@frozen
class OrdersChanged:
    """The standing orders of now, oldest first; each ends by itself."""

    orders: tuple[Standing, ...]


@frozen
class SessionsChanged:
    """So many sessions were heard of and have not ended."""

    count: int


@frozen
class SessionsSeen:
    """These sessions are new or have changed, and those have ended; told once in a moment."""

    changed: tuple[SessionView, ...]
    ended: tuple[SessionKey, ...] = ()


@frozen
class DesksChanged:
    """How many desks now have a person who may decide."""

    count: int


@frozen
class AttachedDesk:
    """An attached desk: its person, and since when on the desk's clock.

    `closing`: attached by the open key, as scripts are, so perhaps no person is there.
    """

    by: Operator
    since: float = 0.0
    closing: bool = False


@frozen
class DesksRead:
    """The desks that are attached, the first to come first."""

    desks: tuple[AttachedDesk, ...]


@frozen
class TroublesChanged:
    """What is wrong with the rules, the record or the socket, for as long as it is."""

    troubles: tuple[str, ...]


@frozen
class HouseChanged:
    """The state of the rules and the record, and today's counts, in short words of ours.

    `today` is empty where nothing is counted, or the desk may not see it.
    """

    state: str = ""
    today: str = ""

    @property
    def amiss(self) -> str:
        """The part of the state that is not as it should be."""
        return " · ".join(part for part in self.state.split(" · ") if not part.endswith(" ok"))


@frozen
class Offer:
    """A rule to take by its `id`, in words, and its result on past calls.

    `rule` says it with its place, `texts` are its matchers as in a rule file, `expires` is its
    default end. `covers` says of which calls it speaks, `gives_away` what more it allows, a warning
    each. It would have allowed `covered` past calls, or denied them if it `denies`. Of these,
    `undone` were decided the other way. `undoes` are the latest of them, each once, with the start
    of its input and how often.
    """

    id: str
    rule: str
    texts: tuple[str, ...]
    expires: datetime | None
    covers: str
    gives_away: tuple[str, ...] = ()
    covered: int = 0
    undone: int = 0
    undoes: tuple[tuple[Event, int], ...] = ()
    denies: bool = False


@frozen
class Offering:
    """The rules offered for one call, narrowest first.

    `tried_on`: on how many past calls of its kind; None without a record. `why`: why there are no
    rules; may have an agent's words. `file`: where a taken rule is written, in words; older servers
    omit it.
    """

    offers: tuple[Offer, ...] = ()
    tried_on: int | None = None
    why: str = ""
    file: str = ""

    @property
    def where(self) -> str:
        """The file for a taken rule, in words if unknown."""
        return self.file or "your own rules.toml"


@frozen
class LinkChanged:
    """A desk elsewhere lost its server, for `why`, or (no reason) has it again, at `now`.

    While the server is lost, the screen shows old news and no command works. `changed`: what has
    become of it meanwhile. `refused`: the server is there, and takes this desk no more.
    """

    lost: str
    now: float = 0.0
    changed: str = ""
    refused: bool = False


@frozen
class OffersReady:
    """Which rules could allow a card's call, or an entry's, from now on, or why there is none.

    `denies`: which rules could deny it.
    """

    card: int
    offering: Offering
    entry: int = 0
    denies: bool = False


@frozen
class ContextReady:
    """A card's context from its transcript: the agent's last words, the user's last prompt.

    Both are empty if unknown, and not yet safe. `allowed` and `denied` count today's similar calls,
    and `counted` tells in words which these are; older servers omit it.
    """

    card: int
    words: str
    prompt: str = ""
    allowed: int = 0
    denied: int = 0
    counted: str = ""


@frozen
class ObjectionsReady:
    """What deny rules and protected places say about a call as changed by a decision.

    `risk`: what the call may do then.
    """

    card: int
    decision: Decision
    objections: tuple[str, ...]
    risk: Risk = UNTOLD


@frozen
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

SHARED: frozenset[type[News]] = frozenset(
    {
        Card,
        FeedEntry,
        OrdersChanged,
        SessionsChanged,
        SessionsSeen,
        TroublesChanged,
        DesksChanged,
        Claimed,
        HouseChanged,
    }
)
"""The changes that every desk hears; other news answers one desk alone."""

READ: Mapping[type[Ask], type[News]] = {
    AskOffers: OffersReady,
    AskContext: ContextReady,
    AskObjections: ObjectionsReady,
    AskHistory: HistoryRead,
    AskEntry: EntryRead,
    AskDesks: DesksRead,
}
"""What is read for each command that asks."""


class Cursor(NamedTuple):
    """A place in a server's news: of which store, after which number, as seen with which rights."""

    store: bytes
    seq: int
    view: bytes

    def __str__(self) -> str:
        return f"{self.store.hex()}:{self.seq}:{self.view.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Return the cursor that a text is; raises ValueError."""
        store, seq, view = text.split(":")
        return cls(bytes.fromhex(store), int(seq), bytes.fromhex(view))


NEVER = Cursor(b"", 0, b"")
"""The cursor of who has seen nothing."""


class Update(NamedTuple):
    """One piece of news, and its number in the stream of its subscriber."""

    number: int
    news: News


class Desk(Protocol):
    """The desk of one operator, here or on another machine.

    It raises nothing: the outcome of a command is an update, `Settled`.
    """

    def submit(self, command: Command) -> None:
        """Have a command carried out, when what was submitted before it is."""

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Give `listener` a snapshot, then every update, one at a time; return how to stop."""
