"""Calls that were allowed by hand, put together where alike, and the rules each would offer."""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.policy.calls.parts import Part
from crabhook.policy.calls.read import read_call
from crabhook.policy.calls.shell_call import Call
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.paths import Bases, is_within
from crabhook.policy.propose import propose
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleScope, RuleVerdict
from crabhook.policy.rule_index import Placed, RuleIndex, keys_of
from crabhook.rulebook.history import PastCall, holds_a_stand_in, recalled
from crabhook.rulebook.project_policy import ProjectPolicy
from crabhook.rulebook.rulings import PolicyFor

_LOG = logging.getLogger(__name__)


@frozen
class RepeatedCall:
    """A call that was made once or more: the same input to the same tool in the same folder."""

    latest: PastCall
    times: int


@frozen
class JudgedCall:
    """A call with its parts, and the ruling by today's rules; None where they leave it open."""

    past: PastCall
    times: int
    event: Event
    call: Call
    there: ProjectPolicy
    today: RuleVerdict | None

    @property
    def context(self) -> Context:
        """The context in which it was made."""
        return self.there.context

    def verdict_of(self, policy: Policy) -> RuleVerdict | None:
        """Return the ruling by other rules."""
        return policy.examine_call(self.call, self.event, self.context).verdict

    def allowed_today(self, part: Part) -> bool:
        """Whether today's rules allow this part alone."""
        alone = Call(self.call.tool, self.call.kind, (part,), ())
        ruling = self.there.policy.examine_call(alone, self.event, self.context)
        return ruling.verdict is RuleVerdict.ALLOW


def distinct(past: Iterable[PastCall]) -> list[RepeatedCall]:
    """Return the different calls, the most frequent first, and then the latest."""
    latest: dict[tuple[str, ...], PastCall] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for call in past:
        tool, cwd = call.event.tool, call.event.cwd
        key = (tool.name, json.dumps(tool.input, sort_keys=True), cwd) if tool else ()
        times[key] += 1
        latest.pop(key, None)
        latest[key] = call
    calls = [RepeatedCall(call, times[key]) for key, call in reversed(latest.items())]
    return sorted(calls, key=lambda call: -call.times)


def seen(kind: RepeatedCall, law: PolicyFor, protected: Protected) -> JudgedCall | None:
    """Return the call with its parts, or None for a call that no rule could ever allow."""
    event = recalled(kind.latest.event)
    there = law(event)
    try:
        call = read_call(event, there.context)
        if call is None or not call.required or call.troubles:
            return None
        bare = Policy((), protected).examine_call(call, event, there.context)
        today = there.policy.examine_call(call, event, there.context)
    except Exception:  # noqa: BLE001 - when it comes again this is a question, never an allow
        _LOG.debug("a past call of %s could not be read", event.name, exc_info=True)
        return None
    if bare.verdict is not None:
        return None
    return JudgedCall(kind.latest, kind.times, event, call, there, today.verdict)


_IN_PROJECT = ", in this project"  # as `propose` words it


@frozen
class Candidate:
    """A rule to suggest: `covers` tells a person what, `width` 0 is the narrowest of its call."""

    rule: Rule
    covers: str
    width: int

    def holds_for(self, call: JudgedCall) -> bool:
        """Whether its scope has the call in it."""
        project, scope = call.context.project, self.rule.scope.project
        return not scope or any(is_within(project, folder) for folder in scope)


def candidates(calls: Iterable[JudgedCall], protected: Protected) -> list[Candidate]:
    """Return the rules that could be made of these calls, each once.

    Rules for one session are left out, since past sessions are over, and rules that name a secret.
    """
    drafted: dict[tuple[tuple[str, ...], RuleScope], Candidate] = {}
    for call in calls:
        proposals = propose(call.event, call.context, protected)
        lasting = [each for each in proposals if not each.rule.scope.session]
        for width, proposal in enumerate(lasting):
            rule = proposal.rule
            key, projects = (tuple(sorted(rule.texts)), rule.scope), rule.scope.project
            candidate = drafted.get(key)
            if candidate is None and (
                any(not folder.startswith("/") for folder in projects)
                or any(text.startswith("-") or holds_a_stand_in(text) for text in rule.texts)
            ):
                continue
            if candidate is None or width < candidate.width:
                covers = proposal.covers
                if covers.endswith(_IN_PROJECT):
                    covers = f"{covers.removesuffix(_IN_PROJECT)}, in {' and '.join(projects)}"
                drafted[key] = Candidate(rule, covers, width)
    return list(drafted.values())


class Coverage:
    """Which of some rules' matchers cover which parts, and so which rules cover which calls."""

    def __init__(self, rules: Sequence[Candidate]) -> None:
        self._candidates = rules
        self._with: dict[str, list[int]] = defaultdict(list)
        single: dict[str, Rule] = {}
        for number, candidate in enumerate(rules):
            for text, matcher in candidate.rule.pairs:
                self._with[text].append(number)
                single.setdefault(text, Rule(RuleVerdict.ALLOW, (text,), (matcher,)))
        self._index = RuleIndex(
            Placed(order, rule, "") for order, rule in enumerate(single.values())
        )

    def parts(self, call: JudgedCall) -> list[frozenset[str]]:
        """Return, for each part that an allow must cover, the matchers that do."""
        here = call.context
        cwd = call.event.cwd if call.event.cwd.startswith("/") else here.project
        bases = Bases(here.home, here.project, cwd, here.real)
        return [
            frozenset(
                placed.rule.texts[0]
                for placed in self._index.candidates(part, keys_of(part))
                if placed.rule.matchers[0].covers(part, bases)
            )
            for part in call.call.required
        ]

    def covering(self, call: JudgedCall, parts: Sequence[frozenset[str]]) -> Iterator[int]:
        """Return the numbers of the rules that cover every part of a call."""
        for number in {number for text in parts[0] for number in self._with[text]}:
            candidate = self._candidates[number]
            if candidate.holds_for(call) and not any(
                part.isdisjoint(candidate.rule.texts) for part in parts
            ):
                yield number
