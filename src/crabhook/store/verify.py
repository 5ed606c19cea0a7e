"""What `crabhook audit` verifies: that the record is as written, and complete.

Every link is computed again from the beginning. A cut-off end shows against a head that was kept
before. The database may be ahead of the kept head, which is kept after the records.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from typing import Any

from crabhook.datatypes import frozen
from crabhook.model.actor import Nobody, Operator
from crabhook.store.actors import actor_in
from crabhook.store.interface import ALL, History, Query, StoreError
from crabhook.store.record import GENESIS, Cut, Head, Kind, Record, cut_of, cuts_in, link

_OF_DOCUMENTS = Query(kinds=(Kind.DOCUMENT.value,))
MOST = 100  # findings of each sort that are listed


@frozen
class Finding:
    """A finding about a record, or about its place."""

    seq: int
    what: str


@dataclass(slots=True)
class Verified:
    """The result; `faults` mean that the record is not as written.

    `lost`: a gap says that entries were lost.
    """

    records: int = 0
    first: int = 0
    head: Head = GENESIS
    faults: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    untold: int = 0
    lost: bool = False

    @property
    def sound(self) -> bool:
        """Whether everything is as it was written."""
        return not self.faults

    def fault(self, seq: int, what: str, *, noted: bool = False) -> None:
        """Add a fault; or, if `noted`, a harmless fact worth knowing."""
        findings = self.notes if noted else self.faults
        if len(findings) < MOST:
            findings.append(Finding(seq, what))
        else:
            self.untold += 1


def verify(
    history: History, heads: Sequence[Head], *, thorough: bool = True, last: int = 0
) -> Verified:
    """Return what is wrong with the record.

    `heads` were kept apart before `history` was opened. `thorough` also makes the storage check
    itself. `last` verifies only so many of the latest records; 0 is all.
    """
    found = Verified()
    try:
        first = next(history.find(ALL), None)
        before = next(history.find(Query(last=last + 1)), None) if last else None
        if before and first and before.seq == first.seq:
            before = None  # the record has no more
        hashes = _walk(history, found, {head.seq for head in heads}, before, last)
        _compare(history, found, heads, hashes, first)
        _answers(history, found)
        _documents(history, found)
        if thorough:
            for fault in history.damage():
                found.fault(0, f"the database is damaged: {fault}")
    except StoreError as error:
        found.fault(found.head.seq, f"the database cannot be read past here: {error}")
    return found


def _walk(
    history: History, found: Verified, wanted: set[int], earlier: Record | None, last_ones: int
) -> dict[int, bytes]:
    """Follow the chain; return the wanted hashes, and that before the first record."""
    records = history.find(Query(last=last_ones) if earlier else ALL)
    first = next(records, None)
    if first is None:
        return {0: GENESIS.hash}
    found.first = first.seq
    before = _before(history, first, earlier, found)
    hashes = {} if before is None else {first.seq - 1: before}
    last = first.seq - 1
    latest = ""
    for record in chain((first,), records):
        if record.seq != last + 1:
            found.fault(record.seq, f"records {last + 1} to {record.seq - 1} are missing")
            before = None
        # After a hole, the hash before the record is unknown, so its own hash cannot be verified.
        if before is not None and link(before, record[:-1]) != record.hash:
            found.fault(record.seq, "this record, or what it follows, is not what was written")
        _remark(record, latest, found)
        last, before, latest = record.seq, record.hash, max(latest, str(record.at))
        if last in wanted:
            hashes[last] = before
        found.records += 1
        found.head = Head(last, before)
    return hashes


def _before(
    history: History, first: Record, earlier: Record | None, found: Verified
) -> bytes | None:
    """Return the hash that the first record must follow."""
    if earlier and first.seq == earlier.seq + 1:
        return earlier.hash
    if first.seq == 1:
        return GENESIS.hash
    if (cut := _cut_before(history, first.seq)) is None:
        what = f"records 1 to {first.seq - 1} are missing, and no checkpoint tells of it"
        found.fault(first.seq, what)
        return None
    return cut.hash


def _cut_before(history: History, begins: int) -> Cut | None:
    """Return the checkpoint's cut, after which the record begins."""
    return next((cut for cut in cuts_in(history.checkpoints()) if cut.begins == begins), None)


def _remark(record: Record, latest: str, found: Verified) -> None:
    if record.kind == Kind.CHECKPOINT and (untrue := _untrue(record)):
        found.fault(record.seq, f"this checkpoint cannot be true: {untrue}")
    if record.kind == Kind.GAP:
        why = str(record.data().get("why", "a gap that does not say why"))
        found.lost |= re.search(r'"lost":[1-9]', str(record.body)) is not None
        found.fault(record.seq, why, noted='"cut":true' not in str(record.body))
    elif str(record.at) < latest:
        what = f"the clock was set back: {record.at} follows {latest}"
        found.fault(record.seq, what, noted=True)


def _untrue(record: Record) -> str:
    try:
        return cut_of(record.body).untrue(record.at)
    except (ValueError, KeyError, TypeError):
        return "it does not say what was removed"


def _compare(
    history: History,
    found: Verified,
    heads: Iterable[Head],
    hashes: dict[int, bytes],
    first: Record | None,
) -> None:
    begins = first.seq if first else 1
    for head in heads:
        if head.seq > found.head.seq:
            what = f"the record ends here, and its head kept apart is of {head.seq}: it was cut off"
            found.fault(found.head.seq, what)
        elif head.seq in hashes:
            if hashes[head.seq] != head.hash:
                found.fault(head.seq, "this is not the record that the head kept apart is of")
        elif 0 < head.seq < begins - 1:
            _compare_removed(_cut_before(history, begins), head, found)


def _compare_removed(cut: Cut | None, head: Head, found: Verified) -> None:
    """Say whether retention can have removed a head's record."""
    if cut is None:
        found.fault(head.seq, "the record that this head is of is gone, and no checkpoint says why")
    elif head.at > cut.latest:
        found.fault(
            head.seq,
            f"this head is of a record of {head.at}, and the checkpoint says that none later than "
            f"{cut.latest} was removed",
        )
    else:
        known = "" if head.at else "; this head has no time, by which that could be held against it"
        removed = f"retention has removed ({cut.why}, the latest of {cut.latest}){known}"
        found.fault(head.seq, f"this head is of a record that {removed}", noted=True)


def _documents(history: History, found: Verified) -> None:
    """Compare the documents with the last record of each."""
    for seq, said in amiss(history).values():
        found.fault(seq or found.head.seq, said)
    last = dict[str, object]()
    for record in history.find(_OF_DOCUMENTS):
        data = record.data()
        name, before = str(data.get("document", "")), data.get("from")
        if last.get(name, before) != before:
            what = f"the document {name} was changed by hand before this, and is mended here"
            found.fault(record.seq, what, noted=True)
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
            wrong[name] = seq, f"the document {name} is not the one that was written here"
    return wrong


def _answers(history: History, found: Verified) -> None:
    """Compare the hooks' answers with the decisions."""
    for request_id in history.unrecorded():
        what = f"the answer to request {request_id} was given by no decision on record"
        lost = "; entries were lost while the record was missing" if found.lost else ""
        found.fault(found.head.seq, f"{what}{lost}", noted=found.lost)


BY_RULE, BY_OPERATOR, BY_NOBODY = "rules", "operator", "nobody"
ENDS = (Kind.DECIDED.value, Kind.EXPIRED.value, Kind.WITHDRAWN.value)


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
    found = Stats()
    for record in records:
        if record.kind in ENDS:
            found.all.add(record)
            found.tools.setdefault(record.tool, Share()).add(record)
    ranked = sorted(found.tools.items(), key=lambda item: (-item[1].number, item[0]))
    found.tools = dict(ranked)
    return found


def _decider(record: Record, data: dict[str, object]) -> str:
    if record.kind != Kind.DECIDED:
        return BY_NOBODY
    match actor_in(data):
        case Operator():
            return BY_OPERATOR
        case Nobody():
            return BY_NOBODY
        case _:
            return BY_RULE
