"""Whether the decisions on record that people signed for strict hooks were signed by them.

And whether these people are those whom the terms of an allow ask for. The team's file is enough for
that. What the hooks sent and printed is on record by its digests alone, in the signed statement.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from crabhook.hook.statement import terms_in
from crabhook.model.actor import Operator
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import LETS
from crabhook.store.actors import actor_in
from crabhook.store.ballots import signatures_of
from crabhook.store.proofs import PagesOf
from crabhook.store.record import Record, RecordKind, may_be_signed
from crabhook.store.recorded_past import RecordedPast
from crabhook.store.signed_terms import SignedAnswer, Unchecked, terms_finding
from crabhook.store.verify import RecordFinding
from crabhook.store.witness import legs_of
from crabhook.team.decision_signatures import (
    FalseSignatureError,
    UnknownSignerError,
    check_signature,
)
from crabhook.team.membership import Team

_CANNOT_BE_READ = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)

_WHY_UNCHECKED: Mapping[Unchecked, str] = {
    Unchecked.LEFT: "who signed, or the key, has left the team. An older file tells (--team-file).",
    Unchecked.WAITED: "the record does not tell how long the hook had waited.",
    Unchecked.OWNER: "the team's file names no owner of the machine.",
    Unchecked.TEAM: "the team's file may have been another then. Older files tell (--team-file).",
}

_BY_FILE = (Unchecked.LEFT, Unchecked.TEAM)
"""What the file of then would tell."""


def signatures_in(data: Mapping[str, Any]) -> tuple[DecisionSignature, ...]:
    """Return the signatures in a record's data; raises as `signatures_of`."""
    return signatures_of(data.get("signed", ()))


class _Sorted(NamedTuple):
    """The signatures of a record that are true, and those of people who left the team."""

    true: list[DecisionSignature]
    left: list[DecisionSignature]


class _Suspect(NamedTuple):
    """A finding by a file of the team, if that was the file of then.

    If it was not, `unless` says why nobody knows.
    """

    record: Record
    finding: RecordFinding
    unless: Unchecked
    file: str


@dataclass
class SignedDecisions:
    """Takes each record, and counts which signatures are true, and which terms hold.

    `files`: the team, by the SHA-256 of each of its files. A decision is verified by the file of
    its time if that is among them, else by the newest. `past` takes each record after this has.
    `kept`: for so many hooks the people signed whom the terms ask for.
    """

    files: Mapping[str, Team]
    past: RecordedPast
    true: int = 0
    kept: int = 0
    _false: list[RecordFinding] = field(default_factory=list)
    _lacking: list[RecordFinding] = field(default_factory=list)
    _strangers: list[_Suspect] = field(default_factory=list)
    _suspects: list[_Suspect] = field(default_factory=list)
    _unchecked: Counter[Unchecked] = field(default_factory=Counter)
    _decided: set[bytes] = field(default_factory=set)

    @property
    def false(self) -> list[RecordFinding]:
        """What is not as it should be, by all records that were taken."""
        return [*self.false_signatures, *self.lacking]

    @property
    def false_signatures(self) -> list[RecordFinding]:
        """The signatures that are none, or were by nobody of the team of then."""
        return [*self._false, *self._proven(self._strangers)]

    @property
    def unknown(self) -> int:
        """How many signatures are of people or keys that the team's file does not have any more."""
        return len(self._strangers) - len(self._proven(self._strangers))

    @property
    def lacking(self) -> list[RecordFinding]:
        """The decisions that too few people signed, or others."""
        return [*self._lacking, *self._proven(self._suspects)]

    @property
    def unchecked(self) -> Mapping[Unchecked, int]:
        """How many answers are not checked, by what is not known of them."""
        return self._unchecked + Counter(
            each.unless for each in self._suspects if not self._is_so(each)
        )

    def _proven(self, suspects: Iterable[_Suspect]) -> list[RecordFinding]:
        return [each.finding for each in suspects if self._is_so(each)]

    def _is_so(self, suspect: _Suspect) -> bool:
        return self.past.was_in_force(suspect.file, suspect.record)

    @property
    def values(self) -> dict[str, object]:
        """The numbers, for programs."""
        unchecked = {why.value: number for why, number in self.unchecked.items()}
        terms = {"kept": self.kept, "lacking": len(self.lacking), "not_checked": unchecked}
        numbers = {"true": self.true, "false": len(self.false_signatures), "unknown": self.unknown}
        return {**numbers, "terms": terms}

    def told(self) -> Iterator[str]:
        """Yield what was verified, a sentence each; nothing where nobody signed a decision."""
        number = self.true + len(self._strangers) + len(self._false)
        if not number:
            return
        yield f"People signed decisions for strict hooks {number} times: {self.true} are true."
        if self.unknown:
            yield f"{self.unknown} cannot be verified: the team does not have their people or keys."
        lacking, unchecked = len(self.lacking), self.unchecked
        if named := self.kept + lacking + sum(unchecked.values()):
            yield f"{named} answers name who has to sign, and these people signed {self.kept}."
        for why, answers in unchecked.items():
            yield f"{answers} not checked: {_WHY_UNCHECKED[why]}"

    def take(self, record: Record) -> None:
        """Verify the signatures of a decision, or of a vote."""
        if not may_be_signed(record):
            return
        data = record.data()
        try:
            signatures = signatures_in(data)
            who = actor_in(data)
            if isinstance(who, Operator) and all(each.operator != who.id for each in signatures):
                self._is_false(record, f"{who.name} did not sign it")
            file = self._file()
            parts = self._verify(record, data, signatures, file)
            if record.kind == RecordKind.DECIDED and record.verdict in LETS:
                self._hold(record, str(data.get("machine", "")), parts, file)
        except _CANNOT_BE_READ:
            self._is_false(record, "it cannot be read")

    def _file(self) -> str:
        """Return which file of the team verifies what is decided now, by its SHA-256."""
        now = self.past.team_file
        return now if now in self.files else max(self.files, key=self._version)

    def _version(self, file: str) -> int:
        return self.files[file].version

    def _verify(
        self,
        record: Record,
        data: Mapping[str, Any],
        signatures: tuple[DecisionSignature, ...],
        file: str,
    ) -> _Sorted:
        at = datetime.fromisoformat(str(record.at)).timestamp()
        parts = _Sorted([], [])
        for each in signatures:
            try:
                self._compare(record, data, each)
                check_signature(each, self.files[file], at, PagesOf())
            except UnknownSignerError as error:
                parts.left.append(each)
                finding = _no_signature(record, str(error))
                self._strangers.append(_Suspect(record, finding, Unchecked.LEFT, file))
            except FalseSignatureError as error:
                self._is_false(record, str(error))
            else:
                parts.true.append(each)
        self.true += len(parts.true)
        return parts

    def _hold(self, record: Record, machine: str, parts: _Sorted, file: str) -> None:
        """Hold what was signed for each hook against the terms that it names."""
        for request in dict.fromkeys(each.request_id for part in parts for each in part):
            true, left = (tuple(s for s in part if s.request_id == request) for part in parts)
            answer = SignedAnswer(true, left, machine, self.past.waited(request, record))
            if not answer.terms:
                continue
            finding = terms_finding(answer, self.files[file])
            lacks = _lack(record, finding.lacks)
            if not finding.lacks:
                self.kept += 1
            elif finding.unless is None:
                self._lacking.append(lacks)
            elif finding.unless in _BY_FILE:
                self._suspects.append(_Suspect(record, lacks, finding.unless, file))
            else:
                self._unchecked[finding.unless] += 1

    def _is_false(self, record: Record, why: str) -> None:
        self._false.append(_no_signature(record, why))

    def _compare(self, record: Record, data: Mapping[str, Any], each: DecisionSignature) -> None:
        if each.request_id not in legs_of(record.request_id, data):
            raise FalseSignatureError("it is for another request")
        if each.card != record.card:
            raise FalseSignatureError("it is for another card")
        if each.verdict != record.verdict:
            raise FalseSignatureError(
                f"it is to {each.verdict}, and the record says {record.verdict}"
            )
        try:
            tuple(terms_in(each.terms))
        except ValueError:
            raise FalseSignatureError("its list of who has to sign cannot be read") from None
        if record.kind == RecordKind.DECIDED:
            if each.signature in self._decided:
                raise FalseSignatureError("the same signature is on record twice")
            self._decided.add(each.signature)


def _no_signature(record: Record, why: str) -> RecordFinding:
    return RecordFinding(record.seq, f"a signature of its decision is none: {why}")


def _lack(record: Record, words: str) -> RecordFinding:
    return RecordFinding(record.seq, f"its decision lacks signatures: {words}")
