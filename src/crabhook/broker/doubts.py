"""What an agent's hooks say that cannot be true of a call: told in red, recorded, and not followed.

Any program that may start a hook may send the hook any input. So the id of a call does not prove
which call is meant. A message of a hook ends a wait only where the agent itself can end that wait.

The same-file guard is here as well: two live sessions at work on one file are told of each other. A
file is known by where it really is, whatever links lead there. Both sessions show it, and the cards
of both. The agent that comes second is told so before its change, or an operator is asked, where
the owner wants that: of what the other has taken up since this session last did.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from crabhook.broker.cards import conflict, named
from crabhook.broker.followed import Fate, Followed
from crabhook.broker.messages import Arrived, Conflict, Effect, Outcome
from crabhook.broker.orders import Course
from crabhook.broker.pending import NO_CONNECTION, SameFile
from crabhook.broker.state import BrokerState
from crabhook.model.actor import OrderKind
from crabhook.model.card import Because, Brought, Card, Request
from crabhook.model.event import Event, Scope
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


ALARMS_KEPT = 8  # of one card; a hook that sends more says nothing new
NAMED = 60  # letters of an agent's word in a sentence of ours


def stands_still(state: BrokerState, card: Card) -> bool:
    """Whether an agent waits for this card's decision, on a connection that is there."""
    return any(
        state.platforms[leg.event.platform].phase(leg.event) is Phase.BEFORE
        and state.pending.attempt(leg.id) not in (None, NO_CONNECTION)
        for leg in card.requests
    )


def disbelieve(state: BrokerState, news: Event, cards: Sequence[Card]) -> list[Effect]:
    """Say that an event tells of an end that cannot be: the agent still waits for these cards."""
    numbers = tuple(card.number for card in cards)
    called = ", ".join(f"#{number}" for number in numbers[:5])
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    alarm = f"{_word(news.name)} says that this is over, but the agent still waits for its hook"
    why = f"says that {called}{more} is over, but the agent still waits for that hook: not believed"
    shown: list[Effect] = [put_alarm(state, card, alarm) for card in cards if _is_news(card, alarm)]
    return [
        Conflict(news, f"{_word(news.name)} {why}", numbers),
        *shown,
        state.note(news, why, alarm=True),
    ]


def rivals(state: BrokerState, event: Event) -> list[Card | Followed]:
    """Return what else, waiting or decided, goes by the event's call id and is another call."""
    if not state.asks_about_a_call(event) or not named(event):
        return []
    waiting = [
        card
        for card in state.cards.alike(event)
        if any(conflict(leg.event, event) for leg in card.requests)
    ]
    return [*waiting, *state.followed.rivals(event)]


def alarms_of(others: Sequence[Card | Followed]) -> tuple[str, ...]:
    """Return what a card says whose call's id others have as well."""
    return tuple(_other(one, _number(one)) for one in others[:ALARMS_KEPT])


def forewarned(state: BrokerState, event: Event) -> tuple[str, ...]:
    """Return what a card says in whose session another hook has changed an approved call."""
    changed = state.followed.changed(event) if state.asks_about_a_call(event) else None
    if changed is None:
        return ()
    where = f"#{changed.card}" if changed.card is not None else "a call a rule allowed"
    return (f"another hook of this session changed {where} after it was approved: it may again",)


def tell_rivals(
    state: BrokerState, request: Request, others: Sequence[Card | Followed]
) -> list[Effect]:
    """Say that two hooks ask for different things under one id, on the cards that were first."""
    if not others:
        return []
    own = state.cards.of_request(request.id)
    alarm = _other(request.event, own.number if own else None)
    effects: list[Effect] = []
    numbers = [own.number] if own else []
    for one in others:
        number = _number(one)
        card = state.cards.card(number) if number is not None else None
        if card is not None:
            numbers.append(card.number)
            if _is_news(card, alarm):
                effects.append(put_alarm(state, card, alarm))
    told = "; ".join(alarms_of(others[:3]))
    conflict_told = Conflict(request.event, told, tuple(numbers), request.id)
    number = own.number if own else None
    return [conflict_told, *effects, state.note(request.event, told, number, alarm=True)]


def tell_outcome(
    state: BrokerState, request: Request, found: tuple[Followed, Fate] | None
) -> list[Effect]:
    """Say what an event tells of a decided call; in red, where that is not what was decided."""
    if found is None:
        return []
    call, fate = found
    effects: list[Effect] = [Outcome(request.event, request.id, call, fate)]
    if fate.alarming:
        card = state.cards.card(call.card) if call.card is not None else None
        if card is not None and _is_news(card, fate.value):
            effects.append(put_alarm(state, card, fate.value))
        effects.append(state.note(request.event, fate.value, call.card, alarm=True))
    return effects


def hear_outcomes(state: BrokerState, request: Request) -> list[Effect]:
    """Draw from a call's result what became of the call."""
    event = request.event
    match state.platforms[event.platform].phase(event):
        case Phase.RAN:
            return tell_outcome(state, request, state.followed.ran(event))
        case Phase.REFUSED:
            return tell_outcome(state, request, state.followed.refused(event))
        case _:
            return []


def hear_end(state: BrokerState, request: Request, closes: Scope) -> list[Effect]:
    """Draw from the end of a turn that what was left to the agent did not run."""
    effects: list[Effect] = []
    for found in state.followed.conclude(request.event, closes):
        effects += tell_outcome(state, request, found)
    return effects


def put_alarm(state: BrokerState, card: Card, alarm: str) -> Effect:
    """Put a card that says one thing more in red in its own place."""
    return state.put(replace(card, alarms=(*card.alarms, alarm)))


def _is_news(card: Card, alarm: str) -> bool:
    return alarm not in card.alarms and len(card.alarms) < ALARMS_KEPT


def _number(one: Card | Followed) -> int | None:
    return one.number if isinstance(one, Card) else one.card


def _other(one: Card | Followed | Event, number: int | None) -> str:
    event = one if isinstance(one, Event) else one.event
    tool = _word(event.tool.name) if event.tool else ""
    where = f"#{number}" if number is not None else f"a call of {tool} that was decided at once"
    return f"{where} asks for something else under the same call id: one of the two is forged"


def _word(text: str) -> str:
    return text if len(text) <= NAMED else text[:NAMED] + "…"
