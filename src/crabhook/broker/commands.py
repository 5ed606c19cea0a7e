"""What operators say beside deciding: orders, more or later time for a card, and rules.

A rule added on a card lets the other calls that wait and that it allows go their
way, too, as if they had only now arrived; whoever wants everything of a session
to wait is asked on.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from crabhook.broker.cards import TooLateError
from crabhook.broker.ending import Rulings, answered, halt, known_card
from crabhook.broker.messages import (
    Answered,
    Effect,
    Extended,
    NoteTakenBack,
    Ordered,
    OrdersEnded,
    Reconsidered,
    Revoked,
    RuleAdded,
    Snoozed,
    Steered,
    Stopped,
)
from crabhook.broker.orders import said_by
from crabhook.broker.state import BrokerState
from crabhook.model import wording
from crabhook.model.actor import Ended, OrderKind
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Decided, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import Order
from crabhook.model.session import SessionKey

_ABOUT_AN_EVENT = frozenset({OrderKind.HOLD, OrderKind.KEEP_GOING})


def ordered(state: BrokerState, fact: Ordered) -> list[Effect]:
    """Take a standing order; raise DecisionError for one that makes no sense.

    Whoever is away decides nothing, so what waits already is let go as well.
    """
    if fact.order.kind in _ABOUT_AN_EVENT and fact.order.name not in state.holdable():
        raise DecisionError(f"no event called {fact.order.name!r:.60} can be held")
    given = state.orders.give(fact.order, fact.by)
    effects: list[Effect] = [state.note(fact.now, given.event, str(given))]
    if fact.order.until is not None:
        effects.append(state.wake(fact.order.until))
    if fact.order.kind is OrderKind.AWAY:
        effects += state.let_go(Ended.AWAY, fact.now)
    return effects


def revoked(state: BrokerState, fact: Revoked) -> list[Effect]:
    """End standing orders; raise DecisionError where there is none to end."""
    ended = state.orders.revoke(lambda order: order.id in fact.ids)
    if not ended:
        raise DecisionError("there is no such order to end")
    told = [state.note(fact.now, order.event, f"ended: {order}") for order in ended]
    return [OrdersEnded(tuple(ended)), *told]


def steered(state: BrokerState, fact: Steered) -> list[Effect]:
    """Take a note for an agent's next call; raise DecisionError where none can be given."""
    key = _known_agent(state, fact.session, fact.agent)
    platform = state.platforms[key[0]]
    if not platform.takes_notes:
        raise DecisionError(f"{platform.title} takes no note with its calls")
    note = state.notes.add(key, fact.agent, fact.text, fact.by, fact.now)
    what = f"waits for its next call: {note.text}"
    return state.note_told(note, what, fact.now, by=fact.by)


def note_taken_back(state: BrokerState, fact: NoteTakenBack) -> list[Effect]:
    """Take back a note that waits; raise DecisionError where it does not."""
    note = state.notes.take_back(fact.note)
    return state.note_told(note, "was taken back", fact.now, by=fact.by)


def stopped(state: BrokerState, fact: Stopped) -> list[Effect]:
    """Stop a session, or one subagent, at its next call; raise DecisionError where none is."""
    platform, session = _known_agent(state, fact.session, fact.agent)
    if not state.platforms[platform].stops:
        raise DecisionError(f"{state.platforms[platform].title} cannot be told to stop")
    why = fact.why.strip() or "stopped from the desk"
    order = Order(OrderKind.HALT, session=session, agent=fact.agent, words=why)
    return halt(state, platform, order, fact.by, fact.now)


def _known_agent(state: BrokerState, session: str, agent: str) -> SessionKey:
    """Return the session that is meant; raise DecisionError where there is none."""
    found = list(state.sessions.agents_of(session))
    if len(found) != 1:
        how_many = f"{len(found)} agents have a" if found else "there is no live"
        raise DecisionError(f"{how_many} session {session!r:.60}")
    key, agents = found[0]
    if agent and agent not in agents:
        raise DecisionError(f"that session has no live subagent {agent!r:.60}")
    return key


def extended(state: BrokerState, fact: Extended) -> list[Effect]:
    """Let a card wait longer, as long as its hooks can.

    Raises TooLateError for a card that has ended, DecisionError where the
    card waits as long as its hook does already: the agent is there, but has a limit.
    """
    card = known_card(state, fact.number)
    if card.state is not State.WAITING:
        raise TooLateError(f"#{card.number} is already {card.state}; its time cannot be extended")
    legs = tuple(
        replace(
            leg, wait_until=max(leg.wait_until, min(leg.wait_until + fact.seconds, leg.gives_up_at))
        )
        for leg in card.requests
    )
    longer = replace(card, requests=legs)
    if longer.wait_until - card.wait_until < 1:
        raise DecisionError(
            f"#{card.number} waits for you as long as its hook does already, and no longer can be "
            "asked of it: `crabhook install --wait` sets that limit"
        )
    wakes = [state.wake(leg.wait_until, leg.id) for leg in legs]
    return [state.put(longer), *wakes]


def snoozed(state: BrokerState, fact: Snoozed) -> list[Effect]:
    """Put a card aside until a time; it goes on waiting meanwhile."""
    card = known_card(state, fact.number)
    if card.state is not State.WAITING:
        raise TooLateError(f"#{card.number} is already {card.state}; it cannot be put aside")
    return [state.put(replace(card, snoozed_until=fact.until)), state.wake(fact.until)]


LOOKED_AT = 100  # cards; each is judged anew


def rule_added(state: BrokerState, fact: RuleAdded) -> list[Effect]:
    """Tell of the rule; what else waits is judged anew by it, and told of then."""
    return [state.note(fact.now, fact.event, f"from now on: {fact.rule}")]


def reconsidered(state: BrokerState, fact: Reconsidered) -> list[Effect]:
    """Decide what the rules allow of what waits already."""
    effects: list[Effect] = []
    for card in state.cards.waiting():
        if decided := _allowed(state, card, fact.rulings):
            allow, by = decided.decision, decided.by
            effects += answered(state, Answered(card.number, allow, by, fact.now))
            line = f"{allow.verdict.done}: {wording.who(by)}"
            effects.append(state.note(fact.now, card.event, line, card.number))
    return effects


def alike(state: BrokerState, number: int) -> Sequence[Card]:
    """Return the cards that wait for a call of the same tool as this one; LOOKED_AT at most."""
    card = state.cards.card(number)
    name = card.event.tool.name if card and card.event.tool else ""
    waiting = (one for one in state.cards.waiting() if Beside.RULE in one.choices.beside)
    same = (one for one in waiting if one.event.tool and one.event.tool.name == name)
    return tuple(islice(same, LOOKED_AT))


def _allowed(state: BrokerState, card: Card, rulings: Rulings) -> Decided | None:
    """Return the rules' allow, where they allow every leg of the card."""
    if any(leg.id not in rulings for leg in card.requests):
        return None
    orders = state.orders.standing()
    if any(one.kind is OrderKind.HOLD_ALL and one.speaks_of(card.event) for one in orders):
        return None
    found = [said_by(rulings[leg.id]).decided for leg in card.requests]
    first = found[0]
    if first is None or any(
        one is None or one.decision.verdict is not Verdict.ALLOW for one in found
    ):
        return None
    return first
