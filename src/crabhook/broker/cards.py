"""The law of a card's life, and the index of cards.

The law: a card waits, then ends exactly once. DECIDED, EXPIRED and WITHDRAWN are final: a command
for a card in a final state changes nothing, and raises TooLateError.

This module also compares events: whether two events are about the same call, and whether an event
shows that a wait is over. Two events of the same call have the same agent, tool and input, and the
same tool_use_id where both have one. Claude Code's PermissionRequest has none (hook protocol,
section 5). An id alone is no proof, since any program that can start a hook can send an id. An
allow for one input must never reach another input.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias, TypeVar

from crabhook.model.card import Card, Leg, State
from crabhook.model.errors import CrabhookError
from crabhook.model.event import EndScope, Event
from crabhook.model.jsontext import Value, canonical

CallKey: TypeAlias = tuple[str | bytes, ...]


def same_agent(first: Event, other: Event) -> bool:
    """Whether both come from the same agent of the same session, subagents told apart."""
    return first.agent_key == other.agent_key


def same_call(first: Event, other: Event) -> bool:
    """Whether both events ask about the same call of a tool.

    The inputs must be equal as JSON. An allow for an input must never reach a larger input that
    contains it, or another input under the same id.
    """
    if _same_id(first, other) is False or not _same_tool(first, other):
        return False
    return first.tool is not None and first.tool.fingerprint == other.tool.fingerprint  # type: ignore[union-attr]


def conflict(first: Event, other: Event) -> bool:
    """Whether both events give the same call id, but a different tool or input."""
    return _same_id(first, other) is True and not same_call(first, other)


def call_keys(event: Event) -> list[CallKey]:
    """Return the index keys of the event's call.

    Two events are of the same call, or in conflict about it, only if they share a key. A key is the
    call's id, or the tool with its input.
    """
    if event.tool is None:
        return []
    agent = event.agent_key
    keys: list[CallKey] = [(*agent, event.tool.name, event.tool.fingerprint)]
    if event.tool.use_id:
        keys.append((*agent, event.tool.use_id))
    return keys


def result_of(waiting: Event, news: Event) -> bool:
    """Whether `news` is the result of the call that `waiting` asked about.

    Where one of the two has no id, the result's input must contain all of the other input that the
    events share. The agent adds the answers to questions to it.
    """
    if not _same_tool(waiting, news) or waiting.tool is None or news.tool is None:
        return False
    if (by_id := _same_id(waiting, news)) is not None:
        return by_id
    return _contains(news.tool.bare, waiting.tool.part)


def asks_about(event: Event, earlier: Event) -> bool:
    """Whether `event`, which gives only a part of its call's input, may ask about `earlier`'s call.

    No allow may follow from this: the rest of the input may be another.
    """
    if not _same_tool(event, earlier) or event.tool is None or earlier.tool is None:
        return False
    return event.tool.shared is not None and _contains(earlier.tool.bare, event.tool.part)


def _contains(whole: Value, part: Value) -> bool:
    """Whether an input has all members of another, or is equal to it."""
    if isinstance(whole, dict) and isinstance(part, dict):
        whole = {key: value for key, value in whole.items() if key in part}
    # To Python 1 and true are equal, to JSON they are not.
    return whole == part and canonical(whole) == canonical(part)


def named(event: Event) -> bool:
    """Whether the event's call has an id."""
    return event.tool is not None and bool(event.tool.use_id)


def _same_id(first: Event, other: Event) -> bool | None:
    """Compare the ids of two calls; None where a call has no id."""
    if first.tool is None or other.tool is None or not (first.tool.use_id and other.tool.use_id):
        return None
    return same_agent(first, other) and first.tool.use_id == other.tool.use_id


def _same_tool(first: Event, other: Event) -> bool:
    if first.tool is None or other.tool is None:
        return False
    return same_agent(first, other) and first.tool.name == other.tool.name


def joins(legs: Sequence[Event], event: Event) -> bool:
    """Whether `event` is another leg of the call that `legs` ask about.

    Two events of the same kind without an id never share a card: a model makes calls that look
    alike in parallel. The event with the id comes first. An event with an id after an event without
    an id begins another call. A proxy's event does not: it asks beside the agent's hooks. Nothing
    joins a request that gives only a part of its input.
    """
    first = legs[0]
    if not same_call(first, event) or (first.tool and first.tool.shared is not None):
        return False
    if _same_id(first, event):
        return True
    another_kind = all(leg.name != event.name for leg in legs)
    return another_kind and (bool(event.proxied) or not named(event))


def over(waiting: Event, news: Event, closes: EndScope) -> bool:
    """Whether `news`, which closes that scope, shows that nobody waits for `waiting` any more.

    No event tells a hook that the person at the agent's own terminal answered first (section 5).
    The next event of the same agent is the only sign. An event of another agent of the session is
    no sign: subagents run beside the main agent under the same session id.
    """
    match closes:
        case EndScope.CALL:
            return result_of(waiting, news)
        case EndScope.AGENT:
            return same_agent(waiting, news)
        case EndScope.SESSION:
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
    """A command came for a card that had already ended; nothing changed."""


class StaleError(CrabhookError):
    """A decision was made on an older revision of the card; nothing changed."""


def after(state: State, happening: Happening) -> State:
    """Return the next state; raise TooLateError where the table has none."""
    try:
        return TRANSITIONS[state, happening]
    except KeyError:
        raise TooLateError(f"already {state}") from None


ENDED_KEPT = 200  # ended cards a screen may still want to read; the oldest go first


class CardIndex:
    """Every card that the broker knows; a look-up costs the same for few cards and for many."""

    def __init__(self) -> None:
        self._waiting: dict[int, Card] = {}
        self._queue: tuple[Card, ...] | None = None  # the same as a tuple, made when needed
        self._ended: dict[int, Card] = {}  # in the order in which they ended
        self._listed: dict[int, Event] = {}  # the event of its keys, kept when that leg leaves
        self._by_request: dict[str, int] = {}
        # Nearly every tuple holds one number: a dictionary of one takes five times the memory.
        self._by_session: dict[tuple[str, str, str], tuple[int, ...]] = {}
        self._by_call: dict[CallKey, tuple[int, ...]] = {}
        self._last_number = 0

    def __repr__(self) -> str:
        return f"<CardIndex waiting={len(self._waiting)} ended={len(self._ended)}>"

    def next_number(self) -> int:
        """Return a number that no card has had."""
        self._last_number += 1
        return self._last_number

    def begin_after(self, number: int) -> None:
        """Continue the numbers of an earlier server."""
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
        """Return the cards that ended lately, the newest last."""
        return tuple(self._ended.values())

    def of_request(self, request_id: str) -> Card | None:
        """Return the card of a request, also after the request left it."""
        number = self._by_request.get(request_id)
        return None if number is None else self.card(number)

    def of_leg(self, leg: Leg) -> Card:
        """Return the card that `leg` waits on."""
        return self._waiting[self._by_request[leg.id]]

    def of_session(self, key: tuple[str, str, str]) -> list[Card]:
        """Return the cards that wait in a session, the oldest first."""
        return [self._waiting[number] for number in self._by_session.get(key, ())]

    def alike(self, event: Event) -> list[Card]:
        """Return the waiting cards that may be about the event's own call, the oldest first."""
        if event.session_key not in self._by_session:
            return []  # saves the computation of its keys
        numbers: set[int] = set()
        for key in call_keys(event):
            numbers.update(self._by_call.get(key, ()))
        return [self._waiting[number] for number in sorted(numbers)]

    def put(self, card: Card) -> None:
        """Put a new card into the index, or replace a card that has changed."""
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
        """Forget the requests of a card, except requests that are on another card now."""
        for request in card.requests:
            if self._by_request.get(request.id) == card.number:
                del self._by_request[request.id]


_Key = TypeVar("_Key")


def _discard(index: dict[_Key, tuple[int, ...]], key: _Key, number: int) -> None:
    """Remove a number from an index, and the key with its last number."""
    numbers = index.pop(key)
    at = numbers.index(number)
    if rest := numbers[:at] + numbers[at + 1 :]:
        index[key] = rest
