"""The servers of a desk: one leads, the others stand by and only show."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import grpc

from crabhook.model.errors import CrabhookError
from crabhook.model.wording import plural
from crabhook.v1 import operator_pb2 as pb
from crabhook.v1.operator_pb2_grpc import OperatorServiceStub

OPTIONS = (
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", 33 << 20),
    # A connection that went silent, as behind a NAT that forgot it, is noticed in 20 seconds.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.use_local_subchannel_pool", 1),
)
ASK_INSTEAD = "crabhook-leader"
"""The trailing metadata in which a server that does not lead says where to ask, HOST:PORT."""
_STANDS_BY = "standby"
"""The part of a server, in its hello, that takes no commands now."""
LOOK_EVERY, LOOK_WITHIN = 2.0, 3.0  # seconds, of a desk at a server that stands by: another leads?


class ElsewhereError(CrabhookError):
    """This server stands by. The server at `instead` may lead, if known."""

    def __init__(self, instead: str) -> None:
        super().__init__("this server stands by, and another is looked for")
        self.instead = instead


def instead_in(error: grpc.aio.AioRpcError) -> str | None:
    """Return where a refusal says to ask instead; None where the refusal is another."""
    trailers: Any = error.trailing_metadata() or ()
    return next((str(value) for key, value in trailers if key == ASK_INSTEAD), None)


# What gRPC itself says of a connection that failed, and the same in words for a person.
_OF_TRANSPORT = (
    (r"CERTIFICATE_VERIFY_FAILED: ([^:]+)", r"its certificate is refused (\1)"),
    (r"handshake failed", "it speaks no TLS that this device knows"),
    (r"DNS resolution failed|name or service not known", "nobody knows a host of this name"),
    (r"[Cc]onnection refused", "no server listens there"),
    (r"failed to connect to all addresses|connections to all backends", "there is no way to it"),
    (r"[Ss]ocket closed|[Cc]onnection reset|GOAWAY|recvmsg", "the connection was cut"),
    (r"^Deadline Exceeded$", "it does not answer in time"),
)


def why_lost(details: str | None, code: grpc.StatusCode) -> str:
    """Return why a call failed: the server's own words, or ours for those of gRPC."""
    for pattern, words in _OF_TRANSPORT:
        if match := re.search(pattern, details or ""):
            return match.expand(words)
    return details or f"the server ended it ({code.name.lower().replace('_', ' ')})"


def leads(hello: pb.Hello) -> bool:
    """Whether a server takes commands."""
    return hello.part != _STANDS_BY


class Servers:
    """One of several servers at a time, each by its address and a channel.

    They are tried in order, but first the server that another server names. Its word leads to no
    address outside the list.
    """

    def __init__(self, channels: Mapping[str, grpc.aio.Channel]) -> None:
        self._stubs: dict[str, Any] = {
            address: OperatorServiceStub(channel) for address, channel in channels.items()
        }
        self.address, *self._left = self._stubs
        self._looking: asyncio.Task[str] | None = None
        self._led, self._run = "", b""  # who led, and which run of a server this is

    @property
    def stub(self) -> Any:  # noqa: ANN401 - what gRPC generates
        """The service at the server of now."""
        return self._stubs[self.address]

    def turn(self, first: str = "") -> bool:
        """Go on to another server, `first` if it is left; False where each has been tried.

        Then it is time for a pause.
        """
        if first in self._left:
            self._left.remove(first)
            self.address = first
        elif self._left:
            self.address = self._left.pop(0)
        else:
            self.address, *self._left = self._stubs
            return False
        return True

    def met(self, hello: pb.Hello, asked: pb.WatchRequest) -> None:
        """Take in the server's part. Raises ElsewhereError where another server is better.

        Where no server leads, a desk stays at a server that stands by, and looks for another.
        """
        if leads(hello):
            self._left = [address for address in self._stubs if address != self.address]
        elif self._left:
            raise ElsewhereError(hello.leader)
        elif len(self._stubs) > 1:
            self._looking = asyncio.ensure_future(self._look(self.address, asked))

    def changed(self, hello: pb.Hello, taken_up: int) -> str:
        """Return what has become of the server since the last call, in words; mostly nothing.

        `taken_up`: how many of the waiting requests came before the server began to serve.
        """
        led, run, self._run = self._led, self._run, hello.challenge
        if not leads(hello):
            self._led = hello.leader or led
            return "connected again, to a server that stands by"
        self._led = hello.leader or self.address
        took = f" (it took up {plural(taken_up, 'request')})" if taken_up else ""
        if led not in ("", self._led):
            return f"another server leads now, {self._led}{took}"
        return "" if run in (b"", self._run) else f"the server was restarted{took}"

    async def read(self, call: Any, within: float) -> Any:  # noqa: ANN401 - gRPC's
        """Read what a watch tells next; raises ElsewhereError, TimeoutError."""
        if self._looking is None:
            async with asyncio.timeout(within):
                return await call.read()
        reading = asyncio.ensure_future(call.read())
        try:
            await asyncio.wait(
                {reading, self._looking}, timeout=within, return_when=asyncio.FIRST_COMPLETED
            )
            if self._looking.done():
                raise ElsewhereError(self._looking.result())
            if not reading.done():
                raise TimeoutError
            return reading.result()
        finally:
            if not reading.done():
                reading.cancel()

    def leave(self) -> None:
        """Stop looking for another server."""
        looking, self._looking = self._looking, None
        if looking is not None:
            looking.cancel()

    async def _look(self, here: str, asked: pb.WatchRequest) -> str:
        """Return the first other server that leads."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for address, stub in self._stubs.items():
                if address != here and await _leads(stub, asked):
                    self._left = [address for address in self._stubs if address != here]
                    return address


async def _leads(stub: Any, asked: pb.WatchRequest) -> bool:  # noqa: ANN401 - what gRPC generates
    """Whether a server begins a watch, and does not stand by."""
    call = stub.Watch(asked)
    try:
        with suppress(grpc.aio.AioRpcError, TimeoutError):
            async with asyncio.timeout(LOOK_WITHIN):
                event = await call.read()
            return isinstance(event, pb.WatchEvent) and leads(event.hello)
    finally:
        call.cancel()
    return False
