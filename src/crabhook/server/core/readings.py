"""What a desk asks to be read: rules to offer, last words, what the rules say of a changed call.

Each is read beside the loop, so that no hook waits for it, and told once it is there.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence

from crabhook.broker.messages import Rulings
from crabhook.desk.commands import TakenOffer
from crabhook.desk.updates import Offering
from crabhook.model.card import Card
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.risk import UNTOLD, Risk
from crabhook.model.wording import until
from crabhook.policy.propose import in_words
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.ruling import Ruling
from crabhook.server.core.history import PastReader, Remembered, TellEntry, TellPage
from crabhook.server.core.law import Assess, Judge, untold
from crabhook.server.core.offers import Offers
from crabhook.server.transcripts import LastWords

_LOG = logging.getLogger(__name__)
_NO_RULES = "no rules are kept here"
_NOT_ASKED = Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")

ASKED_AGAIN = 3  # times at most, where the rules change while they are asked


class Readings:
    """Reads in an asyncio loop; each method tells what it found, at once or later.

    `tell`, given here, is told what the rules say of cards that are judged anew.
    `edition_of` returns which edition of the rules an event is judged by, `assess` what its call
    may do.
    """

    def __init__(
        self,
        judge: Judge,
        offers: Offers | None,
        past: PastReader | Remembered,
        tell: Callable[[Rulings], object],
    ) -> None:
        self._judge, self._offers, self._reconsidered = judge, offers, tell
        self._past = past
        self._words = LastWords()
        self._tasks: set[asyncio.Task[None]] = set()
        self.edition_of: Callable[[Event], Hashable] = lambda _event: None
        self.assess: Assess = untold

    def stop(self) -> None:
        """Read no more."""
        for task in self._tasks:
            task.cancel()

    def offers(self, about: str, event: Event, tell: Callable[[Offering], object]) -> None:
        """Try the rules that could allow a call from now on."""
        if self._offers is None:
            tell(Offering(why=_NO_RULES))
        else:
            self._offers.ask(about, event, tell)

    def history(self, before: int, tell: TellPage) -> None:
        """Read a page of what ended before an entry, or the newest."""
        self._past.ask(before, tell)

    def entry(self, number: int, tell: TellEntry) -> None:
        """Read one entry of the history whole; None where it is no longer kept."""
        self._past.entry(number, tell)

    def words(self, card: Card, tell: Callable[[str], object]) -> None:
        """Read what a card's agent last said."""
        self._words.ask(card, tell)

    def rulings(
        self, calls: Mapping[str, Event], tell: Callable[[Rulings, Hashable, Risk], object]
    ) -> None:
        """Ask the rules in a thread: hooks do not wait while a long input is judged."""
        self._begin(self._ask(calls, tell))

    async def _ask(
        self, calls: Mapping[str, Event], tell: Callable[[Rulings, Hashable, Risk], object]
    ) -> None:
        """Ask the rules; where judging first reads a later edition of them, ask again."""
        rulings: Rulings = {}
        edition: Hashable = None
        risks: Sequence[Risk] = ()
        for _ in range(ASKED_AGAIN):
            edition = self.edition(calls)
            try:
                rulings = await self._judged(calls)
                risks = [await self.assess(event, long=True) for event in calls.values()]
            except Exception:  # noqa: BLE001 - else an operator would wait for their word for ever
                _LOG.exception("the rules could not be asked about a change")
                rulings, risks = dict.fromkeys(calls, _NOT_ASKED), [UNTOLD]
            if edition == self.edition(calls):
                break
        tell(rulings, edition, max(risks, key=lambda one: one.level, default=UNTOLD))

    async def _judged(self, calls: Mapping[str, Event]) -> Rulings:
        return {leg: await self._judge(event, long=True) for leg, event in calls.items()}

    def edition(self, calls: Mapping[str, Event]) -> Hashable:
        """Return which edition of the rules is in force for calls."""
        return tuple(map(self.edition_of, calls.values()))

    def keep_rule(self, taken: TakenOffer, about: str) -> str:
        """Write a rule that was offered for a call, and return it in words.

        Raises CrabhookError, and then nothing is written.
        """
        if self._offers is None:
            raise DecisionError(_NO_RULES)
        kept = self._offers.keep(taken, about)
        return f"{in_words(kept)} · {until(kept.expires)}"

    def judge_again(self, cards: Sequence[Card]) -> None:
        """Have the rules judge what waits once more, since a rule was added."""
        self._begin(self._judge_again(cards))

    async def _judge_again(self, cards: Sequence[Card]) -> None:
        for card in cards:
            self._reconsidered(await self._judged({leg.id: leg.event for leg in card.requests}))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
