"""The harness bridge: takes requests of other programs' forwarders, as docs/reference/ndjson.md."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Container
from contextlib import asynccontextmanager, suppress
from functools import partial
from time import time

from crabhook.datatypes import frozen
from crabhook.model.card import Origin
from crabhook.model.decision import Reply
from crabhook.model.errors import CrabhookError, PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, parse_object
from crabhook.server.address import (
    BACKLOG,
    GRACE,
    MAX_REQUEST,
    Address,
    AddressError,
    PortError,
    UnixAddress,
    parse_address,
)
from crabhook.server.core.anonymous_intake import TAKEN_WITHIN, AnonymousIntake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.unix_socket import claimed, ours_alone, peer_of
from crabhook.server.watch import AsyncioListener, Heard, ListenerWatch, heard_at

LONGEST_ID = 256  # characters
_BLOCKED = 2  # the exit code that blocks
_QUOTED = 60  # characters of a client's value that a message repeats


class EnvelopeError(CrabhookError):
    """A line that is no envelope; `request_id` is the line's, None where it is not readable."""

    def __init__(self, what: str, request_id: str | None = None) -> None:
        super().__init__(what)
        self.request_id = request_id


@frozen
class Envelope:
    """A request: the hook's input, and the forwarder's copies of two fields, None without."""

    request_id: str
    payload: bytes
    session_id: Value = None
    hook_event_name: Value = None

    def differs(self, event: Event) -> str:
        """Say where the copies contradict the payload; return "" where they agree."""
        named = (
            ("hook_event_name", self.hook_event_name, event.name),
            ("session_id", self.session_id, event.session),
        )
        wrong = [
            f"{key} {quoted(copy)}, its payload {quoted(original)}"
            for key, copy, original in named
            if copy is not None and copy != original
        ]
        return f"its envelope says {' and '.join(wrong)}: the payload counts" if wrong else ""


def read(line: bytes, waiting: Container[str] = ()) -> Envelope:
    """Return the envelope in a line; raises EnvelopeError.

    Unknown fields, and `ts`, are ignored. `waiting` are the ids of this connection's waiting
    requests, which no new request may have.
    """
    try:
        fields = parse_object(line)
    except PayloadError as error:
        raise EnvelopeError(f"the line is no envelope: {error}") from error
    request_id, payload = fields.get("request_id"), fields.get("payload")
    if not isinstance(request_id, str) or not 0 < len(request_id) <= LONGEST_ID:
        raise EnvelopeError(f'"request_id" must be a text of 1 to {LONGEST_ID} characters')
    if not isinstance(payload, dict):
        raise EnvelopeError('"payload" must be the hook\'s input, an object', request_id)
    if request_id in waiting:
        raise EnvelopeError("a request with this id waits on this connection already")
    return Envelope(
        request_id,
        compact(payload).encode("ascii"),
        fields.get("session_id"),
        fields.get("hook_event_name"),
    )


def written(request_id: str | None, reply: Reply, ts: int) -> bytes:
    """Return the line that answers a request; `ts` is milliseconds since 1970."""
    answer: dict[str, Value] = {"request_id": request_id, "ts": ts, "payload": result(reply)}
    return compact(answer).encode("ascii") + b"\n"


def result(reply: Reply) -> dict[str, Value]:
    """Return a reply as the action for the forwarder.

    With an action that prints nothing on standard error, `stderr` is a diagnostic.
    """
    body: dict[str, Value] = {"action": "passthrough"}
    if reply.exit_code == _BLOCKED:
        body = {"action": "block_with_stderr", "stderr": reply.stderr}
    elif reply.output is not None:
        body = {"action": "json_output", "stdout_json": dict(reply.output)}
    return {**body, "stderr": reply.stderr} if reply.stderr else body


def no_opinion(why: str) -> Reply:
    """Return the reply to an undecided request, with the reason on standard error."""
    return Reply(stderr=f"crabhook: no opinion: {why}\n")


def quoted(value: Value) -> str:
    """Return a client's value as JSON, shortened for a message."""
    text = compact(value)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


NAMED = "harness bridge"


async def take(
    intake: AnonymousIntake, envelope: Envelope, origin: Origin, size: int
) -> PendingCall:
    """Take a request of `size` bytes in. Raises PayloadError or RefusedError."""
    event = intake.read(envelope.payload)
    if differs := envelope.differs(event):
        intake.observe(event, differs)
    return await intake.enter(event, origin, size)


_LOG = logging.getLogger(__name__)

MOST_FAULTS = 16  # wrong lines without a usable id, after which the connection is closed


class BridgeConnection:
    """Serves one connection to its end."""

    def __init__(
        self,
        intake: AnonymousIntake,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        origin: Origin,
    ) -> None:
        self._intake, self._origin = intake, origin
        self._reader, self._writer = reader, writer
        self._writing = asyncio.Lock()
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._faults = 0
        # "Drained" shall mean that the kernel has all bytes.
        writer.transport.set_write_buffer_limits(high=0)

    async def follow(self) -> None:
        """Take lines in until the client closes or makes too many faults."""
        try:
            with suppress(ConnectionError):  # the client is gone
                while self._faults < MOST_FAULTS and (line := await self._line()):
                    await self._take(line)
                    async with self._writing:
                        pass  # do not read from a client that does not read our answers
        finally:
            for task in self._waiting.values():
                task.cancel()
            await self.answered()
            self._writer.transport.abort()  # its buffer holds part of an answer at most

    async def answered(self) -> None:
        """Return when no request waits on this connection."""
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)

    async def _line(self) -> bytes:
        """Return the next line with its end; empty bytes after the last."""
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                what = f"a line of {len(error.partial)} bytes has no end and was not followed"
                self._intake.complain(what)
        except asyncio.LimitOverrunError:
            await self._refuse(f"a line is longer than {MAX_REQUEST} bytes", None)
        return b""

    async def _take(self, line: bytes) -> None:
        """Take a line in, and send its answer as soon as there is one."""
        if line.isspace():
            return
        try:
            envelope = read(line, self._waiting)
        except EnvelopeError as error:
            await self._refuse(str(error), error.request_id)
            return
        try:
            pending = await take(self._intake, envelope, self._origin, len(line))
        except PayloadError as error:
            await self._refuse(f"unreadable hook input: {error}", envelope.request_id)
        except RefusedError as error:
            await self._send(envelope.request_id, no_opinion(str(error)))
        else:
            answer = self._answer(envelope.request_id, pending)
            if pending.over:  # send it before the next line, which may have the same id
                await answer
                return
            task = asyncio.ensure_future(answer)
            self._waiting[envelope.request_id] = task
            task.add_done_callback(partial(self._done, envelope.request_id))

    async def _refuse(self, why: str, request_id: str | None) -> None:
        """Report a wrong line to operator and client, but never under a waiting request's id."""
        whose = None if request_id in self._waiting else request_id
        self._faults += whose is None
        self._intake.complain(why)
        await self._send(whose, no_opinion(why))

    def _done(self, request_id: str, task: "asyncio.Task[None]") -> None:
        del self._waiting[request_id]
        error = None if task.cancelled() else task.exception()
        if error and not isinstance(error, ConnectionError):
            _LOG.error("a request on the harness bridge was lost", exc_info=error)
            self._writer.transport.abort()  # so that the client does not wait for the answer

    async def _answer(self, request_id: str, pending: PendingCall) -> None:
        """Send a request's answer when there is one, and note that the client has it."""
        try:
            reply = await pending.wait()
        except RefusedError as error:
            reply = no_opinion(str(error))
        await self._send(request_id, reply)
        self._intake.taken(pending)

    async def _send(self, request_id: str | None, reply: Reply) -> None:
        """Write an answer; raise ConnectionError when the client does not read it.

        Answers are written one at a time, so that a slow client fills one buffer at most.
        """
        async with self._writing:
            self._writer.write(written(request_id, reply, int(time() * 1000)))
            try:
                async with asyncio.timeout(TAKEN_WITHIN):
                    await self._writer.drain()
            except TimeoutError:
                self._writer.transport.abort()
                self._intake.complain("an answer was not read in time: the connection is closed")
                raise ConnectionAbortedError from None


@asynccontextmanager
async def open_bridge(
    intake: AnonymousIntake, address: str, watch: ListenerWatch | None = None
) -> AsyncIterator[Address]:
    """Listen on `unix:PATH` while the context lasts; yields that address.

    Raises AddressError, PortError or SocketTakenError.
    """
    where = parse_address(address)
    if not isinstance(where, UnixAddress):
        raise AddressError(f"{address!r}: the harness bridge listens on unix:PATH alone")
    bridge = Bridge(intake)
    listener = BridgeListener(bridge, where)
    with claimed(where.path):
        await listener.open()
        if watch is not None:
            watch.add(listener)
            listener.renewed = lambda address: watch.renewed(address)  # noqa: PLW0108 - it is set later
        try:
            yield where
        finally:
            listener.close()
            await bridge.close()
            await listener.wait_closed()


class BridgeListener(AsyncioListener):
    """The bridge's listening socket at `at`, which can be opened again; its claim is held."""

    clients = "harnesses"
    taken = 0  # it counts no calls

    def __init__(self, bridge: "Bridge", at: UnixAddress) -> None:
        super().__init__()
        self._bridge, self._at = bridge, at
        self.renewed: Callable[[Address], object] = lambda _address: None

    @property
    def name(self) -> str:
        """Its address, and what it is for."""
        return f"the harness bridge {self._at}"

    async def open(self) -> None:
        """Listen. Raises PortError."""
        try:
            sock = _bound(self._at)
        except OSError as error:
            raise PortError(f"{self.name} cannot listen: {error.strerror}") from error
        self._server = await asyncio.start_unix_server(
            self._bridge.accept, sock=sock, limit=MAX_REQUEST, backlog=BACKLOG
        )
        self.renewed(self._at)

    async def call(self) -> Heard:
        """Connect, say nothing, and wait until the bridge hangs up as well."""
        return await heard_at(self._at, None, _hangs_up)

    async def open_anew(self) -> None:
        """Listen at the same path again; open connections go on. Raises PortError."""
        self.stop_accepting()
        self._at.path.unlink(missing_ok=True)
        await self.open()


async def _hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the bridge ends a connection whose client has ended it; no line is sent."""
    writer.write_eof()
    return not await reader.read()


def _bound(where: UnixAddress) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    try:
        with ours_alone():
            sock.bind(os.fspath(where.path))
    except BaseException:
        sock.close()
        raise
    return sock


class Bridge:
    """The open connections."""

    def __init__(self, intake: AnonymousIntake) -> None:
        self._intake = intake
        self._open: dict[asyncio.Task[None], BridgeConnection] = {}

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a new connection, if it is our own user's."""
        peer = peer_of(writer.get_extra_info("socket"))
        if not peer.is_ours:
            self._intake.complain(f"process {peer.pid} of user {peer.uid} was turned away")
            writer.transport.abort()
            return
        connection = BridgeConnection(self._intake, reader, writer, peer.origin)
        task = asyncio.ensure_future(connection.follow())
        self._open[task] = connection
        task.add_done_callback(self._ended)

    async def close(self) -> None:
        """Wait GRACE seconds for answers under way; then end every connection."""
        if not self._open:
            return
        under_way = [asyncio.ensure_future(call.answered()) for call in self._open.values()]
        await asyncio.wait(under_way, timeout=GRACE)
        tasks = [*under_way, *self._open]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._open[task]
        if not task.cancelled() and (error := task.exception()):
            _LOG.error("a connection of the harness bridge was lost", exc_info=error)
