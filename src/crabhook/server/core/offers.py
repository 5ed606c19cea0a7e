"""The rules that a card offers for such calls from now on, tried on the record.

A trial takes seconds, so a thread does it, for WITHIN seconds at most. Of rules that allow, past
denials come first, since the operator must see them; of rules that deny, past allows. Then come all
other calls, the latest first.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from crabhook.datatypes import Bounded
from crabhook.desk.commands import TakenOffer
from crabhook.desk.updates import Offer, Offering
from crabhook.model.actor import Actor
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.policy.calls.parts import CallKind, kind_of
from crabhook.policy.context import Context
from crabhook.policy.matcher import parse_matcher
from crabhook.policy.propose import (
    RuleProposal,
    Trial,
    propose,
    propose_denials,
    tried_each,
    why_no_denial,
    why_none,
)
from crabhook.policy.rule import Rule, RuleVerdict, in_words
from crabhook.rulebook import edit
from crabhook.rulebook.files import RULES, RuleFiles, RulesError
from crabhook.rulebook.history import calls_in, recalled
from crabhook.rulebook.rulings import CurrentRules
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.store.interface import History, Query, StoreError
from crabhook.store.opening import Place, open_history
from crabhook.store.record import RecordKind

_LOG = logging.getLogger(__name__)

LAST = 5_000  # decided calls in a trial, and as many denials
WITHIN = 2.0  # seconds
FRESH = 60.0  # seconds for which an offering is reused
REASON_KEPT = 300  # letters
KEPT = 64  # calls with a kept offering
UNDONE_TOLD = 100  # past calls that a rule would have decided otherwise, each once
MADE_KEPT = 1024  # offered rules; no other rule is ever written
_AGAINST = (RuleVerdict.DENY, RuleVerdict.ASK_OPERATOR, RuleVerdict.ASK_AGENTS_USER)


class Offers:
    """The offers for recent calls, by their names.

    `record` is the place of the record.
    """

    def __init__(self, files: RuleFiles, in_force: RulesInForce, record: Place) -> None:
        self.files, self.record, self._in_force = files, record, in_force
        self._known: Bounded[_Asked, tuple[float, Offering]] = Bounded(KEPT)
        self._trying: dict[_Asked, list[Callable[[Offering], object]]] = {}
        self._made: Bounded[tuple[str, str], Rule] = Bounded(MADE_KEPT)

    def __repr__(self) -> str:
        return f"<Offers {len(self._known)}>"

    def ask(
        self, about: str, event: Event, tell: Callable[[Offering], object], *, denies: bool = False
    ) -> None:
        """Give `tell` the offers for a call, at once or after the trial.

        `denies`: rules that deny such calls, and not rules that allow them.
        """
        loop, asked = asyncio.get_running_loop(), (about, denies)
        at, kept = self._known.get(asked, (-inf, Offering()))
        if loop.time() - at <= FRESH:
            tell(kept)
            return
        if waiting := self._trying.get(asked):
            waiting.append(tell)
            return
        self._trying[asked] = [tell]
        trial = partial(offering, event, self.files, self.record, denies=denies)
        trying = loop.run_in_executor(None, trial)
        trying.add_done_callback(lambda done: self._note(asked, loop.time(), done))

    def keep(
        self, taken: TakenOffer, about: str, by: Actor, *, denies: bool = False, reason: str = ""
    ) -> Rule:
        """Write a rule that was offered for the call into the owner's file, in force at once.

        `denies`: such calls are denied from now on, by the offer's matchers; the rule's note has
        the start of the `reason`, which models read at each later denial. Raises RulesError,
        also for a rule that was not offered, or that denies what is allowed; then the file has not
        changed.
        """
        rule = self._made.get((about, taken.offer))
        if rule is None:
            wrong = f"no such rule was offered for {about}"
            raise RulesError(f"no rule was written, and nothing decided: {wrong}")
        if rule.verdict is RuleVerdict.DENY and not denies:
            wrong = f"the rule offered for {about} denies such calls"
            raise RulesError(f"no rule was written, and nothing decided: {wrong}")
        if denies:
            matchers = tuple(parse_matcher(text, restricts=True) for text in rule.texts)
            rule = replace(rule, verdict=RuleVerdict.DENY, matchers=matchers)
        note = f"always {rule.verdict}, on {about}, {datetime.now(UTC).astimezone():%Y-%m-%d}"
        if words := " ".join(reason.split()):
            note = f"{note}: {words[:REASON_KEPT]}"
        try:
            files = replace(self.files, by=by)
            kept = edit.add(files, replace(rule, expires=taken.expires, note=note))
        except CrabhookError as error:
            raise RulesError(f"no rule was written, and nothing decided: {error}") from error
        self._in_force.look_again()
        self._known.clear()  # the rule may allow other cards now, which need no offer
        return kept

    def _note(self, asked: "_Asked", at: float, done: "asyncio.Future[Offered]") -> None:
        about, waiting = asked[0], self._trying.pop(asked)
        if done.cancelled():
            return
        if error := done.exception():
            _LOG.error("no rule could be offered for %s", about, exc_info=error)
            offered, rules = Offering(why="the rules could not be tried: a fault"), list[Rule]()
        else:
            offered, rules = done.result()
        self._known[asked] = (at, offered)
        for offer, rule in zip(offered.offers, rules, strict=True):
            self._made[about, offer.id] = rule
        for tell in waiting:
            tell(offered)


_Asked: TypeAlias = tuple[str, bool]
"""The call that rules are asked for, by its name, and whether these deny."""
Offered: TypeAlias = tuple[Offering, list[Rule]]
"""The offers, and the rule of each."""


def offering(event: Event, files: RuleFiles, record: Place, *, denies: bool = False) -> Offered:
    """Return the offers for a call, tried on the record; this is slow."""
    today, make = CurrentRules(files), propose_denials if denies else propose
    try:
        here = today(event)
        ruling, protected = here.policy.judge(event, here.context), today.protected
        if denies and ruling and ruling.verdict is not RuleVerdict.DENY:
            ruling = None  # a denial comes before every other rule
        proposals = () if ruling else make(event, here.context, protected)
        past = _Past(record, event, today, denies=denies)
        trials = tried_each(proposals, past, past.context_of, protected) if proposals else ()
    except CrabhookError as error:
        return Offering(why=f"no rule can be added: {error}"), []
    if not proposals:
        why = why_no_denial if denies else why_none
        return Offering(why=ruling.why if ruling else why(event, here.context)), []
    offers = tuple(map(_offer, proposals, trials))
    return Offering(offers, past.count, file=_named(files)), [
        proposal.rule for proposal in proposals
    ]


def _named(files: RuleFiles) -> str:
    """Return the name of the owner's rule file, relative to the home folder if possible."""
    if files.shared:
        return files.where(RULES)
    with suppress(RuntimeError, ValueError):  # who has no home, and what is not below it
        return f"~/{files.user.relative_to(Path.home())}"
    return str(files.user)


def _offer(proposal: RuleProposal, trial: Trial) -> Offer:
    """Return an offer; equal rules have the same id, with any end."""
    rule, undone = proposal.rule, dict[object, tuple[Event, int]]()
    for event in trial.undone:
        call = (event.tool and event.tool.name, event.tool and event.tool.fingerprint)
        if call in undone or len(undone) < UNDONE_TOLD:
            example, times = undone.get(call) or (event.brief(), 0)
            undone[call] = (example, times + 1)
    return Offer(
        sha256(repr((rule.verdict.value, rule.texts, rule.scope)).encode()).hexdigest()[:32],
        in_words(rule),
        rule.texts,
        rule.expires,
        proposal.covers,
        proposal.gives_away,
        trial.covered,
        len(trial.undone),
        tuple(undone.values()),
        denies=rule.verdict is RuleVerdict.DENY,
    )


class _Past:
    """Past calls of the same kind, within the time limit; `count` is None without a record.

    Shell calls are separate from all others, since parsing them takes the time, and a rule is
    seldom about both. Denials that the rules in force would repeat are left out. `denies`: what was
    not denied comes first.
    """

    def __init__(
        self, record: Place, event: Event, today: CurrentRules, *, denies: bool = False
    ) -> None:
        self._record, self._today, self._denies = record, today, denies
        self._until = monotonic() + WITHIN
        self._shell = event.tool is not None and kind_of(event.tool.name) is CallKind.COMMAND
        self.count: int | None = None

    def __iter__(self) -> Iterator[tuple[Event, RuleVerdict]]:
        try:
            with open_history(self._record) as history:
                self.count = 0
                yield from self._read(history, denied=not self._denies)
                yield from self._read(history, denied=self._denies)
        except StoreError as error:
            _LOG.info("rules are tried only as far as the record can be read: %s", error)

    def _read(self, history: History, *, denied: bool) -> Iterator[tuple[Event, RuleVerdict]]:
        verdict = RuleVerdict.DENY.value if denied else ""
        query = Query(kinds=(RecordKind.DECIDED.value,), verdict=verdict, last=LAST, backwards=True)
        for record in history.find(query):
            if monotonic() > self._until:
                return
            if (kind_of(record.tool) is CallKind.COMMAND) is not self._shell:
                continue
            if denied is not (record.verdict == RuleVerdict.DENY):
                continue
            for call in calls_in([record]):
                event = recalled(call.event)
                if not self._is_beside_the_point(event, denied=denied):
                    self.count = (self.count or 0) + 1
                    yield event, call.verdict

    def context_of(self, event: Event) -> Context:
        """Return the context for a ruling about a past call."""
        return self._today(event).context

    def _is_beside_the_point(self, event: Event, *, denied: bool) -> bool:
        """Whether no allow could change the call's outcome, or its project has broken rules.

        A denial or a question of the rules in force comes before any allow.
        """
        try:
            there = self._today(event)
        except CrabhookError:
            return True
        return denied and there.ruling(event).verdict in _AGAINST
