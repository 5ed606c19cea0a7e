"""What the owner's rules mean for an event that has arrived: decided, asked, or left open."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from crabhook.model import actor
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.policy.rule import Rule, RuleVerdict
from crabhook.policy.ruling import Ruling

_VERDICTS: Mapping[RuleVerdict, Verdict] = {
    RuleVerdict.ALLOW: Verdict.ALLOW,
    RuleVerdict.DENY: Verdict.DENY,
    RuleVerdict.ASK_AGENTS_USER: Verdict.ASK,
    RuleVerdict.PASS: Verdict.PASS,
}

_TOLD, _TEXT = 20, 400  # parts of a call, and letters of each, that are told of


@dataclass(frozen=True, slots=True)
class Said:
    """What the rules say: a decision, or that the operator must be asked, and why.

    Nothing at all leaves the event to the standing orders.
    """

    decided: Decided | None = None
    asks: bool = False
    why: str = ""

    @property
    def denies(self) -> bool:
        """Whether the event is refused whatever else was ordered."""
        return self.decided is not None and self.decided.decision.verdict is Verdict.DENY

    def where(self, verdicts: Collection[Verdict]) -> "Said":
        """Return what they come to for an event that can be told these verdicts.

        A person was to be asked: where the agent's own user cannot be, it is
        the operator, since an agent that is told nothing may just go on.
        """
        asked = self.decided is not None and self.decided.decision.verdict is Verdict.ASK
        if not asked or Verdict.ASK in verdicts:
            return self
        return Said(asks=True, why=f"{self.why}; this agent cannot be told to ask its own user")


def against(rulings: Iterable[Ruling | None]) -> tuple[str, ...]:
    """Return what denials and protected places say against calls, a sentence each, once."""
    return tuple(dict.fromkeys(said for ruling in rulings for said in _objections(ruling)))


def _objections(ruling: Ruling | None) -> Iterator[str]:
    if ruling is None or not _objects(ruling.verdict, ruling.rule):
        return
    against = [one for one in ruling.parts if _objects(one.verdict, one.rule)][:_TOLD]
    yield from [f"{one.why}: {one.text[:_TEXT]}" for one in against] or [ruling.why]


def _objects(verdict: RuleVerdict | None, rule: Rule | None) -> bool:
    """Whether it denies, or asks a person though no rule of the owner's wants that."""
    return verdict is RuleVerdict.DENY or (verdict is RuleVerdict.ASK_OPERATOR and rule is None)


def said_by(ruling: Ruling | None) -> Said:
    """Return what a ruling means for the event it is about."""
    if ruling is None or ruling.verdict is None:
        return Said()
    verdict = _VERDICTS.get(ruling.verdict)
    if verdict is None:
        return Said(asks=True, why=ruling.why)
    by = actor.Rule(f"{ruling.rule} ({ruling.rule.where})" if ruling.rule else "")
    reason = ""
    if verdict is Verdict.DENY:
        note = ruling.rule.note if ruling.rule else ""
        reason = note or f"the operator's rules deny this: {ruling.why}"
    return Said(Decided(Decision(verdict, reason=reason), by), why=ruling.why)
