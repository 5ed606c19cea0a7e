"""A server that was killed begins again: what waited is put back on its cards, answers are kept.

A restored request has no connection until its hook comes back with its
ticket; one that never does is withdrawn when no hook would still try.
"""

from dataclasses import replace

from crabhook.broker.books import Books
from crabhook.broker.card import Card
from crabhook.broker.effects import Effect
from crabhook.broker.facts import Restored

NO_CONNECTION = 0  # an attempt no connection ever has: the runner counts from 1
COME_BACK_WITHIN = 150.0  # seconds; hooks try for two minutes
NEVER_CAME_BACK = "its hook did not come back after the server's restart"


def restored(books: Books, fact: Restored) -> list[Effect]:
    """Put back what waited, by card, and the answers that may not have been received."""
    for given in fact.answers:
        books.tickets.give(given.request_id, given.secret, given.reply, fact.now)
    books.shelf.begin_after(fact.last_number)
    effects: list[Effect] = []
    for number, request in fact.waiting:
        books.hear_of(request.event)
        books.attempts[request.id] = NO_CONNECTION
        card = books.shelf.card(number)
        legs = (*card.requests, request) if card else (request,)
        fresh = card or Card(number, legs, asked_at=fact.now, restored=True)
        effects.append(books.put(replace(fresh, requests=legs)))
        effects.append(books.wake(request.wait_until, request.id))
    if fact.waiting:
        effects.append(books.wake(fact.now + COME_BACK_WITHIN))
        books.expected_back = (fact.now + COME_BACK_WITHIN, [one.id for _, one in fact.waiting])
    return effects


def never_came_back(books: Books, now: float) -> list[Effect]:
    """Withdraw what was restored and not taken up again in time."""
    due, ids = books.expected_back
    if not ids or now < due:
        return []
    books.expected_back = (0.0, [])
    effects: list[Effect] = []
    for request_id in ids:
        if books.attempts.get(request_id) == NO_CONNECTION:
            leg = books.leg(request_id)
            del books.attempts[request_id]
            effects += books.leave(books.shelf.of_leg(leg), [leg], NEVER_CAME_BACK, now)
    return effects
