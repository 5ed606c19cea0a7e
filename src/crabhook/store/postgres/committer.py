"""The writer's connection: elected by a lock, fenced by the record's head, committing in groups.

Batches that come during a commit form the next commit. While the database does not answer, they
wait.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future as Elsewhere
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socket import gethostname
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from crabhook.store.interface import (
    Batch,
    StoreError,
    UnreachableError,
    WriterEndedError,
)
from crabhook.store.postgres.connection import (
    ANSWER_WITHIN,
    ConnectionThread,
    connect,
    leader_of,
    shown,
    skew_of,
    speaking_of,
)
from crabhook.store.postgres.leader import AnotherLeadsError, Leader, Pace
from crabhook.store.postgres.tables import RING, Step, migrate
from crabhook.store.record import Head

if TYPE_CHECKING:
    from crabhook.store.postgres.connection import Connection

T = TypeVar("T")
Ending: TypeAlias = asyncio.Future[None] | Elsewhere[None]

_LOG = logging.getLogger(__name__)

LOCK = 0x4352414248  # "CRABH": the advisory lock that elects a database's writer
TOGETHER = 256  # batches in a commit, at most
LOOK_EVERY = 1.0  # seconds after which an idle writer checks that it is still the writer
FROZEN_AFTER = 5  # seconds without a statement after which PostgreSQL takes the writer's lock
GATHERED_WITHIN = 0.0015  # seconds; a commit costs much more than another batch in it
BELL_EVERY = 0.05  # seconds; a NOTIFY costs a seventh of a commit, and standbys also poll
SLOW_AFTER = 3.0  # seconds without an answer before it is reported and requests are turned away
RETRY_AFTER, RETRY_AT_MOST = 0.05, 1.0  # seconds

# The kernel keeps a stopped writer's connection alive, and with it the lock. A running writer gives
# a sign each LOOK_EVERY.
_NOT_FROZEN = (
    f"SET idle_session_timeout = '{FROZEN_AFTER}s';"
    f"SET idle_in_transaction_session_timeout = '{FROZEN_AFTER}s'"
)
_HEAD = "SELECT seq, hash, at, epoch FROM head"
_LEAD = """
UPDATE head SET epoch = epoch + 1, leader = $1, leader_at = $2, desks_at = $3, page_at = $4
RETURNING epoch, pg_notify('crabhook', '')
"""
_PATIENCE = "SELECT set_config('lock_timeout', $1, false)"


@dataclass(slots=True)
class Queued:
    """A batch to commit, and its listener, in the waiting loop, if there is one.

    Answers decided before the wall time `forget` are forgotten with it.
    """

    batch: Batch
    ending: Ending
    loop: asyncio.AbstractEventLoop | None = None
    forget: float | None = None


class Committer:
    """Commits queued batches in order, by the only connection that may, in its thread.

    `pace` is how fast, `trouble` says why the queue waits. `lost`: this process no longer writes
    the record, and the queue was not written.
    """

    def __init__(self, thread: ConnectionThread) -> None:
        self._thread = thread
        self._queue: deque[Queued] = deque()
        self._asleep = self._closing = False
        self._wake = asyncio.Event()
        self._using = asyncio.Lock()
        self._connection: Connection | None = None
        self._together = 1  # batches in the last commit
        self.epoch = 0
        self.trouble = ""
        self.lost: WriterEndedError | None = None
        self.pace = Pace()
        self._rung, self._mute = 0.0, False  # the last NOTIFY; commits since then

    async def begin(self, patience: float = 0.0) -> "Connection":
        """Become the writer, of an up-to-date schema; return the connection.

        Raises AnotherLeadsError where another still is after `patience` seconds. `lead` begins
        leading.
        """
        connection = await connect(self._thread.url)
        try:
            with speaking_of(self._thread.url):
                await _elect(connection, self._thread.url, patience)
                await migrate(connection)
                await connection.execute(_NOT_FROZEN)
        except BaseException:
            # Once PostgreSQL has ended its side, the lock is free for the next try.
            with suppress(Exception):
                await connection.close(timeout=1)
            raise
        self._connection = connection
        return connection

    async def lead(self, me: Leader) -> None:
        """Begin a new epoch, so that earlier writers cannot commit; `me` is published."""
        name = me.name or f"{gethostname()}, process {os.getpid()}"
        led = await self.connected().fetchval(_LEAD, name, me.hooks, me.desks, me.page)
        self.epoch = self.pace.epoch = int(led)
        self.pace.skew = await skew_of(self.connected())
        self._committing = asyncio.create_task(self._keep_committing())

    def let_go(self) -> None:
        """Close the connection, and so release the lock."""
        if self._connection is not None:
            self._connection.terminate()

    # For other threads.

    def put(self, queued: Queued) -> None:
        """Add a batch to the queue."""
        self._queue.append(queued)
        if self._asleep:  # the thread looks at the queue once more afterwards
            self._thread.loop.call_soon_threadsafe(self._wake.set)

    def ask(self, work: Coroutine[Any, Any, T], within: float = ANSWER_WITHIN) -> T:
        """Run a read on the writer's own connection; return its result. Raises StoreError."""
        return self._thread.wait(self._alone(work), within)

    def close(self) -> None:
        """Commit the queue, if that is quickly possible, and close."""
        self._closing = True
        with suppress(StoreError):
            self._thread.wait(self._close(), ANSWER_WITHIN)
        self._thread.close()
        self.lost = self.lost or WriterEndedError("the record is closed")
        _end([self._queue.popleft() for _ in range(len(self._queue))], self.lost)

    # In the thread of the connection.

    def connected(self) -> "Connection":
        """Return the connection. Raises UnreachableError while there is none."""
        if self._connection is None:
            raise UnreachableError(self.trouble)
        return self._connection

    async def _alone(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            async with self._using:
                with speaking_of(self._thread.url):
                    return await work
        finally:
            work.close()  # cancelled before its start, it would stay silent

    async def _close(self) -> None:
        self._wake.set()
        await asyncio.wait([self._committing], timeout=ANSWER_WITHIN / 2)
        if self._connection is not None:
            await self._connection.close(timeout=1)

    async def _keep_committing(self) -> None:
        while self.lost is None and not (self._closing and not self._queue):
            await self._gather()
            if not self._queue and await self._slept():
                continue
            group = [self._queue.popleft() for _ in range(min(len(self._queue), TOGETHER))]
            begun = monotonic()
            try:
                async with self._using:
                    with self._slow_said():
                        await self._commit(group)
                self._together = len(group)  # none, after a second in which nothing came
                if group:
                    self.pace.count(monotonic() - begun, len(group))
            except WriterEndedError as error:
                self.lost = error
            except Exception as fault:  # noqa: BLE001 - whatever it was: it is not known what is on record
                _LOG.exception("a fault in committing")
                self.lost = WriterEndedError(f"the record was not written: {fault}")
            if self.lost is not None:  # later batches follow the lost batch's records
                group += [self._queue.popleft() for _ in range(len(self._queue))]
            _end(group, self.lost)

    async def _gather(self) -> None:
        """Wait for more batches if the last commit had several; a lone batch does not wait.

        What comes meanwhile need not wake this thread, which costs the server's as much.
        """
        if self._together > 1 and len(self._queue) <= self._together + 1:
            await asyncio.sleep(GATHERED_WITHIN)

    async def _slept(self) -> bool:
        """Wait for a batch; return False after a timeout."""
        self._wake.clear()
        self._asleep = True
        try:
            if self._queue or self._closing:
                return True
            async with asyncio.timeout(BELL_EVERY if self._mute else LOOK_EVERY):
                return await self._wake.wait()
        except TimeoutError:
            return False
        finally:
            self._asleep = False

    async def _commit(self, group: list[Queued]) -> None:
        """Commit a group; without one, check that this still writes. Raises WriterEndedError."""
        forget = max((queued.forget for queued in group if queued.forget), default=None)
        step = Step.of([queued.batch for queued in group], forget) if group else None
        after, in_doubt = RETRY_AFTER, step is None
        while True:
            try:
                with speaking_of(self._thread.url):
                    if self._connection is None:
                        self._connection = await self._again()
                    if step is None and self._mute:
                        await self._connection.execute(RING)
                        self._mute = False
                    if in_doubt and await self._is_written(self._connection, step):
                        break
                    bell = monotonic() - self._rung >= BELL_EVERY
                    if step and await step.write(self._connection, self.epoch, bell=bell):
                        self._rung, self._mute = monotonic() if bell else self._rung, not bell
                        break
            except WriterEndedError:
                raise
            except StoreError as error:
                self._report(str(error))
                if isinstance(error, UnreachableError):  # "full" is no reason to give up the lead
                    self.let_go()
                    self._connection = None
                if self._closing:
                    raise WriterEndedError(f"the record was closed meanwhile: {error}") from error
                await asyncio.sleep(after)
                after = min(2 * after, RETRY_AT_MOST)
            in_doubt = True  # a fault or no row: deposed, or an earlier try was written
        self._report("")

    @contextmanager
    def _slow_said(self) -> Iterator[None]:
        """Report when the inner step takes long: an answer may still come."""
        trouble = f"the record in {shown(self._thread.url)}: it does not answer"
        late = self._thread.loop.call_later(SLOW_AFTER, self._report, trouble)
        try:
            yield
        finally:
            late.cancel()

    def _report(self, trouble: str) -> None:
        self.trouble = trouble

    async def _again(self) -> "Connection":
        """Return a connection with the lock, if nobody wrote since the last connection was lost."""
        connection = await connect(self._thread.url)
        try:
            await self._stand(connection)
            await _elect(connection, self._thread.url)  # the other end may still hold the last one
            await self._stand(connection)
            await connection.execute(_NOT_FROZEN)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _stand(self, connection: "Connection") -> Head:
        """Return the record's end. Raises WriterEndedError where another server leads."""
        row = await connection.fetchrow(_HEAD)
        if row is None or row["epoch"] != self.epoch:
            who = named(await leader_of(connection), self._thread.url)
            raise WriterEndedError(f"{who}. What was not on record yet is not given")
        return Head(row["seq"], bytes(row["hash"]), row["at"])

    async def _is_written(self, connection: "Connection", step: Step | None) -> bool:
        """Whether nothing of the step remains, after a try with an unknown end."""
        head = await self._stand(connection)
        if step is None or (step.records and head == step.after):
            return True
        if head != step.before:
            raise WriterEndedError(
                f"the record in {shown(self._thread.url)} ends at {head.seq}, and not where this "
                "server left it. What was not on record yet is not given"
            )
        return False


async def _elect(connection: "Connection", url: str, patience: float = 0.0) -> None:
    """Take the writer's lock, for as long as the connection lives. Raises AnotherLeadsError.

    A waiting server gets it milliseconds after the holder ends in any way.
    """
    import asyncpg  # who gets here has imported it by `connect`

    if await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK):
        return
    if patience:
        await connection.execute(_PATIENCE, str(int(patience * 1000)))
        try:
            await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
        except asyncpg.LockNotAvailableError:
            pass
        else:
            await connection.execute(_PATIENCE, "0")
            return
    leader = await leader_of(connection)
    raise AnotherLeadsError(named(leader, url), leader)


def named(leader: Leader, url: str) -> str:
    """Return which other server writes the record, in words."""
    return f"another crabhook ({leader.name or 'unknown'}) writes the record in {shown(url)}"


def _end(group: list[Queued], error: WriterEndedError | None) -> None:
    """End the futures of a group, with a single call into each loop."""
    for loop in {id(queued.loop): queued.loop for queued in group}.values():
        endings = [queued.ending for queued in group if queued.loop is loop]
        if loop is None:
            _told(endings, error)
        else:
            with suppress(RuntimeError):  # the loop is closed, so nobody waits
                loop.call_soon_threadsafe(_told, endings, error)


def _told(endings: list[Ending], error: WriterEndedError | None) -> None:
    for ending in endings:
        if ending.done():
            continue
        if error is None:
            ending.set_result(None)
        else:
            ending.set_exception(error)
            ending.exception()  # asyncio must not complain if nobody asks
