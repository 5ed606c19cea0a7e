"""What the broker asks of the outside, to be carried out in order."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from crabhook.broker.card import Card, FeedEntry
from crabhook.broker.followed import Fate, Followed
from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.model.reply import Reply


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


@dataclass(frozen=True, slots=True)
class Resolve:
    """Give this reply to the hook on that connection.

    `confirm`: tell me Delivered, whether the hook has printed it or not.
    `decided` is what the reply says; None where nothing was decided, or where
    the same reply was given before.
    """

    request_id: str
    attempt: int
    reply: Reply
    confirm: bool = False
    decided: Decided | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Turn the hook on that connection away."""

    request_id: str
    attempt: int
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Show:
    """A card is new or has changed."""

    card: Card


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
class WakeAt:
    """Tell me TimePassed at this time, or sooner."""

    at: float


Effect: TypeAlias = Resolve | Refuse | Show | Note | Conflict | Outcome | WakeAt
