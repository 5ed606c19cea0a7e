"""Whether the decisions on record that people signed for strict hooks were signed by them.

The team's file is enough for that. What the hooks sent and printed is on record by its digests
alone, in the signed statement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from crabhook.model.actor import Operator
from crabhook.model.signing import DecisionSignature
from crabhook.store.actors import actor_in
from crabhook.store.ballots import signatures_of
from crabhook.store.proofs import PagesOf
from crabhook.store.record import Record, RecordKind, may_be_signed
from crabhook.store.verify import RecordFinding
from crabhook.team.decision_signatures import (
    FalseSignatureError,
    UnknownSignerError,
    check_signature,
)
from crabhook.team.membership import Team

_CANNOT_BE_READ = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)


def signatures_in(data: Mapping[str, Any]) -> tuple[DecisionSignature, ...]:
    """Return the signatures in a record's data; raises as `signatures_of`."""
    return signatures_of(data.get("signed", ()))


@dataclass
class SignedDecisions:
    """Takes each record, and counts which signatures are true.

    `unknown` are of people whom the team's file does not have any more.
    """

    team: Team
    true: int = 0
    unknown: int = 0
    false: list[RecordFinding] = field(default_factory=list)
    _decided: set[bytes] = field(default_factory=set)

    @property
    def values(self) -> dict[str, object]:
        """The numbers, for programs."""
        return {"true": self.true, "false": len(self.false), "unknown": self.unknown}

    def told(self) -> Iterator[str]:
        """Yield what was verified, a sentence each; nothing where nobody signed a decision."""
        number = self.true + self.unknown + len(self.false)
        if not number:
            return
        yield f"People signed decisions for strict hooks {number} times: {self.true} are true."
        if self.unknown:
            yield f"{self.unknown} cannot be verified: their people are not in the team any more."

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
            at = datetime.fromisoformat(str(record.at)).timestamp()
            for each in signatures:
                self._take(record, data, each, at)
        except _CANNOT_BE_READ:
            self._is_false(record, "it cannot be read")

    def _take(
        self, record: Record, data: Mapping[str, Any], each: DecisionSignature, at: float
    ) -> None:
        try:
            self._compare(record, data, each)
            check_signature(each, self.team, at, PagesOf())
        except UnknownSignerError:
            self.unknown += 1
        except FalseSignatureError as error:
            self._is_false(record, str(error))
        else:
            self.true += 1

    def _is_false(self, record: Record, why: str) -> None:
        self.false.append(RecordFinding(record.seq, f"a signature of its decision is none: {why}"))

    def _compare(self, record: Record, data: Mapping[str, Any], each: DecisionSignature) -> None:
        legs = data.get("legs")
        if each.request_id not in (record.request_id, *(legs if isinstance(legs, list) else ())):
            raise FalseSignatureError("it is for another request")
        if each.card != record.card:
            raise FalseSignatureError("it is for another card")
        if each.verdict != record.verdict:
            raise FalseSignatureError(
                f"it is to {each.verdict}, and the record says {record.verdict}"
            )
        if record.kind == RecordKind.DECIDED:
            if each.signature in self._decided:
                raise FalseSignatureError("the same signature is on record twice")
            self._decided.add(each.signature)
