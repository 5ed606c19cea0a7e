"""The operators' notes to running agents: a note waits for a call, and goes with the call's answer.

A note is text for the model beside the answer to its call, and never an allow. Only a desk sends
notes. A note that did not arrive waits once more and not again, since some clients send no receipt.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from crabhook.datatypes import Bounded
from crabhook.model.actor import Actor
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.session import KeptNote, Note, SessionKey

MOST_WAITING = 200
MOST_OF_AN_AGENT = 8
LONGEST = 4000  # characters; an agent takes 10 000 with one answer, of all its hooks
PAST_KEPT = 50  # notes that were given, for the desk to show
_UNCONFIRMED = 256  # answers with notes and without a receipt yet


class Notes:
    """The notes that wait, and the last notes that were given."""

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
        """Add a note for an agent's next call; raise DecisionError where that is not possible."""
        text = text.strip()
        if not text:
            raise DecisionError("a note needs words: the model reads them")
        if len(text) > LONGEST:
            raise DecisionError(f"a note has at most {LONGEST} characters")
        mine = [
            waiting
            for waiting in self.of(key)
            if waiting.agent == agent and waiting.id in self._waiting
        ]
        if len(mine) >= MOST_OF_AN_AGENT or len(self._waiting) >= MOST_WAITING:
            raise DecisionError("too many notes wait already: take one back first")
        platform, session, machine = key
        content = platform, session, agent, text, by, now
        note = Note(next(self._numbers), *content, machine=machine)
        self._waiting[note.id] = note
        return note

    def kept(self) -> tuple[KeptNote, ...]:
        """Return the notes without a receipt yet, the oldest first."""
        if not (self._waiting or self._given):
            return ()
        sent = (
            KeptNote(n, request_id) for request_id, (_, notes) in self._given.items() for n in notes
        )
        return (*sent, *map(KeptNote, self._waiting.values()))

    def restore(self, kept: KeptNote) -> None:
        """Restore a note of an earlier server."""
        note = kept.note
        self._numbers = count(max(note.id + 1, next(self._numbers)))
        if not kept.request_id:
            self._waiting[note.id] = note
            return
        event = Event(note.platform, "", note.session, agent_id=note.agent, machine=note.machine)
        _, others = self._given.pop(kept.request_id, (event, ()))
        self._given[kept.request_id] = event, (*others, note)

    def replace(self, notes: Iterable[KeptNote]) -> set[SessionKey]:
        """Have these alone, as another server has them; return whose notes are others now."""
        before = {kept.note for kept in self.kept()}
        self._waiting.clear()
        self._given.clear()
        for note in notes:
            self.restore(note)
        return {kept.key for kept in before ^ {kept.note for kept in self.kept()}}

    def asked_again(self, request_id: str) -> None:
        """Let the notes of an answer wait again: its hook asks again, so the answer was lost."""
        if sent := self._given.pop(request_id, None):
            self._waiting = {note.id: note for note in sent[1]} | self._waiting

    def take_back(self, number: int) -> Note:
        """Take back a note that waits; raise DecisionError for any other."""
        if (note := self._waiting.pop(number, None)) is None:
            raise DecisionError(f"no note {number} waits: it was given, or taken back")
        return note

    def give(self, event: Event, request_id: str) -> tuple[Note, ...]:
        """Return the notes that go to the event's agent with the answer to this request."""
        key = event.session_key
        mine = [note for note in self.of(key) if note.id in self._waiting]
        mine = [note for note in mine if note.agent == event.agent_id]
        for note in mine:
            del self._waiting[note.id]
        if mine:
            self._given[request_id] = event.slim(), tuple(mine)
        return tuple(mine)

    def receipt(
        self, request_id: str, now: float, *, whole: bool
    ) -> Iterator[tuple[Note, str, Event]]:
        """Record whether an answer arrived; yield each of its notes with its outcome in words.

        The event is the answer's event, without its payload.
        """
        if request_id not in self._given:
            return
        event, notes = self._given.pop(request_id)
        call = " ".join(filter(None, (event.name, event.tool.name if event.tool else "")))
        if whole:
            for note in notes:
                self._past.append(replace(note, call=call, delivered_at=now))
                yield self._past[-1], f"was delivered with {call}", event
            return
        again = {note.id: replace(note, call=call) for note in notes if not note.call}
        lost = [note for note in notes if note.call]
        self._waiting = again | self._waiting
        self._past.extend(lost)
        for note in again.values():
            yield note, f"did not arrive with {call}: it waits for the next call", event
        for note in lost:
            yield note, f"did not arrive with {call}, and is given up", event

    def end(self, event: Event, *, session: bool) -> tuple[Note, ...]:
        """Remove and return the notes that came too late for the event's session or agent."""
        key = event.session_key
        gone = [note for note in self._waiting.values() if note.key == key]
        gone = [note for note in gone if session or note.agent == event.agent_id]
        for note in gone:
            del self._waiting[note.id]
        return tuple(gone)

    def of(self, key: SessionKey) -> tuple[Note, ...]:
        """Return a session's notes: the last that were given, and those that wait."""
        if not self._waiting and not self._past:
            return ()
        notes = (*self._past, *self._waiting.values())
        return tuple(note for note in notes if note.key == key)
