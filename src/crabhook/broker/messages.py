"""The broker's interface: the facts that it takes, and the effects that it returns, in order.

Every fact carries `now`, seconds on the broker's clock. A fact of a person's action carries the
actor, `by`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from crabhook.broker.call_outcomes import CallOutcome, Followed
from crabhook.datatypes import frozen
from crabhook.desk.commands import Command
from crabhook.model.actor import Actor, Operator
from crabhook.model.ballot import NOBODY_VOTES, Ballot, Electorate, LadderStep, Vote
from crabhook.model.card import UNTOLD, Card, FeedEntry, Request, Risk, TimesAsked
from crabhook.model.decision import Decided, Decision, Reply
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.model.proof import CallProof
from crabhook.model.session import KeptNote, Note
from crabhook.model.signing import DecisionSignature
from crabhook.policy.rule import Ruling

Rulings: TypeAlias = Mapping[str, Ruling | None]
"""The rulings about calls, by request id; None where no rule decides."""


@frozen
class Arrived:
    """A hook asks; `ruling` is what the owner's rules say, None where no rule decides.

    `attempt` is the number of the connection: a ticket may come back on a new connection.
    `warnings` are the first alarms of its card, `risk` what the call may do, `files` the real paths
    that it changes. `electorate`: who may decide it, where its ruling says who must allow it.
    """

    request: Request
    ruling: Ruling | None
    attempt: int
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    risk: Risk = field(default=UNTOLD, kw_only=True)
    files: tuple[str, ...] = field(default=(), kw_only=True)
    electorate: Electorate = field(default=NOBODY_VOTES, kw_only=True)
    now: float


@frozen
class Answered:
    """An operator, a rule or an order decided the card with this number.

    `rulings` are about the card's calls as the decision changes them, by request id, see
    `Broker.changed`; `risk` is what the changed calls may do. `seen` is the revision of the card
    that the operator saw; None where a rule or an order decides. `proof` is for the record.
    `electorate`: who may decide the card now, where a rule says who must allow it. `signed`: what
    the operator signed, a statement for each strict hook.
    """

    number: int
    decision: Decision
    by: Actor
    rulings: Rulings = field(default_factory=dict, kw_only=True)
    seen: int | None = field(default=None, kw_only=True)
    risk: Risk | None = field(default=None, kw_only=True)
    proof: CallProof | None = field(default=None, kw_only=True)
    electorate: Electorate = field(default=NOBODY_VOTES, kw_only=True)
    signed: tuple[DecisionSignature, ...] = field(default=(), kw_only=True)
    now: float


@frozen
class LookedAt:
    """A person looks at a card that needs certain people, or several."""

    number: int
    by: Operator
    now: float


@frozen
class ElectoratesChanged:
    """The team has changed: who may decide the waiting cards, by number."""

    electorates: Mapping[int, Electorate]
    now: float


@frozen
class Left:
    """A hook's connection ended before the hook had its reply."""

    request_id: str
    attempt: int
    now: float


@frozen
class Delivered:
    """A reply's connection ended: `whole` says whether the client received the whole reply."""

    request_id: str
    whole: bool
    now: float


@frozen
class TimePassed:
    """The clock moved; a wait may be over."""

    now: float


@frozen
class Closing:
    """Nobody will decide the cards that still wait: the operator leaves, or the server ends.

    `stopped`: the server was told to end, and no operator left.
    """

    now: float
    stopped: bool = False


@frozen
class Commanded:
    """An operator gave a command that is no decision. `proof` is for the record."""

    command: Command
    by: Actor
    now: float
    proof: CallProof | None = None


@frozen
class RuleAdded:
    """A rule made from a card or a history entry is in force; `rule` is its text.

    `proof` is for the record.
    """

    about: str
    rule: str
    by: Actor
    now: float
    proof: CallProof | None = None

    @property
    def event(self) -> Event:
        """An event for the feed, in the desk's own name."""
        return Event(platform="", name="Desk")


@frozen
class Reconsidered:
    """The rules have changed; `rulings` are about waiting requests, by their ids.

    `denies`: the new rule denies, so what the rules deny is denied, and nothing is allowed.
    """

    rulings: Rulings
    now: float
    denies: bool = False


@frozen
class Noted:
    """A line for the feed that belongs to no request; an `alarm` is shown in red."""

    event: Event
    text: str
    alarm: bool = field(default=False, kw_only=True)
    now: float


@frozen
class RestoredAnswer:
    """A reply that was given before the server ended, and perhaps not received."""

    request_id: str
    secret: str
    reply: Reply


@frozen
class RestoredRequest:
    """A leg of a card that waited when the server ended; it waited for `waited` seconds.

    `ruling` is what the rules say now, where the server asked them again; `risk`: what it may do.
    """

    number: int
    request: Request
    waited: float = 0.0
    ruling: Ruling | None = None
    risk: Risk = UNTOLD


@frozen
class RestoredDecision:
    """A leg of a card that an operator decided before the server ended.

    `delivered`: whether the record says that the reply arrived, None where it says nothing.
    """

    number: int
    request: Request
    decided: Decided
    delivered: bool | None = None


@frozen
class Restored:
    """The server begins again: the waiting requests and the given replies from the record.

    `decided` are the cards of replies without a receipt, and `notes` the notes without a receipt.
    `halts` are the orders that still stand, such as halts of sessions. None of their times is later
    than `now`. `ballots` are those of cards that need certain people, or several, by number, and
    `asked` tells of the cards that stayed open without their agents.
    """

    waiting: tuple[RestoredRequest, ...]
    answers: tuple[RestoredAnswer, ...]
    decided: tuple[RestoredDecision, ...]
    last_number: int
    halts: tuple[Standing, ...] = field(default=(), kw_only=True)
    notes: tuple[KeptNote, ...] = field(default=(), kw_only=True)
    ballots: Mapping[int, Ballot] = field(default_factory=dict, kw_only=True)
    asked: Mapping[int, TimesAsked] = field(default_factory=dict, kw_only=True)
    now: float


@frozen
class Mirrored:
    """What another server shows: its waiting legs, its ended cards, its orders, notes and ballots.

    This server decides none of them and sends no replies for them. `asked` is as in `Restored`.
    """

    waiting: tuple[RestoredRequest, ...]
    ended: tuple[Card, ...]
    now: float
    orders: tuple[Standing, ...] | None = None  # None: as before, and so are the notes
    notes: tuple[KeptNote, ...] = ()
    ballots: Mapping[int, Ballot] = field(default_factory=dict)
    asked: Mapping[int, TimesAsked] = field(default_factory=dict)


Fact: TypeAlias = (
    Arrived
    | Answered
    | LookedAt
    | ElectoratesChanged
    | Left
    | Delivered
    | TimePassed
    | Closing
    | Commanded
    | RuleAdded
    | Reconsidered
    | Noted
    | Restored
    | Mirrored
)


class Refusal(StrEnum):
    """Why a request gets no reply; its hook then does what it was installed to do."""

    NOT_YOURS = "this request id belongs to another secret"
    SUPERSEDED = "the same request came back on another connection"
    FULL = "too much waits for the operator already"
    SESSION_FULL = "too much of this session waits for the operator already"
    UNDECIDED = "nobody decided in time"
    OVER = "the agent tells that it was answered there"
    CLOSED = "the operator closed the desk"
    STOPPED = "the server was stopped"
    UNRECORDED = "what is decided could not be recorded"
    UNSPENT = "the use of a yes could not be recorded, so the yes still stands"
    HANDED_OVER = "the server makes room for the next server: ask again there"
    ELSEWHERE = "another server leads, and this server stands by: ask there"


@frozen
class Resolve:
    """Give this reply to the hook on that connection; `secret` is of its ticket.

    `confirm`: send `Delivered`, whether the hook has printed the reply or not. `decided` is the
    decision in the reply; None where nothing was decided, or where the same reply was given before,
    `again`.
    """

    request_id: str
    attempt: int
    secret: str = field(repr=False)
    reply: Reply
    confirm: bool = False
    decided: Decided | None = None
    again: bool = False


@frozen
class Refuse:
    """Turn the hook on that connection away."""

    request_id: str
    attempt: int
    refusal: Refusal


@frozen
class Show:
    """A card is new or has changed; `before` is the card before the change, None for a new card."""

    card: Card
    before: Card | None = None


@frozen
class FeedLine:
    """A line for the feed."""

    entry: FeedEntry


@frozen
class Conflict:
    """A hook's message cannot be true of a call, or of these cards; the broker does not follow it.

    `request_id`: the id of the hook's own request, where the hook asked about a call.
    """

    event: Event
    why: str
    cards: tuple[int, ...] = ()
    request_id: str = ""


@frozen
class Outcome:
    """An event of the hook `request_id` tells the outcome of a decided call."""

    event: Event
    request_id: str
    call: Followed
    fate: CallOutcome


@frozen
class OrdersEnded:
    """An operator has ended these standing orders."""

    orders: tuple[Standing, ...]


@frozen
class OrderSpent:
    """An order let a call run once, and stands no more; unrecorded, the call must not be allowed.

    Otherwise the next server would know the order as unused. `use` are the effects of this use
    alone, which `Broker.unspent` takes back.
    """

    order: Standing
    use: tuple["Effect", ...]


@frozen
class NoteToldOf:
    """An operator's note to an agent changed its state: `what`, for the record.

    `by` did it, None where nobody did. `event` and `request_id` are those of the call whose answer
    carried the note; the event of a note without a call names only its session.
    """

    note: Note
    what: str
    event: Event
    by: Actor | None = None
    request_id: str = ""


@frozen
class Voted:
    """A person said yes to a card; `void` are the votes that no longer count by that."""

    card: Card
    vote: Vote
    void: tuple[Vote, ...] = ()


@frozen
class VotesVoid:
    """These votes for a card no longer count, since their people left the team."""

    card: Card
    votes: tuple[Vote, ...]


@frozen
class FirstClaim:
    """A person whose yes a card waits for looked at the card first."""

    card: Card
    by: Operator


@frozen
class Escalated:
    """A card may now be allowed by the people of these steps too."""

    card: Card
    steps: tuple[LadderStep, ...]


BallotNews: TypeAlias = Voted | VotesVoid | FirstClaim | Escalated
"""A fact of a card's ballot, for the record."""


@frozen
class WakeAt:
    """Send `TimePassed` at this time, or sooner."""

    at: float


Effect: TypeAlias = (
    Resolve
    | Refuse
    | Show
    | FeedLine
    | Conflict
    | Outcome
    | OrdersEnded
    | OrderSpent
    | NoteToldOf
    | BallotNews
    | WakeAt
)


def decisions_in(fact: Fact, effects: Sequence[Effect]) -> Iterator[tuple[Event, Decided]]:
    """Yield each call that a fact decided, once, with its whole payload: at once or on its card.

    A reply repeated to a client that had lost it is no decision.
    """
    if isinstance(fact, Arrived):
        own = fact.request
        for effect in effects:
            if isinstance(effect, Resolve) and effect.decided and effect.request_id == own.id:
                yield own.event, effect.decided
    elif isinstance(fact, Answered):
        for effect in effects:
            card = effect.card if isinstance(effect, Show) else None
            if card and card.number == fact.number and card.decided is not None:
                yield card.event, card.decided
