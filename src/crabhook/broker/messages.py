"""The broker's interface: the facts it is told, and the effects it asks of the outside, in order.

Every fact carries `now`, seconds on the broker's clock.  What somebody did
carries who it was, `by`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from crabhook.broker.followed import Fate, Followed
from crabhook.desk.commands import Command
from crabhook.model.actor import Actor
from crabhook.model.card import UNTOLD, Card, FeedEntry, Request, Risk
from crabhook.model.decision import Decided, Decision, Reply
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.model.session import KeptNote
from crabhook.model.session import Note as AgentNote
from crabhook.policy.rule import Ruling

Rulings: TypeAlias = Mapping[str, Ruling | None]
"""What the rules say of calls, by request id; None: they leave one open."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A hook asks, and the owner's rules say so much of it; None: they leave it open.

    `attempt` tells its connections apart: a ticket may come back on a new one.
    `warnings` are what a card of it says in red from the first, `risk` what the call may do.
    `files` are what it changes, by where they really are.
    """

    request: Request
    ruling: Ruling | None
    attempt: int
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    risk: Risk = field(default=UNTOLD, kw_only=True)
    files: tuple[str, ...] = field(default=(), kw_only=True)
    now: float


@dataclass(frozen=True, slots=True)
class Answered:
    """The card with this number was decided.

    `rulings` are what the rules say of its calls as the decision changes them,
    by request id; see `Broker.changed`; `risk` is what they may do then.
    `seen` is the revision of the card that was looked at; None where nobody looked, as where a
    rule or an order decides.
    """

    number: int
    decision: Decision
    by: Actor
    rulings: Rulings = field(default_factory=dict, kw_only=True)
    seen: int | None = field(default=None, kw_only=True)
    risk: Risk | None = field(default=None, kw_only=True)
    now: float


@dataclass(frozen=True, slots=True)
class Left:
    """A hook's connection ended before it had its reply."""

    request_id: str
    attempt: int
    now: float


@dataclass(frozen=True, slots=True)
class Delivered:
    """A reply's connection ended: `whole` says whether the client took all of it."""

    request_id: str
    whole: bool
    now: float


@dataclass(frozen=True, slots=True)
class TimePassed:
    """The clock moved; some wait may be over."""

    now: float


@dataclass(frozen=True, slots=True)
class Closing:
    """The operator leaves: nobody will decide what still waits."""

    now: float


@dataclass(frozen=True, slots=True)
class Commanded:
    """An operator did something at a desk that is no decision."""

    command: Command
    by: Actor
    now: float


@dataclass(frozen=True, slots=True)
class RuleAdded:
    """A rule was made of a card or of an entry of the history, and is in force; `rule` says it."""

    about: str
    rule: str
    by: Actor
    now: float

    @property
    def event(self) -> Event:
        """An event for the feed: it is the desk's own news."""
        return Event(platform="", name="Desk")


@dataclass(frozen=True, slots=True)
class Reconsidered:
    """The rules have changed, and say so much of requests that wait, by their ids."""

    rulings: Rulings
    now: float


@dataclass(frozen=True, slots=True)
class Noted:
    """Something went by that is nobody's request; an `alarm` stands out."""

    event: Event
    text: str
    alarm: bool = field(default=False, kw_only=True)
    now: float


@dataclass(frozen=True, slots=True)
class RestoredAnswer:
    """An answer that was given before the server ended, and perhaps not received."""

    request_id: str
    secret: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class RestoredRequest:
    """A leg of a card that waited when the server ended; `waited`: for how long, seconds.

    `ruling`: what the rules say of it now, where they were asked again; `risk`: what it may do.
    """

    number: int
    request: Request
    waited: float = 0.0
    ruling: Ruling | None = None
    risk: Risk = UNTOLD


@dataclass(frozen=True, slots=True)
class RestoredDecision:
    """A leg of a card that an operator decided before the server ended.

    `delivered`: what is on record of its answer's way, None for nothing.
    """

    number: int
    request: Request
    decided: Decided
    delivered: bool | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """The server begins again: what waited, and what was answered.

    `decided` are the cards behind those answers that nobody is known to have received, `halts`
    the orders that stand still, such as which sessions stay halted, `notes` those of which it is
    not known that they arrived; no time of theirs is later than `now`.
    """

    waiting: tuple[RestoredRequest, ...]
    answers: tuple[RestoredAnswer, ...]
    decided: tuple[RestoredDecision, ...]
    last_number: int
    halts: tuple[Standing, ...] = field(default=(), kw_only=True)
    notes: tuple[KeptNote, ...] = field(default=(), kw_only=True)
    now: float


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What another server shows: legs that wait there, and cards as they ended there.

    Nothing is done about them here, and nobody waits for their replies.
    """

    waiting: tuple[RestoredRequest, ...]
    ended: tuple[Card, ...]
    now: float


Fact: TypeAlias = (
    Arrived
    | Answered
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
    """Why a request gets no reply; what then counts is what its hook was installed to do."""

    NOT_YOURS = "this request id belongs to another secret"
    SUPERSEDED = "the same request came back on another connection"
    FULL = "too much waits for the operator already"
    SESSION_FULL = "too much of this session waits for the operator already"
    UNDECIDED = "nobody decided in time"
    OVER = "the agent tells that it was answered there"
    CLOSED = "the operator closed the desk"
    UNRECORDED = "what is decided could not be recorded"
    HANDED_OVER = "the server makes room for the next one: ask again there"
    STANDBY = "another server leads, and this one stands by: ask there"


@dataclass(frozen=True, slots=True)
class Resolve:
    """Give this reply to the hook on that connection; `secret` is of its ticket.

    `confirm`: tell me Delivered, whether the hook has printed it or not.
    `decided` is what the reply says; None where nothing was decided, or where
    the same reply was given before, `again`.
    """

    request_id: str
    attempt: int
    secret: str = field(repr=False)
    reply: Reply
    confirm: bool = False
    decided: Decided | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """Turn the hook on that connection away."""

    request_id: str
    attempt: int
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Show:
    """A card is new or has changed; `before` is how it was until now, None where it is new."""

    card: Card
    before: Card | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something went by."""

    entry: FeedEntry


@dataclass(frozen=True, slots=True)
class Conflict:
    """A hook said what cannot be true of a call, or of these cards; it was not followed.

    `request_id`: the hook's, where it asked about a call itself.
    """

    event: Event
    why: str
    cards: tuple[int, ...] = ()
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An event, told by the hook `request_id`, says what became of a call that was decided."""

    event: Event
    request_id: str
    call: Followed
    fate: Fate


@dataclass(frozen=True, slots=True)
class OrdersEnded:
    """An operator has ended these standing orders."""

    orders: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class NoteToldOf:
    """Something became of an operator's note to an agent: `what`, for the record.

    `by` did it, None where nobody did.  `event` and `request_id` are those of the call with whose
    answer the note went; of a note that went with none, the event names its session alone.
    """

    note: AgentNote
    what: str
    event: Event
    by: Actor | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Tell me TimePassed at this time, or sooner."""

    at: float


Effect: TypeAlias = (
    Resolve | Refuse | Show | Note | Conflict | Outcome | OrdersEnded | NoteToldOf | WakeAt
)


def decisions_in(fact: Fact, effects: Sequence[Effect]) -> Iterator[tuple[Event, Decided]]:
    """Yield each call that a fact decided, with all its agent sent, once: at once or on its card.

    A reply given again to a client that had lost it is no decision.
    """
    for effect in effects:
        match fact, effect:
            case Arrived(request), Resolve(request_id, decided=Decided() as made):
                if request_id == request.id:
                    yield request.event, made
            case Answered(number, made, by), Show(card) if card.number == number:
                yield card.event, Decided(made, by)
            case _:
                pass
