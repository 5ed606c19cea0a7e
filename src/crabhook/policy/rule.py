"""Rules and rulings as values: what a rule file says, and what the rules say of a call.

What reads rules, or judges by them, imports the readers of shell lines and paths.  These values
import neither, so that a server can hold them before it has to judge.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from crabhook.model.card import Because, Level
from crabhook.model.errors import CrabhookError

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class Rule:
    """One sentence of law.

    `texts` are its matchers as written, `matchers` as read.  `line` is where
    it stands in `origin`, the file's name; 0 for a rule that is in none yet.
    """

    verdict: RuleVerdict
    texts: tuple[str, ...]
    matchers: tuple["Matcher", ...]
    note: str = ""
    scope: RuleScope = RuleScope()
    expires: datetime | None = None
    origin: str = ""
    line: int = 0

    @property
    def pairs(self) -> Iterator[tuple[str, "Matcher"]]:
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
    matchers: tuple["Matcher", ...]
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


def in_words(rule: Rule) -> str:
    """Return a rule with where it holds; what an agent named may be in it."""
    scope = [
        f"{name} {', '.join(values)}"
        for name, values in (("session", rule.scope.session), ("project", rule.scope.project))
        if values
    ]
    where = f"in {' and '.join(scope)}" if scope else "everywhere"
    return f"{rule} · {where}"


class RuleFileError(CrabhookError):
    """A rule file that cannot be used; `line` is where, from 1."""

    def __init__(self, name: str, line: int, what: str) -> None:
        super().__init__(f"{name}, line {line}: {what}")
        self.line = line


@dataclass(frozen=True, slots=True)
class PartRuling:
    """The ruling on one part of a call.

    `kind` says what the part is: command, write, read, name, fetch, agent,
    tool.  `hidden`: the part was only suspected, so it could not help the call.
    `verdict` is None where no rule speaks of it.  `because` is what a card of the call says.
    """

    kind: str
    text: str
    verdict: RuleVerdict | None
    rule: Rule | None
    why: str
    hidden: bool = False
    because: Because | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """The ruling on the whole call.

    `verdict` is None where the rules leave it open: the operator is asked.
    `rule` decided it, if one rule did.  `why` is for a person.  `parts` are
    those that matter: all that an allow must cover, and every hit.  `because`: `why` as a card
    says it, where it can say more than that.
    """

    verdict: RuleVerdict | None
    rule: Rule | None
    why: str
    parts: tuple[PartRuling, ...] = ()
    troubles: tuple[str, ...] = ()
    protected: str = ""
    because: Because | None = None
