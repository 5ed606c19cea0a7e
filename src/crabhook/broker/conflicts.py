"""Hook messages that cannot be true: the broker shows and records them, and does not follow them.

Any program that can start a hook can send it any input, so a call's id does not prove which call is
meant. A hook's message ends a wait only where the agent itself can end that wait.

The same-file guard is here too: when two live sessions change one file, both sessions and their
cards show it. A file is known by its real path, behind all links. The agent that comes second reads
a warning before its change, or an operator decides, as the owner chose. Only changes count that the
other session made after this session's last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from crabhook.broker.call_outcomes import CallOutcome, Followed
from crabhook.broker.cards import conflict, named
from crabhook.broker.messages import Arrived, Conflict, Effect, Outcome
from crabhook.broker.orders import Course
from crabhook.broker.pending import NO_CONNECTION, SameFile
from crabhook.broker.state import BrokerState
from crabhook.datatypes import frozen
from crabhook.model.actor import OrderKind
from crabhook.model.card import Because, Brought, Card, Request
from crabhook.model.event import EndScope, Event
from crabhook.model.session import SessionKey
from crabhook.platforms.event_table import Phase

_WAITED_FOR = frozenset({Phase.BEFORE, Phase.PART})
"""The phases of an event whose agent does nothing until its hook answers."""
_PATH, _ID = 300, 8  # letters of a path, and of a session's id, in a sentence of ours


@frozen
class Shared:
    """A file of a call, the other session that changed it last, and how many seconds ago."""

    path: str
    other: SessionKey
    ago: float

    @property
    def when(self) -> str:
        """How long ago, in words."""
        return f"{self.ago:.0f} s ago" if self.ago < 120 else f"{self.ago / 60:.0f} min ago"


def look(state: BrokerState, fact: Arrived) -> tuple[Shared, ...]:
    """Record the files that a call will change; return those that another session just changed."""
    conflicting = shared(state, fact)
    if _changes_files(state, fact):
        state.sessions.changes(fact.request.event, fact.files, fact.now)
    return conflicting


def shared(state: BrokerState, fact: Arrived) -> tuple[Shared, ...]:
    """Return the files that a call will change and another session just changed."""
    return tuple(_shared(state, fact)) if _changes_files(state, fact) else ()


def _changes_files(state: BrokerState, fact: Arrived) -> bool:
    event = fact.request.event
    return bool(fact.files) and state.platforms[event.platform].phase(event) in _WAITED_FOR


def _shared(state: BrokerState, fact: Arrived) -> Iterator[Shared]:
    key, sessions = fact.request.event.session_key, state.sessions
    for path in fact.files:
        mine = sessions.changed_at(key, path)
        sharers = sessions.sharers(key, path, fact.now)
        at, last = max(((sessions.changed_at(o, path), o) for o in sharers), default=(mine, key))
        if last != key and at > mine:
            yield Shared(path, last, fact.now - at)


def alarms(state: BrokerState, shared: tuple[Shared, ...]) -> tuple[str, ...]:
    """Return the alarms for the call's card, a sentence for each file."""
    return tuple(
        f"{_named(state, file.other)} is at work on the same file, {file.when}: {file.path[:_PATH]}"
        for file in shared
    )


def warning(state: BrokerState, event: Event, shared: tuple[Shared, ...]) -> str:
    """Return the warning for the agent; it contains no text of the other session."""
    warns = state.same_file is SameFile.WARN
    if not warns or not state.platforms[event.platform].carries_note(event):
        return ""
    return "\n".join(
        f"Another live session took up {file.path[:_PATH]} {file.when}: read it again before you "
        "change it, and keep what is there."
        for file in shared
    )


def rule(state: BrokerState, ruling: Course, shared: tuple[Shared, ...]) -> Course:
    """Return the course of the call: it waits for an operator where the owner chose so."""
    if state.same_file is not SameFile.ASK or not shared or ruling.waits or ruling.denies:
        return ruling
    if any(order.kind is OrderKind.AWAY for order in state.orders.standing()):
        return ruling
    words = f"your guard of files: {alarms(state, shared)[0]}"
    return Course(waits=True, reason=Because(Brought.GUARD, words))


def alarm_others(state: BrokerState, event: Event, shared: tuple[Shared, ...]) -> list[Effect]:
    """Put an alarm on the other sessions' cards that change the same files."""
    effects: list[Effect] = []
    for file in shared:
        who = _named(state, event.session_key)
        alarm = f"{who} is about to change the same file: {file.path[:_PATH]}"
        for card in state.cards.of_session(file.other):
            files = (state.files.get(leg.id, ()) for leg in card.requests)
            if alarm not in card.alarms and any(file.path in named for named in files):
                effects.append(put_alarm(state, card, alarm))
    return effects


def _named(state: BrokerState, key: SessionKey) -> str:
    return f"another session ({state.platforms[key[0]].title}, {key[1][:_ID]})"


ALARMS_KEPT = 8  # of a card; more of them say nothing new
NAMED = 60  # letters of an agent's word in a sentence of ours


def is_still_waiting(state: BrokerState, card: Card) -> bool:
    """Whether an agent waits for this card's decision on an open connection."""
    return any(
        state.platforms[leg.event.platform].phase(leg.event) in _WAITED_FOR
        and state.pending.attempt(leg.id) not in (None, NO_CONNECTION)
        for leg in card.requests
    )


def reject(state: BrokerState, news: Event, cards: Sequence[Card]) -> list[Effect]:
    """Report an event that ends cards whose agent still waits, and do not follow it."""
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
    """Return the other calls, waiting or decided, that have the id of the call asked about."""
    if not named(event):
        return []
    waiting = [
        card
        for card in state.cards.alike(event)
        if any(conflict(leg.event, event) for leg in card.requests)
    ]
    return [*waiting, *state.followed.rivals(event)]


def alarms_of(others: Sequence[Card | Followed]) -> tuple[str, ...]:
    """Return the alarms for a card whose call id other calls have too."""
    return tuple(_other(call, _number(call)) for call in others[:ALARMS_KEPT])


def earlier_alarms(state: BrokerState, event: Event) -> tuple[str, ...]:
    """Return an alarm for a card in a session where another hook has changed an approved call."""
    changed = state.followed.changed(event) if state.asks_about_a_call(event) else None
    if changed is None:
        return ()
    where = f"#{changed.card}" if changed.card is not None else "a call a rule allowed"
    return (f"another hook of this session changed {where} after it was approved: it may again",)


def report_rivals(
    state: BrokerState, request: Request, others: Sequence[Card | Followed]
) -> list[Effect]:
    """Report a call id that two different calls have, with an alarm on the earlier cards."""
    if not others:
        return []
    own = state.cards.of_request(request.id)
    alarm = _other(request.event, own.number if own else None)
    effects: list[Effect] = []
    numbers = [own.number] if own else []
    for other in others:
        number = _number(other)
        card = state.cards.card(number) if number is not None else None
        if card is not None:
            numbers.append(card.number)
            if _is_news(card, alarm):
                effects.append(put_alarm(state, card, alarm))
    alarms = "; ".join(alarms_of(others[:3]))
    conflict = Conflict(request.event, alarms, tuple(numbers), request.id)
    number = own.number if own else None
    return [conflict, *effects, state.note(request.event, alarms, number, alarm=True)]


def report_outcome(
    state: BrokerState, request: Request, outcome: tuple[Followed, CallOutcome] | None
) -> list[Effect]:
    """Report the outcome of a decided call; as an alarm, where it is not what was decided."""
    if outcome is None:
        return []
    call, fate = outcome
    effects: list[Effect] = [Outcome(request.event, request.id, call, fate)]
    if fate.alarming:
        card = state.cards.card(call.card) if call.card is not None else None
        if card is not None and _is_news(card, fate.value):
            effects.append(put_alarm(state, card, fate.value))
        effects.append(state.note(request.event, fate.value, call.card, alarm=True))
    return effects


def report_result(state: BrokerState, request: Request) -> list[Effect]:
    """Return the effects of a call's result."""
    event = request.event
    match state.platforms[event.platform].phase(event):
        case Phase.RAN:
            return report_outcome(state, request, state.followed.ran(event))
        case Phase.REFUSED:
            return report_outcome(state, request, state.followed.refused(event))
        case _:
            return []


def report_end(state: BrokerState, request: Request, closes: EndScope) -> list[Effect]:
    """Report, at the end of a turn, the calls left to the agent that did not run."""
    effects: list[Effect] = []
    for outcome in state.followed.conclude(request.event, closes):
        effects += report_outcome(state, request, outcome)
    return effects


def put_alarm(state: BrokerState, card: Card, alarm: str) -> Effect:
    """Add an alarm to a card."""
    return state.put(replace(card, alarms=(*card.alarms, alarm)))


def _is_news(card: Card, alarm: str) -> bool:
    return alarm not in card.alarms and len(card.alarms) < ALARMS_KEPT


def _number(call: Card | Followed) -> int | None:
    return call.number if isinstance(call, Card) else call.card


def _other(call: Card | Followed | Event, number: int | None) -> str:
    event = call if isinstance(call, Event) else call.event
    tool = _word(event.tool.name) if event.tool else ""
    where = f"#{number}" if number is not None else f"a call of {tool} that was decided at once"
    return f"{where} asks for something else under the same call id: one of the two is forged"


def _word(text: str) -> str:
    return text if len(text) <= NAMED else text[:NAMED] + "…"
