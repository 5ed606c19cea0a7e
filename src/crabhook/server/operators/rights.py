"""The rights that a command needs, and the news within a person's limits."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from math import inf
from typing import Any, TypeVar

from crabhook.desk import commands, updates
from crabhook.model.actor import Operator, OrderKind, Role
from crabhook.model.card import Card, FeedEntry
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.order import LETS_PASS, Order, Standing
from crabhook.model.session import SessionView
from crabhook.server.operators.update_log import UpdateLog
from crabhook.team.membership import Permission, Principal, Target
from crabhook.vocabulary import vocabulary

PERMISSIONS: Mapping[type[commands.Command], Permission] = {
    commands.Decide: Permission.ALLOW,
    commands.DecideWithRule: Permission.REMEMBER,
    commands.KeepRule: Permission.REMEMBER,
    commands.GiveOrder: Permission.ORDER,
    commands.EndOrders: Permission.ORDER,
    commands.Claim: Permission.CLAIM,
    commands.Extend: Permission.ADJUST,
    commands.Snooze: Permission.ADJUST,
    commands.Steer: Permission.NOTE,
    commands.TakeBackNote: Permission.NOTE,
    commands.StopSession: Permission.STOP,
    commands.AskOffers: Permission.OFFERS,
    commands.AskContext: Permission.READ,
    commands.AskObjections: Permission.OFFERS,
    commands.AskHistory: Permission.READ,
    commands.AskEntry: Permission.READ,
    commands.AskDesks: Permission.READ,
}
"""The permission that each command needs, unless its content makes it a lesser command."""

_DENIALS = (Verdict.DENY, Verdict.DECLINE, Verdict.CANCEL)
_HOLDS = (OrderKind.HOLD, OrderKind.HOLD_ALL)
_MODES = ("default", "acceptEdits", "plan")  # an agent in them still asks for other calls


def permission_of(command: commands.Command, orders: Sequence[Standing]) -> Permission:
    """Return the permission that a command needs; `orders` are the standing orders."""
    match command:
        case commands.Decide(decision=decision) if decision.verdict in _DENIALS:
            permission = Permission.DENY if _is_bare(decision) else Permission.NOTE
        case commands.Decide(decision=decision) if not all(map(_for_now, decision.permissions)):
            permission = Permission.REMEMBER
        case commands.GiveOrder(order) if any(_shortens(order, standing) for standing in orders):
            permission = Permission.ORDER
        case commands.GiveOrder(order) if order.kind in _HOLDS and not order.words:
            permission = Permission.HOLD
        case commands.GiveOrder(order) if order.kind is OrderKind.HALT:
            permission = Permission.NOTE if order.words else Permission.STOP
        case commands.StopSession(why=why) if why.strip():
            permission = Permission.NOTE
        case commands.EndOrders(ids) if all(
            order.kind in LETS_PASS for order in orders if order.id in ids
        ):
            permission = Permission.HERE
        case _:
            permission = PERMISSIONS[type(command)]
    return permission


def _is_bare(decision: Decision) -> bool:
    """Whether a denial has no words for the model, the agent or its user.

    Any program of the owner's can use a closing key, and so can an agent: its words would be
    an instruction to another agent.
    """
    reason = commands.BARE_DENIAL if decision.reason == commands.BARE_DENIAL else ""
    bare = Decision(decision.verdict, reason, interrupt=decision.interrupt)
    return all(
        getattr(decision, field.name) == getattr(bare, field.name) for field in fields(Decision)
    )


def _for_now(update: Mapping[str, object]) -> bool:
    """Whether a permission update only sets the mode of the session."""
    how = [update.get(key) for key in ("type", "destination")]
    return how == ["setMode", "session"] and update.get("mode") in _MODES


def _shortens(order: Order, standing: Standing) -> bool:
    """Whether an order replaces a longer standing order."""
    if order.about != standing.about:
        return False
    new, old = ((each.until, each.times) for each in (order, standing))
    return any(
        (inf if new_limit is None else new_limit) < (inf if old_limit is None else old_limit)
        for new_limit, old_limit in zip(new, old, strict=True)
    )


def target_of_command(
    command: commands.Command,
    permission: Permission,
    card: Card | None,
    live: Callable[[], Sequence[SessionView]],
) -> Target | None:
    """Return a command's target; None for more than a single card or session.

    `card` is the card that it names, if there is one; `live` returns the sessions. A rule is about
    more than the card, and an entry of the history about another call.
    """
    if permission is Permission.REMEMBER or getattr(command, "entry", None):
        return None
    if card is not None:
        return target_of(card)
    if session := getattr(command, "session", ""):
        targets = {target_of(view) for view in live() if view.session == session}
        return targets.pop() if len(targets) == 1 else Target() if targets else None
    return None


def kind_of(card: Card) -> str:
    """Return a card's kind, in the words of a person's limits."""
    words = vocabulary()
    if card.event.calls(*words.questions):
        return "question"
    if card.event.calls(*words.plans):
        return "plan"
    verdicts = card.choices.verdicts
    if Verdict.ACCEPT in verdicts:
        return "form"
    return "stop" if Verdict.KEEP_GOING in verdicts else "call"


def target_of(about: Card | Event | SessionView) -> Target:
    """Return the target of a card, a feed line or a session."""
    if isinstance(about, Card):
        return Target(about.event.cwd, about.event.machine, kind_of(about))
    return Target(about.cwd, about.machine)


WRONG = "something is wrong with the server, which its admins are told of"
"""A person with limits reads this for troubles, whose words name other people's projects."""

T = TypeVar("T")


class Visibility:
    """What a person may see of the news in a log."""

    def __init__(self, principal: Principal, log: UpdateLog) -> None:
        self._principal, self._log = principal, log
        self._all = principal.scope.everything

    def of(self, news: updates.News | None) -> updates.News | None:
        """Return the part of news that a person may see; the same object where that is all."""
        if isinstance(news, updates.Claimed):
            return self._claimed(news)
        if isinstance(news, updates.DesksRead) and not self._principal.role.includes(Role.ADMIN):
            return updates.DesksRead(tuple(map(_name_alone, news.desks)))
        return news if self._all else self._within(news)

    def snapshot(self, all_of_it: updates.Snapshot) -> updates.Snapshot:
        """Return the part of a snapshot that a person may see."""
        claims = tuple(filter(None, map(self._claimed, all_of_it.claims)))
        if self._all:
            return replace(all_of_it, claims=claims)
        live = self._those(all_of_it.live)
        return replace(
            all_of_it,
            waiting=self._those(all_of_it.waiting),
            ended=self._those(all_of_it.ended),
            feed=self._those(all_of_it.feed),
            orders=self._orders(all_of_it.orders),
            troubles=_in_short(all_of_it.troubles),
            claims=claims,
            live=live,
            sessions=len(live),
            house=_uncounted(all_of_it.house),
        )

    def _within(self, news: updates.News | None) -> updates.News | None:
        seen: updates.News | None = _uncounted(news)
        match news:
            case Card() | FeedEntry():
                seen = news if self.sees(news) else None
            case updates.OrdersChanged(orders):
                seen = updates.OrdersChanged(self._orders(orders))
            case updates.SessionsChanged():
                seen = updates.SessionsChanged(len(self._those(self._log.live())))
            case updates.SessionsSeen(changed, ended):
                over = ((key, self._log.ended(key)) for key in ended)
                gone = tuple(key for key, view in over if view is not None and self.sees(view))
                seen = updates.SessionsSeen(self._those(changed), gone)
            case updates.TroublesChanged(troubles):
                seen = updates.TroublesChanged(_in_short(troubles))
            case updates.HistoryRead(entries=entries):
                seen = replace(
                    news, entries=tuple(entry for entry in entries if self.sees(entry.card))
                )
            case updates.EntryRead(entry=entry) if entry is not None and not self.sees(entry.card):
                seen = replace(news, entry=None)
        return seen

    def sees(self, about: Any) -> bool:  # noqa: ANN401 - a card, a line, a session
        """Whether something is within a person's limits."""
        if isinstance(about, FeedEntry):
            card = self._log.card(about.number) if about.number else None
            about = card or about.event
        return self._all or self._principal.scope.takes_in(target_of(about))

    def _those(self, about: Iterable[T]) -> tuple[T, ...]:
        return tuple(filter(self.sees, about))

    def _orders(self, orders: Iterable[Standing]) -> tuple[Standing, ...]:
        """Return the orders about everything, or about sessions that this person may see."""
        return tuple(filter(self._concerns, orders))

    def _concerns(self, order: Standing) -> bool:
        if order.session:
            live = (view for view in self._log.live() if view.session == order.session)
            views = (view for view in live if order.machine in (None, view.machine))
            return any(map(self.sees, views))
        return not order.project or self._principal.scope.takes_in(Target(order.project))

    def _claimed(self, claimed: updates.Claimed) -> updates.Claimed | None:
        """Return the operators that look at a card, without this desk."""
        card = self._log.card(claimed.card)
        if not self._all and (card is None or not self.sees(card)):
            return None
        own = (self._principal.operator, self._principal.device_name)
        return claimed.of(
            lambda operator: isinstance(operator, Operator) and (operator.id, operator.desk) != own
        )


def _in_short(troubles: tuple[str, ...]) -> tuple[str, ...]:
    return (WRONG,) if troubles else ()


def _uncounted(news: T) -> T:
    """Return news without counts of others' decisions."""
    match news:
        case updates.HouseChanged():
            return replace(news, today="")
        case updates.ContextReady():
            return replace(news, allowed=0, denied=0, counted="")
    return news


def _name_alone(desk: updates.AttachedDesk) -> updates.AttachedDesk:
    return updates.AttachedDesk(Operator("", desk.by.name, ""))


def view_tag(principal: Principal, run: bytes) -> bytes:
    """Return a value that is the same for all people with the same view of a server's run."""
    view = repr((principal.role.value, principal.scope)).encode("utf-8", "replace")
    return sha256(run + view).digest()[:8]
