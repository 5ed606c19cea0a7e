"""What the policy says of a call."""

from dataclasses import dataclass

from crabhook.policy.rule import Rule, RuleVerdict


@dataclass(frozen=True, slots=True)
class PartRuling:
    """What was said of one part of a call.

    `kind` says what the part is: command, write, read, name, fetch, agent,
    tool.  `hidden`: it was only suspected, so it could not help the call.
    `verdict` is None where no rule speaks of it.
    """

    kind: str
    text: str
    verdict: RuleVerdict | None
    rule: Rule | None
    why: str
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was said of the whole.

    `verdict` is None where the rules leave it open: the operator is asked.
    `rule` decided it, if one rule did.  `why` is for a person.  `parts` are
    those that matter: all that an allow must cover, and every hit.
    """

    verdict: RuleVerdict | None
    rule: Rule | None
    why: str
    parts: tuple[PartRuling, ...] = ()
    troubles: tuple[str, ...] = ()
    protected: str = ""
