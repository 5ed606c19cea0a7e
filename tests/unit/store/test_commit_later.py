"""A storage that takes a while: what it has not written yet is not said to be written."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from crabhook.store.change import happened, settled, waits
from crabhook.store.interface import StoreError
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from crabhook.store.sqlite.journal import SqliteJournal
from crabhook.store.writer import Writer
from tests.unit.store.making import answer, decision, entry, records, verified, waiting

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.store.interface import Batch


class Grouping(SqliteJournal):
    """Writes what was given it while it wrote, all together, when it is let; or fails.

    It refuses what does not follow the record, as one does that others may write to.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.queue: list[tuple[Batch, asyncio.Future[None]]] = []
        self.later = False

    def commit(self, batch: Batch) -> asyncio.Future[None] | None:  # type: ignore[override]
        if not self.later:
            super().commit(batch)
            return None
        self.queue.append((batch, asyncio.get_running_loop().create_future()))
        return self.queue[-1][1]

    def write_all(self, fault: StoreError | None = None) -> None:
        """End what waits: written, or the first by this fault and the rest by what follows."""
        queue, self.queue = self.queue, []
        for batch, pending in queue:
            if fault or batch.before != self.head():
                pending.set_exception(fault or StoreError("it follows another record"))
            else:
                super().commit(batch)
                pending.set_result(None)
            fault = None


@pytest.fixture
def journal(folder: Path) -> Grouping:
    return Grouping(folder)


async def test_what_is_committed_later_is_one_chain_and_known_when_its_future_ends(
    folder: Path, journal: Grouping
) -> None:
    writer = Writer(journal)
    journal.later = True
    pending = [writer.write([happened(entry(body={"n": n}))]) for n in range(3)]
    assert all(one is not None and not one.done() for one in pending)
    assert (writer.head.seq, records(folder)) == (3, [])
    journal.write_all()
    assert all(one is not None and one.done() for one in pending)
    writer.close()
    assert [record.seq for record in records(folder)] == [1, 2, 3]
    assert verified(folder).sound


async def test_after_a_commit_that_failed_later_the_chain_goes_on_from_what_is_written(
    folder: Path, journal: Grouping
) -> None:
    writer = Writer(journal)
    journal.later = True
    pending = [writer.write([happened(entry(body={"n": n}))]) for n in range(2)]
    journal.write_all(StoreError("the line is cut"))
    told = await asyncio.gather(*filter(None, pending), return_exceptions=True)
    assert [str(one) for one in told] == ["the line is cut", "it follows another record"]
    journal.later = False
    writer.write([happened(entry(body={"n": 2}))])
    writer.close()
    assert [json.loads(record.body)["n"] for record in records(folder)] == [2]
    assert verified(folder).sound


async def test_what_failed_later_waits_in_memory_and_is_written_after_a_record_of_the_gap(
    folder: Path, journal: Grouping
) -> None:
    recorder = Recorder(lambda: Writer(journal))
    journal.later = True
    asked = recorder.write(waits(waiting("r1"), entry(RecordKind.ASKED)))
    given = recorder.write(settled([answer("r1")], decision(1)))
    assert not asked.over
    assert not given.over
    journal.write_all(StoreError("the line is cut"))
    assert await asyncio.gather(asked.wait(), given.wait()) == [False, False]
    assert "NOT RECORDED" in recorder.trouble
    recorder.time_passed(100.0)
    journal.write_all()
    assert recorder.trouble == ""
    recorder.close()
    assert [record.kind for record in records(folder)] == ["gap", "asked", "decided"]
    assert verified(folder).sound
