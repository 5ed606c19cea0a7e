"""Rules and rulings as values: what a rule file says, and what rules say about a call.

These values import no readers of shell lines and paths, so that a server can hold them cheaply.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from crabhook.datatypes import frozen
from crabhook.model import actor
from crabhook.model.ballot import Terms
from crabhook.model.card import Because, Level
from crabhook.model.errors import CrabhookError

if TYPE_CHECKING:
    from crabhook.policy.matcher import Matcher


class RuleVerdict(StrEnum):
    """What a rule says: a decision's verdict, with two kinds of people to ask."""

    ALLOW = "allow"
    DENY = "deny"
    ASK_OPERATOR = "ask-operator"
    ASK_AGENTS_USER = "ask-agent's-user"
    PASS = "pass"  # noqa: S105 - no password

    @property
    def restricts(self) -> bool:
        """Whether it can only make a call harder to have."""
        return self not in (RuleVerdict.ALLOW, RuleVerdict.PASS)


@frozen
class RuleScope:
    """Where a rule applies; an empty field applies everywhere.

    `project`: folders with all below; an agent's own project folder counts. `agent_type`: "" in it
    means the session's main agent.
    """

    session: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    agent_type: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()
    platform: tuple[str, ...] = ()


@frozen
class Rule:
    """One rule.

    `texts` are its matchers as written, `matchers` as read. `line` is its place in the file
    `origin`; 0 for a rule that is in no file yet. `terms`: who must allow such calls, where the
    rule says that; None where any decider may.
    """

    verdict: RuleVerdict
    texts: tuple[str, ...]
    matchers: tuple["Matcher", ...]
    note: str = ""
    scope: RuleScope = RuleScope()
    expires: datetime | None = None
    origin: str = ""
    line: int = 0
    terms: Terms | None = None

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


PLAN_FILE = Rule(
    RuleVerdict.PASS,
    ("the plan file of a session in plan mode",),
    (),
    scope=RuleScope(mode=("plan",)),
    origin="crabhook's own, as the plan itself comes to you",
)
"""The only rule of crabhook's own: `plan_file.py` tells when it holds."""


@frozen
class RiskRule:
    """The owner's own `level` and `words` of risk for some calls.

    `texts` are its matchers as written, `matchers` as read; `line` is its place.
    """

    level: Level
    words: str
    texts: tuple[str, ...]
    matchers: tuple["Matcher", ...]
    origin: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"risk {self.level.name.lower()} {' | '.join(self.texts)}"


class Expected(StrEnum):
    """What a test wants of a call; ASK: that a person is asked, by a rule or by none."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"

    def is_met_by(self, verdict: RuleVerdict | None) -> bool:
        """Whether rules with this verdict do as the test wants."""
        return verdict in _MEETS[self]

    def is_opened_by(self, verdict: RuleVerdict | None) -> bool:
        """Whether this verdict lets a call through that the test wants denied or asked."""
        opens = verdict is not None and not verdict.restricts
        return opens and self is not Expected.ALLOW


_MEETS: Mapping[Expected, frozenset[RuleVerdict | None]] = {
    Expected.ALLOW: frozenset({RuleVerdict.ALLOW}),
    Expected.DENY: frozenset({RuleVerdict.DENY}),
    Expected.ASK: frozenset({RuleVerdict.ASK_OPERATOR, RuleVerdict.ASK_AGENTS_USER, None}),
}


@frozen
class RuleTest:
    """A call, and what the rules of the same file must say of it.

    `text` is the input of `tool` that rules look at. `project` is where the agent works; without
    one, a project in which nothing is. `line` is the test's place.
    """

    expected: Expected
    text: str
    tool: str = "Bash"
    project: str = ""
    why: str = ""
    origin: str = ""
    line: int = 0


@frozen
class FailedTest:
    """A test that failed, and what the rules say of its call."""

    test: RuleTest
    verdict: RuleVerdict | None
    why: str

    def __str__(self) -> str:
        test = self.test
        text = test.text.replace("\n", "␤")
        call = text if test.tool == "Bash" else f"{test.tool} {text}"
        reason = f" ({test.why})" if test.why else ""
        return (
            f"{test.origin}, line {test.line}: {_MUST[test.expected]} `{call}`{reason}, but "
            f"{_DOES[self.verdict]}: {self.why}"
        )


_MUST = {
    Expected.ALLOW: "the rules must allow",
    Expected.DENY: "the rules must deny",
    Expected.ASK: "a person must be asked about",
}
_DOES = {
    RuleVerdict.ALLOW: "they allow it",
    RuleVerdict.DENY: "they deny it",
    RuleVerdict.ASK_OPERATOR: "the operator is asked",
    RuleVerdict.ASK_AGENTS_USER: "the agent's user is asked",
    RuleVerdict.PASS: "they leave it to the agent",
    None: "they leave it open",
}


class Trust(StrEnum):
    """How much of a project's rule file counts."""

    NONE = "none"
    RESTRICT = "restrict"
    FULL = "full"


@frozen
class RuleSet:
    """The rules of one file.

    `folder`: the base of `/x`; a set with a folder applies only to agents there. Without one, the
    user's own file, `/x` is relative to the call's project. `unprotect`: the protected entries that
    the user took off the list. `risks`: the file's words on risks. `tests`: the file's tests.
    `failed`: the tests that fail. `set_aside`: rules that let through what one of those wants
    denied or asked; they count for nothing.
    """

    rules: tuple[Rule, ...] = ()
    folder: str = ""
    trust: Trust = Trust.FULL
    unprotect: frozenset[str] = frozenset()
    risks: tuple[RiskRule, ...] = ()
    tests: tuple[RuleTest, ...] = ()
    failed: tuple[FailedTest, ...] = ()
    set_aside: tuple[Rule, ...] = ()

    @property
    def counting(self) -> tuple[Rule, ...]:
        """The rules that its trust and its tests let count."""
        if self.trust is Trust.FULL and not self.set_aside:
            return self.rules
        if self.trust is Trust.FULL:
            return tuple(rule for rule in self.rules if rule not in self.set_aside)
        restricting = tuple(rule for rule in self.rules if rule.verdict.restricts)
        return restricting if self.trust is Trust.RESTRICT else ()


def in_words(rule: Rule) -> str:
    """Return a rule and where it applies, in words; may have an agent's words."""
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


@frozen
class PartRuling:
    """The ruling on one part of a call.

    `kind` is the part's, as "command" or "write". `hidden`: a suspected part, which cannot help the
    call. `verdict` is None if no rule matches. `because` is for the call's card.
    """

    kind: str
    text: str
    verdict: RuleVerdict | None
    rule: Rule | None
    why: str
    hidden: bool = False
    because: Because | None = None


@frozen(slots=False)
class Ruling:
    """The ruling on the whole call.

    `verdict` is None if the rules leave it open: the operator is asked. `rule` decided it, if one
    rule did. `why` is for a person. `parts` are all that an allow must cover, and every hit.
    `because`: `why` for a card, with more detail where there is any. `terms`: who must allow the
    call, of every rule that asks about it and says that.
    """

    verdict: RuleVerdict | None
    rule: Rule | None
    why: str
    parts: tuple[PartRuling, ...] = ()
    troubles: tuple[str, ...] = ()
    protected: str = ""
    because: Because | None = None
    terms: tuple[Terms, ...] = ()

    @cached_property
    def by(self) -> actor.RuleActor:
        """The rule as an actor who decides; made once, as a ruling is often told again."""
        return actor.RuleActor(f"{self.rule} ({self.rule.where})" if self.rule else "")
