"""Nothing is lost and nothing is sent in another order, whatever becomes of the receiver."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic

import pytest

from crabhook.export.packing import PACKINGS, ExportFormat, ExportWay
from crabhook.export.wish import USUAL
from crabhook.server.core.runner import Runner
from crabhook.server.export import exporter as module
from crabhook.server.export.cursor import CursorFile
from crabhook.server.export.exporter import Exporter, ExportPace, ExportRoute
from crabhook.server.export.receivers import (
    HttpReceiver,
    NotTakenError,
    Receiver,
    SyslogReceiver,
)
from crabhook.server.metrics.tally import Exported
from crabhook.store.change import happened
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import RecordKind, Retention
from crabhook.store.recorder import Recorder
from tests.support.examples import share
from tests.support.exported import call, of_every_kind
from tests.support.receivers import (
    LOOPBACK,
    HttpSink,
    SyslogSink,
    http_sink,
    opened,
    syslog_sink,
)
from tests.support.runners import bare_runner

PACE = ExportPace(look=0.01, first=0.01, longest=0.05)


@dataclass
class Memory:
    """A receiver in memory: `fate` is asked before each batch, and may raise."""

    where: str = "memory://here"
    taken: list[bytes] = field(default_factory=list)
    fate: Callable[[bytes], object] = lambda _: None

    async def send(self, content: bytes) -> None:
        self.fate(content)
        self.taken.append(content)

    @property
    def numbers(self) -> list[int]:
        lines = (line for content in self.taken for line in content.splitlines())
        return [json.loads(line)["metadata"]["sequence"] for line in lines]


@dataclass
class Desk:
    """A server's record, which is exported."""

    folder: Path
    recorder: Recorder
    runner: Runner

    def decides(self, times: int = 1) -> None:
        for number in range(times):
            self.runner.record(call(RecordKind.DECIDED, "allow", input={"command": f"ls {number}"}))

    @asynccontextmanager
    async def exporting(
        self,
        receiver: Receiver,
        way: ExportWay = ExportWay.HTTP,
        form: ExportFormat = ExportFormat.OCSF,
    ) -> AsyncIterator[Exporter]:
        """Export, until the context ends."""
        kept = CursorFile(self.folder / "export.cursor")
        route = ExportRoute(receiver, PACKINGS[way, form], kept, "desk", "1.0", PACE)
        made = Exporter(route, partial(open_history, self.folder))
        keeping = asyncio.ensure_future(made.keep(self.runner))
        try:
            yield made
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping

    @asynccontextmanager
    async def exporting_to(self, sink: HttpSink) -> AsyncIterator[Exporter]:
        """Record a decision, open the sink, and export to it over HTTP until the context ends."""
        self.decides()
        async with http_sink(sink):
            receiver = HttpReceiver(sink.url, "application/json", None, dict)
            async with self.exporting(receiver, form=ExportFormat.OTLP) as exporter:
                yield exporter

    def records(self, *kinds: RecordKind) -> list[str]:
        with open_history(self.folder) as history:
            found = [record for record in history.find() if not kinds or record.kind in kinds]
        return [str(record.data().get("what", "")) for record in found]


async def until(true: Callable[[], object]) -> None:
    """Wait until it is true."""
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 - of what has no event
            await asyncio.sleep(0.005)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    recorder = Recorder(lambda: open_writer(tmp_path / "state"))
    yield Desk(tmp_path / "state", recorder, bare_runner(recorder))
    recorder.close()


async def level(exporter: Exporter) -> None:
    """Wait until all that is on record was taken."""
    await until(lambda: exporter.behind == 0 and exporter._cursor == exporter._kept is not None)


async def test_what_is_decided_from_the_first_start_on_is_exported_in_order(desk: Desk) -> None:
    desk.decides(3)
    receiver = Memory()
    async with desk.exporting(receiver) as exporter:
        await until(lambda: exporter._cursor)
        desk.decides(5)
        await level(exporter)
    # The fourth record says that the export begins.
    assert receiver.numbers == [4, 5, 6, 7, 8, 9]
    assert "the export begins" in desk.records(RecordKind.EXPORTED)[0]


@pytest.mark.parametrize("seed", share(range(20), 0))
async def test_kills_and_refused_connections_lose_nothing(desk: Desk, seed: int) -> None:
    chance = Random(seed)
    receiver = Memory()

    def fate(content: bytes) -> None:
        match chance.randrange(4):
            case 0:
                raise NotTakenError("nobody is there")
            case 1:  # it has taken them, and we do not hear of it
                receiver.taken.append(content)
                raise NotTakenError("the connection was lost")

    desk.decides(1)
    async with desk.exporting(receiver) as exporter:
        await until(lambda: exporter._cursor)
    receiver.fate = fate
    for _ in range(6):
        desk.decides(chance.randrange(1, 40))
        async with desk.exporting(receiver):
            await asyncio.sleep(chance.random() / 50)
    receiver.fate = lambda _: None
    async with desk.exporting(receiver) as exporter:
        await level(exporter)
    last = desk.recorder.head.seq
    assert list(dict.fromkeys(receiver.numbers)) == list(range(2, last + 1))


async def test_a_dead_receiver_is_told_in_words_and_heard_of_again(desk: Desk) -> None:
    receiver = Memory()
    async with desk.exporting(receiver) as exporter:
        desk.decides()
        await until(lambda: exporter._cursor)
        await level(exporter)
        receiver.fate = lambda _: (_ for _ in ()).throw(NotTakenError("it is dead"))
        desk.decides(7)
        await until(lambda: any("NOT EXPORTED" in what for what in desk.records()))
        assert exporter.failing
        assert "memory://here: it is dead." in exporter.trouble
        # The seven, and the record that says it.
        await until(lambda: "8 records wait" in exporter.trouble)
        receiver.fate = lambda _: None
        await level(exporter)
        await until(lambda: any("takes the record again" in what for what in desk.records()))
        assert exporter.trouble == ""
        await level(exporter)
    assert len(receiver.numbers) == len(set(receiver.numbers)) == desk.recorder.head.seq - 1


@pytest.mark.parametrize("partly", [False, True])
async def test_a_record_that_is_refused_for_ever_keeps_no_other_back(
    desk: Desk, partly: bool
) -> None:
    sink = HttpSink(refuses="poison", partly=partly)
    async with desk.exporting_to(sink) as exporter:
        await until(lambda: exporter._cursor)
        desk.decides(20)
        desk.runner.record(call(RecordKind.DECIDED, "deny", input={"command": "poison"}))
        desk.decides(20)
        await level(exporter)
        await until(lambda: any("refuses it" in what for what in desk.records()))
    tally = desk.runner.witness.exports
    assert tally[Exported.REFUSED] == 1
    assert len(sink.spans) == tally[Exported.TAKEN] >= 40
    assert "poison" not in json.dumps(sink.spans)


async def test_a_receiver_that_refuses_all_is_told_of_once_and_fed_no_more(desk: Desk) -> None:
    sink = HttpSink(refuses="{")
    async with desk.exporting_to(sink) as exporter:
        await until(lambda: exporter._cursor)
        desk.decides(20)
        await level(exporter)
        refused = desk.runner.witness.exports[Exported.REFUSED]
        # The twenty, that the export began, and that a record is refused.
        assert refused == desk.recorder.head.seq - 1 == 22
        await asyncio.sleep(0.2)
        assert desk.runner.witness.exports[Exported.REFUSED] == refused
        sink.refuses = ""
        desk.decides()
        await until(lambda: any("22 records in a row" in what for what in desk.records()))


async def test_what_retention_removed_first_is_counted_and_told(tmp_path: Path) -> None:
    retention = Retention(days=1)
    recorder = Recorder(lambda: open_writer(tmp_path / "state", retention))
    desk = Desk(tmp_path / "state", recorder, bare_runner(recorder))
    desk.decides()
    receiver = Memory(fate=lambda _: (_ for _ in ()).throw(NotTakenError("it is dead")))
    async with desk.exporting(receiver) as exporter:
        await until(lambda: exporter.failing)
    desk.decides(30)  # all of a time long ago
    recorder.close()
    with closing(open_writer(desk.folder, retention)) as writer:
        removed = writer.prune(writer_now(), at_most=20)
        assert removed == 20
    recorder = desk.recorder = Recorder(lambda: open_writer(desk.folder, retention))
    desk.runner = bare_runner(recorder)
    receiver.fate = lambda _: None
    async with desk.exporting(receiver) as exporter:
        await until(lambda: any("NEVER REACHED" in what for what in desk.records()))
        await level(exporter)
    assert desk.runner.witness.exports[Exported.REMOVED] == 19
    assert receiver.numbers == list(range(21, recorder.head.seq + 1))
    recorder.close()


def writer_now() -> float:
    return 1_767_960_000.0 + 400 * 86_400


async def test_another_record_is_exported_from_its_beginning(desk: Desk, tmp_path: Path) -> None:
    receiver = Memory()
    async with desk.exporting(receiver) as exporter:
        desk.decides(9)
        await level(exporter)
    recorder = Recorder(lambda: open_writer(tmp_path / "other"))
    other = Desk(tmp_path / "other", recorder, bare_runner(recorder))
    other.decides(3)
    (desk.folder / "export.cursor").rename(other.folder / "export.cursor")
    receiver.taken.clear()
    async with other.exporting(receiver) as exporter:
        await until(lambda: any("has another record" in what for what in other.records()))
        await level(exporter)
    assert receiver.numbers[:3] == [1, 2, 3]
    recorder.close()


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"\xff{")])
async def test_without_its_file_the_export_goes_on_from_the_last_mark(
    desk: Desk, spoil: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MARK_RECORDS", 10)
    receiver = Memory()
    async with desk.exporting(receiver) as exporter:
        desk.decides(1)
        await until(lambda: exporter._cursor)
        desk.decides(30)
        await until(lambda: len(desk.records(RecordKind.EXPORTED)) > 1)
        await level(exporter)
    before = set(receiver.numbers)
    spoil(desk.folder / "export.cursor")
    desk.decides(5)
    async with desk.exporting(receiver) as exporter:
        await until(lambda: exporter._cursor)
        await level(exporter)
    assert set(receiver.numbers) == set(range(2, desk.recorder.head.seq + 1))
    again = len(receiver.numbers) - len(set(receiver.numbers))
    assert again <= 12
    assert len(before) >= 31


async def test_an_idle_record_gets_no_marks(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MARK_SECONDS", 0.0)
    async with desk.exporting(Memory()) as exporter:
        desk.decides(5)
        await level(exporter)
        await asyncio.sleep(0.2)
        marks = len(desk.records(RecordKind.EXPORTED))
        await asyncio.sleep(0.2)
        assert len(desk.records(RecordKind.EXPORTED)) == marks <= 3


async def test_a_receiver_of_syslog_gets_every_record_after_it_was_away(desk: Desk) -> None:
    sink = SyslogSink()
    async with syslog_sink(sink):
        pass
    by = ExportWay.SYSLOG, ExportFormat.CEF
    desk.decides()
    async with desk.exporting(SyslogReceiver(LOOPBACK, sink.port), *by) as exporter:
        await until(lambda: exporter.failing)
        for entry in of_every_kind():
            desk.runner.record(entry)
        async with syslog_sink(sink):
            await level(exporter)
    assert sink.numbers == list(range(2, desk.recorder.head.seq + 1))


@pytest.mark.parametrize("way", [ExportWay.SYSLOG, ExportWay.HTTP])
async def test_thousands_that_waited_come_once_and_in_order_while_more_is_decided(
    desk: Desk, way: ExportWay
) -> None:
    sinks = {ExportWay.SYSLOG: SyslogSink(), ExportWay.HTTP: HttpSink()}
    sink, form = sinks[way], USUAL[way]
    async with opened(sink):
        pass
    receivers: dict[ExportWay, Receiver] = {
        ExportWay.SYSLOG: SyslogReceiver(LOOPBACK, sink.port),
        ExportWay.HTTP: HttpReceiver(sinks[ExportWay.HTTP].url, "application/json", None, dict),
    }
    desk.decides()
    async with desk.exporting(receivers[way], way, form) as exporter:
        await until(lambda: exporter.failing)
        for _ in range(30):
            changes = (call(RecordKind.DECIDED, "allow", input={"command": "ls"}),) * 100
            desk.recorder.write(*map(happened, changes))
        async with opened(sink):
            await until(lambda: sink.numbers)
            for _ in range(20):
                desk.decides()
                await asyncio.sleep(0.005)
            await level(exporter)
    assert sink.numbers == list(range(2, desk.recorder.head.seq + 1))
    assert len(desk.records(RecordKind.DECIDED)) == 1 + 3000 + 20


async def test_a_receiver_that_closes_after_each_message_is_in_trouble_and_loses_nothing(
    desk: Desk,
) -> None:
    sink = SyslogSink("single")
    async with syslog_sink(sink):
        by = ExportWay.SYSLOG, ExportFormat.CEF
        desk.decides()
        async with desk.exporting(SyslogReceiver(LOOPBACK, sink.port), *by) as exporter:
            # Alone: of two, this sink would have read the second too, and then thrown it away.
            await level(exporter)
            desk.decides(500)
            await until(lambda: any("NOT EXPORTED" in what for what in desk.records()))
            sink.manner = "reads"
            await level(exporter)
    assert list(dict.fromkeys(sink.numbers)) == list(range(2, desk.recorder.head.seq + 1))


async def test_a_receiver_is_left_alone_as_long_as_it_asks(desk: Desk) -> None:
    sink = HttpSink([(429, "", {"Retry-After": "1"}), (503, "", {"Retry-After": "1"})])
    async with desk.exporting_to(sink) as exporter:
        began = monotonic()
        await until(lambda: exporter.failing)
        desk.decides(5)
        await level(exporter)
    assert monotonic() - began >= 2.0
    assert len(sink.headers) <= 5
    assert sink.numbers == list(range(2, desk.recorder.head.seq + 1))


async def test_a_full_disk_stops_the_export_and_loses_nothing(desk: Desk) -> None:
    receiver = Memory()
    desk.decides()
    async with desk.exporting(receiver) as exporter:
        await level(exporter)
        (desk.folder / "export.cursor").unlink()
        (desk.folder / "export.cursor").mkdir()
        desk.decides(3)
        await until(lambda: "cannot be written" in exporter.trouble)
        (desk.folder / "export.cursor").rmdir()
        await level(exporter)
    assert set(receiver.numbers) == set(range(2, desk.recorder.head.seq + 1))


async def test_records_are_packed_behind_requests_on_their_way_in(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = Memory()
    desk.decides()
    async with desk.exporting(receiver) as exporter:
        await level(exporter)
        with monkeypatch.context() as patience:
            patience.setattr(module, "GIVES_WAY", 5.0)
            desk.runner.entering = 1
            desk.decides(3)
            await asyncio.sleep(0.2)
            assert exporter.behind == 3
            desk.runner.entering = 0
            await level(exporter)
        # Requests without end delay the export, and do not end it.
        desk.runner.entering = 1
        desk.decides(3)
        await level(exporter)


@pytest.mark.slow
@pytest.mark.thorough
async def test_two_minutes_of_a_hundred_decisions_a_second_wait_for_a_dead_receiver(
    desk: Desk,
) -> None:
    """The spool is the record: what waits is on disk, and the exporter holds a batch of it."""
    sink = SyslogSink()
    async with syslog_sink(sink):
        pass
    desk.decides()
    by = ExportWay.SYSLOG, ExportFormat.CEF
    async with desk.exporting(SyslogReceiver(LOOPBACK, sink.port), *by) as exporter:
        await until(lambda: exporter._cursor)
        for _ in range(120):
            changes = (call(RecordKind.DECIDED, "allow", input={"command": "ls"}),) * 100
            desk.recorder.write(*map(happened, changes))
            await asyncio.sleep(0)
        await until(lambda: exporter.failing)
        assert exporter.behind >= 12_000
        held = exporter._batch.items if exporter._batch else ()
        assert len(held) <= module.AT_ONCE
        async with syslog_sink(sink):
            await level(exporter)
    assert sink.numbers == list(range(2, desk.recorder.head.seq + 1))
