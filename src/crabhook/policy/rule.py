"""Rules and the files they come from, as values."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crabhook.policy.matcher import Matcher


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


EVERYWHERE = RuleScope()


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
    scope: RuleScope = EVERYWHERE
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
    entries the user has taken off the list.
    """

    rules: tuple[Rule, ...] = ()
    folder: str = ""
    trust: Trust = Trust.FULL
    unprotect: frozenset[str] = frozenset()

    @property
    def counting(self) -> tuple[Rule, ...]:
        """The rules that its trust lets count."""
        if self.trust is Trust.NONE:
            return ()
        return tuple(
            rule for rule in self.rules if self.trust is Trust.FULL or rule.verdict.restricts
        )
