"""What `crabhook log` verifies: that the record is as written, and complete.

Every link is computed again from the beginning. A cut-off end shows against a head that was kept
before. The database may be ahead of the kept head, which is kept after the records.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from typing import Any, TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.actor import Nobody, Operator
from crabhook.store.actors import actor_in
from crabhook.store.interface import ALL, CorruptError, History, Query, Row, SideTables, StoreError
from crabhook.store.record import GENESIS, Cut, Head, Record, RecordKind, cut_of, cuts_in, link
from crabhook.store.witness import (
    ANSWERS,
    UNDECIDED,
    legs_of,
    of_answer,
    of_asked,
    of_halts,
)

_OF_DOCUMENTS = Query(kinds=(RecordKind.DOCUMENT.value,))
Look: TypeAlias = Callable[[Record], None]
MOST = 100  # findings of each sort that are listed
_SHOWN = 120  # letters of a table's definition


@frozen
class RecordFinding:
    """A finding about a record, or about its place."""

    seq: int
    what: str


@dataclass(slots=True)
class Verified:
    """The result; `faults` mean that the record is not as written.

    `lost`: a gap says that entries were lost. `elsewhere` is the number of the newest record whose
    head came from elsewhere and was compared; None without one.
    """

    records: int = 0
    first: int = 0
    head: Head = GENESIS
    faults: list[RecordFinding] = field(default_factory=list)
    notes: list[RecordFinding] = field(default_factory=list)
    untold: int = 0
    lost: bool = False
    elsewhere: int | None = None

    @property
    def sound(self) -> bool:
        """Whether everything is as it was written."""
        return not self.faults

    def fault(self, seq: int, what: str, *, noted: bool = False) -> None:
        """Add a fault; or, if `noted`, a harmless fact worth knowing."""
        findings = self.notes if noted else self.faults
        if len(findings) < MOST:
            findings.append(RecordFinding(seq, what))
        else:
            self.untold += 1


def verify(
    history: History,
    heads: Sequence[Head],
    *,
    thorough: bool = True,
    last: int = 0,
    look: Look = lambda _: None,
) -> Verified:
    """Return what is wrong with the record.

    `heads` were kept apart before `history` was opened. `thorough` also makes the storage check
    itself. `last` verifies only so many of the latest records; 0 is all. `look` gets each of them.
    """
    verified, beside = Verified(), _Outstanding()
    try:
        _schema(history, verified)
        first = next(history.find(ALL), None)
        before = next(history.find(Query(last=last + 1)), None) if last else None
        if before and first and before.seq == first.seq:
            before = None  # the record has no more
        takes = (beside.take, look)
        hashes = _walk(history, verified, {head.seq for head in heads}, (before, last), takes)
        _compare(history, verified, heads, hashes, first)
        _documents(history, verified)
        _compare_beside(history, verified, None if before else beside)
        if thorough:
            for fault in history.damage():
                verified.fault(0, f"the database is damaged: {fault}")
    except StoreError as error:
        verified.fault(verified.head.seq, f"the database cannot be read past here: {error}")
    return verified


def verify_here(
    history: History,
    elsewhere: Sequence[Head] = (),
    *,
    thorough: bool = True,
    last: int = 0,
    look: Look = lambda _: None,
) -> Verified:
    """Return what `verify` does, by the head kept here and by heads from `elsewhere`.

    A head kept here that cannot be read, or is gone, is a fault as well.
    """
    garbled, kept = "", None
    try:
        kept = history.kept_head()
    except CorruptError as error:
        garbled = str(error)
    heads = [*([kept] if kept else []), *elsewhere]
    verified = verify(history, heads, thorough=thorough, last=last, look=look)
    if garbled:
        verified.fault(verified.head.seq, f"the head that was kept apart is garbled: {garbled}")
    elif kept is None and verified.records:
        verified.fault(verified.head.seq, "the head that was kept apart is gone")
    verified.elsewhere = max((head.seq for head in elsewhere), default=None)
    return verified


def left_open(verified: Verified) -> Iterator[str]:
    """Yield what a record without faults does not show, a sentence each."""
    if verified.elsewhere is None:
        yield (
            "No head from elsewhere was compared: this does not show that nobody wrote the whole "
            "record again, and the head kept beside it."
        )
        yield (
            "A head that left this machine shows that: `crabhook log verify --head FILE`. "
            "`[record] head_command` in settings.toml sends heads away."
        )
    elif verified.elsewhere < verified.head.seq:
        yield (
            f"The head from elsewhere is of record {verified.elsewhere}: it does not show that "
            f"nobody wrote records {verified.elsewhere + 1} to {verified.head.seq} again, "
            "or added them."
        )


def _walk(
    history: History,
    verified: Verified,
    wanted: set[int],
    end: tuple[Record | None, int],
    takes: Iterable[Look],
) -> dict[int, bytes]:
    """Follow the chain; return the wanted hashes, and that before the first record.

    `end`: the record before the last records, if only these are verified, and how many they are.
    """
    earlier, last_ones = end
    records = history.find(Query(last=last_ones) if earlier else ALL)
    first = next(records, None)
    if first is None:
        return {0: GENESIS.hash}
    verified.first = first.seq
    before = _before(history, first, earlier, verified)
    hashes = {} if before is None else {first.seq - 1: before}
    last = first.seq - 1
    latest = ""
    for record in chain((first,), records):
        if record.seq != last + 1:
            verified.fault(record.seq, f"records {last + 1} to {record.seq - 1} are missing")
            before = None
        # After a hole, the hash before the record is unknown, so its own hash cannot be verified.
        if before is not None and link(before, record[:-1]) != record.hash:
            verified.fault(record.seq, "this record, or what it follows, is not what was written")
        _remark(record, latest, verified)
        for take in takes:
            take(record)
        last, before, latest = record.seq, record.hash, max(latest, str(record.at))
        if last in wanted:
            hashes[last] = before
        verified.records += 1
        verified.head = Head(last, before)
    return hashes


def _before(
    history: History, first: Record, earlier: Record | None, verified: Verified
) -> bytes | None:
    """Return the hash that the first record must follow."""
    if earlier and first.seq == earlier.seq + 1:
        return earlier.hash
    if first.seq == 1:
        return GENESIS.hash
    if (cut := _cut_before(history, first.seq)) is None:
        what = f"records 1 to {first.seq - 1} are missing, and no checkpoint tells of it"
        verified.fault(first.seq, what)
        return None
    return cut.hash


def _cut_before(history: History, begins: int) -> Cut | None:
    """Return the checkpoint's cut, after which the record begins."""
    return next((cut for cut in cuts_in(history.checkpoints()) if cut.begins == begins), None)


def _remark(record: Record, latest: str, verified: Verified) -> None:
    if record.kind == RecordKind.CHECKPOINT:
        try:
            untrue = cut_of(record.body).untrue(record.at)
        except (ValueError, KeyError, TypeError):
            untrue = "it does not say what was removed"
        if untrue:
            verified.fault(record.seq, f"this checkpoint cannot be true: {untrue}")
    if record.kind == RecordKind.GAP:
        why = str(record.data().get("why", "a gap that does not say why"))
        verified.lost |= re.search(r'"lost":[1-9]', str(record.body)) is not None
        verified.fault(record.seq, why, noted='"cut":true' not in str(record.body))
    elif str(record.at) < latest:
        what = f"the clock was set back: {record.at} follows {latest}"
        verified.fault(record.seq, what, noted=True)


def _compare(
    history: History,
    verified: Verified,
    heads: Iterable[Head],
    hashes: dict[int, bytes],
    first: Record | None,
) -> None:
    begins = first.seq if first else 1
    for head in heads:
        if head.seq > verified.head.seq:
            what = f"the record ends here, and its head kept apart is of {head.seq}: it was cut off"
            verified.fault(verified.head.seq, what)
        elif head.seq in hashes:
            if hashes[head.seq] != head.hash:
                verified.fault(head.seq, "this is not the record that the head kept apart is of")
        elif 0 < head.seq < begins - 1:
            _compare_removed(_cut_before(history, begins), head, verified)


def _compare_removed(cut: Cut | None, head: Head, verified: Verified) -> None:
    """Say whether retention can have removed a head's record."""
    if cut is None:
        verified.fault(
            head.seq, "the record that this head is of is gone, and no checkpoint says why"
        )
    elif head.at > cut.latest:
        verified.fault(
            head.seq,
            f"this head is of a record of {head.at}, and the checkpoint says that none later than "
            f"{cut.latest} was removed",
        )
    else:
        no_time = "" if head.at else ", and this head has no time to hold against that"
        removed = f"retention has removed ({cut.why}, the latest of {cut.latest}){no_time}"
        verified.fault(head.seq, f"this head is of a record that {removed}", noted=True)


def _documents(history: History, verified: Verified) -> None:
    """Compare the documents with the last record of each."""
    for seq, difference in amiss(history).values():
        verified.fault(seq or verified.head.seq, difference)
    last = dict[str, object]()
    for record in history.find(_OF_DOCUMENTS):
        data = record.data()
        name, before = str(data.get("document", "")), data.get("from")
        if last.get(name, before) != before:
            what = f"the document {name} was changed by hand before this, and is mended here"
            verified.fault(record.seq, what, noted=True)
        last[name] = data.get("to")


def amiss(history: History) -> dict[str, tuple[int, str]]:
    """Return each document that differs from the record, with the record's number and the fault.

    Without a record the number is 0.
    """
    documents, last = history.documents(), dict[str, tuple[int, dict[str, Any]]]()
    for record in history.find(_OF_DOCUMENTS):
        data = record.data()
        last[str(data.get("document", ""))] = record.seq, data
    wrong = dict[str, tuple[int, str]]()
    for name in sorted({*documents, *last}):
        seq, data = last.get(name, (0, {}))
        document = documents.get(name)
        if document is None:
            wrong[name] = seq, f"the document {name} is on record, and is gone"
        elif not data:
            wrong[name] = seq, f"the document {name} is there, and no record tells who wrote it"
        elif (document.hash, document.version) != (data.get("to"), data.get("version")):
            wrong[name] = seq, f"the document {name} is not what was written here"
    return wrong


class _Outstanding:
    """What the tables beside the record must hold, by the records."""

    def __init__(self) -> None:
        self.waiting: dict[str, Record] = {}  # by the request, the record that put it there
        self.by_card: dict[int, set[str]] = {}
        self.last_card = 0
        self.changed: list[Record] = []  # taken up by a server, and not what was asked

    def take(self, record: Record) -> None:
        """Take the next record."""
        if isinstance(record.card, int):
            self.last_card = max(self.last_card, record.card)
        match record.kind:
            case RecordKind.ASKED | RecordKind.TAKEN_UP:
                before = self.waiting.get(record.request_id)
                # What never changes in a row has one fingerprint, whichever server writes it.
                if before and (kept := kept_in(before)) and kept_in(record) not in (kept, set()):
                    self.changed.append(record)
                self.waiting[record.request_id] = record
                self.by_card.setdefault(record.card or 0, set()).add(record.request_id)
            case RecordKind.DECIDED | RecordKind.WITHDRAWN | RecordKind.EXPIRED:
                self._end(record.request_id)
                for request_id in self.by_card.pop(record.card or 0, ()):
                    self.waiting.pop(request_id, None)
                if '"legs"' in str(record.body):
                    for leg in legs_of(record.request_id, record.data()):
                        self._end(leg)
            case RecordKind.LEFT:
                self._end(record.request_id)

    def _end(self, request_id: str) -> None:
        record = self.waiting.pop(request_id, None)
        if record is not None:
            self.by_card.get(record.card or 0, set()).discard(request_id)


def _schema(history: History, verified: Verified) -> None:
    """Compare the tables, indexes, triggers and views with what crabhook makes."""
    schema = history.schema()
    for line in sorted(schema.there - schema.made):
        verified.fault(0, f"the database has what crabhook does not make: {line[:_SHOWN]}")
    for line in sorted(schema.made - schema.there):
        verified.fault(0, f"the database lacks what crabhook makes: {line[:_SHOWN]}")


def _compare_beside(history: History, verified: Verified, beside: _Outstanding | None) -> None:
    """Compare the tables beside the record with it; None: only a part of it was read."""
    there = history.beside()
    if not verified.records:
        return
    if there.head is not None and there.head != verified.head:
        what = f"the head in the database is of record {there.head.seq}, and is not this record"
        verified.fault(verified.head.seq, what)
    if not there.key:
        verified.fault(verified.head.seq, "the record's key is gone: what waits cannot be compared")
    _compare_answers(history, there, verified)
    _compare_stops(history, there, verified)
    if beside is None:
        return
    if there.begins != verified.first:
        what = f"the counter says that the record begins at {there.begins}, and it does here"
        verified.fault(verified.first, what)
    if there.card < beside.last_card:
        what = f"the counter of cards is at {there.card}, and the record has #{beside.last_card}"
        verified.fault(verified.head.seq, what)
    _compare_waiting(there, beside, verified)


def _compare_waiting(there: SideTables, beside: _Outstanding, verified: Verified) -> None:
    for record in beside.changed:
        what = f"what was taken up as request {record.request_id} is not what was asked"
        verified.fault(record.seq, what)
    rows = _by_recorded_id(there.waiting, there.key)
    for request_id, record in beside.waiting.items():
        kept = kept_in(record)
        row = rows.get(request_id)
        if row is None and kept:
            what = f"request {request_id} of #{record.card} waits, and its row is gone"
            _beside(verified, f"{what}: the next server will not ask about it", record.seq)
        elif row is not None and kept and there.key and of_asked(there.key, row) not in kept:
            what = f"what waits as request {request_id} is not what was asked here"
            verified.fault(record.seq, what)
    missing = (row for name, row in rows.items() if name not in beside.waiting)
    already_reported = {id(row) for name, row in rows.items() if name in beside.waiting}
    for request_id in {
        str(row.get("request_id")) for row in missing if id(row) not in already_reported
    }:
        what = f"request {request_id} waits in the database, and no record says that it does"
        _beside(verified, what, noted=verified.first > 1)


def _by_recorded_id(rows: Iterable[Row], key: bytes) -> dict[str, Row]:
    """Return the rows by their requests' ids as the record may have them.

    A hook chooses its id, and an id that looks like a secret is on record as a mark.
    """
    ids = [(str(row.get("request_id")), row) for row in rows]
    if not ids:
        return {}
    from crabhook.store.redact import Redactor  # its patterns take time to compile

    redactor = Redactor(key)
    ways = (str, redactor.name, redactor.text)
    return {way(request_id): row for request_id, row in ids for way in ways}


def _compare_answers(history: History, there: SideTables, verified: Verified) -> None:
    """Compare the hooks' answers with the decisions."""
    rows = _by_recorded_id(there.answers, there.key)
    missing = {str(row.get("request_id")) for row in there.answers}
    kinds = tuple(sorted(kind.value for kind in ANSWERS))
    for record in history.find(Query(kinds=kinds, backwards=True)):
        if not missing:
            return
        kept = None
        if record.kind in UNDECIDED and not kept_in(record):
            continue  # most of them told their hooks nothing
        for leg in legs_of(str(record.request_id), record.data()) & rows.keys():
            row = rows[leg]
            if (request_id := str(row.get("request_id"))) not in missing:
                continue
            missing.discard(request_id)
            kept = kept_in(record) if kept is None else kept
            if kept and there.key and not kept.issuperset(of_answer(there.key, row)):
                what = f"the answer to request {request_id} is not what was decided here"
                verified.fault(record.seq, what)
    for request_id in sorted(missing):
        _beside(verified, f"the answer to request {request_id} was given by no decision on record")


def _compare_stops(history: History, there: SideTables, verified: Verified) -> None:
    if (last := history.last_stops()) is None:
        if there.halts:
            what = "sessions are stopped, or notes wait, of which no record tells"
            verified.fault(verified.head.seq, f"{what}: an older crabhook wrote none", noted=True)
    elif difference := stops_amiss(there, last):
        verified.fault(last.seq, difference)


def stops_amiss(there: SideTables, last: Record | None) -> str:
    """Say that the stops are not those that the `last` record of them was written with, or ""."""
    kept = kept_in(last) if last else set()
    if last is None or not kept or not there.key or of_halts(there.key, there.halts) in kept:
        return ""
    what = "a stopped session may go on: the table of stops and notes is not what was written here"
    return f"{what} ({last.data().get('what', '')})"


def _beside(verified: Verified, what: str, seq: int = 0, *, noted: bool = False) -> None:
    """Add a fault of the tables; harmless where the records that would tell were lost."""
    lost = ", and entries were lost while the record was missing" if verified.lost else ""
    verified.fault(seq or verified.head.seq, f"{what}{lost}", noted=noted or verified.lost)


def kept_in(record: Record) -> set[str]:
    """Return the fingerprints of rows that a record was written with; none in an older record."""
    kept = record.data().get("kept")
    return set(map(str, kept)) if isinstance(kept, list) else set()


BY_RULE, BY_OPERATOR, BY_NOBODY = "rules", "operator", "nobody"
ENDS = (RecordKind.DECIDED.value, RecordKind.EXPIRED.value, RecordKind.WITHDRAWN.value)


@dataclass(slots=True)
class Share:
    """Some decisions: their number, their actors, and how long the operator's had waited."""

    number: int = 0
    by: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count a record of a call's end."""
        data = record.data()
        who = _decider(record, data)
        self.number += 1
        self.by[who] += 1
        self.verdicts[record.verdict or record.kind] += 1
        waited = data.get("waited")
        if who == BY_OPERATOR and isinstance(waited, int | float):
            self.waits.append(float(waited))

    def percentile(self, percent: float) -> float | None:
        """Return the seconds within which this percentage of the operator's decisions came."""
        if not self.waits:
            return None
        ranked = sorted(self.waits)
        return ranked[max(0, ceil(len(ranked) * percent / 100) - 1)]

    def values(self) -> dict[str, object]:
        """Return the figures for programs, in seconds."""
        return {
            "decisions": self.number,
            "by": dict(self.by),
            "verdicts": dict(self.verdicts),
            "operator_median": self.percentile(50),
            "operator_p90": self.percentile(90),
        }


@dataclass(slots=True)
class Stats:
    """All decisions, and those about each tool, the most frequent first."""

    all: Share = field(default_factory=Share)
    tools: dict[str, Share] = field(default_factory=dict)

    def values(self) -> dict[str, object]:
        """Return the figures for programs."""
        return {"all": self.all.values(), "tools": {k: v.values() for k, v in self.tools.items()}}


def stats(records: Iterable[Record]) -> Stats:
    """Count the records of calls' ends; other records do not count."""
    shares = Stats()
    for record in records:
        if record.kind in ENDS:
            shares.all.add(record)
            shares.tools.setdefault(record.tool, Share()).add(record)
    ranked = sorted(shares.tools.items(), key=lambda item: (-item[1].number, item[0]))
    shares.tools = dict(ranked)
    return shares


def _decider(record: Record, data: dict[str, object]) -> str:
    if record.kind != RecordKind.DECIDED:
        return BY_NOBODY
    match actor_in(data):
        case Operator():
            return BY_OPERATOR
        case Nobody():
            return BY_NOBODY
        case _:
            return BY_RULE
