"""Finds the rules that may match one part of a call, and makes rulings from them.

Commands are indexed by their first word, paths by a part that the pattern fixes, addresses by the
host's end. Rules that fix nothing are always tried. The rules keep their order.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import cached_property

from crabhook.datatypes import frozen
from crabhook.model.card import Because, Brought
from crabhook.policy import matcher
from crabhook.policy.calls.parts import CommandPart, FetchPart, FilePart, NamePart, Part
from crabhook.policy.matcher import Matcher, PathMatcher
from crabhook.policy.rule import PartRuling, Rule, RuleVerdict

_ANY = "*"
_Key = tuple[str, str]


@frozen
class Placed:
    """A rule in its place: `order` among all rules, `folder` of its file."""

    order: int
    rule: Rule
    folder: str


class RuleIndex:
    """The rules of one class of verdicts."""

    def __init__(self, rules: Iterable[Placed]) -> None:
        self._by_key: dict[_Key, list[Placed]] = defaultdict(list)
        for placed in rules:
            for key in dict.fromkeys(map(_key_of, placed.rule.matchers)):
                self._by_key[key].append(placed)
        # A name with wildcards may become any path, so every path rule is tried.
        self._path_keys = [key for key in self._by_key if key[0] in ("read", "write", "tool")]

    @property
    def matchers(self) -> Iterator[Matcher]:
        """All matchers of all rules, each as often as it is found."""
        every_rule = (placed for rules in self._by_key.values() for placed in rules)
        return (matcher for placed in every_rule for matcher in placed.rule.matchers)

    @cached_property
    def of_commands(self) -> tuple[Placed, ...]:
        """The rules that name commands."""
        of_each = (rules for key, rules in self._by_key.items() if key[0] == "command")
        return tuple(placed for rules in of_each for placed in rules)

    @cached_property
    def of_files(self) -> tuple[Placed, ...]:
        """The rules that name files."""
        of_each = (rules for key, rules in self._by_key.items() if key[0] in ("read", "write"))
        return tuple(placed for rules in of_each for placed in rules)

    @cached_property
    def with_terms(self) -> tuple[Placed, ...]:
        """The rules that say who may allow a call, in order."""
        every_rule = (placed for rules in self._by_key.values() for placed in rules)
        unique = {placed.order: placed for placed in every_rule if placed.rule.terms is not None}
        return tuple(unique[order] for order in sorted(unique))

    def of_program(self, name: str) -> Sequence[Placed]:
        """Return the rules of commands that begin with this word."""
        return self._by_key.get(("command", name), ())

    def candidates(self, part: Part, keys: Iterable[_Key]) -> Sequence[Placed]:
        """Return the rules that may speak of the part, in order; `keys` are `keys_of` it."""
        if not self._by_key:
            return ()
        wild = isinstance(part, FilePart) and part.glob and part.by is None
        chosen = self._path_keys if wild else keys
        chosen_rules = [rules for key in chosen if (rules := self._by_key.get(key))]
        if len(chosen_rules) < 2:
            return chosen_rules[0] if chosen_rules else ()
        unique = {placed.order: placed for rules in chosen_rules for placed in rules}
        return [unique[order] for order in sorted(unique)]


def _key_of(rule_matcher: Matcher) -> _Key:
    match rule_matcher:
        case matcher.CommandMatcher():
            return "command", rule_matcher.pattern.first_word or _ANY
        case PathMatcher():
            return "write" if rule_matcher.writes else "read", _fixed_part(rule_matcher)
        case matcher.DomainMatcher():
            ends = rule_matcher.labels[-2:]
            fixed = all(label.exact for label in ends)
            return "fetch", ".".join(label.parts[0] for label in ends) if fixed else ""
        case matcher.NameMatcher():
            return "name", rule_matcher.tool
        case matcher.ToolMatcher():
            return "tool", rule_matcher.name.parts[0] if rule_matcher.name.exact else _ANY
        case matcher.InputMatcher():
            return "tool", _ANY


def _fixed_part(path: PathMatcher) -> str:
    """Return the last part that every path matched by the rule has."""
    parts = reversed(path.pattern.pattern.split("/"))
    plain = (part for part in parts if part and part.isascii() and not set(part) & set("*?[]\\"))
    return next(plain, "").casefold()


def keys_of(part: Part) -> frozenset[_Key]:
    """Return by what the rules are found that may speak of a part."""
    keys = {("tool", tool) for tool in (_ANY, *part.tools)}
    match part:
        case CommandPart():
            texts = (*part.lines, *(reading.text for reading in part.readings))
            keys |= {("command", text.partition(" ")[0]) for text in texts}
            keys.add(("command", _ANY))
        case FilePart():
            keys |= {("tool", tool) for tool in ("Read", *part.own)}  # Read stops writes too
            names = {name.casefold() for place in part.places for name in place.both}
            for fixed in {"", *(piece for name in names for piece in name.split("/"))}:
                keys |= {("write", fixed), ("read", fixed)}
            keys |= keys_of(part.by) if part.by else set()
        case FetchPart():
            keys |= {("fetch", ""), ("fetch", ".".join(part.host.split(".")[-2:]))}
        case NamePart():
            keys |= {("name", tool) for tool in part.tools}
    return frozenset(keys)


class Rank(IntEnum):
    """The order in which rulings on parts decide a call, the first first."""

    DENY = 0
    PROTECTED = 1
    ASK = 2
    ALLOW = 3
    PASS = 4
    NOTHING = 5


@frozen
class RankedRuling:
    """The ruling on one part, and which place in the order it has."""

    rank: Rank
    order: int
    part: PartRuling


def ruling_by_rule(
    rank: Rank, match: tuple[Placed, str], part: Part, *, hidden: bool
) -> RankedRuling:
    """Return the ruling of a rule, and of which of its matchers, on a part."""
    placed, text = match
    rule = placed.rule
    why = f"{rule.where}: {rule.verdict} {text}" + (f" ({rule.note})" if rule.note else "")
    asks = rule.verdict is RuleVerdict.ASK_OPERATOR
    because = because_of_rule(rule, text if asks else f"{rule.verdict} {text}")
    part_ruling = PartRuling(part.kind, part.text, rule.verdict, rule, why, hidden, because)
    return RankedRuling(rank, placed.order, part_ruling)


def because_of_rule(rule: Rule, text: str, before: str = "") -> Because:
    """Return that this rule brings a card here; `before` says how."""
    words = f'{before}rule "{text}"' + (f" \N{EM DASH} {rule.note}" if rule.note else "")
    return Because(Brought.RULE, words, text, rule.note)


def question_about_search(ranked: RankedRuling, part: FilePart) -> RankedRuling:
    """Return the ruling on a file as a question about the search that reads the file."""
    verdict = ranked.part.verdict
    if verdict is RuleVerdict.DENY:
        verdict = RuleVerdict.ASK_OPERATOR
    why = f"it reads {ranked.part.text} too, and of that: {ranked.part.why}"
    rank = Rank.PROTECTED if ranked.rank is Rank.PROTECTED else Rank.ASK
    because = ranked.part.because
    if because is not None:
        because = replace(because, words=f"it reads {ranked.part.text} too: {because.words}")
    asked = PartRuling(part.kind, part.text, verdict, None, why, hidden=True, because=because)
    return RankedRuling(rank, ranked.order, asked)


def question_about_folder(part: FilePart, folder: str, why: str) -> RankedRuling:
    """Return the question about a folder whose look was incomplete."""
    why = f"what a rule denies or protects may be in {folder}: {why}"
    ask = RuleVerdict.ASK_OPERATOR
    part_ruling = PartRuling(part.kind, part.text, ask, None, why, hidden=True)
    return RankedRuling(Rank.ASK, 0, part_ruling)
