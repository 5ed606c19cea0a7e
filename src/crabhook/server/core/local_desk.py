"""The desk of a screen in the server's own process; all that is done at it is done by one actor."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from crabhook.broker.messages import Answered, Extended, Ordered, Revoked, RuleAdded, Snoozed
from crabhook.broker.orders import against
from crabhook.desk.interface import News
from crabhook.model.actor import Actor
from crabhook.model.card import Card, FeedEntry
from crabhook.model.decision import Decision
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.model.order import Order, Standing
from crabhook.policy.propose import Offering, TakenOffer, in_words
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.ruling import Ruling
from crabhook.server.core.runner import Runner

_LOG = logging.getLogger(__name__)
_NO_RULES = "no rules are kept here"
_NOT_ASKED = Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")

CHANGES_KEPT = 64  # of cards, each as it was last to be changed
ASKED_AGAIN = 3  # times at most, where the rules change while they are asked


@dataclass(slots=True)
class _Change:
    """What a card's calls are to become, and what the rules say of that; None while they are asked.

    `changed` are the calls by request id; `editions`: which rules were in force when asked.
    """

    updated_input: Mapping[str, Value] | None
    changed: Mapping[str, Event]
    editions: Hashable = None
    rulings: Mapping[str, Ruling | None] | None = None
    asking: "asyncio.Future[None] | None" = None


class LocalDesk:
    """A `desk.interface.Desk` on a runner.  `by` is who sits at it."""

    def __init__(self, runner: Runner, by: Actor) -> None:
        self._runner, self._by = runner, by
        self._judged: OrderedDict[int, _Change] = OrderedDict()
        self._broker = runner.broker

    def __repr__(self) -> str:
        return f"<LocalDesk of {self._by} on {self._runner!r}>"

    def now(self) -> float:
        """Return the broker's clock, seconds."""
        return self._runner.now()

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first."""
        return self._broker.waiting()

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self._broker.card(number)

    def ended(self) -> Sequence[Card]:
        """Return the cards that ended not long ago, the newest last."""
        return self._broker.ended()

    def last_words(self, number: int) -> str | None:
        """Return what the card's agent last said; None while its transcript is being read."""
        card = self._broker.card(number)
        return "" if card is None else self._runner.words.of(card)

    def troubles(self) -> Sequence[str]:
        """Return what is wrong for as long as it is: with the rules, or the record."""
        return [said for fault in self._runner.faults if (said := fault())]

    def feed(self) -> Sequence[FeedEntry]:
        """Return what went by, the newest last."""
        return self._broker.feed()

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""
        return self._broker.sessions()

    def answer(self, number: int, decision: Decision, seen: int | None = None) -> Card:
        """Decide a card; see `Desk.answer`."""
        rulings, now = self._rulings(number, decision), self.now()
        self._runner.handle(Answered(number, decision, self._by, now, rulings=rulings, seen=seen))
        return self._known(number)

    def _rulings(self, number: int, decision: Decision) -> Mapping[str, Ruling | None]:
        """Return what the rules said of a change, none where they were not asked of it.

        Raises DecisionError where they have changed since: what they say now was shown to nobody.
        """
        change = self._judged.get(number)
        if change is None or change.updated_input != decision.updated_input or not change.rulings:
            return {}
        if change.editions != self._editions(change.changed):
            raise DecisionError(
                f"the rules may have changed since #{number} was edited: edit it again to see what "
                "they say now; nothing was sent"
            )
        return change.rulings

    def _editions(self, changed: Mapping[str, Event]) -> Hashable:
        return tuple(self._runner.edition(event) for event in changed.values())

    def objections(self, number: int, decision: Decision) -> Sequence[str] | None:
        """Return what the rules say against a call as a decision changes it; None while asked."""
        changed, updated = self._broker.changed(number, decision), decision.updated_input
        if not changed:
            return ()
        change = self._judged.get(number)
        if change is None or not self._is_of(change, updated, changed):
            change = self._judged[number] = _Change(updated, changed)
            change.asking = asyncio.ensure_future(self._judge(change))
            if len(self._judged) > CHANGES_KEPT:
                self._judged.popitem(last=False)
        return None if change.rulings is None else against(change.rulings.values())

    def _is_of(
        self, change: _Change, updated: Mapping[str, Value] | None, changed: Mapping[str, Event]
    ) -> bool:
        """Whether it is this change, and was judged by the rules in force, or is being judged."""
        if change.updated_input != updated or change.changed.keys() != changed.keys():
            return False
        return change.rulings is None or change.editions == self._editions(changed)

    async def _judge(self, change: _Change) -> None:
        """Ask the rules in a thread: hooks do not wait while a long input is judged.

        Where judging first reads a later edition of them, they are asked again.
        """
        judge, changed = self._runner.judge, change.changed
        rulings: Mapping[str, Ruling | None] = {}
        for _ in range(ASKED_AGAIN):
            change.editions = self._editions(changed)
            try:
                rulings = {leg: await judge(one, long=True) for leg, one in changed.items()}
            except Exception:  # noqa: BLE001 - else an operator would wait for their word for ever
                _LOG.exception("the rules could not be asked about a change")
                rulings = dict.fromkeys(changed, _NOT_ASKED)
            if change.editions == self._editions(changed):
                break
        change.rulings = rulings

    def offers(self, number: int) -> Offering | None:
        """Return the rules a card could be allowed by from now on; None while they are tried."""
        card, offers = self._broker.card(number), self._runner.offers
        if card is None or offers is None:
            return Offering(why=_NO_RULES)
        return offers.of(card)

    def remember(
        self, number: int, taken: TakenOffer, decision: Decision, seen: int | None = None
    ) -> Card:
        """Write a rule that was offered for a card, and decide it; see `Desk.remember`."""
        self._broker.check(number, decision, seen)  # so that nothing is written and then refused
        if self._runner.offers is None:
            raise DecisionError(_NO_RULES)
        kept = self._runner.offers.keep(taken, number)
        self._runner.handle(Answered(number, decision, self._by, self.now(), seen=seen))
        self._runner.handle(RuleAdded(number, in_words(kept), self._by, self.now()))
        self._runner.reconsider(number)
        return self._known(number)

    def holdable(self) -> Sequence[str]:
        """Return the names of the events that can be held on request."""
        return self._broker.holdable()

    def orders(self) -> Sequence[Standing]:
        """Return the standing orders, the oldest first."""
        return self._broker.orders()

    def order(self, order: Order) -> None:
        """Give a standing order; raises DecisionError for one that makes no sense."""
        self._runner.handle(Ordered(order, self._by, self.now()))

    def revoke(self, ids: frozenset[int]) -> None:
        """End the standing orders with these ids; raises DecisionError where none stands."""
        self._runner.handle(Revoked(ids, self._by, self.now()))

    def extend(self, number: int, seconds: float) -> Card:
        """Let a card wait longer; raises TooLateError, or DecisionError past the agent's limit."""
        self._runner.handle(Extended(number, seconds, self._by, self.now()))
        return self._known(number)

    def snooze(self, number: int, seconds: float) -> Card:
        """Put a card aside for a while; raises TooLateError."""
        self._runner.handle(Snoozed(number, self.now() + seconds, self._by, self.now()))
        return self._known(number)

    def _known(self, number: int) -> Card:
        card = self._broker.card(number)
        assert card is not None  # noqa: S101 - it was changed a line ago
        return card

    def subscribe(self, listener: Callable[[News], None]) -> Callable[[], None]:
        """Call `listener` with every new or changed card and feed entry; return how to stop."""
        return self._runner.subscribe(listener)
