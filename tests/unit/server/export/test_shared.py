"""Servers that share a record: who leads exports, and goes on where the one before ended."""

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from crabhook.export.packing import PACKINGS, ExportFormat, ExportWay
from crabhook.server.export import exporter as module
from crabhook.server.export.cursor import CursorFile
from crabhook.server.export.exporter import Exporter, ExportRoute
from crabhook.store.opening import open_history
from crabhook.store.postgres.journal import lead
from crabhook.store.postgres.leader import Leader
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from tests.support.cluster import running
from tests.support.exported import call
from tests.support.runners import bare_runner
from tests.unit.server.export.test_exporter import PACE, Memory, level, until


async def led(url: str, folder: Path, receiver: Memory, decisions: int) -> int:
    """Lead for a while on the machine with this folder; return the last record's number."""
    writer, _ = await asyncio.to_thread(lead, url, Leader(), 60.0, None, folder)
    recorder = Recorder(lambda: writer)
    runner = bare_runner(recorder)
    way = PACKINGS[ExportWay.HTTP, ExportFormat.OCSF]
    route = ExportRoute(receiver, way, CursorFile(folder / "c"), "desk", "1", PACE)
    exporter = Exporter(route, partial(open_history, url, folder))
    runner.record(call(RecordKind.DECIDED, "allow"))
    await until(lambda: recorder.head.seq)
    keeping = asyncio.ensure_future(exporter.keep(runner))
    await until(lambda: exporter._cursor)
    for _ in range(decisions):
        runner.record(call(RecordKind.DECIDED, "allow"))
    await until(lambda: recorder.head.seq > decisions)
    await level(exporter)
    keeping.cancel()
    with suppress(asyncio.CancelledError):
        await keeping
    last = recorder.head.seq
    await asyncio.to_thread(recorder.close)
    return last


@pytest.mark.process
@pytest.mark.slow
async def test_the_next_leader_goes_on_where_the_record_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MARK_RECORDS", 10)
    receiver = Memory()
    with running() as cluster:
        url = cluster.emptied()
        for machine in ("a", "b", "a"):
            folder = tmp_path / machine
            folder.mkdir(exist_ok=True)
            last = await led(url, folder, receiver, 25)
    assert set(receiver.numbers) >= set(range(3, last + 1))
    assert len(receiver.numbers) - len(set(receiver.numbers)) <= 2 * 13
