"""What a desk asks the server to read: offers, the history, last words, rulings about calls.

The loop does not wait for these reads, so no hook does.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crabhook.broker.messages import Rulings
from crabhook.desk.commands import TakenOffer
from crabhook.desk.updates import Offering
from crabhook.model.actor import Actor
from crabhook.model.card import UNTOLD, Card, Risk
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.wording import until
from crabhook.policy.rule import RuleVerdict, Ruling, in_words
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.history import DeliverEntry, DeliverPage, MemoryHistory, RecordHistory
from crabhook.server.core.rules_in_force import Rules, RulesInForce
from crabhook.server.core.transcripts import DeliverWords, LastWords
from crabhook.store.opening import Place

if TYPE_CHECKING:
    from crabhook.server.core.offers import Offers


_LOG = logging.getLogger(__name__)
_NO_RULES = "no rules are kept here"
_NOT_ASKED = Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")

ASKED_AGAIN = 3  # times at most, where the rules change meanwhile


class Reconsider(Protocol):
    """Takes what the rules say of waiting requests after a new rule; `denies`: it is a denial."""

    def __call__(self, rulings: Rulings, *, denies: bool) -> object:
        """Take the rulings in."""
        ...


class OfferedFrom(NamedTuple):
    """The sources of offers: the rule files, the rules in force, and the record's place."""

    files: RuleFiles
    in_force: RulesInForce
    record: Place


class DeskQueries:
    """Reads in an asyncio loop; each method returns its result through `deliver`, at once or later.

    `offers` is what rules are offered from; the `deliver` given here takes the rulings about cards
    that are judged again.
    """

    def __init__(
        self,
        rules: Rules,
        offers: OfferedFrom | None,
        past: RecordHistory | MemoryHistory,
        deliver: Reconsider,
    ) -> None:
        self._rules, self._offered_from, self._reconsidered = rules, offers, deliver
        self._past = past
        self._words = LastWords()
        self._tasks: set[asyncio.Task[None]] = set()

    @cached_property
    def _offers(self) -> "Offers | None":
        if self._offered_from is None:
            return None
        from crabhook.server.core.offers import Offers  # no hook waits for offers

        return Offers(*self._offered_from)

    def stop(self) -> None:
        """Cancel all reads."""
        for task in self._tasks:
            task.cancel()

    def offers(
        self,
        about: str,
        event: Event,
        deliver: Callable[[Offering], object],
        *,
        denies: bool = False,
    ) -> None:
        """Try the rules that could allow such calls from now on, or deny them."""
        if (offers := self._offers) is None:
            deliver(Offering(why=_NO_RULES))
        else:
            offers.ask(about, event, deliver, denies=denies)

    def history(self, before: int, deliver: DeliverPage) -> None:
        """Read a page of what ended before an entry, or the newest."""
        self._past.ask(before, deliver)

    def entry(self, number: int, deliver: DeliverEntry) -> None:
        """Read one entry of the history whole; None where it is no longer kept."""
        self._past.entry(number, deliver)

    def words(self, card: Card, deliver: DeliverWords) -> None:
        """Read what a card's agent last said, and what the user asked for last."""
        self._words.ask(card, deliver)

    def rulings(
        self, calls: Mapping[str, Event], deliver: Callable[[Rulings, Hashable, Risk], object]
    ) -> None:
        """Ask the rules in a thread: hooks do not wait for a long input."""
        self._begin(self._ask(calls, deliver))

    async def _ask(
        self, calls: Mapping[str, Event], deliver: Callable[[Rulings, Hashable, Risk], object]
    ) -> None:
        """Ask the rules; ask again where the rules changed meanwhile."""
        rulings: Rulings = {}
        edition: Hashable = None
        risks: Sequence[Risk] = ()
        for _ in range(ASKED_AGAIN):
            edition = self.edition(calls)
            try:
                rulings = await self._judged(calls)
                risks = [await self._rules.risk(event, long=True) for event in calls.values()]
            except Exception:  # noqa: BLE001 - else an operator would wait for their word for ever
                _LOG.exception("the rules could not be asked about a change")
                rulings, risks = dict.fromkeys(calls, _NOT_ASKED), [UNTOLD]
            if edition == self.edition(calls):
                break
        deliver(rulings, edition, max(risks, key=lambda risk: risk.level, default=UNTOLD))

    async def _judged(self, calls: Mapping[str, Event]) -> Rulings:
        return {leg: await self._rules.judge(event, long=True) for leg, event in calls.items()}

    def edition(self, calls: Mapping[str, Event]) -> Hashable:
        """Return the edition of the rules for calls."""
        return tuple(map(self._rules.edition, calls.values()))

    def keep_rule(
        self, taken: TakenOffer, about: str, by: Actor, *, denies: bool = False, reason: str = ""
    ) -> str:
        """Write a rule that was offered for a call, and return it in words.

        `denies`: as a rule that denies such calls, for this `reason`.

        Raises CrabhookError, and then nothing is written.
        """
        if (offers := self._offers) is None:
            raise DecisionError(_NO_RULES)
        kept = offers.keep(taken, about, by, denies=denies, reason=reason)
        return f"{in_words(kept)} · {until(kept.expires)}"

    def judge_again(self, cards: Sequence[Card], *, denies: bool = False) -> None:
        """Have the rules judge waiting cards again after a new rule; `denies`: it is a denial."""
        self._begin(self._judge_again(cards, denies=denies))

    async def _judge_again(self, cards: Sequence[Card], *, denies: bool) -> None:
        for card in cards:
            rulings = await self._judged({leg.id: leg.event for leg in card.requests})
            self._reconsidered(rulings, denies=denies)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
