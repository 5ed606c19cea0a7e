"""The law of a card's life, and where each card is found.

The law: a card waits, then ends exactly once.  DECIDED, EXPIRED and WITHDRAWN
are final: nothing changes a final card, and an operator who tries to is told
so.

Which events speak of the same call of a tool, and which tell that a wait is over, is said here too.
The agent, the tool and its input have to agree, and the tool_use_id as well where both events carry
one. Claude Code's PermissionRequest does not (hook protocol, section 5). An id alone is no proof:
any program that can start a hook can send an id, and an allow for one input must never reach
another.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias, TypeVar

from crabhook.model.card import Card, Leg, State
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event, Scope
from crabhook.model.jsontext import Value, canonical

CallKey: TypeAlias = tuple[str | bytes, ...]


def same_agent(one: Event, other: Event) -> bool:
    """Whether both come from the same agent of the same session, subagents told apart."""
    return one.agent_key == other.agent_key


def same_call(one: Event, other: Event) -> bool:
    """Whether both events ask about the same call of a tool.

    The inputs must be equal, and equal as JSON: an allow for one input must
    never reach another that merely holds it, or that merely has its id.
    """
    if _same_id(one, other) is False or not _same_tool(one, other):
        return False
    return one.tool is not None and one.tool.fingerprint == other.tool.fingerprint  # type: ignore[union-attr]


def conflict(one: Event, other: Event) -> bool:
    """Whether both name one call by its id, and differ in the tool or in its input."""
    return _same_id(one, other) is True and not same_call(one, other)


def call_keys(event: Event) -> list[CallKey]:
    """Return the names under which another event of the same call would look for this one.

    Two events are of the same call, or in conflict about it, only if they share
    one: the call's id, or the tool with its input.
    """
    if event.tool is None:
        return []
    agent = event.agent_key
    keys: list[CallKey] = [(*agent, event.tool.name, event.tool.fingerprint)]
    if event.tool.use_id:
        keys.append((*agent, event.tool.use_id))
    return keys


def result_of(waiting: Event, news: Event) -> bool:
    """Whether `news` tells how the call went that `waiting` asked about.

    Without an id on both sides the result's input must hold all of the
    other: the agent's answers to questions are added to it on the way.
    """
    if not _same_tool(waiting, news) or waiting.tool is None or news.tool is None:
        return False
    if (by_id := _same_id(waiting, news)) is not None:
        return by_id
    whole, part = news.tool.bare, waiting.tool.bare
    if isinstance(whole, dict) and isinstance(part, dict):
        whole = {key: value for key, value in whole.items() if key in part}
    return _same_json(whole, part)


def named(event: Event) -> bool:
    """Whether the event's call has an id."""
    return event.tool is not None and bool(event.tool.use_id)


def _same_id(one: Event, other: Event) -> bool | None:
    """Compare the two calls' ids; None where one has none."""
    if one.tool is None or other.tool is None or not (one.tool.use_id and other.tool.use_id):
        return None
    return same_agent(one, other) and one.tool.use_id == other.tool.use_id


def _same_tool(one: Event, other: Event) -> bool:
    if one.tool is None or other.tool is None:
        return False
    return same_agent(one, other) and one.tool.name == other.tool.name


def _same_json(one: Value, other: Value) -> bool:
    """Compare as JSON does; to Python 1 and true are equal."""
    return one == other and canonical(one) == canonical(other)


def joins(legs: Sequence[Event], event: Event) -> bool:
    """Whether `event` is another leg of the call that `legs` ask about.

    Two events of one kind without an id are two calls that look alike, as a
    model makes them in parallel; they are never taken for one.  The event
    with the id comes first: one that comes after an event without is the
    beginning of another call.
    """
    first = legs[0]
    if not same_call(first, event):
        return False
    if _same_id(first, event):
        return True
    another_kind = all(leg.name != event.name for leg in legs)
    return another_kind and not named(event)


def over(waiting: Event, news: Event, closes: Scope) -> bool:
    """Whether `news`, which closes that much, tells that nobody waits for `waiting` any more.

    Nobody tells a hook that the person at the agent's own terminal answered
    first (section 5); what the same agent does next is the only sign.  What
    another agent of the session does is none: subagents run beside the main
    one under the same session id.
    """
    match closes:
        case Scope.CALL:
            return result_of(waiting, news)
        case Scope.AGENT:
            return same_agent(waiting, news)
        case Scope.SESSION:
            return waiting.session_key == news.session_key
        case _:
            return False


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
