"""Past calls held against today's rules: which of them would end in another way."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from crabhook.model import actor
from crabhook.policy.rule import Rule, RuleVerdict
from crabhook.policy.ruling import Ruling
from crabhook.rulebook.past import PastCall
from crabhook.rulebook.recalled import recalled
from crabhook.rulebook.today import LawOf


class Kind(StrEnum):
    """In what way a call would end otherwise; what matters most to a person comes first."""

    OVERRULED = "the operator denied it, now allowed"
    ALLOWED = "newly allowed"
    DENIED = "newly denied"
    EDITED = "the operator changed it, now decided as it was asked"
    ASKED = "now asked"
    PASSED = "now left to the agent's own rules"
    OPEN = "no longer decided by rules"


_NOW: Mapping[RuleVerdict, Kind] = {
    RuleVerdict.ALLOW: Kind.ALLOWED,
    RuleVerdict.DENY: Kind.DENIED,
    RuleVerdict.ASK_AGENTS_USER: Kind.ASKED,
    RuleVerdict.PASS: Kind.PASSED,
}


@dataclass(frozen=True, slots=True)
class Change:
    """A call that would not end as it did.

    `now` is None where the rules leave it open, so that the operator is
    asked.  `rule` is the one that decides it now, if one does; `why` says
    more, for a person.
    """

    kind: Kind
    call: PastCall
    now: RuleVerdict | None
    rule: Rule | None
    why: str

    @property
    def was(self) -> RuleVerdict:
        """How the call ended."""
        return self.call.verdict


@dataclass(slots=True)
class Replayed:
    """What would change, in the order of the past.

    `unchanged` ended as they would today; `spared` of these were decided by
    the operator, and by rules they would be now.
    """

    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    spared: int = 0

    @property
    def calls(self) -> int:
        """How many calls were held against the rules."""
        return self.unchanged + len(self.changes)

    @property
    def counts(self) -> Counter[Kind]:
        """How many changes there are of each kind."""
        return Counter(change.kind for change in self.changes)


def replay(past: Iterable[PastCall], law: LawOf) -> Replayed:
    """Return what today's rules would change of past calls.

    Rules are in force as they are now: one that has expired decides nothing,
    one for a session decides that session's calls.
    """
    found = Replayed()
    for call in past:
        event = recalled(call.event)
        ruling = law(event).ruling(event)
        kind = _kind(call, ruling)
        if kind is not None:
            found.changes.append(Change(kind, call, ruling.verdict, ruling.rule, ruling.why))
            continue
        found.unchanged += 1
        found.spared += call.by_person and not _reaches_the_operator(ruling)
    return found


def _kind(call: PastCall, ruling: Ruling) -> Kind | None:
    """Return in what way the call would end otherwise, or None where it would end the same."""
    now = ruling.verdict
    if now is None or now is RuleVerdict.ASK_OPERATOR:
        return _asked(call, by_rule=now is not None)
    if call.edited:
        return Kind.EDITED
    if now is call.verdict:
        return None
    if now is RuleVerdict.ALLOW and call.by_person and call.verdict is RuleVerdict.DENY:
        return Kind.OVERRULED
    return _NOW[now]


def _asked(call: PastCall, *, by_rule: bool) -> Kind | None:
    """Return how a call that would come to the operator ended otherwise, if it did."""
    if call.by_person or isinstance(call.by, actor.Nobody):  # it came to the operator, or was to
        return None
    if by_rule:
        return Kind.ASKED
    return Kind.OPEN if isinstance(call.by, actor.Rule) else None


def _reaches_the_operator(ruling: Ruling) -> bool:
    return ruling.verdict in (None, RuleVerdict.ASK_OPERATOR)
