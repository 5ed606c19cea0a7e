"""Past calls from the record, judged by today's rules, though not all of a call was recorded."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from crabhook.datatypes import frozen
from crabhook.model import actor
from crabhook.model.actor import Actor, Operator
from crabhook.model.decision import Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value
from crabhook.policy.rule import Rule, RuleVerdict, Ruling
from crabhook.rulebook.rulings import PolicyFor
from crabhook.store.actors import actor_in
from crabhook.store.record import Record, RecordKind

_VERDICTS: Mapping[str, RuleVerdict] = {
    Verdict.ALLOW.value: RuleVerdict.ALLOW,
    Verdict.DENY.value: RuleVerdict.DENY,
    Verdict.ASK.value: RuleVerdict.ASK_AGENTS_USER,
    Verdict.PASS.value: RuleVerdict.PASS,
}


@frozen
class PastCall:
    """A past call of a tool and its outcome.

    `event` has the recorded input, without its secrets. `edited`: the operator changed the call
    before allowing it. `at` is the record's time.
    """

    event: Event
    verdict: RuleVerdict
    by: Actor
    edited: bool
    at: str
    card: int | None

    @property
    def by_person(self) -> bool:
        """Whether an operator decided it, not a rule or an order."""
        return isinstance(self.by, Operator)


def calls_in(records: Iterable[Record]) -> Iterator[PastCall]:
    """Return the decided calls among some records; what cannot be read as one is left out."""
    for record in records:
        verdict = _VERDICTS.get(record.verdict)
        data = record.data()
        decided = record.kind == RecordKind.DECIDED and record.tool and "input" in data
        if not decided or verdict is None:
            continue
        event = Event(
            record.platform,
            "PreToolUse",
            session=record.session,
            cwd=record.cwd,
            agent_id=record.agent_id,
            agent_type=record.agent_type,
            tool=ToolCall(record.tool, data["input"], record.tool_use_id),
            machine=str(data.get("machine", "")),
        )
        edited = "edited" in data
        yield PastCall(event, verdict, actor_in(data), edited, record.at, record.card)


# What the record has in the place of a secret (docs/reference/audit.md).
_MARK = re.compile(r"\[(?:redacted [a-z0-9-]{1,40}|cut) len=\d{1,12} #([0-9a-f]{8})\]")
_STAND_IN = re.compile(r"\bredacted-[0-9a-f]{8}\b")


def recalled(event: Event) -> Event:
    """Return the event for judging: in the default mode, with a word for each secret.

    The record lacks the mode. A secret's mark would be several words and a comment to a shell; the
    secret itself was most likely one word, so one word replaces it.
    """
    tool = event.tool and replace(event.tool, input=_with_words(event.tool.input))
    return replace(event, tool=tool, permission_mode="default")


def holds_a_stand_in(text: str) -> bool:
    """Whether the text has a word that replaces a secret."""
    return _STAND_IN.search(text) is not None


def _with_words(value: Value) -> Value:
    """Return an input with its marks replaced, as deep as rules look."""
    if not isinstance(value, dict):
        return value
    return {
        key: list(map(_word, inner)) if isinstance(inner, list) else _word(inner)
        for key, inner in value.items()
    }


def _word(value: Value) -> Value:
    return _MARK.sub(r"redacted-\1", value) if isinstance(value, str) else value


class ChangeKind(StrEnum):
    """In what way a call would end otherwise; what matters most to a person comes first."""

    OVERRULED = "the operator denied it, now allowed"
    ALLOWED = "newly allowed"
    DENIED = "newly denied"
    EDITED = "the operator changed it, now decided as it was asked"
    ASKED = "now asked"
    PASSED = "now left to the agent's own rules"
    OPEN = "no longer decided by rules"


_NOW: Mapping[RuleVerdict, ChangeKind] = {
    RuleVerdict.ALLOW: ChangeKind.ALLOWED,
    RuleVerdict.DENY: ChangeKind.DENIED,
    RuleVerdict.ASK_AGENTS_USER: ChangeKind.ASKED,
    RuleVerdict.PASS: ChangeKind.PASSED,
}


@frozen
class RulingChange:
    """A call that would end differently today.

    `now` is None where the rules leave it open: the operator is asked. `rule` decides it now, if
    one does; `why` explains to a person.
    """

    kind: ChangeKind
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
    """The changes, in the order of the past.

    `unchanged` calls would end the same; `spared` of these the operator decided then, and rules
    would now.
    """

    changes: list[RulingChange] = field(default_factory=list)
    unchanged: int = 0
    spared: int = 0

    @property
    def calls(self) -> int:
        """How many calls were held against the rules."""
        return self.unchanged + len(self.changes)

    @property
    def counts(self) -> Counter[ChangeKind]:
        """How many changes there are of each kind."""
        return Counter(change.kind for change in self.changes)


def replay(past: Iterable[PastCall], law: PolicyFor) -> Replayed:
    """Return what today's rules would change of past calls.

    Rules count as of now: an expired rule decides nothing, a session's rule decides that session's
    calls.
    """
    replayed = Replayed()
    for call in past:
        event = recalled(call.event)
        ruling = law(event).ruling(event)
        kind = _kind(call, ruling)
        if kind is not None:
            replayed.changes.append(
                RulingChange(kind, call, ruling.verdict, ruling.rule, ruling.why)
            )
            continue
        replayed.unchanged += 1
        by_rules = ruling.verdict not in (None, RuleVerdict.ASK_OPERATOR)
        replayed.spared += call.by_person and by_rules
    return replayed


def _kind(call: PastCall, ruling: Ruling) -> ChangeKind | None:
    """Return how the call would end differently, or None."""
    now = ruling.verdict
    if now is None or now is RuleVerdict.ASK_OPERATOR:
        if call.by_person or isinstance(call.by, actor.Nobody):
            return None  # it came to the operator, or was to
        by_a_rule = isinstance(call.by, actor.RuleActor)
        return ChangeKind.ASKED if now is not None else ChangeKind.OPEN if by_a_rule else None
    if call.edited:
        return ChangeKind.EDITED
    if now is call.verdict:
        return None
    if now is RuleVerdict.ALLOW and call.by_person and call.verdict is RuleVerdict.DENY:
        return ChangeKind.OVERRULED
    return _NOW[now]
