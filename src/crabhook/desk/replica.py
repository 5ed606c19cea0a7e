"""A screen's own copy of what its desk has told: screens read it, and submit commands by it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from crabhook.datatypes import Bounded
from crabhook.desk import updates
from crabhook.desk.commands import Ask, Command, Outcome
from crabhook.model.actor import Actor, Operator, Role
from crabhook.model.card import Card, FeedEntry, Risk, State
from crabhook.model.decision import Decision
from crabhook.model.event import Event
from crabhook.model.order import LETS_PASS, Standing
from crabhook.model.session import SessionKey, SessionView

Then: TypeAlias = Callable[[Outcome], object]
"""What a screen does once it hears of an outcome."""

ENDED_KEPT = 200  # cards
FEED_KEPT = 500  # lines
LIVE_KEPT = 200  # sessions
READ_KEPT = 256  # cards of which offers, last words and objections are kept
PAGES_KEPT = 4  # pages, and whole entries, of the history that were read last
AWAITED = 1024  # commands whose outcome is awaited
_NO_DENIALS = updates.Offering(why="this desk's server offers no rule that denies")  # an older one


class Replica:
    """Applies updates in order, and asks for a snapshot if one is missing.

    `clock` is the screen's own, monotonic seconds; a snapshot gives its distance to the desk's.
    """

    def __init__(self, desk: updates.Desk, clock: Callable[[], float]) -> None:
        self._desk, self._clock = desk, clock
        self._ahead = 0.0  # how far the desk's clock is ahead of ours
        self._number: int | None = None  # of the last update, None before the first snapshot
        self._waiting: dict[int, Card] = {}
        self._queue: tuple[Card, ...] | None = ()  # the same in a row, once somebody asked
        self._ended: dict[int, Card] = {}
        self._feed: deque[FeedEntry] = deque(maxlen=FEED_KEPT)
        self._plain = updates.Snapshot(0.0)  # without cards, lines and sessions: these are below
        self._attached: tuple[updates.AttachedDesk, ...] = ()
        self._live: Bounded[SessionKey, SessionView] = Bounded(LIVE_KEPT)
        self._lost, self._refused = "", False
        self._claims: Bounded[int, updates.Claimed] = Bounded(READ_KEPT)
        self._offers: Bounded[tuple[int, int, bool], updates.Offering] = Bounded(READ_KEPT)
        self._around: Bounded[int, updates.ContextReady] = Bounded(READ_KEPT)
        self._objections: Bounded[int, updates.ObjectionsReady] = Bounded(READ_KEPT)
        self._pages: Bounded[int, updates.HistoryRead] = Bounded(PAGES_KEPT)
        self._entries: Bounded[int, updates.Past | None] = Bounded(PAGES_KEPT)
        self._awaited: Bounded[str, Then] = Bounded(AWAITED)
        self._doing: Bounded[str, None] = Bounded(AWAITED)  # commands without an outcome yet
        self._listener: Callable[[updates.News], None] = lambda _: None
        self._stop: Callable[[], None] = lambda: None

    # Listening.

    def follow(
        self, listener: Callable[[updates.News], None] = lambda _: None
    ) -> Callable[[], None]:
        """Begin to hear from the desk, tell `listener` of all that is applied, return `leave`."""
        self._listener = listener
        self._subscribe()
        return self.leave

    def leave(self) -> None:
        """Hear no more."""
        self._stop()

    def _subscribe(self) -> None:
        self._stop()
        self._number = None
        self._stop = self._desk.subscribe(self._on_update)

    def _on_update(self, update: updates.Update) -> None:
        (number, news), before = update, self._number
        if isinstance(news, updates.Settled):
            self._doing.pop(news.command, None)
        if isinstance(news, updates.Snapshot) or (before is not None and number == before + 1):
            self._number, waited = number, self._waiting  # which a snapshot replaces
            self._apply(news)
            was = () if waited is self._waiting else waited.values()
            gone = [self._gone(card) for card in was if card.number not in self._waiting]
            for each in (news, *gone):
                self._listener(each)
        elif before is not None and number > before + 1:
            self._subscribe()
        if isinstance(news, updates.Settled) and (then := self._awaited.pop(news.command, None)):
            then(news.outcome)

    def _apply(self, news: updates.News) -> None:
        match news:
            case Card():
                self._put(news)
            case FeedEntry():
                self._add(news)
            case updates.Snapshot():
                self._begin(news)
            case updates.SessionsSeen(changed, ended):
                self._see(changed, ended)
            case updates.Claimed():
                self._claim(news)
            case updates.LinkChanged(lost, now, changed, refused):
                self._ahead = self._ahead if lost else now - self._clock()
                self._lost, self._refused = lost, refused
                if changed:
                    self._add(FeedEntry(now, Event("", "Server"), changed))
            case _:
                self._keep(news)
                self._change(news)

    def _change(self, news: updates.News) -> None:
        match news:
            case updates.OrdersChanged(orders):
                self._plain = replace(self._plain, orders=orders)
            case updates.SessionsChanged(count):
                self._plain = replace(self._plain, sessions=count)
            case updates.TroublesChanged(troubles):
                self._plain = replace(self._plain, troubles=troubles)
            case updates.DesksChanged(count):
                self._plain = replace(self._plain, desks=count)
            case updates.HouseChanged():
                self._plain = replace(self._plain, house=news)

    def _keep(self, news: updates.News) -> None:
        """Keep what was read."""
        match news:
            case updates.OffersReady(card, offering, entry, denies):
                self._offers[card, entry, denies] = offering
            case updates.ContextReady(card):
                self._around[card] = news
            case updates.ObjectionsReady(card):
                self._objections[card] = news
            case updates.HistoryRead(before):
                self._pages[before] = news
            case updates.EntryRead(number, entry):
                self._entries[number] = entry
            case updates.DesksRead(desks):
                self._attached = desks

    def _begin(self, all_of_it: updates.Snapshot) -> None:
        self._ahead, self._lost = all_of_it.now - self._clock(), ""
        self._refused = False
        self._waiting = {card.number: card for card in all_of_it.waiting}
        self._queue = None  # not what came: a hostile server may tell one number twice
        self._ended = {card.number: card for card in all_of_it.ended[-ENDED_KEPT:]}
        self._feed = deque(all_of_it.feed, FEED_KEPT)
        self._plain = replace(all_of_it, waiting=(), ended=(), feed=(), live=(), claims=())
        self._live.clear()
        self._claims.clear()
        for claimed in all_of_it.claims:
            self._claim(claimed)
        self._see(all_of_it.live, ())

    def _gone(self, card: Card) -> Card:
        """Return a card that waited before a snapshot as it ended; the snapshot may not know it."""
        if (ended := self._ended.get(card.number)) is None:
            ended = replace(card, state=State.WITHDRAWN, ended_at=self.now())
            self._put(ended)
        return ended

    def _claim(self, claimed: updates.Claimed) -> None:
        self._claims.pop(claimed.card, None)
        if claimed.by or claimed.holding:
            self._claims[claimed.card] = claimed

    def _see(self, changed: Sequence[SessionView], ended: Sequence[SessionKey]) -> None:
        for key in ended:
            self._live.pop(key, None)
        for view in changed:
            self._live[view.key] = view

    def _put(self, card: Card) -> None:
        self._queue = None
        if card.state is State.WAITING:
            self._waiting[card.number] = card
            return
        self._waiting.pop(card.number, None)
        self._ended[card.number] = card
        if len(self._ended) > ENDED_KEPT:
            del self._ended[next(iter(self._ended))]

    def _add(self, entry: FeedEntry) -> None:
        """Add a line; it replaces an earlier line about the same."""
        if entry.about:
            earlier = (
                earlier_entry
                for earlier_entry in reversed(self._feed)
                if earlier_entry.about == entry.about
            )
            if (before := next(earlier, None)) is not None:
                self._feed.remove(before)
        self._feed.append(entry)

    # Doing something.

    def submit(self, command: Command, then: Then | None = None) -> None:
        """Submit a command to the desk; `then` gets the outcome, at once or later."""
        if then is not None:
            self._awaited[command.id] = then
        if not isinstance(command, Ask):
            self._doing[command.id] = None
        self._desk.submit(command)

    # Reading it.

    def waits(self) -> int:
        """How many cards wait."""
        return len(self._waiting)

    def snapshot(self) -> updates.Snapshot:
        """Return all that is known, for a new screen."""
        return replace(
            self._plain,
            now=self.now(),
            waiting=tuple(self.waiting()),
            ended=tuple(self.ended()),
            feed=tuple(self.feed()),
            live=tuple(self.live()),
            claims=tuple(self._claims.values()),
        )

    def now(self) -> float:
        """Return the time on the desk's clock, seconds."""
        return self._clock() + self._ahead

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first."""
        if self._queue is None:
            self._queue = tuple(self._waiting.values())
        return self._queue

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self._waiting.get(number) or self._ended.get(number)

    def ended(self) -> Sequence[Card]:
        """Return the cards that ended not long ago, the newest last."""
        return tuple(self._ended.values())

    def feed(self) -> Sequence[FeedEntry]:
        """Return what went by, the newest last."""
        return tuple(self._feed)

    def orders(self) -> Sequence[Standing]:
        """Return the standing orders, the oldest first."""
        return self._plain.orders

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""
        return self._plain.sessions

    def desks(self) -> int:
        """Return how many desks have a person who may decide."""
        return self._plain.desks

    def attached(self) -> Sequence[updates.AttachedDesk]:
        """Return the desks that are attached, the first to come first, after `AskDesks`."""
        return self._attached

    def live(self) -> Sequence[SessionView]:
        """Return the sessions in the order in which they were heard of."""
        return sorted(self._live.values(), key=lambda view: view.since)

    def troubles(self) -> Sequence[str]:
        """Return what is wrong now with the rules, the record or the socket."""
        return self._plain.troubles

    def house(self) -> updates.HouseChanged:
        """Return the state of the rules and the record, and today's counts."""
        return self._plain.house or updates.HouseChanged()

    def looking(self, number: int) -> tuple[Actor, ...]:
        """Return who looks at a card at other desks."""
        claimed = self._claims.get(number)
        return claimed.by if claimed else ()

    def holding(self, number: int) -> tuple[updates.Holding, ...]:
        """Return the answers to a card that other desks hold now; they may be taken back."""
        claimed, now = self._claims.get(number), self.now()
        held = claimed.holding if claimed else ()
        return tuple(answer for answer in held if answer.due > now)

    def doing(self) -> bool:
        """Return whether anything that was submitted to be done has no outcome yet."""
        return bool(self._doing)

    def is_live(self, order: Standing) -> bool:
        """Return whether an order's session, if it is about one, was heard of and has not ended."""
        return not order.session or any(
            view.session == order.session and order.machine in (None, view.machine)
            for view in self._live.values()
        )

    def role(self) -> str:
        """Return the role of who sits here; it is empty at the server's own terminal."""
        me = self._plain.me
        return me.role if isinstance(me, Operator) else ""

    def may_hold(self) -> bool:
        """Return whether who sits here may give an order that only holds calls, or end one."""
        return self.role() in ("", Role.DECIDER, Role.ADMIN)

    def may_order(self) -> bool:
        """Return whether who sits here may give and end every order, as an admin may."""
        return self.role() in ("", Role.ADMIN)

    def may_end(self, order: Standing) -> bool:
        """Return whether who sits here may end an order: a decider ends what lets calls pass."""
        return self.may_hold() if order.kind in LETS_PASS else self.may_order()

    def lost(self) -> str:
        """Return why the desk's server is not heard at the moment; empty while it is."""
        return self._lost

    def refused(self) -> bool:
        """Return whether the desk's server is there, and takes this desk no more."""
        return self._refused

    def holdable(self) -> Sequence[str]:
        """Return the names of the events that can be held on request."""
        return self._plain.holdable

    def offers(self, number: int, entry: int = 0, *, denies: bool = False) -> updates.Offering:
        """Return the rules that were offered for a card, or an entry, after `AskOffers`."""
        none = _NO_DENIALS if denies else updates.Offering(why="nothing was asked")
        return self._offers.get((number, entry, denies), none)

    def page(self, before: int) -> updates.HistoryRead:
        """Return the page of what ended before an entry, after `AskHistory`."""
        return self._pages.get(before, updates.HistoryRead(before, why="nothing was asked"))

    def entry(self, number: int) -> updates.Past | None:
        """Return an entry of the history, after `AskEntry`; None if it is no longer kept."""
        return self._entries.get(number)

    def around(self, number: int) -> updates.ContextReady | None:
        """Return a card's context; None before `AskContext` was answered."""
        return self._around.get(number)

    def decided_by_another(self, card: Card) -> Operator | None:
        """Return who decided a card, where that was an operator at another desk than this."""
        by, me = card.decided.by if card.decided else None, self._plain.me
        if not isinstance(by, Operator) or me is None:
            return None
        mine = isinstance(me, Operator) and (by.id, by.desk) == (me.id, me.desk)
        return None if mine else by

    def is_needed(self, card: Card) -> bool:
        """Return whether a yes of who sits here would count for a card."""
        me = self._plain.me
        return card.ballot is None or (isinstance(me, Operator) and card.needs(me.id))

    def objections(self, number: int, decision: Decision) -> tuple[str, ...] | None:
        """Return the rules' objections to a decision; None before `AskObjections` was answered."""
        ready = self._of_change(number, decision)
        return None if ready is None else ready.objections

    def changed_risk(self, number: int, decision: Decision) -> Risk | None:
        """Return what a card's call may do as a decision changes it; known as `objections` are."""
        ready = self._of_change(number, decision)
        return None if ready is None else ready.risk

    def _of_change(self, number: int, decision: Decision) -> updates.ObjectionsReady | None:
        ready = self._objections.get(number)
        same = ready is not None and ready.decision.updated_input == decision.updated_input
        return ready if same else None
