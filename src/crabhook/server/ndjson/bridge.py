"""The harness bridge: other programs' forwarders ask on a Unix socket, in lines of JSON.

docs/reference/ndjson.md is the protocol.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Container
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import time

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
    UnixAddress,
    parse_address,
)
from crabhook.server.core.intake import TAKEN_WITHIN, AnonymousIntake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.server.unix_socket import SocketFile, peer_of

LONGEST_ID = 256  # characters
_BLOCKED = 2  # the exit code that blocks
_QUOTED = 60  # characters of what somebody sent that a message repeats


class EnvelopeError(CrabhookError):
    """A line that is no envelope; `request_id` is whose it is, None where that cannot be read."""

    def __init__(self, what: str, request_id: str | None = None) -> None:
        super().__init__(what)
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class Envelope:
    """One request: the agent's hook input, and copies that the forwarder made, None if none."""

    request_id: str
    payload: bytes
    session_id: Value = None
    hook_event_name: Value = None

    def differs(self, event: Event) -> str:
        """Return where the copies contradict the payload, in words; nothing where they do not."""
        named = (
            ("hook_event_name", self.hook_event_name, event.name),
            ("session_id", self.session_id, event.session),
        )
        told = [
            f"{key} {quoted(copy)}, its payload {quoted(original)}"
            for key, copy, original in named
            if copy is not None and copy != original
        ]
        return f"its envelope says {' and '.join(told)}: the payload counts" if told else ""


def read(line: bytes, waiting: Container[str] = ()) -> Envelope:
    """Return the envelope in a line; raise EnvelopeError, in words for a person, if there is none.

    Fields that are not known, `ts` among them, are not looked at.  `waiting` are the ids
    of requests that are yet to be answered, and that no other may have.
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
    """Return the line that answers a request; `ts` in milliseconds since 1970."""
    answer: dict[str, Value] = {"request_id": request_id, "ts": ts, "payload": result(reply)}
    return compact(answer).encode("ascii") + b"\n"


def result(reply: Reply) -> dict[str, Value]:
    """Return a reply as the action that the forwarder is to carry out.

    Beside an action that prints nothing on standard error, `stderr` is a diagnostic.
    """
    body: dict[str, Value] = {"action": "passthrough"}
    if reply.exit_code == _BLOCKED:
        body = {"action": "block_with_stderr", "stderr": reply.stderr}
    elif reply.output is not None:
        body = {"action": "json_output", "stdout_json": dict(reply.output)}
    return {**body, "stderr": reply.stderr} if reply.stderr else body


def no_opinion(why: str) -> Reply:
    """Return the reply to what was not decided, with the reason where people look for it."""
    return Reply(stderr=f"crabhook: no opinion: {why}\n")


def quoted(value: Value) -> str:
    """Return a value that somebody sent as JSON, shortened, to be repeated in a message."""
    text = compact(value)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


class BridgeIntake(AnonymousIntake):
    """Takes the bridge's requests in; an envelope does not say how long its forwarder waits."""

    def __init__(self, runner: Runner, *, wait: float) -> None:
        super().__init__(runner, wait=wait, named="harness bridge")

    async def take(self, envelope: Envelope, origin: Origin, size: int) -> PendingCall:
        """Take a request of `size` bytes in.  Raises PayloadError or RefusedError."""
        event = self.read(envelope.payload)
        if differs := envelope.differs(event):
            self.observe(event, differs)
        return await self.enter(event, origin, size)


_LOG = logging.getLogger(__name__)

LONGEST_LINE = MAX_REQUEST  # bytes
MOST_FAULTS = 16  # lines that are nobody's, after which a connection is given up


class Connection:
    """Follows one connection to its end."""

    def __init__(
        self,
        intake: BridgeIntake,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        origin: Origin,
    ) -> None:
        self._intake, self._origin = intake, origin
        self._reader, self._writer = reader, writer
        self._writing = asyncio.Lock()
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._faults = 0
        # "Drained" is to mean that the kernel has it all, not a buffer of ours.
        writer.transport.set_write_buffer_limits(high=0)

    async def follow(self) -> None:
        """Take in line after line, until the other end closes or cannot be followed any more."""
        try:
            with suppress(ConnectionError):  # the other end is gone
                while self._faults < MOST_FAULTS and (line := await self._line()):
                    await self._take(line)
                    async with self._writing:
                        pass  # who does not read answers is not listened to either
        finally:
            for task in self._waiting.values():
                task.cancel()
            await self.answered()
            self._writer.transport.abort()  # what is still in its buffer is half an answer

    async def answered(self) -> None:
        """Return when nothing waits on this connection any more."""
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)

    async def _line(self) -> bytes:
        """Return the next line with its end; nothing where none comes any more."""
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                what = f"a line of {len(error.partial)} bytes has no end and was not followed"
                self._intake.complain(what)
        except asyncio.LimitOverrunError:
            await self._refuse(f"a line is longer than {LONGEST_LINE} bytes", None)
        return b""

    async def _take(self, line: bytes) -> None:
        """Take a line in; its answer is sent as soon as it is known, perhaps at once."""
        if line.isspace():
            return
        try:
            envelope = read(line, self._waiting)
        except EnvelopeError as error:
            await self._refuse(str(error), error.request_id)
            return
        try:
            pending = await self._intake.take(envelope, self._origin, len(line))
        except PayloadError as error:
            await self._refuse(f"unreadable hook input: {error}", envelope.request_id)
        except RefusedError as error:
            await self._send(envelope.request_id, no_opinion(str(error)))
        else:
            answer = self._answer(envelope.request_id, pending)
            if pending.reply.done():  # a rule's, or silence: the next line may have the same id
                await answer
                return
            task = asyncio.ensure_future(answer)
            self._waiting[envelope.request_id] = task
            task.add_done_callback(partial(self._done, envelope.request_id))

    async def _refuse(self, why: str, request_id: str | None) -> None:
        """Tell both sides that a line was not followed; under no id that is yet to be answered."""
        whose = None if request_id in self._waiting else request_id
        self._faults += whose is None
        self._intake.complain(why)
        await self._send(whose, no_opinion(why))

    def _done(self, request_id: str, task: "asyncio.Task[None]") -> None:
        del self._waiting[request_id]
        error = None if task.cancelled() else task.exception()
        if error and not isinstance(error, ConnectionError):
            _LOG.error("a request on the harness bridge was lost", exc_info=error)
            self._writer.transport.abort()  # so that nobody waits for its answer

    async def _answer(self, request_id: str, pending: PendingCall) -> None:
        """Send a request's answer when there is one, and note that it was taken."""
        try:
            reply = await pending.wait()
        except RefusedError as error:
            reply = no_opinion(str(error))
        await self._send(request_id, reply)
        self._intake.taken(pending)

    async def _send(self, request_id: str | None, reply: Reply) -> None:
        """Write an answer; raise ConnectionError when the other end does not take it.

        One at a time: a slow reader costs one buffer, however much waits for it.
        """
        async with self._writing:
            self._writer.write(written(request_id, reply, int(time() * 1000)))
            try:
                async with asyncio.timeout(TAKEN_WITHIN):
                    await self._writer.drain()
            except TimeoutError:
                self._writer.transport.abort()
                self._intake.complain("an answer was not read in time; the connection is closed")
                raise ConnectionAbortedError from None


@asynccontextmanager
async def open_bridge(intake: BridgeIntake, address: str) -> AsyncIterator[Address]:
    """Serve the bridge on `unix:PATH` while the context lasts; yields that address.

    Raises AddressError or SocketTakenError.
    """
    where = parse_address(address)
    if not isinstance(where, UnixAddress):
        raise AddressError(f"{address!r}: the harness bridge listens on unix:PATH alone")
    bridge = Bridge(intake)
    with SocketFile(where.path), _bound(where) as sock:
        server = await asyncio.start_unix_server(
            bridge.accept, sock=sock, limit=LONGEST_LINE, backlog=BACKLOG
        )
        try:
            yield where
        finally:
            server.close()
            await bridge.close()
            await server.wait_closed()


def _bound(where: UnixAddress) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)  # the socket is the owner's alone from its first moment
    try:
        sock.bind(os.fspath(where.path))
    except BaseException:
        sock.close()
        raise
    finally:
        os.umask(before)
    return sock


class Bridge:
    """The connections that are open."""

    def __init__(self, intake: BridgeIntake) -> None:
        self._intake = intake
        self._open: dict[asyncio.Task[None], Connection] = {}

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin to follow a connection, if its user may ask here."""
        peer = peer_of(writer.get_extra_info("socket"))
        if not peer.is_ours:
            self._intake.complain(f"process {peer.pid} of user {peer.uid} was turned away")
            writer.transport.abort()
            return
        connection = Connection(self._intake, reader, writer, peer.origin)
        task = asyncio.ensure_future(connection.follow())
        self._open[task] = connection
        task.add_done_callback(self._ended)

    async def close(self) -> None:
        """Let answers under way go out, for GRACE seconds; then end every connection."""
        if not self._open:
            return
        under_way = [asyncio.ensure_future(one.answered()) for one in self._open.values()]
        await asyncio.wait(under_way, timeout=GRACE)
        tasks = [*under_way, *self._open]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._open[task]
        if not task.cancelled() and (error := task.exception()):
            _LOG.error("a connection of the harness bridge was lost", exc_info=error)
