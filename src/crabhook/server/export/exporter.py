"""Sends each record to a receiver, in order, at least once.

The record itself is the spool: a cursor on disk says which record the receiver has taken last, and
what follows it is sent. So a receiver that is dead for an hour loses nothing, costs no memory, and
no decision waits for it. Only retention bounds the spool: what it removes first is counted.

A mark in the record says from time to time how far the export is. It stands in for the cursor where
another server goes on, or where the file is gone. Then some records are sent twice, with the same
ids.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from time import monotonic, sleep, time

from crabhook.datatypes import frozen
from crabhook.export.item import ExportItem, ExportSource, linked
from crabhook.export.packing import Packing
from crabhook.model.errors import CrabhookError
from crabhook.server.core.runner import Runner
from crabhook.server.export.cursor import CursorError, CursorFile
from crabhook.server.export.receivers import NotTakenError, Receiver, RecordsRefusedError
from crabhook.server.metrics.tally import Exported
from crabhook.store import entries
from crabhook.store.interface import History, Query
from crabhook.store.record import GENESIS, Head, Record, RecordKind, iso

_LOG = logging.getLogger(__name__)

AT_ONCE, LARGEST = 250, 1 << 19  # records of a batch, and characters of their bodies
BREATH = 0.000_1  # seconds between two records that a thread packs, in which the loop goes on
GIVES_WAY = 0.002  # seconds at most that a record waits for requests on their way in
BETWEEN = 0.005  # seconds between two batches of many
LOOK_EVERY = 1.0  # seconds between two looks for new records
FIRST_REST, LONGEST_REST = 1.0, 60.0  # seconds to wait for a receiver in trouble
TOLD_AFTER = 2  # failures in a row, until the record and the desks are told
MARK_RECORDS, MARK_SECONDS = 1000, 600.0  # between two marks in the record


@frozen
class ExportPace:
    """How often there is a look, and how long the rests are, in seconds."""

    look: float = LOOK_EVERY
    first: float = FIRST_REST
    longest: float = LONGEST_REST


@frozen
class ExportRoute:
    """Where the record goes, and how: `kept` is the file of the cursor."""

    receiver: Receiver
    packing: Packing
    kept: CursorFile
    host: str
    version: str
    pace: ExportPace = field(default_factory=ExportPace)


@frozen
class _Batch:
    """What follows `after` on record, packed each by itself.

    `removed`: how many records retention removed before they were exported. `anew`: the cursor is
    of another record, so that this is from its beginning.
    """

    after: Head
    items: Sequence[ExportItem]
    parts: Sequence[bytes]
    removed: int
    anew: bool


@dataclass(slots=True)
class _Trouble:
    """A receiver's trouble: why, since when (wall seconds), and how often in a row."""

    why: str
    since: float
    failures: int = 0


class Exporter:
    """Exports one record, as long as `keep` runs.

    `history` opens the record for reading. A batch that nobody acknowledged is sent again.
    """

    def __init__(self, route: ExportRoute, history: Callable[[], History]) -> None:
        self._route, self._history = route, history
        self._source = ExportSource(route.host, route.version)
        self._cursor: Head | None = None  # the last record that was taken
        self._kept: Head | None = None  # the cursor in the file
        self._batch: _Batch | None = None
        self._marked, self._marked_at = GENESIS, 0.0
        self._trouble: _Trouble | None = None
        self._refused = 0  # records in a row
        self._runner: Runner | None = None

    def __repr__(self) -> str:
        return f"<Exporter to {self._route.receiver.where} at {self._cursor}>"

    @property
    def behind(self) -> int:
        """How many records the receiver has not taken yet."""
        recorder = self._runner.recorder if self._runner else None
        if recorder is None or self._cursor is None:
            return 0
        return max(0, recorder.head.seq - self._cursor.seq)

    @property
    def failing(self) -> bool:
        """Whether the last try to send failed."""
        return self._trouble is not None

    @property
    def trouble(self) -> str:
        """Why nothing is exported now, in words; empty while all is well."""
        if self._trouble is None:
            return ""
        since = f"{iso(self._trouble.since)[11:16]}Z"
        return (
            f"NOT EXPORTED since {since}: {self._route.receiver.where}: {self._trouble.why}. "
            f"{self.behind} records wait in the record"
        )

    async def keep(self, runner: Runner) -> None:
        """Export what is on record and what comes, until cancelled."""
        # Another server may have exported meanwhile, where several share the record.
        self._runner, self._cursor = runner, None
        while True:
            try:
                rest = await self._step()
            except NotTakenError as error:
                rest = self._failed(str(error), error.again)
            except CrabhookError as error:
                rest = self._failed(str(error))
            except Exception:  # noqa: BLE001 - a fault here must end no later export
                _LOG.exception("a fault in exporting the record")
                rest = self._failed("a fault of crabhook's own, which its log tells")
            await asyncio.sleep(rest)

    async def _step(self) -> float:
        """Export the next records; return after how many seconds to look again."""
        runner = self._runner
        if runner is None or runner.recorder is None or not runner.recorder.head.seq:
            return self._route.pace.look
        if self._cursor is None:
            self._cursor = self._kept = await self._begin(runner)
        await self._keep_cursor(runner, self._cursor)  # where the disk was full
        if runner.recorder.head.seq == self._cursor.seq:
            self._mark(runner)
            return self._route.pace.look
        self._source = ExportSource(
            self._route.host, self._route.version, (runner.recorder.store_id or b"").hex()
        )
        batch = self._batch
        if batch is None or batch.after != self._cursor:  # one that failed is not packed again
            batch = await asyncio.to_thread(self._next, runner, self._cursor)
            self._batch, self._cursor = batch, batch.after
            self._tell_of_gaps(runner, batch)
        if not batch.items:
            return self._route.pace.look
        await self._send(runner, batch.items, batch.parts)
        self._batch = None
        await self._keep_cursor(runner, self._cursor)
        self._mark(runner)
        return BETWEEN if self.behind >= AT_ONCE else self._route.pace.look

    # Where to begin.

    async def _begin(self, runner: Runner) -> Head:
        """Return the cursor: what the file says, or a mark in the record; else the record's end."""
        try:
            kept = await asyncio.to_thread(self._route.kept.read)
        except CursorError as error:
            runner.warn(f"{error}: the record is exported again from its last mark on")
            kept = None
        marked = await asyncio.to_thread(self._last_mark)
        cursors = [head for head in (kept, marked) if head is not None]
        if cursors:
            self._marked, self._marked_at = marked or GENESIS, monotonic()
            return max(cursors, key=lambda head: head.seq)
        recorder = runner.recorder
        begin = recorder.head if recorder else GENESIS
        await asyncio.to_thread(self._route.kept.keep, begin)
        self._write_mark(runner, begin, "the export begins: records from here on go to")
        return begin

    def _last_mark(self) -> Head | None:
        with self._history() as history:
            for record in history.find(Query(kinds=(RecordKind.EXPORTED.value,), last=1)):
                return _marked_in(record)
        return None

    # What is sent.

    def _next(self, runner: Runner, cursor: Head) -> _Batch:
        """Read and pack what follows the cursor; for a thread, which rests after each record."""
        items, parts = list[ExportItem](), list[bytes]()
        with self._history() as history:
            records = history.find(Query(after=max(0, cursor.seq - 1)))
            first = next(records, None)
            anew = first is None or (first.seq == cursor.seq and first.hash != cursor.hash)
            if anew:
                records, first = history.find(), None
                cursor = GENESIS
            removed = max(0, first.seq - cursor.seq - 1) if first else 0
            before = cursor.hash if not removed else None
            if first is not None and first.seq != cursor.seq:
                records = chain([first], records)
            for item in _bounded(linked(records, history, before)):
                items.append(item)
                parts.append(self._route.packing.each(item, self._source))
                _rest(runner)
        return _Batch(cursor, items, parts, removed, anew)

    async def _send(
        self, runner: Runner, items: Sequence[ExportItem], parts: Sequence[bytes]
    ) -> None:
        """Send records, and move the cursor behind them.

        Where the receiver refuses some, it gets halves, until the refused record is alone.
        """
        fate, why = Exported.TAKEN, ""
        try:
            await self._route.receiver.send(self._route.packing.whole(parts, self._source))
        except RecordsRefusedError as error:
            if len(items) > 1:
                middle = len(items) // 2
                await self._send(runner, items[:middle], parts[:middle])
                await self._send(runner, items[middle:], parts[middle:])
                return
            fate, why = Exported.REFUSED, str(error)
        self._tell_of_refusals(runner, fate, items[0].record.seq, why)
        last = items[-1].record
        self._cursor = Head(last.seq, last.hash, str(last.at))
        runner.witness.exported(fate, len(items))

    async def _keep_cursor(self, runner: Runner, cursor: Head) -> None:
        if cursor != self._kept:
            await asyncio.to_thread(self._route.kept.keep, cursor)
            self._kept = cursor
            self._well(runner)

    # What is told.

    def _failed(self, why: str, again: float = 0.0) -> float:
        """Note a failure; return how long to rest."""
        trouble = self._trouble = self._trouble or _Trouble(why, time())
        trouble.why, trouble.failures = why, trouble.failures + 1
        if trouble.failures == TOLD_AFTER and self._runner is not None:
            self._runner.warn(f"{self.trouble}, and none of them is lost")
        pace = self._route.pace
        return again or min(pace.first * 2 ** min(trouble.failures - 1, 10), pace.longest)

    def _well(self, runner: Runner) -> None:
        trouble, self._trouble = self._trouble, None
        if trouble and trouble.failures >= TOLD_AFTER:
            where = self._route.receiver.where
            runner.warn(f"{where} takes the record again, from where it stopped", alarm=False)

    def _tell_of_refusals(self, runner: Runner, fate: Exported, seq: int, why: str) -> None:
        """Tell of the first refused record in a row, and of their number at its end.

        What is told is a record too. A receiver that refuses all would get ever more of these.
        """
        where, refused = self._route.receiver.where, self._refused
        self._refused = refused + 1 if fate is Exported.REFUSED else 0
        if self._refused == 1:
            runner.warn(f"record {seq} is not exported, for {where} refuses it: {why}")
        if not self._refused and refused > 1:
            runner.warn(f"{refused} records in a row were not exported, for {where} refused them")

    def _tell_of_gaps(self, runner: Runner, what: _Batch) -> None:
        where = self._route.receiver.where
        if what.anew:
            runner.warn(f"{where} has another record than this: all of this is exported")
        if what.removed:
            runner.witness.exported(Exported.REMOVED, what.removed)
            runner.warn(
                f"{what.removed} RECORDS NEVER REACHED {where}: they were older or more than "
                "[record] keep_days and keep_megabytes allow, and were removed"
            )

    def _mark(self, runner: Runner) -> None:
        """Note in the record how far the export is, where that is due."""
        if self._cursor is None:
            return
        ahead, now = self._cursor.seq - self._marked.seq, monotonic()
        old = now - self._marked_at >= MARK_SECONDS
        # A mark is a record too, so it alone is no reason for the next mark.
        if ahead >= MARK_RECORDS or (ahead > TOLD_AFTER and old):
            self._write_mark(runner, self._cursor, "the record up to here was taken by")

    def _write_mark(self, runner: Runner, head: Head, what: str) -> None:
        runner.record(entries.exported(what, self._route.receiver.where, head, time()))
        self._marked, self._marked_at = head, monotonic()


def _rest(runner: Runner) -> None:
    """Let the loop go on: for a moment, or until no request is on its way in.

    Threads share one interpreter, so that each record packed meanwhile makes a decision wait. But
    requests without end must not end the export.
    """
    sleep(BREATH)
    until = monotonic() + GIVES_WAY
    while runner.entering and monotonic() < until:
        sleep(BREATH)


def _bounded(items: Iterable[ExportItem]) -> Iterator[ExportItem]:
    """Yield the items of a batch."""
    size = 0
    for item in islice(items, AT_ONCE):
        yield item
        size += len(item.record.body)
        if size >= LARGEST:
            return


def _marked_in(record: Record) -> Head | None:
    """Return the cursor in a mark; None in a mark that somebody changed."""
    data = record.data()
    try:
        return Head(int(data["seq"]), bytes.fromhex(data["hash"]))
    except (KeyError, TypeError, ValueError):
        return None
