"""The same-file guard: two live sessions at work on one file are told of each other.

A file is known by where it really is, whatever links lead there.  Both sessions show it, and the
cards of both.  The agent that comes second is told so before its change, or an operator is asked,
where the owner wants that: of what the other has taken up since this session last did.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from crabhook.broker.doubts import put_alarm
from crabhook.broker.messages import Arrived, Effect
from crabhook.broker.orders import Course
from crabhook.broker.pending import SameFile
from crabhook.broker.state import BrokerState
from crabhook.model.actor import OrderKind
from crabhook.model.card import Because, Brought
from crabhook.model.event import Event
from crabhook.model.session import SessionKey
from crabhook.platforms.rows import Phase

_PATH, _ID = 300, 8  # letters of a path, and of a session's id, in a sentence of ours


@dataclass(frozen=True, slots=True)
class Shared:
    """A file of a call, the other session that took it up last, and how many seconds ago."""

    path: str
    other: SessionKey
    ago: float

    @property
    def when(self) -> str:
        """How long ago, in words."""
        return f"{self.ago:.0f} s ago" if self.ago < 120 else f"{self.ago / 60:.0f} min ago"


def look(state: BrokerState, fact: Arrived) -> tuple[Shared, ...]:
    """Take in what a call is about to change; return where others have taken that up lately."""
    event, now = fact.request.event, fact.now
    if not fact.files or state.platforms[event.platform].phase(event) is not Phase.BEFORE:
        return ()
    found = tuple(_shared(state, event, fact.files))
    state.sessions.changes(event, fact.files, now)
    return found


def _shared(state: BrokerState, event: Event, files: tuple[str, ...]) -> Iterator[Shared]:
    key, sessions = event.session_key, state.sessions
    for path in files:
        mine = sessions.changed_at(key, path)
        others = ((sessions.changed_at(o, path), o) for o in sessions.sharers(key, path, state.now))
        at, last = max(others, default=(mine, key))
        if last != key and at > mine:
            yield Shared(path, last, state.now - at)


def alarms(state: BrokerState, shared: tuple[Shared, ...]) -> tuple[str, ...]:
    """Return what a card of the call says, a sentence for each file."""
    return tuple(
        f"{_named(state, one.other)} is at work on the same file, {one.when}: {one.path[:_PATH]}"
        for one in shared
    )


def told(state: BrokerState, event: Event, shared: tuple[Shared, ...]) -> str:
    """Return what the agent is told; no letter of the other session's is in it."""
    warns = state.same_file is SameFile.WARN
    if not warns or not state.platforms[event.platform].carries_note(event):
        return ""
    return "\n".join(
        f"Another live session took up {one.path[:_PATH]} {one.when}: read it again before you "
        "change it, and keep what is there."
        for one in shared
    )


def rule(state: BrokerState, ruling: Course, shared: tuple[Shared, ...]) -> Course:
    """Return what becomes of the call: where the owner wants that, it waits for an operator."""
    if state.same_file is not SameFile.ASK or not shared or ruling.waits or ruling.denies:
        return ruling
    if any(order.kind is OrderKind.AWAY for order in state.orders.standing()):
        return ruling
    words = f"your guard of files: {alarms(state, shared)[0]}"
    return Course(waits=True, brought=Because(Brought.GUARD, words))


def tell_others(state: BrokerState, event: Event, shared: tuple[Shared, ...]) -> list[Effect]:
    """Say on the other sessions' cards about these files that somebody else takes them up too."""
    effects: list[Effect] = []
    who = _named(state, event.session_key)
    for one in shared:
        alarm = f"{who} is about to change the same file: {one.path[:_PATH]}"
        for card in state.cards.of_session(one.other):
            files = (state.files.get(leg.id, ()) for leg in card.requests)
            if alarm not in card.alarms and any(one.path in named for named in files):
                effects.append(put_alarm(state, card, alarm))
    return effects


def _named(state: BrokerState, key: SessionKey) -> str:
    return f"another session ({state.platforms[key[0]].title}, {key[1][:_ID]})"
