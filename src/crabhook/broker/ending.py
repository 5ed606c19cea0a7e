"""How a card ends (decided, hook gone, timeout, desk closed), and whether its reply arrives."""

from collections.abc import Mapping
from dataclasses import replace
from heapq import heappop

from crabhook.broker import balloting, signing, undecided
from crabhook.broker.cards import Happening, StaleError, TooLateError, after
from crabhook.broker.messages import (
    Answered,
    Closing,
    Delivered,
    Effect,
    Left,
    Refusal,
    Rulings,
    TimePassed,
    WakeAt,
)
from crabhook.broker.orders import against, halted
from crabhook.broker.pending import NO_CONNECTION
from crabhook.broker.state import BrokerState
from crabhook.model import ballot as ledger
from crabhook.model.actor import Actor, Ended, Follows, OrderKind, StandingOrder, TimeUp
from crabhook.model.card import Card, Leg, State
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import object_at
from crabhook.model.order import Order
from crabhook.model.session import SessionKey
from crabhook.model.statements import is_strict

_FOLLOWS: Mapping[str, Follows] = {
    "PreToolUse": Follows.OWN_RULES,
    "PreSkillShellCommand": Follows.OWN_RULES,
    "BeforeTool": Follows.OWN_RULES,
    "aap.request": Follows.OWN_RULES,
    "PermissionRequest": Follows.OWN_USER,
}
"""What happens after an event that nobody decided, unless its hook denies it."""
_UNLESS_DENIED: Mapping[Follows, Follows] = {
    Follows.OWN_RULES: Follows.DENIED_OR_OWN_RULES,
    Follows.OWN_USER: Follows.DENIED_OR_OWN_USER,
}
_UNTIL = "every call of that session is denied until its user's next prompt"
_UNTIL_IT_ENDS = "every call of that subagent is denied until it ends"


def answered(state: BrokerState, fact: Answered) -> list[Effect]:
    """Decide a card: each of its hooks gets its reply in its own form.

    Where rules name who must allow it, a yes is a vote until all votes are there. Raises
    TooLateError, StaleError or DecisionError, and then nothing has changed.
    """
    card, decision = known_card(state, fact.number), fact.decision
    ended_as = check(state, fact.number, decision, fact.rulings, fact.seen)
    balloting.check(card, fact, fact.now)
    signing.check(state, card, fact, balloting.meant(card, decision))
    signed = fact.signed
    if card.ballot is not None and decision.verdict not in balloting.CLOSES:
        before, card = card, balloting.with_vote(card, fact, fact.now)
        assert card.ballot is not None  # noqa: S101 - it has one vote more
        if not ledger.is_complete(card.ballot):
            return balloting.voted(state, before, card)
        decision = balloting.sum_of(card.ballot, card.choices)
        signed = ledger.signatures_of(card.ballot)
    decided = Decided(decision, fact.by)
    if card.went_on:
        ruled = undecided.ruled(state, card, decided)
        over = replace(card, state=ended_as, decided=decided, ended_at=fact.now)
        return [*ruled, state.put(over)]
    state.keep_going.count(card.event, decision)
    retries = decision.verdict is Verdict.RETRY and card.event.tool is not None
    once = state.let_once(card, fact.by) if retries else []
    if decision.verdict is Verdict.DENY:
        state.sessions.refused(card.event)
    effects: list[Effect] = []
    if is_strict(card):
        line = signing.told(card, fact, signed)
        effects.append(state.note(card.event, line, card.number))
    for leg in card.requests:
        effects += state.resolve(leg, decided, signed)
    _remember(state, card, decided)
    state.follow(card, decision)
    risk = fact.risk or card.risk
    ended = state.put(replace(card, state=ended_as, decided=decided, ended_at=fact.now, risk=risk))
    return [*effects, ended, *once, *_halt(state, card, decided)]


def _halt(state: BrokerState, card: Card, decided: Decided) -> list[Effect]:
    """Deny the other calls of a halted session and its subagents, until its user's next prompt.

    An agent ends its turn only after all calls of the same message, and the agent does not tell the
    calls that run in parallel.
    """
    why = decided.decision.halt
    if not why or not card.event.session or isinstance(decided.by, StandingOrder):
        return []  # an order that halts stands already, and may be about one subagent
    key = card.event.session_key
    order = Order(OrderKind.HALT, session=key[1], words=why, machine=key[2])
    return halt(state, key, order, decided.by)


def halt(state: BrokerState, key: SessionKey, order: Order, by: Actor) -> list[Effect]:
    """Stop a session, or one of its subagents: deny its waiting calls and all its next calls.

    Raises DecisionError.
    """
    standing = state.orders.give(order, by, state.now)
    until = _UNTIL_IT_ENDS if order.agent else _UNTIL
    effects: list[Effect] = [state.note(order.event, f"{order}; {until}")]
    effects.append(state.wake(standing.ends_unheard))
    for card in state.cards.of_session(key):
        calls = all(state.asks_about_a_call(leg.event) for leg in card.requests)
        if calls and order.halts(card.event) and not card.went_on:
            denied = halted(standing, card.choices)
            effects += answered(state, Answered(card.number, denied.decision, denied.by, state.now))
    return effects


def check(
    state: BrokerState,
    number: int,
    decision: Decision,
    rulings: Rulings,
    seen: int | None = None,
) -> State:
    """Return the state that a card would have after this decision; raises as `answered` does."""
    card = known_card(state, number)
    try:
        ended_as = after(card.state, Happening.ANSWERED)
    except TooLateError as error:
        detail = f" ({card.why})" if card.why else ""
        raise TooLateError(
            f"#{card.number} is {error}{detail}: this answer changed nothing"
        ) from None
    if seen is not None and seen < card.grown:
        more = "was asked again, or warned of, and there is more to see"
        raise StaleError(f"#{card.number} {more}: this answer changed nothing")
    undecided.check(card, decision)
    for leg in card.requests:
        state.platforms[leg.event.platform].check(leg.event, decision)
    decision = balloting.meant(card, decision)
    changed = changed_calls(state, card, decision)
    if not changed.keys() <= rulings.keys():
        raise DecisionError(f"#{number} was changed, and the rules were not asked about that yet")
    objections = against(rulings[leg] for leg in changed)
    if not set(objections) <= set(decision.despite):
        raise DecisionError(
            f"the rules are against the call as it was changed: {'; '.join(objections)}"
        )
    return ended_as


def changed_calls(state: BrokerState, card: Card, decision: Decision) -> dict[str, Event]:
    """Return a card's calls as a decision changes them, by request id.

    Unchanged calls are left out: the rules judged them on arrival. Answers to questions and changed
    plans run nothing.
    """
    decision = balloting.meant(card, decision)
    if decision.updated_input is None or card.state is not State.WAITING:
        return {}
    events: dict[str, Event] = {}
    for leg in card.requests:
        event = leg.event
        if event.tool is None or state.platforms[event.platform].asks(event):
            continue
        changed = replace(event.tool, input=dict(decision.updated_input))
        if changed.fingerprint != event.tool.fingerprint:
            events[leg.id] = replace(event, tool=changed)
    return events


def known_card(state: BrokerState, number: int) -> Card:
    """Return the card with this number; raise TooLateError if there is none."""
    card = state.cards.card(number)
    if card is None:
        raise TooLateError(f"there is no #{number}")
    return card


def _remember(state: BrokerState, card: Card, decided: Decided) -> None:
    """Keep the decision and its note for later events of the same call."""
    state.remember_answer(card, decided)
    _remember_note(state, card, decided)


def remember_again(state: BrokerState, request_id: str) -> None:
    """Keep a decision from before the server's restart again, when its hook takes the reply.

    Not sooner: only a hook that still waits shows that the call has not run meanwhile. And only
    once: after that the call may run.
    """
    card = state.cards.of_request(request_id)
    if request_id in state.decided_before and card and card.decided is not None:
        state.decided_before.remove(request_id)
        _remember(state, card, card.decided)


def _remember_note(state: BrokerState, card: Card, decided: Decided) -> None:
    """Keep, for the call's result, a note that no leg could give to the model."""
    decision = decided.decision
    if decision.verdict is not Verdict.ALLOW or not decision.note or is_strict(card):
        return
    write = state.platforms[card.event.platform].write
    outputs = (write(leg.event, decision).output or {} for leg in card.requests)
    if not any(
        "additionalContext" in object_at(output, "hookSpecificOutput") for output in outputs
    ):
        state.recent.remember_note(card.event, decided, state.now)


def left(state: BrokerState, fact: Left) -> list[Effect]:
    """Take a hook that has gone off its card."""
    if state.pending.attempt(fact.request_id) != fact.attempt:
        return []  # an old connection of a ticket that came back, or an answered request
    return _left(state, fact.request_id, Ended.HOOK_LEFT)


def _left(state: BrokerState, request_id: str, why: Ended) -> list[Effect]:
    leg = state.leg(request_id)
    card = state.cards.of_leg(leg)
    if len(card.requests) == 1 and (stays := undecided.left_again(state, card)):
        return stays
    state.pending.leave(request_id)
    return state.leave(card, [leg], why)


def time_passed(state: BrokerState, fact: TimePassed) -> list[Effect]:
    """End the waits whose time is over, and timed orders; bring back cards that were aside."""
    effects: list[Effect] = []
    for order, text in state.orders.expire(fact.now):
        effects += [state.note(order.event, text), *state.untold(order)]
    while state.deadlines and state.deadlines[0][0] <= fact.now:
        _, request_id = heappop(state.deadlines)
        if request_id not in state.pending:
            continue  # it ended before its time
        leg = state.leg(request_id)
        if leg.wait_until > fact.now:
            continue  # its time was extended
        if stays := undecided.time_up(state, leg):
            effects += stays
            continue
        why = TimeUp(follows(leg))
        effects += state.refuse(leg, Refusal.UNDECIDED)
        effects += state.leave(state.cards.of_leg(leg), [leg], why, Happening.TIMED_OUT)
    effects += _never_came_back(state)
    effects += balloting.escalated(state)
    aside = [card for card in state.cards.waiting() if 0 < card.snoozed_until <= state.now]
    effects += [state.put(replace(card, snoozed_until=0.0)) for card in aside]
    if state.deadlines:
        effects.append(WakeAt(state.deadlines[0][0]))
    return effects


def follows(leg: Leg) -> Follows:
    """Return what happens after a timeout, as the hook reports its own behaviour.

    An agent's own rules can allow the call after PreToolUse, without a question to anybody.
    """
    unasked = _FOLLOWS.get(leg.event.name)
    if unasked is None:
        return Follows.GOES_ON
    match leg.when_lost:
        case "deny":
            return Follows.DENIED
        case "pass":
            return unasked
        case "ask":
            return Follows.USER_ASKED
        case _:
            return _UNLESS_DENIED[unasked]


def closing(state: BrokerState, fact: Closing) -> list[Effect]:
    """Release all waiting cards; hooks installed to fail closed deny."""
    if fact.stopped:
        return state.let_go(Ended.SERVER_STOPPED, Refusal.STOPPED)
    return state.let_go(Ended.DESK_CLOSED, Refusal.CLOSED)


def delivered(state: BrokerState, fact: Delivered) -> list[Effect]:
    """Note whether a reply reached its hook."""
    card, notes = state.cards.of_request(fact.request_id), state.notes_received(fact)
    state.decided_before.discard(fact.request_id)
    if card is None or card.decision is None or card.delivered:
        return notes
    fate = "delivered in" if fact.whole else "NOT DELIVERED, the hook did not take it, after"
    text = f"{card.outcome} · {fate} {(fact.now - card.ended_at) * 1000:.0f} ms"
    return [
        state.put(replace(card, delivered=fact.whole)),
        state.note(card.event, text, card.number),
        *notes,
    ]


def _never_came_back(state: BrokerState) -> list[Effect]:
    """Withdraw restored requests whose hooks did not come back in time."""
    due, ids = state.expected_back
    if not ids or state.now < due:
        return []
    state.expected_back = (0.0, [])
    effects: list[Effect] = []
    for request_id in ids:
        card = state.cards.of_request(request_id)
        gone = state.pending.attempt(request_id) == NO_CONNECTION
        if gone and card is not None and not card.went_on:
            effects += _left(state, request_id, Ended.NEVER_CAME_BACK)
    return effects
