"""Rules that could have allowed what the operator allowed, and which calls each one covers.

A call is read once and its parts are looked up once, so that thousands of
rules can be held against thousands of calls; `Policy` has the last word on
what is suggested in the end.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from crabhook.policy.index import Placed, RuleIndex
from crabhook.policy.parts import Part
from crabhook.policy.paths import Bases, is_within
from crabhook.policy.propose import propose
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleScope, RuleVerdict
from crabhook.rulebook.distinct import Seen
from crabhook.rulebook.recalled import holds_a_stand_in

_IN_PROJECT = ", in this project"  # as `propose` words it


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that could be suggested.

    `covers` says for a person what it would cover; `width` is 0 for the
    narrowest of those that were made of the same call.
    """

    rule: Rule
    covers: str
    width: int

    def holds_for(self, one: Seen) -> bool:
        """Whether its scope has the call in it."""
        project, scope = one.surroundings.project, self.rule.scope.project
        return not scope or any(is_within(project, folder) for folder in scope)


def candidates(calls: Iterable[Seen], protected: Protected) -> list[Candidate]:
    """Return the rules that could be made of these calls, none twice.

    Left out is what is for one session, since sessions of the past are over, and
    what names a secret.
    """
    found: dict[tuple[tuple[str, ...], RuleScope], Candidate] = {}
    for one in calls:
        proposals = propose(one.event, one.surroundings, protected)
        lasting = [each for each in proposals if not each.rule.scope.session]
        for width, proposal in enumerate(lasting):
            rule = proposal.rule
            key = (tuple(sorted(rule.texts)), rule.scope)
            known = found.get(key)
            if known is None and not _is_for_a_rule(rule):
                continue
            if known is None or width < known.width:
                covers = _words(proposal.covers, rule.scope)
                found[key] = Candidate(rule, covers, width)
    return list(found.values())


def _is_for_a_rule(rule: Rule) -> bool:
    if any(not folder.startswith("/") for folder in rule.scope.project):
        return False
    return not any(text.startswith("-") or holds_a_stand_in(text) for text in rule.texts)


def _words(covers: str, scope: RuleScope) -> str:
    if covers.endswith(_IN_PROJECT):
        return f"{covers.removesuffix(_IN_PROJECT)}, in {' and '.join(scope.project)}"
    return covers


class Coverage:
    """Which of some rules' matchers cover which parts, and so which rules cover which calls."""

    def __init__(self, rules: Sequence[Candidate]) -> None:
        self._candidates = rules
        self._with: dict[str, list[int]] = defaultdict(list)
        single: dict[str, Rule] = {}
        for number, one in enumerate(rules):
            for text, matcher in one.rule.pairs:
                self._with[text].append(number)
                single.setdefault(text, Rule(RuleVerdict.ALLOW, (text,), (matcher,)))
        self._index = RuleIndex(
            Placed(order, rule, "") for order, rule in enumerate(single.values())
        )

    def parts(self, one: Seen) -> list[frozenset[str]]:
        """Return, for each part that an allow must cover, the matchers that do."""
        here = one.surroundings
        cwd = one.event.cwd if one.event.cwd.startswith("/") else here.project
        bases = Bases(here.home, here.project, cwd, here.real)
        return [frozenset(self._covering(part, bases)) for part in one.call.required]

    def _covering(self, part: Part, bases: Bases) -> Iterator[str]:
        for placed in self._index.candidates(part):
            if placed.rule.matchers[0].covers(part, bases):
                yield placed.rule.texts[0]

    def covering(self, one: Seen, parts: Sequence[frozenset[str]]) -> Iterator[int]:
        """Return the numbers of the rules that cover every part of a call."""
        for number in {number for text in parts[0] for number in self._with[text]}:
            candidate = self._candidates[number]
            if candidate.holds_for(one) and not any(
                part.isdisjoint(candidate.rule.texts) for part in parts
            ):
                yield number
