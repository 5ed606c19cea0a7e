"""A record as it leaves: its link to the record before, and what every format says of it."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from crabhook.datatypes import frozen
from crabhook.model.jsontext import Value, compact, object_at, text_at
from crabhook.store.interface import History, Query
from crabhook.store.record import GENESIS, Record, RecordKind, cuts_in, line_of

LONGEST_WORDS = 1000  # letters of a summary
_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@frozen
class ExportSource:
    """Which program sends the records: its host, its version, and an id of the record."""

    host: str
    version: str
    chain: str = ""


class ExportSeverity(NamedTuple):
    """How grave a record is, by each scale: OCSF's number and word, CEF's 0 to 10, syslog's."""

    ocsf: int
    word: str
    cef: int
    syslog: int


_INFORMATION = ExportSeverity(1, "Informational", 2, 6)
_NOTICE = ExportSeverity(2, "Low", 4, 5)
_ALARM = ExportSeverity(4, "High", 8, 4)

_GRAVE: Mapping[str, ExportSeverity] = {
    RecordKind.RAN_OTHER: _ALARM,
    RecordKind.CONFLICT: _ALARM,
    RecordKind.GAP: _ALARM,
    RecordKind.SERVER: _NOTICE,
    RecordKind.DOCUMENT: _NOTICE,
    RecordKind.OPERATOR: _NOTICE,
    RecordKind.CHECKPOINT: _NOTICE,
}


class ExportActor(NamedTuple):
    """Who decided or did it: `kind` as in the record, and a name and an id where there are any."""

    kind: str
    name: str
    id: str = ""


@frozen
class ExportItem:
    """A record to export, with the data of its body.

    `before` is the hash of the record before, None where that is gone.
    """

    record: Record
    before: bytes | None
    data: Mapping[str, Value]

    @classmethod
    def of(cls, record: Record, before: bytes | None) -> "ExportItem":
        """Return the item of a record."""
        return cls(record, before, record.data())

    @property
    def line(self) -> str:
        """The text that the record's hash covers, after the hash of the record before."""
        return line_of(self.record[:-1])

    @property
    def microseconds(self) -> int:
        """When it happened, in microseconds since 1970; 0 where somebody changed the time."""
        try:
            return (datetime.fromisoformat(self.record.at) - _BEGIN) // _MICROSECOND
        except (TypeError, ValueError):
            return 0

    @property
    def waited(self) -> float:
        """How many seconds the call waited for its decision; 0 for a decision at once."""
        waited = self.data.get("waited")
        return max(0.0, waited) if isinstance(waited, int | float) else 0.0

    @property
    def severity(self) -> ExportSeverity:
        """How grave it is."""
        return _GRAVE.get(self.record.kind, _INFORMATION)

    @property
    def outcome(self) -> str:
        """The verdict, or what happened in place of a verdict."""
        return str(self.record.verdict or self.record.kind)

    @property
    def actor(self) -> ExportActor | None:
        """Who decided or did it; None where the record names nobody."""
        actor = object_at(self.data, "actor")
        kind = text_at(actor, "kind")
        if not kind:
            return None
        if kind == "operator":
            return ExportActor(kind, text_at(actor, "name") or "operator", text_at(actor, "id"))
        return ExportActor(kind, text_at(self.data, "by") or text_at(actor, "ref") or kind)

    @property
    def machine(self) -> str:
        """The machine that asked, by its token or by its own word; empty where none is named."""
        sender = object_at(self.data, "from")
        named = text_at(self.data, "machine"), text_at(sender, "machine"), text_at(sender, "host")
        return next(filter(None, named), "")

    @property
    def input(self) -> Value:
        """The tool's input; None where the record has none."""
        if (asked := self.data.get("input")) is not None:
            return asked
        return object_at(self.data, "fields").get("tool_input")

    @property
    def words(self) -> str:
        """What happened, in a line of at most LONGEST_WORDS letters."""
        record = self.record
        number = f" #{record.card}" if record.card is not None else ""
        who = f" by {self.actor.name}" if self.actor else ""
        about = (text_at(self.data, key) for key in ("what", "why", "reason", "event"))
        what = (
            compact(asked) if (asked := self.input) is not None else next(filter(None, about), "")
        )
        tool = f" {record.tool}" if record.tool else ""
        line = f"{self.outcome}{number}{tool}{who}" + (f": {what}" if what else "")
        return line if len(line) <= LONGEST_WORDS else f"{line[:LONGEST_WORDS]}…"


def linked(
    records: Iterable[Record], history: History, before: bytes | None = None
) -> Iterator[ExportItem]:
    """Yield the items of records in order, where some may be left out.

    `before` is the hash of the record before the first, if that is known.
    """
    last = None
    for record in records:
        if last is not None and last.seq == record.seq - 1:
            before = last.hash
        elif last is not None or before is None:
            before = _hash_before(history, record.seq)
        yield ExportItem.of(record, before)
        last = record


def _hash_before(history: History, seq: int) -> bytes | None:
    """Return the hash of the record before this number; None where that is gone."""
    if seq == GENESIS.seq + 1:
        return GENESIS.hash
    for record in history.find(Query(after=seq - 2, before=seq)):
        return record.hash
    cuts = cuts_in(history.checkpoints())
    return next((cut.hash for cut in cuts if cut.begins == seq), None)
