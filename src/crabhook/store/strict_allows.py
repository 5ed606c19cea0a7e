"""Whether people signed each allow on record that they gave for a strict hook.

The record marks a strict hook where it asked. What was signed, and by whom, others verify: this
needs no team.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crabhook.model.actor import Operator
from crabhook.model.statements import LETS
from crabhook.store.actors import actor_in
from crabhook.store.record import Record, RecordKind
from crabhook.store.verify import RecordFinding
from crabhook.store.witness import legs_of

_STRICT = '"strict":true'
_UNSIGNED = "its decision lacks signatures: nobody has signed it for a strict hook"


@dataclass
class StrictAllows:
    """Takes each record, and finds what a person allowed a strict hook without a signature.

    Only people sign, and no server takes such an allow from them. What a rule, an order or a
    headless server allows is not signed either, and the hook prints its own fixed words.
    `allows` and `signed` count hooks, of which a card may have several.
    """

    allows: int = 0
    signed: int = 0
    _strict: set[str] = field(default_factory=set)  # requests
    _unsigned: list[RecordFinding] = field(default_factory=list)

    def take(self, record: Record) -> None:
        """Take the next record."""
        match record.kind:
            case RecordKind.ASKED | RecordKind.TAKEN_UP if _is_marked(record):
                self._strict.add(record.request_id)
            case RecordKind.ASKED:  # another hook, with an id that was used before
                self._strict.discard(record.request_id)
            case RecordKind.DECIDED if self._strict and record.verdict in LETS:
                self._look(record, record.data())

    def _look(self, record: Record, data: Mapping[str, Any]) -> None:
        strict = self._strict & legs_of(record.request_id, data)
        if not strict or not isinstance(actor_in(data), Operator):
            return
        listed = data.get("signed")
        signatures = listed if isinstance(listed, list) else []
        unsigned = strict - {
            str(each.get("request")) for each in signatures if isinstance(each, dict)
        }
        self.allows += len(strict)
        self.signed += len(strict - unsigned)
        if unsigned:
            self._unsigned.append(RecordFinding(record.seq, _UNSIGNED))

    def false(self) -> Sequence[RecordFinding]:
        """Return the allows without a signature."""
        return self._unsigned

    def values(self) -> dict[str, object]:
        """Return the numbers, for programs; nothing where nobody allowed a strict hook anything."""
        numbers = {"allows": self.allows, "signed": self.signed}
        return {"strict": numbers} if self.allows else {}

    def told(self) -> Iterator[str]:
        """Yield what was found, in words; nothing as `values`."""
        if self.allows:
            yield f"People allowed calls of strict hooks {self.allows} times: {self.signed} signed."


def _is_marked(record: Record) -> bool:
    """Whether a record says that its hook is strict; first by a quick look at its text."""
    return _STRICT in str(record.body) and record.data().get("strict") is True
