"""What a command needs of who gives it, and what a card is about, as a person's limits ask."""

from collections.abc import Mapping, Sequence

from crabhook.desk.commands import (
    AllowWithRule,
    AskContext,
    AskEntry,
    AskHistory,
    AskObjections,
    AskOffers,
    Claim,
    Command,
    Decide,
    EndOrders,
    Extend,
    GiveOrder,
    KeepRule,
    Snooze,
    Steer,
    StopSession,
    TakeBackNote,
)
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.model.session import SessionView
from crabhook.team.membership import Facts, Verb
from crabhook.vocabulary import vocabulary

VERBS: Mapping[type[Command], Verb] = {
    Decide: Verb.ALLOW,
    AllowWithRule: Verb.REMEMBER,
    KeepRule: Verb.REMEMBER,
    GiveOrder: Verb.ORDER,
    EndOrders: Verb.ORDER,
    Claim: Verb.CLAIM,
    Extend: Verb.ADJUST,
    Snooze: Verb.ADJUST,
    Steer: Verb.NOTE,
    TakeBackNote: Verb.NOTE,
    StopSession: Verb.STOP,
    AskOffers: Verb.OFFERS,
    AskContext: Verb.READ,
    AskObjections: Verb.OFFERS,
    AskHistory: Verb.READ,
    AskEntry: Verb.READ,
}
"""What each command is, unless what it says makes it less."""

_DENIALS = (Verdict.DENY, Verdict.DECLINE, Verdict.CANCEL)
_HOLDS = (OrderKind.HOLD, OrderKind.HOLD_ALL)
_LETS_PASS = (OrderKind.ALLOW_ALL, OrderKind.KEEP_GOING, OrderKind.AWAY)


def verb_of(command: Command, orders: Sequence[Standing]) -> Verb:
    """Return what a command is; `orders` are those that stand."""
    match command:
        case Decide(decision=decision) if decision.verdict in _DENIALS:
            return Verb.DENY
        case GiveOrder(order) if order.kind in _HOLDS:
            return Verb.HOLD
        case GiveOrder(order) if order.kind is OrderKind.HALT:
            return Verb.STOP
        case EndOrders(ids) if all(one.kind in _LETS_PASS for one in orders if one.id in ids):
            return Verb.HERE
    return VERBS[type(command)]


def kind_of(card: Card) -> str:
    """Return a card's kind, as a person's limits name it."""
    words = vocabulary()
    if card.event.calls(*words.questions):
        return "question"
    if card.event.calls(*words.plans):
        return "plan"
    verdicts = card.choices.verdicts
    if Verdict.ACCEPT in verdicts:
        return "form"
    return "stop" if Verdict.KEEP_GOING in verdicts else "call"


def facts_of(about: Card | Event | SessionView) -> Facts:
    """Return what a card, a line of the feed or a session is about."""
    if isinstance(about, Card):
        return Facts(about.event.cwd, about.requests[0].origin.machine, kind_of(about))
    return Facts(about.cwd)
