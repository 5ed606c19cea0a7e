"""The notes of operators to agents that run: they wait for a call, are given, and arrive.

A note is text for the model beside whatever its call is told, and never an allow.  It comes from
a desk alone.  A note that was given and did not arrive waits once more, and no more often: there
are clients that tell of no receipt.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from crabhook.bounded import Bounded
from crabhook.model.actor import Actor
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.session import KeptNote, Note, SessionKey

MOST_WAITING = 200
MOST_OF_AN_AGENT = 8
LONGEST = 4000  # characters; an agent takes 10 000 with one answer, of all its hooks
PAST_KEPT = 50  # notes that were given, for the desk to show
_UNCONFIRMED = 256  # answers with notes whose receipt is waited for


class Notes:
    """The notes that wait, and the last that were given."""

    def __init__(self) -> None:
        self._waiting: dict[int, Note] = {}
        self._given: Bounded[str, tuple[Event, tuple[Note, ...]]] = Bounded(_UNCONFIRMED)
        self._past: deque[Note] = deque(maxlen=PAST_KEPT)
        self._numbers = count(1)

    def __bool__(self) -> bool:
        """Whether any note waits."""
        return bool(self._waiting)

    def __repr__(self) -> str:
        return f"<Notes waiting={len(self._waiting)}>"

    def add(self, key: SessionKey, agent: str, text: str, by: Actor, now: float) -> Note:
        """Take a note for an agent's next call; raise DecisionError where it cannot be."""
        text = text.strip()
        if not text:
            raise DecisionError("a note needs words: the model reads them")
        if len(text) > LONGEST:
            raise DecisionError(f"a note has at most {LONGEST} characters")
        mine = [one for one in self.of(key) if one.agent == agent and one.id in self._waiting]
        if len(mine) >= MOST_OF_AN_AGENT or len(self._waiting) >= MOST_WAITING:
            raise DecisionError("too many notes wait already: take one back first")
        platform, session, machine = key
        told = platform, session, agent, text, by, now
        note = Note(next(self._numbers), *told, machine=machine)
        self._waiting[note.id] = note
        return note

    def kept(self) -> tuple[KeptNote, ...]:
        """Return the notes of which it is not known that they arrived, the first first."""
        if not (self._waiting or self._given):
            return ()
        given = (KeptNote(n, one) for one, (_, notes) in self._given.items() for n in notes)
        return (*given, *map(KeptNote, self._waiting.values()))

    def restore(self, kept: KeptNote) -> None:
        """Take up a note that a server before this one had."""
        note = kept.note
        self._numbers = count(max(note.id + 1, next(self._numbers)))
        if not kept.request_id:
            self._waiting[note.id] = note
            return
        event = Event(note.platform, "", note.session, agent_id=note.agent, machine=note.machine)
        _, others = self._given.pop(kept.request_id, (event, ()))
        self._given[kept.request_id] = event, (*others, note)

    def asked_again(self, request_id: str) -> None:
        """Let notes wait whose answer was given, and whose hook asks again: it has printed none."""
        _, notes = self._given.pop(request_id, (None, ()))
        self._waiting = {one.id: one for one in notes} | self._waiting

    def take_back(self, number: int) -> Note:
        """Take back a note that waits; raise DecisionError where it does not."""
        if (note := self._waiting.pop(number, None)) is None:
            raise DecisionError(f"no note {number} waits: it was given, or taken back")
        return note

    def give(self, event: Event, request_id: str) -> tuple[Note, ...]:
        """Return the notes for the event's agent, which go with the answer to this request."""
        key = event.session_key
        mine = [one for one in self.of(key) if one.id in self._waiting]
        mine = [one for one in mine if one.agent == event.agent_id]
        for one in mine:
            del self._waiting[one.id]
        if mine:
            self._given[request_id] = event.slim(), tuple(mine)
        return tuple(mine)

    def receipt(
        self, request_id: str, now: float, *, whole: bool
    ) -> Iterator[tuple[Note, str, Event]]:
        """Take in whether an answer arrived: yield what became of each note that went with it.

        That is said in words; the event is that of the answer, without its payload.
        """
        if request_id not in self._given:
            return
        event, given = self._given.pop(request_id)
        call = " ".join(filter(None, (event.name, event.tool.name if event.tool else "")))
        if whole:
            for one in given:
                self._past.append(replace(one, call=call, delivered_at=now))
                yield self._past[-1], f"was delivered with {call}", event
            return
        again = {one.id: replace(one, call=call) for one in given if not one.call}
        lost = [one for one in given if one.call]
        self._waiting = again | self._waiting
        self._past.extend(lost)
        for one in again.values():
            yield one, f"did not arrive with {call}: it waits for the next call", event
        for one in lost:
            yield one, f"did not arrive with {call}, and is given up", event

    def end(self, event: Event, *, session: bool) -> tuple[Note, ...]:
        """Forget what nobody will hear, since the event's session or agent ends; return it."""
        key = event.session_key
        gone = [one for one in self._waiting.values() if one.key == key]
        gone = [one for one in gone if session or one.agent == event.agent_id]
        for one in gone:
            del self._waiting[one.id]
        return tuple(gone)

    def of(self, key: SessionKey) -> tuple[Note, ...]:
        """Return a session's notes: the last that were given, and those that wait."""
        if not self._waiting and not self._past:
            return ()
        notes = (*self._past, *self._waiting.values())
        return tuple(one for one in notes if one.key == key)
