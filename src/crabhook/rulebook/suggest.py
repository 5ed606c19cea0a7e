"""Rules that would have spared the operator most decisions, without allowing denied calls.

A greedy set cover: take the rule that covers most open calls, the narrower of two equal rules,
until none covers enough.
"""

from collections.abc import Iterable, Iterator, Sequence

from crabhook.datatypes import frozen
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleSet, RuleVerdict
from crabhook.rulebook.candidates import Candidate, Coverage, JudgedCall, candidates, distinct, seen
from crabhook.rulebook.history import PastCall
from crabhook.rulebook.rulings import PolicyFor

MOST = 20  # suggestions; nobody reads more
DISTINCT = 2000  # different calls that rules are made of: what keeps it within seconds
_EXAMPLES = 3


@frozen
class SuggestionLimits:
    """The limits of suggestions.

    `at_least`: how often each must have helped. `with_denials`: include rules that would have
    allowed denied calls.
    """

    at_least: int = 3
    with_denials: bool = False
    most: int = MOST
    distinct: int = DISTINCT


@frozen
class SuggestedRule:
    """A rule with its effect on past calls.

    `covered`: how many of the operator's allows it would have given alone. `spares`: how many that
    today's rules leave open it would have given beside them. `adds`: how many of these no earlier
    suggestion covers; `examples` are some. `denials`: denied calls that it would have allowed,
    alone or with today's rules and earlier suggestions.
    """

    rule: Rule
    covers: str
    covered: int
    spares: int
    adds: int
    examples: tuple[PastCall, ...]
    denials: tuple[PastCall, ...] = ()


@frozen
class Suggested:
    """Suggestions, most useful first, and their source.

    `allows`: how many decisions of the operator's; `different`: how many different calls,
    `looked_at` how many of these were read. `decided`: how many of them today's rules decide.
    """

    suggestions: tuple[SuggestedRule, ...]
    allows: int
    different: int
    looked_at: int
    decided: int


def suggest(
    past: Iterable[PastCall],
    law: PolicyFor,
    protected: Protected,
    wish: SuggestionLimits | None = None,
) -> Suggested:
    """Return rules for what the operator allowed.

    A call that a person or rule ever denied counts against rules that would allow it. Calls that
    the operator changed do not count.
    """
    wish = wish or SuggestionLimits()
    past = list(past)
    by_hand = (call for call in past if call.by_person and not call.edited)
    allows = [call for call in by_hand if call.verdict is RuleVerdict.ALLOW]
    different = distinct(allows)
    looked_at = different[: wish.distinct]
    read = (seen(kind, law, protected) for kind in looked_at)
    calls = [call for call in read if call is not None]
    denied = distinct(call for call in past if call.verdict is RuleVerdict.DENY)
    denials = [denial for each in denied if (denial := seen(each, law, protected)) is not None]
    undecided = [call for call in calls if call.today is None]
    choosing = _Choosing(candidates(undecided, protected), calls, denials, protected, wish)
    return Suggested(
        suggestions=tuple(choosing.chosen()),
        allows=len(allows),
        different=len(different),
        looked_at=len(looked_at),
        decided=sum(call.times for call in calls if call.today is not None),
    )


class _Choosing:
    def __init__(
        self,
        among: Sequence[Candidate],
        calls: Sequence[JudgedCall],
        denials: Sequence[JudgedCall],
        protected: Protected,
        wish: SuggestionLimits,
    ) -> None:
        self._among = among
        self._calls = calls
        self._denials = denials
        self._protected = protected
        self._wish = wish
        self._enough = max(1, wish.at_least)
        coverage = Coverage(among)
        self._parts = [coverage.parts(call) for call in calls]
        self._covered = _by_candidate(coverage, calls, self._parts, len(among))
        self._open = [
            {number for number in some if calls[number].today is None} for some in self._covered
        ]
        parts = [coverage.parts(denial) for denial in denials]
        self._undone = _by_candidate(coverage, denials, parts, len(among))
        # Denied calls that are open today, with what would cover the parts that are.
        self._half_open = {
            number: [
                texts
                for part, texts in zip(denied.call.required, covering, strict=True)
                if not denied.allowed_today(part)
            ]
            for number, (denied, covering) in enumerate(zip(denials, parts, strict=True))
            if denied.today is None and any(covering)
        }
        self._taken: list[Candidate] = []

    def chosen(self) -> Iterator[SuggestedRule]:
        """Return the suggestions, the most useful first."""
        left = {number for number in range(len(self._among)) if self._may_be(number)}
        done: set[int] = set()
        while left and len(self._taken) < self._wish.most:
            number = min(left, key=lambda place: self._rank(place, done))
            left.remove(number)
            if self._times(self._open[number] - done) < self._enough:
                return
            spared = self._spared(number)
            if spared != self._open[number]:
                # It stands back in the row, with what it is worth beside today's denials.
                self._open[number] = spared
                left |= {number} if self._may_be(number) else set()
                continue
            new = spared - done
            suggestion = self._suggestion(number, new)
            if suggestion is None or (suggestion.denials and not self._wish.with_denials):
                continue
            yield suggestion
            self._taken.append(self._among[number])
            done |= new

    def _may_be(self, number: int) -> bool:
        undoes = self._undone[number] and not self._wish.with_denials
        if undoes or self._times(self._open[number]) < self._enough:
            return False
        texts = self._among[number].rule.texts
        return len(texts) == 1 or all(self._needed(number, text) for text in texts)

    def _needed(self, number: int, text: str) -> bool:
        """Whether enough calls need each of the rule's matchers.

        Otherwise one long line would add rare commands to daily commands.
        """
        others = frozenset(self._among[number].rule.texts) - {text}
        without = (
            call
            for call in self._covered[number]
            if any(part.isdisjoint(others) for part in self._parts[call])
        )
        return self._times(without) >= self._enough

    def _rank(self, number: int, done: set[int]) -> tuple[object, ...]:
        candidate = self._among[number]
        new = self._times(self._open[number] - done)
        return (
            -new,
            candidate.width,
            len(candidate.rule.texts),
            candidate.rule.texts,
            candidate.rule.scope.project,
        )

    def _times(self, calls: Iterable[int]) -> int:
        return sum(self._calls[call].times for call in calls)

    def _spared(self, number: int) -> set[int]:
        """Return the open calls that the candidate allows with today's rules.

        Beside a denial, a rule allows less: what may start a denied program is asked about.
        """
        rule, policies = self._among[number].rule, dict[Policy, Policy]()
        spared = set[int]()
        for open_call in self._open[number]:
            call = self._calls[open_call]
            today = call.there.policy
            if today not in policies:
                policies[today] = today.with_rule(rule)
            if call.verdict_of(policies[today]) is RuleVerdict.ALLOW:
                spared.add(open_call)
        return spared

    def _suggestion(self, number: int, new: set[int]) -> SuggestedRule | None:
        """Return the candidate with its effect, as the policy judges it."""
        candidate = self._among[number]
        alone = Policy([RuleSet((candidate.rule,))], self._protected)
        covered = [
            call
            for call in self._covered[number]
            if self._calls[call].verdict_of(alone) is RuleVerdict.ALLOW
        ]
        if not self._open[number].issubset(covered):
            return None
        undone = {
            denial
            for denial, call in enumerate(self._denials)
            if self._completes(candidate, denial) or call.verdict_of(alone) is RuleVerdict.ALLOW
        }
        examples = sorted(new, key=lambda call: -self._calls[call].times)[:_EXAMPLES]
        return SuggestedRule(
            rule=candidate.rule,
            covers=candidate.covers,
            covered=self._times(covered),
            spares=self._times(self._open[number]),
            adds=self._times(new),
            examples=tuple(self._calls[call].past for call in examples),
            denials=tuple(self._denials[denial].past for denial in sorted(undone)),
        )

    def _completes(self, candidate: Candidate, denial: int) -> bool:
        """Whether it allows a denied call by parts, with today's rules and earlier suggestions."""
        denied, parts = self._denials[denial], self._half_open.get(denial)
        if parts is None or not candidate.holds_for(denied):
            return False
        own = frozenset(candidate.rule.texts)
        if all(part.isdisjoint(own) for part in parts):
            return False
        taken = (wide.rule.texts for wide in self._taken if wide.holds_for(denied))
        texts = own.union(*taken)
        return not any(part.isdisjoint(texts) for part in parts)


def _by_candidate(
    coverage: Coverage,
    calls: Sequence[JudgedCall],
    parts: Sequence[Sequence[frozenset[str]]],
    size: int,
) -> list[list[int]]:
    numbers: list[list[int]] = [[] for _ in range(size)]
    for number, (call, covering) in enumerate(zip(calls, parts, strict=True)):
        for candidate in coverage.covering(call, covering):
            numbers[candidate].append(number)
    return numbers
