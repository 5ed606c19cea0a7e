"""What a desk asks the server to read: offers, last words, rulings about a changed call.

The loop does not wait for these reads, so no hook does. Last words and a session's summary come
from agents' transcripts, read in threads: the agent names the file, and the server reads it only if
the hook ran on this machine.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from crabhook.broker.broker import Broker
from crabhook.broker.messages import Rulings
from crabhook.datatypes import Bounded
from crabhook.desk.commands import TakenOffer
from crabhook.desk.updates import Offering
from crabhook.model.actor import Actor
from crabhook.model.card import NO_RISK, UNTOLD, Card, Request, Risk
from crabhook.model.decision import Decision
from crabhook.model.errors import DecisionError
from crabhook.model.event import EndScope, Event
from crabhook.model.jsontext import Value
from crabhook.model.wording import until
from crabhook.platforms.interface import Platform
from crabhook.policy.rule import RuleVerdict, Ruling, in_words
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.history import DeliverEntry, DeliverPage, MemoryHistory, RecordHistory
from crabhook.server.core.pending_call import is_here
from crabhook.server.core.rules_in_force import Rules, RulesInForce
from crabhook.store.opening import Place
from crabhook.transcript import (
    Summary,
    last_prompt,
    last_words,
    plan_file,
    read_plan,
    summary,
    transcript_of,
)

if TYPE_CHECKING:
    from crabhook.server.core.offers import Offers


_LOG = logging.getLogger(__name__)
_NO_RULES = "no rules are kept here"
_NOT_ASKED = Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")

CHANGES_KEPT = 64  # of cards, each with its last change
ASKED_AGAIN = 3  # times at most, where the rules change meanwhile


class Reconsider(Protocol):
    """Takes what the rules say of waiting requests after a new rule; `denies`: it is a denial."""

    def __call__(self, rulings: Rulings, *, denies: bool) -> object:
        """Take the rulings in."""
        ...


DeliverWords: TypeAlias = Callable[[str, str], object]
"""Takes the last words of a card's agent, and its user's last prompt."""


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
        """Read what a card's agent last said, and what its user asked for last."""
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


@dataclass(slots=True)
class _Change:
    """A card's changed calls and the rulings about them; None while the rules are asked.

    `calls` are the changed calls by request id; `edition` is the rules' edition. `risk` is that of
    the worst call.
    """

    updated_input: Mapping[str, Value] | None
    calls: Mapping[str, Event]
    edition: Hashable = None
    rulings: Rulings | None = None
    risk: Risk = NO_RISK
    asked_by: list[Callable[[Rulings, Risk], object]] = field(default_factory=list)

    def is_of(self, decision: Decision, calls: Mapping[str, Event]) -> bool:
        """Whether this is the decision's change; Python alone would take 1 and true for equal."""
        same = self.updated_input == decision.updated_input
        return same and _fingerprints(self.calls) == _fingerprints(calls)

    def is_judged(self, rulings: Rulings, edition: Hashable, risk: Risk) -> None:
        """Store the rulings, and send them to all callers."""
        self.rulings, self.edition, self.risk = rulings, edition, risk
        asked_by, self.asked_by = self.asked_by, []
        for deliver in asked_by:
            deliver(rulings, risk)


def _fingerprints(calls: Mapping[str, Event]) -> dict[str, bytes]:
    return {leg: call.tool.fingerprint for leg, call in calls.items() if call.tool is not None}


class ChangedCalls:
    """The rulings about cards' calls as a decision changes them, for the desk that asks."""

    def __init__(self, broker: Broker, queries: DeskQueries) -> None:
        self._broker, self._queries = broker, queries
        self._changes: Bounded[int, _Change] = Bounded(CHANGES_KEPT)

    def ask(
        self, number: int, decision: Decision, deliver: Callable[[Rulings, Risk], object]
    ) -> None:
        """Ask the rules in force, once for all callers with the same change of a card."""
        calls, change = self._broker.changed(number, decision), self._changes.get(number)
        is_same = change is not None and change.is_of(decision, calls)
        if not calls:
            deliver({}, NO_RISK)
        elif change is not None and is_same and change.rulings is None:
            change.asked_by.append(deliver)
        elif change is not None and is_same and change.edition == self._queries.edition(calls):
            deliver(change.rulings or {}, change.risk)
        else:
            change = self._changes[number] = _Change(decision.updated_input, calls)
            change.asked_by.append(deliver)
            self._queries.rulings(calls, change.is_judged)

    def said(self, number: int, decision: Decision) -> tuple[Rulings, Risk | None]:
        """Return the rulings about a change, and its risk; none where nobody asked.

        Raises DecisionError where the rules have changed since: no operator saw their new rulings.
        """
        change = self._changes.get(number)
        if change is None or not change.rulings:
            return {}, None
        if not change.is_of(decision, self._broker.changed(number, decision)):
            return {}, None
        if change.edition != self._queries.edition(change.calls):
            raise DecisionError(
                f"the rules may have changed since #{number} was edited: edit it again to see what "
                "they say now; nothing was sent"
            )
        return change.rulings, change.risk


WORDS_KEPT = 256  # cards with kept words


class LastWords:
    """The last words around recent cards; each file is read once per card."""

    def __init__(self) -> None:
        self._said: Bounded[int, tuple[str, str]] = Bounded(WORDS_KEPT)
        self._reading: dict[int, list[DeliverWords]] = {}

    def ask(self, card: Card, deliver: DeliverWords) -> None:
        """Give `deliver` the words of the card's agent, or its plan, and its user's last prompt."""
        number, event = card.number, card.event
        names_a_file = event.text("transcript_path") or event.text("agent_transcript_path")
        if number in self._said or not (is_here(card.requests[0]) and names_a_file):
            deliver(*self._said.get(number, ("", "")))
        elif asked := self._reading.get(number):
            asked.append(deliver)
        else:
            self._reading[number] = [deliver]
            reading = asyncio.get_running_loop().run_in_executor(None, _said_around, event)
            reading.add_done_callback(lambda done: self._note(number, done))

    def _note(self, number: int, done: "asyncio.Future[tuple[str, str]]") -> None:
        failed = done.cancelled() or done.exception() is not None
        words = self._said[number] = ("", "") if failed else done.result()
        for deliver in self._reading.pop(number):
            deliver(*words)


def _said_around(event: Event) -> tuple[str, str]:
    """Read the last words of an event's agent, or its plan, and its session's last prompt."""
    plan, session = plan_file(event), event.text("transcript_path")
    words = read_plan(plan) if plan else last_words(transcript_of(event))
    return words, last_prompt(session) if session else ""


MOST_AT_ONCE = 32  # transcripts in the queue; more sessions get no summary
AGAIN_AFTER = 10.0  # seconds; several hooks report the same end
ENDS_KEPT = 256  # sessions whose end is kept for that

Record = Callable[[Request, Summary], object]


class Summaries:
    """Gives `record` a summary for each session's end."""

    def __init__(self, platforms: Mapping[str, Platform], record: Record) -> None:
        self._platforms, self._record = platforms, record
        self._ended: Bounded[tuple[str, str], float] = Bounded(ENDS_KEPT)
        self._reader = ThreadPoolExecutor(1, "crabhook-summaries")
        self._waiting = 0

    def on_request(self, request: Request) -> None:
        """Start to read the transcript, if this is a session's end; called in the loop."""
        event = request.event
        if event.tool is not None or self._waiting >= MOST_AT_ONCE:  # no call ends a session
            return
        if not (path := event.text("transcript_path")) or not is_here(request):
            return
        over = self._platforms[event.platform].closes(event) is EndScope.SESSION
        if not over or self._is_repeated((event.platform, event.session)):
            return
        self._waiting += 1
        reading = asyncio.get_running_loop().run_in_executor(self._reader, summary, path)
        reading.add_done_callback(lambda done: self._note(request, done))

    def _is_repeated(self, session: tuple[str, str]) -> bool:
        now, before = monotonic(), self._ended.pop(session, -AGAIN_AFTER)
        self._ended[session] = now
        return now - before < AGAIN_AFTER

    def _note(self, request: Request, done: "asyncio.Future[Summary | None]") -> None:
        self._waiting -= 1
        if not done.cancelled() and done.exception() is None and (summary := done.result()):
            self._record(request, summary)
