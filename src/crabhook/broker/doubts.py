"""What an agent's hooks say that cannot be true of a call: told in red, recorded, and not followed.

Whoever may start a hook may send it any input.  So the id of a call is no
proof of which call is meant, and no news ends a wait of which the agent itself
knows no end.
"""

from collections.abc import Sequence
from dataclasses import replace

from crabhook.broker.books import Books
from crabhook.broker.calls import conflict, named
from crabhook.broker.card import Card
from crabhook.broker.effects import Conflict, Effect, Outcome
from crabhook.broker.followed import Fate, Followed
from crabhook.broker.restoring import NO_CONNECTION
from crabhook.model.event import Event, Scope
from crabhook.model.request import Request
from crabhook.platforms.rows import Phase

ALARMS_KEPT = 8  # of one card; whoever sends more says nothing new
NAMED = 60  # letters of an agent's word in a sentence of ours


def stands_still(books: Books, card: Card) -> bool:
    """Whether an agent waits for this card's decision, on a connection that is there."""
    return any(
        books.platforms[leg.event.platform].phase(leg.event) is Phase.BEFORE
        and books.room.attempt(leg.id) not in (None, NO_CONNECTION)
        for leg in card.requests
    )


def disbelieve(books: Books, news: Event, cards: Sequence[Card], now: float) -> list[Effect]:
    """Say that an event tells of an end that cannot be: the agent still waits for these cards."""
    numbers = tuple(card.number for card in cards)
    called = ", ".join(f"#{number}" for number in numbers[:5])
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    alarm = f"{_word(news.name)} says that this is over, but the agent still waits for its hook"
    why = f"says that {called}{more} is over, but the agent still waits for that hook: not believed"
    shown: list[Effect] = [put_alarm(books, card, alarm) for card in cards if _is_news(card, alarm)]
    return [
        Conflict(news, f"{_word(news.name)} {why}", numbers),
        *shown,
        books.note(now, news, why, alarm=True),
    ]


def rivals(books: Books, event: Event) -> list[Card | Followed]:
    """Return what else, waiting or decided, goes by the event's call id and is another call."""
    if not books.asks_about_a_call(event) or not named(event):
        return []
    waiting = [
        card
        for card in books.shelf.alike(event)
        if any(conflict(leg.event, event) for leg in card.requests)
    ]
    return [*waiting, *books.followed.rivals(event)]


def alarms_of(others: Sequence[Card | Followed]) -> tuple[str, ...]:
    """Return what a card says whose call's id others have as well."""
    return tuple(_other(one, _number(one)) for one in others[:ALARMS_KEPT])


def forewarned(books: Books, event: Event) -> tuple[str, ...]:
    """Return what a card says in whose session another hook has changed an approved call."""
    changed = books.followed.changed(event) if books.asks_about_a_call(event) else None
    if changed is None:
        return ()
    where = f"#{changed.card}" if changed.card is not None else "a call a rule allowed"
    return (f"another hook of this session changed {where} after it was approved: it may again",)


def tell_rivals(
    books: Books, request: Request, others: Sequence[Card | Followed], now: float
) -> list[Effect]:
    """Say that two hooks ask for different things under one id, on the cards that were first."""
    if not others:
        return []
    own = books.shelf.of_request(request.id)
    alarm = _other(request.event, own.number if own else None)
    effects: list[Effect] = []
    numbers = [own.number] if own else []
    for one in others:
        number = _number(one)
        card = books.shelf.card(number) if number is not None else None
        if card is not None:
            numbers.append(card.number)
            if _is_news(card, alarm):
                effects.append(put_alarm(books, card, alarm))
    told = "; ".join(alarms_of(others[:3]))
    conflict_told = Conflict(request.event, told, tuple(numbers), request.id)
    number = own.number if own else None
    return [conflict_told, *effects, books.note(now, request.event, told, number, alarm=True)]


def tell_outcome(
    books: Books, request: Request, found: tuple[Followed, Fate] | None, now: float
) -> list[Effect]:
    """Say what an event tells of a decided call; in red, where that is not what was decided."""
    if found is None:
        return []
    call, fate = found
    effects: list[Effect] = [Outcome(request.event, request.id, call, fate)]
    if fate.alarming:
        card = books.shelf.card(call.card) if call.card is not None else None
        if card is not None and _is_news(card, fate.value):
            effects.append(put_alarm(books, card, fate.value))
        effects.append(books.note(now, request.event, fate.value, call.card, alarm=True))
    return effects


def hear_outcomes(books: Books, request: Request, now: float) -> list[Effect]:
    """Draw from a call's result what became of the call."""
    event = request.event
    match books.platforms[event.platform].phase(event):
        case Phase.RAN:
            return tell_outcome(books, request, books.followed.ran(event), now)
        case Phase.REFUSED:
            return tell_outcome(books, request, books.followed.refused(event), now)
        case _:
            return []


def hear_end(books: Books, request: Request, closes: Scope, now: float) -> list[Effect]:
    """Draw from the end of a turn that what was left to the agent did not run."""
    effects: list[Effect] = []
    for found in books.followed.conclude(request.event, closes):
        effects += tell_outcome(books, request, found, now)
    return effects


def put_alarm(books: Books, card: Card, alarm: str) -> Effect:
    """Put a card that says one thing more in red in its own place."""
    return books.put(replace(card, alarms=(*card.alarms, alarm)))


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
