"""Rules that can never decide: others are asked first about all that they match, or nothing is.

Said is only what the matchers alone prove. So a rule that is not named here may be useless all the
same. It may allow some of what another rule denies, or be on paths that a wider path takes in.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import fields

from crabhook.datatypes import frozen
from crabhook.policy.calls.parts import CallKind, kind_of
from crabhook.policy.command_pattern import CommandPattern, Wildcard
from crabhook.policy.matcher import (
    CommandMatcher,
    DomainMatcher,
    InputMatcher,
    Matcher,
    NameMatcher,
    PathMatcher,
    ToolMatcher,
)
from crabhook.policy.rule import Rule, RuleScope, RuleSet, RuleVerdict

_ASKED = {
    RuleVerdict.DENY: 0,
    RuleVerdict.ASK_OPERATOR: 1,
    RuleVerdict.ASK_AGENTS_USER: 1,
    RuleVerdict.ALLOW: 2,
    RuleVerdict.PASS: 3,
}
"""Which rules are asked first; of the same kind the first in the file is."""


@frozen
class DeadRule:
    """A rule that can never decide, and why."""

    rule: Rule
    why: str

    def __str__(self) -> str:
        return f"{self.rule.where}: {self.rule} can never decide: {self.why}"


def dead_rules(rules: RuleSet) -> tuple[DeadRule, ...]:
    """Return the rules of a file that are proven to decide nothing, in the file's order."""
    before = _Before()
    dead = []
    for rule in sorted(rules.rules, key=lambda rule: _ASKED[rule.verdict]):
        if reasons := before.reasons(rule):
            dead.append(DeadRule(rule, " and ".join(dict.fromkeys(reasons))))
        elif rule not in rules.set_aside:
            before.add(rule)
    return tuple(sorted(dead, key=lambda dead_rule: dead_rule.rule.line))


class _Before:
    """The rules that are asked before the next rule, found by what they match."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, list[tuple[Rule, Matcher]]] = defaultdict(list)

    def add(self, rule: Rule) -> None:
        """Count a rule as asked before all that come."""
        for matcher in rule.matchers:
            self._by_key[_key(matcher)].append((rule, matcher))

    def reasons(self, rule: Rule) -> list[str]:
        """Return why no matcher of the rule decides, one for each; none if one may."""
        reasons = []
        for matcher in rule.matchers:
            if not (why := _matches_nothing(matcher, rule) or self._is_taken(matcher, rule)):
                return []
            reasons.append(why)
        return reasons

    def _is_taken(self, matcher: Matcher, rule: Rule) -> str:
        for key in _keys_above(matcher):
            for other, wider in self._by_key.get(key, ()):
                if _stands_for(other, rule, matcher) and _takes_in(wider, other, matcher, rule):
                    return f"line {other.line} ({other}) decides all of it first"
        return ""


def _key(matcher: Matcher) -> Hashable:
    match matcher:
        case CommandMatcher() if _opens_at_its_end(matcher.pattern.written):
            return "command", matcher.pattern.written.parts[0]
        case ToolMatcher() if _opens_at_its_end(matcher.name):
            return "tool", matcher.name.parts[0]
        case _:
            return matcher


def _keys_above(matcher: Matcher) -> Iterator[Hashable]:
    """Yield where matchers are found that may take in all that this matcher matches."""
    yield _key(matcher)
    if (tool := _tool_of(matcher)) is not None:
        yield ToolMatcher(tool)
        yield from (("tool", head) for head in _heads(tool.parts[0]))
    if isinstance(matcher, CommandMatcher):
        yield from (("command", head) for head in _heads(matcher.pattern.written.parts[0]))


def _heads(text: str) -> Iterator[str]:
    return (text[:end] for end in range(len(text) + 1))


def _tool_of(matcher: Matcher) -> Wildcard | None:
    """Return the tool whose every part that the matcher means is the tool's own."""
    match matcher:
        case CommandMatcher():
            return Wildcard(("Bash",))
        case NameMatcher(tool=name):
            return Wildcard((name,))
        case DomainMatcher():
            return Wildcard(("WebFetch",))
        case InputMatcher(tool=tool) | ToolMatcher(name=tool):
            return tool
        case _:
            return None


def _stands_for(other: Rule, rule: Rule, matcher: Matcher) -> bool:
    """Whether `other` holds wherever and whenever the rule does, and its paths mean the same."""
    if other.expires is not None and (rule.expires is None or other.expires < rule.expires):
        return False
    if isinstance(matcher, PathMatcher) and other.scope.project != rule.scope.project:
        return False
    return all(_is_wider(other.scope, rule.scope, field.name) for field in fields(RuleScope))


def _is_wider(wide: RuleScope, narrow: RuleScope, name: str) -> bool:
    theirs, ours = getattr(wide, name), getattr(narrow, name)
    return not theirs or (bool(ours) and set(ours) <= set(theirs))


def _takes_in(wider: Matcher, other: Rule, matcher: Matcher, rule: Rule) -> bool:
    """Whether a call in which `matcher` decides for the rule is also decided by `wider`."""
    if other.verdict.restricts is not rule.verdict.restricts:
        return _denies_all(wider, matcher)
    if wider == matcher:
        return True
    covers = not rule.verdict.restricts
    if isinstance(matcher, CommandMatcher):
        # What an exact rule covers, no other may cover; nor what a rule that starts a program does.
        if covers and (matcher.pattern.exact or matcher.pattern.starts):
            return False
        if isinstance(wider, CommandMatcher):
            return _begins(wider.pattern, matcher.pattern)
    return isinstance(wider, ToolMatcher)


def _denies_all(wider: Matcher, matcher: Matcher) -> bool:
    """Whether a denial or question speaks against each call in which an allow may decide."""
    if isinstance(wider, ToolMatcher):
        return not isinstance(matcher, PathMatcher) and matcher != ToolMatcher(Wildcard(("Bash",)))
    return wider == matcher and isinstance(matcher, DomainMatcher | NameMatcher)


def _begins(wide: CommandPattern, narrow: CommandPattern) -> bool:
    """Whether each text of `narrow` begins with all that `wide` fixes, before its only star."""
    head, texts = wide.written.parts[0], [narrow.written.parts[0], narrow.unquoted.parts[0]]
    if not _opens_at_its_end(wide.written) or wide.written is not wide.unquoted:
        return False
    # One that sets variables covers more; one that names its program is asked about it unseen too.
    if "=" in "".join(texts) or narrow.first_word not in ("", wide.first_word):
        return False
    if narrow.bare is not None:
        texts.append(narrow.bare)
    return not narrow.everything and all(text.startswith(head) for text in texts)


def _opens_at_its_end(pattern: Wildcard) -> bool:
    return len(pattern.parts) == 2 and not pattern.parts[1]


def _matches_nothing(matcher: Matcher, rule: Rule) -> str:
    """Return why the matcher decides no call; empty if it may decide some."""
    allows = not rule.verdict.restricts
    if isinstance(matcher, ToolMatcher) and matcher.name.exact and allows:
        asks = kind_of(matcher.name.parts[0]) is CallKind.ASKING
        return "only an answer of a person releases this tool" if asks else ""
    if isinstance(matcher, DomainMatcher):
        if any(label.parts == ("",) for label in matcher.labels):
            return "no host has an empty name beside a dot"
        pieces = "".join(piece for label in matcher.labels for piece in label.parts)
        if allows and ":" in pieces:
            return "a host is looked at without its port"
    return ""
