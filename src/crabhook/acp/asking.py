"""The desk, asked over the wire of crabhook's hook; each request waits in a thread of its own."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from crabhook.hook import Options, Unanswered, read_options
from crabhook.hook.client import HookRequest
from crabhook.hook.wire import COMPANION, WireReply

if TYPE_CHECKING:
    from crabhook.hook import sockets

T = TypeVar("T")
PLATFORM = "acp"
TOLD_WITHIN = 5.0
"""Seconds that the server has to hear of what passed by."""
MOST_TOLD = 1000
"""Events that wait to be told; of more the newest are left out."""


def options_of(words: Sequence[str]) -> Options:
    """Return how to ask, from options of crabhook's own hook and its environment."""
    options = read_options(words, os.environb)
    options.platform, options.stance = PLATFORM, COMPANION
    return options


def _copy(options: Options, wait: float | None = None) -> Options:
    copied = Options()
    copied.__dict__.update(options.__dict__)
    if wait is not None:
        copied.wait = copied.reconnect = wait
    return copied


class DeskRequest(HookRequest):
    """A request that may be withdrawn from another thread: its connection ends, and its card."""

    def __init__(self, options: Options, wait: float | None = None) -> None:
        self._guard = threading.Lock()
        self._withdrawn = False
        self._sock: sockets.socket | None = None
        super().__init__(_copy(options, wait))

    @property
    def sock(self) -> "sockets.socket | None":
        """The connection, which a withdrawal closes, also a new connection."""
        return self._sock

    @sock.setter
    def sock(self, sock: "sockets.socket | None") -> None:
        with self._guard:
            self._sock = sock
            if self._withdrawn and sock is not None:
                _end(sock)

    @property
    def waits(self) -> bool:
        """Whether the server has taken the request, and it waits for a person."""
        return self.call is not None and self.call.accepted

    def written(self, payload: bytes, *, seconds: float) -> tuple[bytes, bytes]:
        """Return the next call's headers and message; raises Unanswered after a withdrawal."""
        if self._withdrawn:
            raise Unanswered("lost", "it was withdrawn")
        return super().written(payload, seconds=seconds)

    def withdraw(self) -> None:
        """End the request, from any thread."""
        with self._guard:
            self._withdrawn = True
            if self._sock is not None:
                _end(self._sock)


def _end(sock: "sockets.socket") -> None:
    with suppress(OSError):
        sock.shutdown(2)  # wakes the thread that reads from it


async def in_thread(do: Callable[[], T]) -> T:
    """Return what `do` returns in a thread that holds up no end of the process."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def give(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def run() -> None:
        result, fault = None, None
        try:
            result = do()
        except Exception as error:  # noqa: BLE001 - it is raised where it is awaited
            fault = error
        with suppress(RuntimeError):  # the process ends, and nobody awaits it
            loop.call_soon_threadsafe(give, result, fault)

    threading.Thread(target=run, daemon=True).start()
    return await future


class Errands:
    """What the server is told and asked, in the order in which it happened.

    What passed by is told one after another. A question begins in its turn, and waits beside.
    """

    def __init__(self, options: Options, complain: Callable[[str], None]) -> None:
        self._options, self._complain = options, complain
        self._queue: asyncio.Queue[Callable[[], asyncio.Future[None] | None]] = asyncio.Queue()
        self._reached = True
        self._closed = False

    def tell(self, payload: bytes, then: Callable[[], None]) -> None:
        """Tell the server an event, and then do something; also if it could not be told."""
        if self._queue.qsize() >= MOST_TOLD:
            then()
            return
        self._queue.put_nowait(lambda: asyncio.ensure_future(self._told(payload, then)))

    def ask(self, begin: Callable[[], None]) -> None:
        """Begin a question after all that was told before."""

        def start() -> None:
            begin()

        self._queue.put_nowait(start)

    async def _told(self, payload: bytes, then: Callable[[], None]) -> None:
        request = DeskRequest(self._options, TOLD_WITHIN)
        try:
            await in_thread(lambda: request.ask(payload))
            self._reached = True
        except Unanswered as unanswered:
            self.unanswered(unanswered)
        finally:
            request.close()
            then()

    def unanswered(self, unanswered: Unanswered) -> None:
        """Say once that nobody can be asked, until somebody can be again."""
        if unanswered.kind in ("unreachable", "options") and self._reached:
            self._reached = False
            self._complain(f"cannot ask the desk: {unanswered}. The editor alone decides")

    def reached(self) -> None:
        """Know that the server was reached."""
        self._reached = True

    async def run(self) -> None:
        """Do what there is to do, until cancelled."""
        while True:
            errand = await self._queue.get()
            try:
                if (telling := errand()) is not None:
                    await telling
            finally:
                self._queue.task_done()

    async def finish(self, within: float) -> None:
        """Wait until all is told, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._queue.join()


def result_of(reply: WireReply) -> bytes:
    """Return the result in a reply; empty is no opinion."""
    return b"" if reply.exit_code else reply.stdout.strip()
