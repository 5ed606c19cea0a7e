"""Rules as values, and an index of those that may speak of a part of a call.

Command rules are found by the first word of a command, path rules by a part
of the path that they fix, address rules by the end of the host.  What fixes
nothing is tried on everything of its kind.  The order of the rules is kept.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from crabhook.model.risk import Level
from crabhook.policy import matcher
from crabhook.policy.calls.parts import CommandPart, FetchPart, FilePart, NamePart, Part, ToolPart
from crabhook.policy.matcher import Matcher, PathMatcher


class RuleVerdict(StrEnum):
    """What a rule says: as a decision's verdict, with two people who may be asked."""

    ALLOW = "allow"
    DENY = "deny"
    ASK_OPERATOR = "ask-operator"
    ASK_AGENTS_USER = "ask-agent's-user"
    PASS = "pass"  # noqa: S105 - no password

    @property
    def restricts(self) -> bool:
        """Whether it can only make a call harder to have."""
        return self not in (RuleVerdict.ALLOW, RuleVerdict.PASS)


@dataclass(frozen=True, slots=True)
class RuleScope:
    """Where a rule holds; an empty field holds everywhere.

    `project`: folders, each with all below it; an agent is in one by its
    project folder.  `agent_type`: "" in it means the session's main agent.
    """

    session: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    agent_type: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()
    platform: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One sentence of law.

    `texts` are its matchers as written, `matchers` as read.  `line` is where
    it stands in `origin`, the file's name; 0 for a rule that is in none yet.
    """

    verdict: RuleVerdict
    texts: tuple[str, ...]
    matchers: tuple[Matcher, ...]
    note: str = ""
    scope: RuleScope = RuleScope()
    expires: datetime | None = None
    origin: str = ""
    line: int = 0

    @property
    def pairs(self) -> Iterator[tuple[str, Matcher]]:
        """Each matcher with the text it was written as."""
        return zip(self.texts, self.matchers, strict=True)

    @property
    def where(self) -> str:
        """The rule's place, for a person."""
        return f"{self.origin}, line {self.line}" if self.line else self.origin or "a new rule"

    def __str__(self) -> str:
        return f"{self.verdict} {' | '.join(self.texts)}"


@dataclass(frozen=True, slots=True)
class RiskRule:
    """The owner's word on how much can go wrong with some calls: `level` and `words` for a card.

    `texts` are its matchers as written, `matchers` as read; `line` is where it stands.
    """

    level: Level
    words: str
    texts: tuple[str, ...]
    matchers: tuple[Matcher, ...]
    origin: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"risk {self.level.name.lower()} {' | '.join(self.texts)}"


class Trust(StrEnum):
    """How much of a project's rule file counts."""

    NONE = "none"
    RESTRICT = "restrict"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of one file.

    `folder`: what `/x` in it is relative to; empty for the user's own file,
    where it is relative to the project of the call.  A set with a folder
    holds for agents in that folder alone.  `unprotect` names protected
    entries the user has taken off the list.  `risks`: what it says of risks.
    """

    rules: tuple[Rule, ...] = ()
    folder: str = ""
    trust: Trust = Trust.FULL
    unprotect: frozenset[str] = frozenset()
    risks: tuple[RiskRule, ...] = ()

    @property
    def counting(self) -> tuple[Rule, ...]:
        """The rules that its trust lets count."""
        if self.trust is Trust.FULL:
            return self.rules
        restricting = tuple(rule for rule in self.rules if rule.verdict.restricts)
        return restricting if self.trust is Trust.RESTRICT else ()


_ANY = "*"
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
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
        found = (placed for rules in self._by_key.values() for placed in rules)
        return (matcher for placed in found for matcher in placed.rule.matchers)

    @cached_property
    def of_commands(self) -> tuple[Placed, ...]:
        """The rules that name commands."""
        found = (rules for key, rules in self._by_key.items() if key[0] == "command")
        return tuple(placed for rules in found for placed in rules)

    def of_program(self, name: str) -> Sequence[Placed]:
        """Return the rules of commands that begin with this word."""
        return self._by_key.get(("command", name), ())

    def candidates(self, part: Part, keys: Iterable[_Key]) -> Sequence[Placed]:
        """Return the rules that may speak of the part, in order; `keys` are `keys_of` it."""
        if not self._by_key:
            return ()
        wild = isinstance(part, FilePart) and part.glob and part.by is None
        chosen = self._path_keys if wild else keys
        found = [rules for key in chosen if (rules := self._by_key.get(key))]
        if len(found) < 2:
            return found[0] if found else ()
        unique = {placed.order: placed for rules in found for placed in rules}
        return [unique[order] for order in sorted(unique)]


def _key_of(one: Matcher) -> _Key:
    match one:
        case matcher.CommandMatcher():
            return "command", one.pattern.first_word or _ANY
        case PathMatcher():
            return "write" if one.writes else "read", _fixed_part(one)
        case matcher.DomainMatcher():
            ends = one.labels[-2:]
            fixed = all(label.exact for label in ends)
            return "fetch", ".".join(label.parts[0] for label in ends) if fixed else ""
        case matcher.NameMatcher():
            return "name", one.tool
        case matcher.ToolMatcher():
            return "tool", one.name.parts[0] if one.name.exact else _ANY
        case matcher.InputMatcher():
            return "tool", _ANY


def _fixed_part(path: PathMatcher) -> str:
    """Return the last part of the path that is the same in every path the rule means."""
    parts = reversed(path.pattern.pattern.split("/"))
    plain = (one for one in parts if one and one.isascii() and not set(one) & set("*?[]\\"))
    return next(plain, "").casefold()


def keys_of(part: Part) -> frozenset[_Key]:
    """Return by what the rules are found that may speak of a part."""
    return frozenset(_keys_of(part))


def _keys_of(part: Part) -> Iterator[_Key]:
    yield "tool", _ANY
    for tool in part.tools:
        yield "tool", tool
    match part:
        case CommandPart():
            yield "command", _ANY
            texts = (*part.lines, *(reading.text for reading in part.readings))
            for word in {text.partition(" ")[0] for text in texts}:
                yield "command", word
        case FilePart():
            yield "tool", "Read"  # as a whole it stops writes too
            yield from (("tool", tool) for tool in part.own)
            names = {name for place in part.places for name in place.both}
            for fixed in {"", *(one for name in names for one in name.casefold().split("/"))}:
                yield "write", fixed
                yield "read", fixed
            yield from (keys_of(part.by) if part.by else ())
        case FetchPart():
            yield "fetch", ""
            yield "fetch", ".".join(part.host.split(".")[-2:])
        case NamePart():
            for tool in part.tools:
                yield "name", tool
        case ToolPart():
            pass
