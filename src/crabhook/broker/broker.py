"""The broker takes a fact, and returns the effects that the server has to carry out.

`Broker.handle(fact)` is the whole interface of the state machine; its other methods only read. The
broker handles one fact to its end before the next, so no handler sees a half-made change. The
broker calls nothing outside: what must be looked up or judged comes with the fact.

The other commands of operators are handled here too: orders, more or later time for a card, and
rules. A rule that an operator adds on a card also decides the other waiting calls that it allows.
Sessions with a standing order to hold everything are left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from crabhook.broker import arriving, balloting, ending, messages, restoring
from crabhook.broker.cards import TooLateError
from crabhook.broker.ending import answered, halt, known_card
from crabhook.broker.messages import (
    Answered,
    Commanded,
    Effect,
    OrdersEnded,
    Reconsidered,
    RuleAdded,
    Rulings,
)
from crabhook.broker.orders import ONLY_BY_A_CARD, from_ruling
from crabhook.broker.pending import LIMITS, Limits
from crabhook.broker.state import BrokerState
from crabhook.desk.commands import (
    Command,
    EndOrders,
    Extend,
    GiveOrder,
    Snooze,
    Steer,
    StopSession,
    TakeBackNote,
)
from crabhook.model import wording
from crabhook.model.actor import Actor, Ended, OrderKind
from crabhook.model.ballot import Ballot
from crabhook.model.card import Card, FeedEntry, State, TimesAsked
from crabhook.model.decision import Beside, Decided, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.order import OF_A_CALL, Order, Standing
from crabhook.model.session import KeptNote, SessionKey, SessionView
from crabhook.model.statements import is_strict
from crabhook.platforms.interface import Platform

_ABOUT_AN_EVENT = frozenset({OrderKind.HOLD, OrderKind.KEEP_GOING})
_LET_PASS = frozenset({OrderKind.ALLOW_ALL, OrderKind.KEEP_GOING})


def commanded(state: BrokerState, fact: Commanded) -> list[Effect]:
    """Carry out a command; raise DecisionError or TooLateError where it is not possible."""
    return _HOW[type(fact.command)](state, fact.command, fact.by)


def _give_order(state: BrokerState, command: GiveOrder, by: Actor) -> list[Effect]:
    """Take a standing order; an order AWAY releases all cards, since nobody will decide them."""
    order = _of_one_machine(state, command.order)
    if order.kind in OF_A_CALL:
        raise DecisionError(ONLY_BY_A_CARD)
    if order.kind in _ABOUT_AN_EVENT and order.name not in state.holdable():
        raise DecisionError(f"no event called {order.name!r:.60} can be held")
    standing = state.orders.give(order, by, state.now)
    effects: list[Effect] = [state.note(standing.event, str(standing))]
    if standing.session:
        effects.append(state.wake(standing.ends_unheard))
    if order.until is not None:
        effects.append(state.wake(order.until))
    if order.kind is OrderKind.AWAY:
        # Others than the operator who goes may have to decide: these cards wait on.
        for card in state.cards.waiting():
            if card.ballot is None and not card.went_on:
                effects += state.release(card, Ended.AWAY)
    return effects


def _of_one_machine(state: BrokerState, order: Order) -> Order:
    """Bind an order about a session to the machine that has this session now.

    Otherwise a hook of another machine that knows the id could use the order, or end it.
    """
    if not order.session or order.machine is not None:
        return order
    machines = {key[2] for key, _ in state.sessions.agents_of(order.session)}
    if len(machines) > 1 and order.kind in _LET_PASS:
        raise DecisionError(f"{len(machines)} machines have a session {order.session!r:.60}")
    return replace(order, machine=machines.pop()) if len(machines) == 1 else order


def _end_orders(state: BrokerState, command: EndOrders, _by: Actor) -> list[Effect]:
    ended = state.orders.revoke(lambda order: order.id in command.ids)
    if not ended:
        raise DecisionError("there is no such order to end")
    effects: list[Effect] = [OrdersEnded(tuple(ended))]
    for order in ended:
        effects += [state.note(order.event, f"ended: {order}"), *state.untold(order)]
    return effects


def _steer(state: BrokerState, command: Steer, by: Actor) -> list[Effect]:
    keys = _known_agents(state, command.session, command.agent)
    if len(keys) != 1:
        raise DecisionError(f"{len(keys)} agents have a session {command.session!r:.60}")
    platform = state.platforms[keys[0][0]]
    if not platform.takes_notes:
        raise DecisionError(f"{platform.title} takes no note with its calls")
    note = state.notes.add(keys[0], command.agent, command.text, by, state.now)
    return state.note_told(note, f"waits for its next call: {note.text}", by=by)


def _take_back_note(state: BrokerState, command: TakeBackNote, by: Actor) -> list[Effect]:
    return state.note_told(state.notes.take_back(command.note), "was taken back", by=by)


def _stop_session(state: BrokerState, command: StopSession, by: Actor) -> list[Effect]:
    """Stop the session; where several machines have a session of this id, stop all of them."""
    keys = _known_agents(state, command.session, command.agent)
    for key in keys:
        if not (platform := state.platforms[key[0]]).stops:
            raise DecisionError(f"{platform.title} cannot be told to stop")
    why, agent = command.why.strip() or "stopped from the desk", command.agent
    effects: list[Effect] = []
    for key in keys:
        _, session, machine = key
        order = Order(OrderKind.HALT, session=session, agent=agent, words=why, machine=machine)
        effects += halt(state, key, order, by)
    return effects


def _known_agents(state: BrokerState, session: str, agent: str) -> Sequence[SessionKey]:
    """Return the sessions of that id that have that subagent; raise DecisionError if none has."""
    sessions = list(state.sessions.agents_of(session))
    if not sessions:
        raise DecisionError(f"there is no live session {session!r:.60}")
    having = [key for key, agents in sessions if not agent or agent in agents]
    if not having:
        raise DecisionError(f"that session has no live subagent {agent!r:.60}")
    return having


def _extend(state: BrokerState, command: Extend, _by: Actor) -> list[Effect]:
    """Let a card wait longer, but no longer than its hooks can wait."""
    card = _waiting_card(state, command.card, "its time cannot be extended")
    if card.went_on:
        raise DecisionError(f"#{card.number} has no agent that waits: its time cannot be extended")
    until = [min(leg.wait_until + command.seconds, leg.gives_up_at) for leg in card.requests]
    legs = tuple(
        replace(leg, wait_until=max(leg.wait_until, end))
        for leg, end in zip(card.requests, until, strict=True)
    )
    longer = replace(card, requests=legs)
    if longer.wait_until - card.wait_until < 1:
        raise DecisionError(
            f"#{card.number} waits for you as long as its hook does already, and no longer can be "
            "asked of it: `crabhook install --wait` sets that limit"
        )
    wakes = [state.wake(leg.wait_until, leg.id) for leg in legs]
    return [state.put(longer), *wakes]


def _snooze(state: BrokerState, command: Snooze, _by: Actor) -> list[Effect]:
    card = _waiting_card(state, command.card, "it cannot be put aside")
    until = state.now + command.seconds
    return [state.put(replace(card, snoozed_until=until)), state.wake(until)]


def _waiting_card(state: BrokerState, number: int, otherwise: str) -> Card:
    """Return a card that waits; raise TooLateError, with `otherwise`, for a card that has ended."""
    card = known_card(state, number)
    if card.state is not State.WAITING:
        raise TooLateError(f"#{card.number} is already {card.state}: {otherwise}")
    return card


_HOW: Mapping[type[Command], Callable[[BrokerState, Any, Actor], list[Effect]]] = {
    GiveOrder: _give_order,
    EndOrders: _end_orders,
    Steer: _steer,
    TakeBackNote: _take_back_note,
    StopSession: _stop_session,
    Extend: _extend,
    Snooze: _snooze,
}


LOOKED_AT = 100  # cards; the rules judge each of them again


def rule_added(state: BrokerState, fact: RuleAdded) -> list[Effect]:
    """Write the new rule into the feed; `Reconsidered` follows for the cards that wait."""
    return [state.note(fact.event, f"from now on: {fact.rule}")]


def reconsidered(state: BrokerState, fact: Reconsidered) -> list[Effect]:
    """Decide the waiting cards that the changed rules allow, or that a new rule denies."""
    effects: list[Effect] = []
    for card in state.cards.waiting():
        ruled = _denied if fact.denies else _allowed
        if decided := ruled(state, card, fact.rulings):
            decision, by = decided.decision, decided.by
            effects += answered(state, Answered(card.number, decision, by, fact.now))
            line = f"{decision.verdict.done}: {wording.who(by)}"
            effects.append(state.note(card.event, line, card.number))
    return effects


def alike(state: BrokerState, number: int) -> Sequence[Card]:
    """Return the cards that wait for a call of the same tool as this card; LOOKED_AT at most."""
    card = state.cards.card(number)
    name = card.event.tool.name if card and card.event.tool else ""
    waiting = (other for other in state.cards.waiting() if Beside.RULE in other.choices.beside)
    same = (other for other in waiting if other.event.tool and other.event.tool.name == name)
    return tuple(islice(same, LOOKED_AT))


def _allowed(state: BrokerState, card: Card, rulings: Rulings) -> Decided | None:
    """Return the rules' allow, where they allow every leg of the card.

    A card that needs certain people goes on needing them, and a strict hook a signature.
    """
    signs = card.ballot is not None or is_strict(card)
    if signs or any(leg.id not in rulings for leg in card.requests):
        return None
    orders = state.orders.standing()
    if any(order.kind is OrderKind.HOLD_ALL and order.speaks_of(card.event) for order in orders):
        return None
    decisions = [from_ruling(rulings[leg.id]).decided for leg in card.requests]
    first = decisions[0]
    if first is None or any(
        decided is None or decided.decision.verdict is not Verdict.ALLOW for decided in decisions
    ):
        return None
    return first


def _denied(_: BrokerState, card: Card, rulings: Rulings) -> Decided | None:
    """Return the rules' denial of any leg of the card; no order of a session holds that back."""
    if Verdict.DENY not in card.choices.verdicts:
        return None
    decisions = [from_ruling(rulings.get(leg.id)).decided for leg in card.requests]
    denials = (decided for decided in decisions if decided is not None)
    return next((decided for decided in denials if decided.decision.verdict is Verdict.DENY), None)


def _noted(state: BrokerState, fact: messages.Noted) -> list[Effect]:
    return [state.note(fact.event, fact.text, alarm=fact.alarm)]


_HANDLERS: Mapping[type, Callable[[BrokerState, Any], list[Effect]]] = {
    messages.Arrived: arriving.arrived,
    messages.Answered: ending.answered,
    messages.LookedAt: balloting.looked_at,
    messages.ElectoratesChanged: balloting.electorates_changed,
    messages.Left: ending.left,
    messages.TimePassed: ending.time_passed,
    messages.Closing: ending.closing,
    messages.Delivered: ending.delivered,
    messages.Commanded: commanded,
    messages.RuleAdded: rule_added,
    messages.Reconsidered: reconsidered,
    messages.Noted: _noted,
    messages.Restored: restoring.restored,
    messages.Mirrored: restoring.mirrored,
}


class Broker:
    """Pairs requests with decisions, each exactly once."""

    def __init__(self, platforms: Mapping[str, Platform], bounds: Limits = LIMITS) -> None:
        self._state = BrokerState(dict(platforms), bounds)  # asked eight times a decision

    def __repr__(self) -> str:
        return f"<Broker {self._state!r}>"

    def handle(self, fact: messages.Fact) -> list[Effect]:
        """Handle one fact; return its effects, in order.

        Raises TooLateError, StaleError or DecisionError for what cannot be done; then nothing has
        changed.
        """
        self._state.now = fact.now
        return _HANDLERS[type(fact)](self._state, fact)

    def with_agent(self, event: Event) -> Event:
        """Return a proxy's event as one of the subagent that makes its call, if a hook named it."""
        if event.agent_id:
            return event
        return replace(event, agent_id=self._state.followed.agent_of(event))

    def unspent(self, fact: messages.Arrived, effects: Sequence[Effect]) -> list[Effect]:
        """Take back the use of an order that counts once, since it could not be recorded.

        `effects` are those of the event that used it, of which nothing was done yet. Returns those
        to carry out instead: the order stands, and the event's hook is turned away.
        """
        return arriving.unspent(self._state, fact, effects)

    def comes_to_a_card(self, fact: messages.Arrived) -> bool:
        """Whether an event would wait on a card if it arrived now; a no is exact."""
        return arriving.comes_to_a_card(self._state, fact)

    def check_with_rule(self, number: int, decision: Decision, seen: int | None = None) -> None:
        """Raise what `Answered` would raise, or that no rule may go with this answer.

        The operator did not change the call. Where certain people must allow it, one person's rule
        would stand though the others never agree.
        """
        ending.check(self._state, number, decision, {}, seen)
        card = ending.known_card(self._state, number)
        allows = decision.verdict is Verdict.ALLOW
        if allows and Beside.RULE not in card.choices.beside:
            raise DecisionError(
                f"#{number} cannot be allowed with a rule: allow it without. Nothing was sent"
            )

    def meant(self, number: int, decision: Decision) -> Decision:
        """Return what a decision means: a plain allow agrees with what others voted for."""
        card = self._state.cards.card(number)
        return decision if card is None else balloting.meant(card, decision)

    def changed(self, number: int, decision: Decision) -> Mapping[str, Event]:
        """Return a card's calls as a decision changes them, by request id, for the rules to judge.

        Answers to questions and changed plans run nothing. Raises TooLateError.
        """
        return ending.changed_calls(self._state, ending.known_card(self._state, number), decision)

    def alike(self, number: int) -> Sequence[Card]:
        """Return the cards that a rule added on this card may decide, if the rules agree."""
        return alike(self._state, number)

    def waiting(self) -> tuple[Card, ...]:
        """Return the cards that wait, the oldest first."""
        return self._state.cards.waiting()

    def secret_of(self, request_id: str) -> str:
        """Return the secret of a request that waits: no card contains it."""
        return self._state.pending.secret(request_id)

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self._state.cards.card(number)

    def ballots(self) -> Mapping[int, Ballot]:
        """Return the ballots of waiting cards, by the cards' numbers."""
        return self._state.ballots

    def asked(self) -> Mapping[int, TimesAsked]:
        """Return how often the waiting cards that stayed open were asked, by their numbers."""
        return self._state.asked

    def ended(self) -> tuple[Card, ...]:
        """Return the cards that ended not long ago, the newest last."""
        return self._state.cards.ended()

    def feed(self) -> tuple[FeedEntry, ...]:
        """Return the lines of the feed, the newest last."""
        return tuple(self._state.feed)

    def sessions(self) -> int:
        """Return the number of live sessions."""
        return len(self._state.sessions)

    @property
    def sessions_changed(self) -> bool:
        """Whether a session has changed since `session_changes` was called last."""
        return self._state.sessions.changed

    def session_changes(self, now: float) -> tuple[tuple[SessionView, ...], tuple[SessionKey, ...]]:
        """Return the sessions that have changed since the last call, and those that ended."""
        return self._state.sessions.take_changes(now)

    def live(self, now: float) -> tuple[SessionView, ...]:
        """Return the live sessions; the session with the latest event is the last."""
        return self._state.sessions.views(now)

    def holdable(self) -> tuple[str, ...]:
        """Return the names of the events an operator may ask to hold."""
        return self._state.holdable()

    def lasting(self) -> tuple[Standing, ...]:
        """Return the orders that outlive every server, for its record."""
        return self._state.orders.lasting()

    def notes(self) -> tuple[KeptNote, ...]:
        """Return the notes without a receipt yet."""
        return self._state.notes.kept()

    def orders(self) -> tuple[Standing, ...]:
        """Return the orders that stand, the oldest first."""
        return self._state.orders.standing()
