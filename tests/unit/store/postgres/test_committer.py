"""One writer at a time, in groups; what it says is written is, whatever becomes of the database."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from crabhook.store.change import happened, settled, waits
from crabhook.store.interface import TakenError, TicketError, WriterEndedError
from crabhook.store.opening import open_writer
from crabhook.store.postgres import committer as committer_module
from crabhook.store.postgres import journal as journal_module
from crabhook.store.postgres.journal import PgJournal
from crabhook.store.record import RecordKind
from crabhook.store.recorder import OnTrouble, Recorder
from crabhook.store.writer import Writer
from tests.support.cluster import Cluster, held_up
from tests.unit.store.making import NOON, answer, decision, entry, records, verified, waiting

pytestmark = pytest.mark.process

WRITERS = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"


@contextmanager
def held_up_altogether(cluster: Cluster) -> Iterator[None]:
    """Stop the writer's own process of PostgreSQL for a moment."""
    (writer,) = cluster.sql(WRITERS)
    os.kill(writer[0], signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(writer[0], signal.SIGCONT)


async def test_what_comes_during_a_commit_is_the_next_one_together(
    cluster: Cluster, place: str, store: Writer
) -> None:
    with held_up(cluster) as go_on:
        pending = [store.write([happened(entry(body={"n": n}))]) for n in range(60)]
        go_on()
        await asyncio.gather(*filter(None, pending))
    assert [json.loads(record.body)["n"] for record in records(place)] == list(range(60))
    assert cluster.sql(COMMITS)[0][0] <= 3
    assert verified(place).sound


COMMITS = "SELECT count(DISTINCT xmin::text) FROM crabhook.record"


async def test_a_busy_writer_waits_a_moment_for_more_and_what_comes_alone_never_waits(
    cluster: Cluster, store: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write() -> asyncio.Future[bool]:
        pending = store.write([happened(entry())])
        assert pending is not None
        return pending

    moment = 4.0  # seconds; far longer than any commit here, also on a busy machine
    monkeypatch.setattr(committer_module, "GATHERED_WITHIN", moment)
    began = time.monotonic()
    for _ in range(3):
        await write()
    assert time.monotonic() - began < moment
    with held_up(cluster) as go_on:
        writes = [write() for _ in range(4)]
        go_on()
        await asyncio.gather(*writes)  # the last commit had several
    before = cluster.sql(COMMITS)[0][0]
    first = write()
    await asyncio.sleep(0.2)
    await asyncio.gather(first, write())
    assert cluster.sql(COMMITS)[0][0] == before + 1


async def test_nothing_is_said_to_be_written_before_it_is(cluster: Cluster, store: Writer) -> None:
    with held_up(cluster):
        pending = store.write([happened(entry())])
        assert pending is not None
        await asyncio.sleep(0.1)
        assert not pending.done()
        assert store.anchor().seq == 0  # nor is its head kept apart
    await pending
    assert store.anchor().seq == 1


async def test_what_begins_and_ends_in_one_group_is_as_it_was_last(
    cluster: Cluster, store: Writer
) -> None:
    with held_up(cluster):
        first = store.write([happened(entry())])
        store.write([waits(waiting("r1"), entry(RecordKind.ASKED))])
        store.write([waits(waiting("r2", card=2), entry(RecordKind.ASKED))])
        store.write([waits(waiting("r2", card=2, wait_until=NOON + 900))])
        last = store.write([settled([answer("r1")], decision())])
        with pytest.raises(TicketError):
            store.write([waits(waiting("r1", secret="theirs"))])
    assert first is not None
    assert last is not None
    await asyncio.gather(first, last)
    found = store.journal.recover(NOON)
    assert [(one.request_id, one.wait_until) for one in found.waiting] == [("r2", NOON + 900)]
    assert found.answers == (answer("r1"),)


def _overtaken(cluster: Cluster, place: str) -> Writer:
    """Break the writer's line until another writer was the first to come back."""
    while True:
        cluster.sql(f"SELECT pg_terminate_backend(pid) FROM ({WRITERS}) AS w")
        with suppress(TakenError):
            return open_writer(place)


BEGINS_TO_LEAD = """
SELECT 1 FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE head SET epoch = epoch + 1%'
"""


async def test_a_deposed_writer_writes_nothing_more_and_says_so(
    cluster: Cluster, place: str, store: Writer
) -> None:
    written = store.write([happened(entry(body={"n": 1}))])
    assert written is not None
    await written
    with held_up(cluster):
        late = [store.write([settled([answer(f"r{n}")], decision(n))]) for n in range(3)]
        overtaking = asyncio.create_task(asyncio.to_thread(_overtaken, cluster, place))
        async with asyncio.timeout(60):
            while not cluster.sql(BEGINS_TO_LEAD):  # noqa: ASYNC110 - a database
                await asyncio.sleep(0.01)
    second = await overtaking
    told = await asyncio.gather(*filter(None, late), return_exceptions=True)
    assert all(isinstance(one, WriterEndedError) for one in told)
    assert len(records(place)) == 1
    for do in (store.journal.heed, lambda: store.write([happened(entry())])):
        with pytest.raises(WriterEndedError, match=r"another crabhook .* writes the record"):
            do()
    second.write([happened(entry())])
    second.close()
    assert verified(place).sound


async def test_the_lock_alone_is_no_fence_and_the_epoch_is(
    cluster: Cluster, place: str, store: Writer
) -> None:
    cluster.sql("UPDATE crabhook.head SET epoch = epoch + 1")  # its connection and lock are well
    pending = store.write([happened(entry())])
    assert pending is not None
    with pytest.raises(WriterEndedError):
        await pending
    assert records(place) == []


async def test_an_idle_writer_soon_knows_that_it_was_deposed(
    cluster: Cluster, store: Writer
) -> None:
    cluster.sql("UPDATE crabhook.head SET epoch = epoch + 1")
    journal = store.journal
    assert isinstance(journal, PgJournal)
    async with asyncio.timeout(60):
        while not journal._committer.lost:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.05)
    with pytest.raises(WriterEndedError):
        journal.heed()


async def test_what_is_committed_while_the_database_is_away_waits_for_it(
    cluster: Cluster, place: str
) -> None:
    recorder = Recorder(lambda: open_writer(place), on_trouble=OnTrouble.REFUSE)
    assert not recorder.write(happened(entry())).over
    cluster.stop()
    pending = [recorder.write(happened(entry(body={"n": n}))) for n in range(5)]
    for _ in range(3000):
        await asyncio.sleep(0.02)
        if recorder.trouble:
            break
    assert "what is decided waits until it is" in recorder.trouble
    assert "could not be recorded" in recorder.refusal
    recorder.time_passed(1.0)
    cluster.start()
    assert await asyncio.gather(*[commit.wait() for commit in pending]) == [True] * 5
    assert (recorder.trouble, recorder.refusal) == ("", "")
    recorder.close()
    assert len(records(place)) == 6
    assert verified(place).sound


@pytest.mark.thorough
async def test_no_stop_of_the_database_loses_or_doubles_what_was_said_to_be_written(
    cluster: Cluster, place: str, store: Writer
) -> None:
    written: list[int] = []
    ended = asyncio.Event()

    async def write(own: int) -> None:
        for n in range(own, 10_000, 8):
            if ended.is_set():
                return
            pending = store.write([happened(entry(body={"n": n}))])
            assert pending is not None
            await pending
            written.append(n)

    async def goes_on() -> None:
        enough = len(written) + 20
        async with asyncio.timeout(60):
            while len(written) < enough:  # noqa: ASYNC110 - a list tells nobody
                await asyncio.sleep(0.01)

    writers = [asyncio.create_task(write(own)) for own in range(8)]
    for _ in range(5):
        await goes_on()
        cluster.stop()  # in this thread: the cluster ends with the one that started it
        cluster.start()
    await goes_on()
    ended.set()
    await asyncio.gather(*writers)
    there = [json.loads(record.body)["n"] for record in records(place)]
    assert sorted(there) == sorted(written)
    assert verified(place).sound


@contextmanager
def full(cluster: Cluster) -> Iterator[None]:
    """Have the database answer that its disk is full to every new record."""
    cluster.sql(
        "CREATE FUNCTION crabhook.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$",
        "CREATE TRIGGER no_room BEFORE INSERT ON crabhook.record "
        "FOR EACH ROW EXECUTE FUNCTION crabhook.no_room()",
    )
    try:
        yield
    finally:
        cluster.sql("DROP FUNCTION crabhook.no_room CASCADE")


async def test_a_full_disk_takes_the_lead_from_nobody(
    cluster: Cluster, place: str, store: Writer
) -> None:
    with full(cluster):
        pending = [store.write([happened(entry(body={"n": n}))]) for n in range(3)]
        for _ in range(3000):
            await asyncio.sleep(0.02)
            if store.journal.trouble:
                break
        assert "its disk is full: make room" in store.journal.trouble
        (holder,) = cluster.sql(WRITERS)
        await asyncio.sleep(3 * committer_module.RETRY_AFTER)
        assert cluster.sql(WRITERS) == [holder]
        with pytest.raises(TakenError):
            open_writer(place)
    await asyncio.gather(*filter(None, pending))
    assert store.journal.trouble == ""
    assert [json.loads(record.body)["n"] for record in records(place)] == [0, 1, 2]
    assert verified(place).sound


def test_a_second_writer_hears_who_the_first_is(place: str, store: Writer) -> None:
    with pytest.raises(TakenError, match=r"another crabhook \(.*, process [0-9]+\) writes"):
        open_writer(place)


async def test_a_database_that_stands_still_holds_up_the_servers_loop_once_and_not_for_long(
    cluster: Cluster, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "HOUSE_WITHIN", 0.5)
    recorder = Recorder(lambda: open_writer(place), on_trouble=OnTrouble.REFUSE)
    with held_up_altogether(cluster):
        began = time.monotonic()
        for now in range(1, 20):
            recorder.time_passed(float(now))
        assert time.monotonic() - began < 5.0
    recorder.close()
    assert verified(place).sound


async def test_a_database_that_stands_still_is_said_before_it_is_given_up(
    cluster: Cluster, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committer_module, "SLOW_AFTER", 0.1)
    recorder = Recorder(lambda: open_writer(place), on_trouble=OnTrouble.REFUSE)
    with held_up_altogether(cluster):
        pending = recorder.write(happened(entry()))
        for _ in range(3000):
            await asyncio.sleep(0.02)
            if recorder.refusal:
                break
        assert "does not answer" in recorder.trouble
    assert await pending.wait()
    assert recorder.refusal == ""
    recorder.close()
    assert len(records(place)) == 1
