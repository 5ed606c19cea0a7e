"""After a restart or a crash the server puts waiting requests back on cards, and keeps the replies.

A restored request has no connection until its hook comes back with its ticket. The broker withdraws
a request whose hook does not come back in the time in which hooks try.
"""

from contextlib import suppress
from dataclasses import replace
from math import inf

from crabhook.broker import balloting
from crabhook.broker.messages import (
    Effect,
    Mirrored,
    Restored,
    RestoredDecision,
    RestoredRequest,
)
from crabhook.broker.orders import came_by, from_ruling
from crabhook.broker.pending import NO_CONNECTION
from crabhook.broker.state import BrokerState
from crabhook.model.card import ONCE, Card, Leg, Request, State
from crabhook.model.errors import DecisionError
from crabhook.model.session import KeptNote

NOTES_WAIT = 86_400.0  # seconds; a session that ends while no server runs is not reported
COME_BACK_WITHIN = 150.0  # seconds; hooks try for two minutes


def restored(state: BrokerState, fact: Restored) -> list[Effect]:
    """Put waiting requests back on cards, and keep the replies that hooks may not have received."""
    for answer in fact.answers:
        state.tickets.give(answer.request_id, answer.secret, answer.reply, fact.now)
    for order in fact.halts:
        with suppress(DecisionError):  # no operator could give it: the store was changed by hand
            state.orders.give(order, order.by, order.heard)
    state.cards.begin_after(fact.last_number)
    for decided in fact.decided:
        _put_back_decided(state, decided)
    effects = [effect for kept in fact.notes for effect in _take_up_note(state, kept)]
    ends = [end for order in state.orders.standing() for end in (order.until, order.ends_unheard)]
    effects += [state.wake(end) for end in ends if end is not None and end < inf]
    due, hooks = fact.now + COME_BACK_WITHIN, list[str]()
    for kept in fact.waiting:
        # The wall clock may have been changed: no wait ends before its hook had time to come back.
        request, asked = kept.request, fact.asked.get(kept.number, ONCE)
        if not asked.went_on_at and not state.stands_alone(request):
            request = replace(request, wait_until=max(request.wait_until, due))
            hooks.append(request.id)
        state.sessions.record(request.event, fact.now)
        state.pending.enter(request, NO_CONNECTION)
        card, leg = state.cards.card(kept.number), request.leg("")
        legs = (*card.requests, leg) if card else (leg,)
        fresh = card or _fresh(state, kept, leg)
        ballot = fact.ballots.get(kept.number)
        whole = replace(fresh, requests=legs, ballot=ballot, asked=asked)
        effects.append(state.put(whole))
        effects.append(state.wake(request.wait_until, request.id))
    for ballot in state.ballots.values():
        effects += balloting.wakes(state, ballot)
    if hooks:
        effects.append(state.wake(due))
        state.expected_back = (due, hooks)
    return effects


def mirrored(state: BrokerState, fact: Mirrored) -> list[Effect]:
    """Show the cards that wait at another server, and those that ended there."""
    effects: list[Effect] = []
    for waiting in fact.waiting:
        state.sessions.record(waiting.request.event, fact.now)
        card, leg = state.cards.card(waiting.number), waiting.request.leg("")
        legs = (*card.requests, leg) if card else (leg,)
        fresh = card or replace(_fresh(state, waiting, leg), restored=False)
        effects.append(state.put(replace(fresh, requests=legs)))
    effects += [state.put(card) for card in fact.ended]
    for number, ballot in fact.ballots.items():
        card = state.cards.card(number)
        if (
            card is not None
            and card.state is State.WAITING
            and (card.ballot is None or card.ballot.facts != ballot.facts)
        ):
            effects.append(state.put(replace(card, ballot=ballot)))
    for number, asked in fact.asked.items():
        card = state.cards.card(number)
        if card is not None and card.state is State.WAITING and card.asked != asked:
            effects.append(state.put(replace(card, asked=asked)))
    if fact.orders is not None:
        state.orders.revoke(lambda _: True)
        for order in fact.orders:
            with suppress(DecisionError):  # one that only a hand can have written there
                state.orders.give(order, order.by, fact.now)
        for key in state.notes.replace(fact.notes):
            state.sessions.touch(key)
    return effects


def _take_up_note(state: BrokerState, kept: KeptNote) -> list[Effect]:
    """Let a note wait again, or report that its delivery is unknown."""
    note = kept.note
    if state.now - note.at > NOTES_WAIT:
        return state.note_told(note, "was never given, and is given up: it has waited for a day")
    state.notes.restore(kept)
    if not kept.request_id:
        return state.note_told(note, "was taken up by this server, and waits for its next call")
    unknown = "was given just before the server ended: whether it arrived is not known"
    return state.note_told(note, f"{unknown}, and it is given again only to the same hook")


def _fresh(state: BrokerState, kept: RestoredRequest, leg: Leg) -> Card:
    """Return a new card for a restored request, with the reason why it waits."""
    event = leg.event
    course = from_ruling(kept.ruling)
    came = came_by(event, state.platforms[event.platform], leg.stance)
    return Card(
        kept.number,
        (leg,),
        asked_at=state.now - kept.waited,
        restored=True,
        reason=course.reason if course.waits else came,
        risk=kept.risk,
    )


def _put_back_decided(state: BrokerState, kept: RestoredDecision) -> None:
    """Put a decided card back without news: only its receipt is still missing."""
    card, leg = state.cards.card(kept.number), kept.request.leg("")
    legs = (*card.requests, leg) if card else (leg,)
    fresh = card or Card(
        kept.number,
        legs,
        asked_at=state.now,
        state=State.DECIDED,
        decided=kept.decided,
        ended_at=state.now,
        delivered=kept.delivered,
        restored=True,
    )
    state.put(replace(fresh, requests=legs))
    state.follow(replace(fresh, requests=legs), kept.decided.decision)
    if kept.delivered is None:
        state.decided_before.add(kept.request.id)


def is_back(state: BrokerState, waiting: Leg, back: Request) -> list[Effect]:
    """Let a restored request wait as long as its hook, which came back, says.

    The hook counts on a clock that nobody can set, and says again what it does in the end.
    """
    due, _ = state.expected_back
    leg = replace(waiting, when_lost=back.when_lost)
    if waiting.wait_until == due:
        leg = replace(leg, wait_until=back.wait_until, gives_up_at=back.gives_up_at)
    elif leg == waiting or waiting.when_lost:
        return []
    card = state.cards.of_leg(waiting)
    legs = tuple(leg if old.id == leg.id else old for old in card.requests)
    return [state.put(replace(card, requests=legs)), state.wake(leg.wait_until, leg.id)]
