"""Whether the people who signed an answer are those whom its terms ask for, by a hook's own law.

The record tells less than a hook knew. So the law (`crabhook.hook.quorum`) is asked several times.
Each reading takes one more unknown thing as good. The first that holds says what it depends on.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum

from crabhook.datatypes import frozen
from crabhook.hook.quorum import Quorum, TrueSigner
from crabhook.hook.statement import SignedTerms, terms_in
from crabhook.model.signing import DecisionSignature
from crabhook.store.recorded_past import Waited
from crabhook.team.decision_signatures import STEPS_UP
from crabhook.team.membership import Team


class Unchecked(StrEnum):
    """What the record and the team's file do not tell, so that an answer is not checked."""

    WAITED = "waited"  # for how long the hook had waited
    OWNER = "owner"  # whose machine it was
    LEFT = "left"  # who they are who signed, and are not in the team's file
    TEAM = "team"  # who was in which group then


@frozen
class SignedAnswer:
    """What was signed for one hook: what is true, and what nobody of the team's file signs with.

    `machine` names the hook's machine, as in the team's file; empty for the server's own.
    """

    true: tuple[DecisionSignature, ...]
    left: tuple[DecisionSignature, ...]
    machine: str
    waited: Waited

    @property
    def terms(self) -> tuple[SignedTerms, ...]:
        """Who has to sign, as those say whose signature is true, or the others where none is."""
        return tuple(terms for each in self.true or self.left for terms in terms_in(each.terms))


@frozen
class TermsFinding:
    """Whether the terms of an answer hold.

    `lacks` says in words what is missing; empty where nothing is. `unless`: what would have to be
    otherwise than it seems, so that nothing is missing; None where nothing would help.
    """

    lacks: str = ""
    unless: Unchecked | None = None


def terms_finding(answer: SignedAnswer, team: Team) -> TermsFinding:
    """Hold the signatures of an answer against their own terms, by a file of the team."""
    lacks = ""
    for unless, quorum in _readings(answer, team):
        now = "; ".join(dict.fromkeys(quorum.lacks(answer.terms)))
        if not now:
            return TermsFinding(lacks, unless)
        lacks = now
    return TermsFinding(lacks)


def _readings(answer: SignedAnswer, team: Team) -> Iterator[tuple[Unchecked | None, Quorum]]:
    names = {member.id: member.name for member in team.members}
    owner, waited = _owner(team, answer.machine), answer.waited
    owner_known = owner in names
    selectors = tuple(
        name for each in answer.terms for name in (*each.of, *(to for _, to in each.after))
    )

    def by_file(person: str) -> TrueSigner:
        return TrueSigner(names[person], team.groups_of(person), own=person == owner)

    def anybody(person: str) -> TrueSigner:
        return TrueSigner(names.get(person, person), selectors, own=False)

    there, everybody = _people(answer.true, by_file), (*answer.true, *answer.left)
    sure = {each.operator for each in answer.true}
    some = _people(everybody, lambda person: (by_file if person in sure else anybody)(person))
    yield None, Quorum(there, waited.least, owner_known=owner_known)
    yield Unchecked.WAITED, Quorum(there, waited.most, owner_known=owner_known)
    yield Unchecked.OWNER, Quorum(there, waited.most, owner_known=True)
    yield Unchecked.LEFT, Quorum(some, waited.most, owner_known=True)
    yield Unchecked.TEAM, Quorum(_people(everybody, anybody), waited.most, owner_known=True)


def _people(
    signatures: tuple[DecisionSignature, ...], signer_of: Callable[[str], TrueSigner]
) -> tuple[TrueSigner, ...]:
    people = dict[str, TrueSigner]()
    for each in signatures:
        signer = people.setdefault(each.operator, signer_of(each.operator))
        signer.stepped_up = signer.stepped_up or each.kind in STEPS_UP
    return tuple(people.values())


def _owner(team: Team, machine: str) -> str:
    """Return whose agents run on a machine, by id; nobody's where its token was revoked."""
    revoked = any(each.name == machine and each.revoked for each in team.machines)
    return "" if revoked else team.owner_of(machine)
