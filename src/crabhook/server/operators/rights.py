"""What a command needs of who gives it, and what of the news is within a person's limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import inf
from typing import Any

from crabhook.broker.orders import about
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
from crabhook.desk.history import EntryRead, HistoryRead
from crabhook.desk.updates import Claimed, News, SessionsSeen
from crabhook.model.actor import Operator, OrderKind
from crabhook.model.card import Card, FeedEntry
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.model.order import Order, Standing
from crabhook.model.session import SessionView
from crabhook.team.membership import Facts, Seat, Verb
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
_MODES = ("default", "acceptEdits", "plan")  # in which an agent still asks for more than edits
_LETS_PASS = (OrderKind.ALLOW_ALL, OrderKind.KEEP_GOING, OrderKind.AWAY)


def verb_of(command: Command, orders: Sequence[Standing]) -> Verb:
    """Return what a command is; `orders` are those that stand."""
    match command:
        case Decide(decision=decision) if decision.verdict in _DENIALS:
            verb = Verb.DENY
        case Decide(decision=decision) if not all(map(_for_now, decision.permissions)):
            verb = Verb.REMEMBER
        case GiveOrder(order) if any(_shortens(order, one) for one in orders):
            verb = Verb.ORDER
        case GiveOrder(order) if order.kind in _HOLDS:
            verb = Verb.HOLD
        case GiveOrder(order) if order.kind is OrderKind.HALT:
            verb = Verb.STOP
        case EndOrders(ids) if all(one.kind in _LETS_PASS for one in orders if one.id in ids):
            verb = Verb.HERE
        case _:
            verb = VERBS[type(command)]
    return verb


def _for_now(update: Mapping[str, object]) -> bool:
    """Whether a permission update is no more than the mode in which a session goes on."""
    how = [update.get(key) for key in ("type", "destination")]
    return how == ["setMode", "session"] and update.get("mode") in _MODES


def _shortens(order: Order, standing: Standing) -> bool:
    """Whether an order takes the place of one that would have stood for longer."""
    if about(order) != about(standing):
        return False
    new, old = ((one.until, one.times) for one in (order, standing))
    return any(
        (inf if one is None else one) < (inf if other is None else other)
        for one, other in zip(new, old, strict=True)
    )


def about_of(
    command: Command, verb: Verb, card: Card | None, live: Callable[[], Sequence[SessionView]]
) -> Facts | None:
    """Return what a command is about; None where that is no card and no session alone.

    `card` is the one that it names, if there is one; `live` returns the sessions.  What is to
    be remembered is about more than the card, and an entry of the history about another call.
    """
    if verb is Verb.REMEMBER or getattr(command, "entry", None):
        return None
    if card is not None:
        return facts_of(card)
    if session := getattr(command, "session", ""):
        return next((facts_of(one) for one in live() if one.session == session), None)
    return None


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


def may_see(seat: Seat, about: Any) -> bool:  # noqa: ANN401 - a card, a line, a session
    """Whether something is within a person's limits."""
    facts = facts_of(about.event if isinstance(about, FeedEntry) else about)
    return seat.scope.everything or seat.scope.takes_in(facts)


def of_others(seat: Seat, claimed: Claimed) -> Claimed:
    """Return who looks at a card, without the desk that is told."""
    own = (seat.operator, seat.device_name)
    others = (b for b in claimed.by if isinstance(b, Operator) and (b.id, b.desk) != own)
    return Claimed(claimed.card, tuple(others))


def part_of(seat: Seat, news: News | None) -> News | None:
    """Return what of a piece of news a person may see; the same where that is all."""
    if isinstance(news, Claimed):
        return of_others(seat, news)
    return news if seat.scope.everything else _within(seat, news)


def _within(seat: Seat, news: News | None) -> News | None:
    """Return what of a piece of news is within a person's limits."""
    match news:
        case Card() | FeedEntry():
            return news if may_see(seat, news) else None
        case SessionsSeen(changed, ended):
            return SessionsSeen(tuple(one for one in changed if may_see(seat, one)), ended)
        case HistoryRead(entries=entries):
            return replace(news, entries=tuple(one for one in entries if may_see(seat, one.card)))
        case EntryRead(entry=entry) if entry is not None and not may_see(seat, entry.card):
            return replace(news, entry=None)
    return news


def view_tag(seat: Seat) -> bytes:
    """Return what is the same for all who see the same of the news."""
    return sha256(repr((seat.role.value, seat.scope)).encode("utf-8", "replace")).digest()[:8]
