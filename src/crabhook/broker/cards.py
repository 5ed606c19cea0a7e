"""The law of a card's life, and where each card is found.

The law: a card waits, then ends exactly once.  DECIDED, EXPIRED and WITHDRAWN
are final: nothing changes a final card, and an operator who tries to is told
so.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from crabhook.broker.correlation import CallKey, call_keys
from crabhook.model.card import Card, Leg, State
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event


class Happening(StrEnum):
    """What can happen to a card."""

    ANSWERED = "answered"
    TIMED_OUT = "timed out"
    LEFT = "left"


TRANSITIONS: Mapping[tuple[State, Happening], State] = {
    (State.WAITING, Happening.ANSWERED): State.DECIDED,
    (State.WAITING, Happening.TIMED_OUT): State.EXPIRED,
    (State.WAITING, Happening.LEFT): State.WITHDRAWN,
}


class TooLateError(CrabhookError):
    """Something was done to a card that had already ended; nothing changed."""


class StaleError(CrabhookError):
    """A card was decided as it was before; there is more to see now, and nothing changed."""


def after(state: State, happening: Happening) -> State:
    """Return the state that follows; raise TooLateError where none does."""
    try:
        return TRANSITIONS[state, happening]
    except KeyError:
        raise TooLateError(f"already {state}") from None


ENDED_KEPT = 200  # ended cards a screen may still want to read; the oldest go first


class CardIndex:
    """Every card the broker knows of; looking one up costs the same among many as among few."""

    def __init__(self) -> None:
        self._waiting: dict[int, Card] = {}
        self._queue: tuple[Card, ...] | None = None  # the same in a row, once somebody asked
        self._ended: dict[int, Card] = {}  # in the order in which they ended
        self._listed: dict[int, Event] = {}  # what a card is found by, though that leg may leave
        self._by_request: dict[str, int] = {}
        # Nearly every tuple holds one number: a dictionary of one takes five times the memory.
        self._by_session: dict[tuple[str, str, str], tuple[int, ...]] = {}
        self._by_call: dict[CallKey, tuple[int, ...]] = {}
        self._last_number = 0

    def __repr__(self) -> str:
        return f"<CardIndex waiting={len(self._waiting)} ended={len(self._ended)}>"

    def next_number(self) -> int:
        """Return a number no card has had."""
        self._last_number += 1
        return self._last_number

    def begin_after(self, number: int) -> None:
        """Give no number that was given before."""
        self._last_number = max(self._last_number, number)

    def waiting(self) -> tuple[Card, ...]:
        """Return the cards that wait, the oldest first."""
        if self._queue is None:
            self._queue = tuple(self._waiting.values())
        return self._queue

    def card(self, number: int) -> Card | None:
        """Return the card with this number, if it is still known."""
        return self._waiting.get(number) or self._ended.get(number)

    def ended(self) -> tuple[Card, ...]:
        """Return the cards that ended not long ago, the newest last."""
        return tuple(self._ended.values())

    def of_request(self, request_id: str) -> Card | None:
        """Return the card a request is, or was last, a leg of."""
        number = self._by_request.get(request_id)
        return None if number is None else self.card(number)

    def of_leg(self, leg: Leg) -> Card:
        """Return the card that `leg` waits on."""
        return self._waiting[self._by_request[leg.id]]

    def of_session(self, key: tuple[str, str, str]) -> list[Card]:
        """Return the cards that wait in a session, the oldest first."""
        return [self._waiting[number] for number in self._by_session.get(key, ())]

    def alike(self, event: Event) -> list[Card]:
        """Return the cards that wait about a call that may be the event's own, the oldest first."""
        if event.session_key not in self._by_session:
            return []  # and nobody has to make the names of its call
        numbers: set[int] = set()
        for key in call_keys(event):
            numbers.update(self._by_call.get(key, ()))
        return [self._waiting[number] for number in sorted(numbers)]

    def put(self, card: Card) -> None:
        """Put a new card on the shelf, or a changed one in its own place."""
        before = self.card(card.number)
        self._queue = None
        if before:
            self._unlist(before)
        for request in card.requests:
            self._by_request[request.id] = card.number
        if card.state is State.WAITING:
            if card.number not in self._waiting:
                self._list(card)
            self._waiting[card.number] = card
            return
        if self._waiting.pop(card.number, None) is not None:
            self._strike(card.number)
        self._ended[card.number] = card
        if len(self._ended) > ENDED_KEPT:
            self._unlist(self._ended.pop(next(iter(self._ended))))

    def _list(self, card: Card) -> None:
        self._listed[card.number] = card.event
        session = card.event.session_key
        self._by_session[session] = (*self._by_session.get(session, ()), card.number)
        for key in call_keys(card.event):
            self._by_call[key] = (*self._by_call.get(key, ()), card.number)

    def _strike(self, number: int) -> None:
        event = self._listed.pop(number)
        _discard(self._by_session, event.session_key, number)
        for key in call_keys(event):
            _discard(self._by_call, key, number)

    def _unlist(self, card: Card) -> None:
        """Forget which requests the card has, save those that have moved on to another."""
        for request in card.requests:
            if self._by_request.get(request.id) == card.number:
                del self._by_request[request.id]


_Key = TypeVar("_Key")


def _discard(index: dict[_Key, tuple[int, ...]], key: _Key, number: int) -> None:
    """Take a number out of an index, and its key if that was the last."""
    numbers = index.pop(key)
    at = numbers.index(number)
    if rest := numbers[:at] + numbers[at + 1 :]:
        index[key] = rest
