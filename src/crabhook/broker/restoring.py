"""A server that was killed begins again: what waited is put back on its cards, answers are kept.

A restored request has no connection until its hook comes back with its ticket; one that never does
is withdrawn when no hook would still try.
"""

from dataclasses import replace

from crabhook.broker.messages import (
    Effect,
    Mirrored,
    Restored,
    RestoredDecision,
    RestoredRequest,
)
from crabhook.broker.orders import came_by, for_programs, said_by
from crabhook.broker.pending import NO_CONNECTION
from crabhook.broker.state import BrokerState
from crabhook.model.card import Card, Leg, Request, State
from crabhook.model.session import KeptNote

NOTES_WAIT = 86_400.0  # seconds; nobody tells that a session ended while no server was there
COME_BACK_WITHIN = 150.0  # seconds; hooks try for two minutes


def restored(state: BrokerState, fact: Restored) -> list[Effect]:
    """Put back what waited, by card, and the answers that may not have been received."""
    for given in fact.answers:
        state.tickets.give(given.request_id, given.secret, given.reply, fact.now)
    for order in fact.halts:
        state.orders.give(order, order.by)
    state.cards.begin_after(fact.last_number)
    for decided in fact.decided:
        _put_back_decided(state, decided)
    effects = [effect for one in fact.notes for effect in _take_up_note(state, one)]
    due = fact.now + COME_BACK_WITHIN
    for one in fact.waiting:
        # The wall clock may have been set meanwhile: no wait is over before its hook could say so.
        request = replace(one.request, wait_until=max(one.request.wait_until, due))
        state.sessions.hear(request.event, fact.now)
        state.pending.enter(request, NO_CONNECTION)
        card, leg = state.cards.card(one.number), request.leg("")
        legs = (*card.requests, leg) if card else (leg,)
        fresh = card or _fresh(state, one, leg)
        effects.append(state.put(replace(fresh, requests=legs)))
        effects.append(state.wake(request.wait_until, request.id))
    if fact.waiting:
        effects.append(state.wake(due))
        state.expected_back = (due, [one.request.id for one in fact.waiting])
    return effects


def mirrored(state: BrokerState, fact: Mirrored) -> list[Effect]:
    """Show what waits at another server, and what ended there."""
    effects: list[Effect] = []
    for one in fact.waiting:
        state.sessions.hear(one.request.event, fact.now)
        card, leg = state.cards.card(one.number), one.request.leg("")
        legs = (*card.requests, leg) if card else (leg,)
        fresh = card or replace(_fresh(state, one, leg), restored=False)
        effects.append(state.put(replace(fresh, requests=legs)))
    effects += [state.put(card) for card in fact.ended]
    return effects


def _take_up_note(state: BrokerState, kept: KeptNote) -> list[Effect]:
    """Let a note wait again, or say what is not known of it; it is given once."""
    note = kept.note
    if state.now - note.at > NOTES_WAIT:
        return state.note_told(note, "was never given, and is given up: it has waited for a day")
    state.notes.restore(kept)
    if not kept.request_id:
        return state.note_told(note, "waits for its next call, after a restart of the server")
    unknown = "was given just before the server ended: whether it arrived is not known"
    return state.note_told(note, f"{unknown}, and it is given again only to the same hook")


def _fresh(state: BrokerState, one: RestoredRequest, leg: Leg) -> Card:
    """Return the card of what waited, with why it is here."""
    event = leg.event
    told = said_by(one.ruling)
    came = came_by(event, state.platforms[event.platform], leg.stance)
    return Card(
        one.number,
        (leg,),
        asked_at=state.now - one.waited,
        restored=True,
        law=told.why if told.waits else "",
        came=for_programs(came),
        brought=told.brought if told.waits else came,
        risk=one.risk,
    )


def _put_back_decided(state: BrokerState, one: RestoredDecision) -> None:
    """Put a decided card where it stood: it is no news, but its receipt may yet come."""
    card, leg = state.cards.card(one.number), one.request.leg("")
    legs = (*card.requests, leg) if card else (leg,)
    fresh = card or Card(
        one.number,
        legs,
        asked_at=state.now,
        state=State.DECIDED,
        decided=one.decided,
        ended_at=state.now,
        delivered=one.delivered,
        restored=True,
    )
    state.put(replace(fresh, requests=legs))
    state.follow(replace(fresh, requests=legs), one.decided.decision)
    if one.delivered is None:
        state.decided_before.add(one.request.id)


def is_back(state: BrokerState, known: Leg, back: Request) -> list[Effect]:
    """Let a restored request whose time seemed over wait as long as its hook, which is back, says.

    The hook's own clock is one that nobody sets.
    """
    due, _ = state.expected_back
    if known.wait_until != due:
        return []
    card = state.cards.of_leg(known)
    leg = replace(
        known,
        wait_until=back.wait_until,
        gives_up_at=back.gives_up_at,
        when_lost=back.when_lost,
    )
    legs = tuple(leg if one.id == leg.id else one for one in card.requests)
    return [state.put(replace(card, requests=legs)), state.wake(leg.wait_until, leg.id)]
