"""Rulings: on a call, on one part of it, and the order in which parts decide."""

from dataclasses import dataclass, replace
from enum import IntEnum

from crabhook.model.card import Because, Brought
from crabhook.policy.calls.parts import CommandPart, FetchPart, FilePart, NamePart, Part
from crabhook.policy.rule import Placed, Rule, RuleVerdict


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


class Rank(IntEnum):
    """The order in which rulings on parts decide a call, the first first."""

    DENY = 0
    PROTECTED = 1
    ASK = 2
    ALLOW = 3
    PASS = 4
    NOTHING = 5


@dataclass(frozen=True, slots=True)
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
    said = part_ruling(part, rule.verdict, rule, why, hidden=hidden, because=because)
    return RankedRuling(rank, placed.order, said)


def because_of_rule(rule: Rule, text: str, before: str = "") -> Because:
    """Return that a rule, in these words of it, brings a card here; `before` says how."""
    words = f'{before}rule "{text}"' + (f" \N{EM DASH} {rule.note}" if rule.note else "")
    return Because(Brought.RULE, words, text, rule.note)


def question_about_search(said: RankedRuling, part: FilePart) -> RankedRuling:
    """Return the ruling on a file as a question about the search that reads the file."""
    verdict = said.part.verdict
    if verdict is RuleVerdict.DENY:
        verdict = RuleVerdict.ASK_OPERATOR
    why = f"it reads {said.part.text} too, and of that: {said.part.why}"
    rank = Rank.PROTECTED if said.rank is Rank.PROTECTED else Rank.ASK
    because = said.part.because
    if because is not None:
        because = replace(because, words=f"it reads {said.part.text} too: {because.words}")
    asked = part_ruling(part, verdict, None, why, hidden=True, because=because)
    return RankedRuling(rank, said.order, asked)


def question_about_folder(part: FilePart, folder: str, why: str) -> RankedRuling:
    """Return the question about a folder that nobody could look at whole."""
    why = f"what a rule denies or protects may be in {folder}: {why}"
    said = part_ruling(part, RuleVerdict.ASK_OPERATOR, None, why, hidden=True)
    return RankedRuling(Rank.ASK, 0, said)


def part_ruling(  # noqa: PLR0913 - a ruling's fields
    part: Part,
    verdict: RuleVerdict | None,
    rule: Rule | None,
    why: str,
    *,
    hidden: bool,
    because: Because | None = None,
) -> PartRuling:
    """Return the ruling on a part, with a word for what the part is."""
    match part:
        case CommandPart():
            kind = "command"
        case FilePart():
            kind = str(part.use)
        case FetchPart():
            kind = "fetch"
        case NamePart():
            kind = "agent" if "Agent" in part.tools else "skill"
        case _:
            kind = "tool"
    return PartRuling(kind, part.text, verdict, rule, why, hidden, because)
