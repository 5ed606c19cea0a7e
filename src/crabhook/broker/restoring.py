"""A server that was killed begins again: what waited is put back on its cards, answers are kept.

A restored request has no connection until its hook comes back with its
ticket; one that never does is withdrawn when no hook would still try.
"""

from dataclasses import replace

from crabhook.broker.books import Books
from crabhook.broker.card import Card
from crabhook.broker.effects import Effect
from crabhook.broker.facts import DecidedBefore, Restored, WaitedBefore
from crabhook.broker.law import said_by
from crabhook.broker.orders import came_by
from crabhook.broker.states import State
from crabhook.model.ending import Ended
from crabhook.model.request import Request

NO_CONNECTION = 0  # an attempt no connection ever has: the runner counts from 1
COME_BACK_WITHIN = 150.0  # seconds; hooks try for two minutes


def restored(books: Books, fact: Restored) -> list[Effect]:
    """Put back what waited, by card, and the answers that may not have been received."""
    for given in fact.answers:
        books.tickets.give(given.request_id, given.secret, given.reply, fact.now)
    for order in fact.halts:
        books.orders.give(order, order.by)
    books.shelf.begin_after(fact.last_number)
    for decided in fact.decided:
        _put_back_decided(books, decided, fact.now)
    effects: list[Effect] = []
    due = fact.now + COME_BACK_WITHIN
    for one in fact.waiting:
        # The wall clock may have been set meanwhile: no wait is over before its hook could say so.
        request = replace(one.request, wait_until=max(one.request.wait_until, due))
        books.hear_of(request.event)
        books.room.enter(request, NO_CONNECTION)
        card = books.shelf.card(one.number)
        legs = (*card.requests, request) if card else (request,)
        fresh = card or _fresh(books, one, request, fact.now)
        effects.append(books.put(replace(fresh, requests=legs)))
        effects.append(books.wake(request.wait_until, request.id))
    if fact.waiting:
        effects.append(books.wake(due))
        books.expected_back = (due, [one.request.id for one in fact.waiting])
    return effects


def _fresh(books: Books, one: WaitedBefore, request: Request, now: float) -> Card:
    """Return the card of what waited, with why it is here."""
    event = request.event
    told = said_by(one.ruling)
    return Card(
        one.number,
        (request,),
        asked_at=now - one.waited,
        restored=True,
        law=told.why if told.asks else "",
        came=came_by(event, books.platforms[event.platform], request.stance),
    )


def _put_back_decided(books: Books, one: DecidedBefore, now: float) -> None:
    """Put a decided card where it stood: it is no news, but its receipt may yet come."""
    card = books.shelf.card(one.number)
    legs = (*card.requests, one.request) if card else (one.request,)
    fresh = card or Card(
        one.number,
        legs,
        asked_at=now,
        state=State.DECIDED,
        decided=one.decided,
        ended_at=now,
        delivered=one.delivered,
        restored=True,
    )
    books.put(replace(fresh, requests=legs))
    books.follow(replace(fresh, requests=legs), one.decided.decision, now)
    if one.delivered is None:
        books.decided_before.add(one.request.id)


def is_back(books: Books, known: Request, back: Request) -> list[Effect]:
    """Let a restored request whose time seemed over wait as long as its hook, which is back, says.

    The hook's own clock is one that nobody sets.
    """
    due, _ = books.expected_back
    if known.wait_until != due:
        return []
    card = books.shelf.of_leg(known)
    leg = replace(
        known,
        wait_until=back.wait_until,
        gives_up_at=back.gives_up_at,
        when_lost=back.when_lost,
    )
    legs = tuple(leg if one.id == leg.id else one for one in card.requests)
    return [books.put(replace(card, requests=legs)), books.wake(leg.wait_until, leg.id)]


def never_came_back(books: Books, now: float) -> list[Effect]:
    """Withdraw what was restored and not taken up again in time."""
    due, ids = books.expected_back
    if not ids or now < due:
        return []
    books.expected_back = (0.0, [])
    effects: list[Effect] = []
    for request_id in ids:
        if books.room.attempt(request_id) == NO_CONNECTION:
            leg = books.leg(request_id)
            books.room.leave(request_id)
            effects += books.leave(books.shelf.of_leg(leg), [leg], Ended.NEVER_CAME_BACK, now)
    return effects
