"""A real permission port and grpcio clients to it; the operator is the test, at the runner's desk."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from hpack import Encoder

from crabhook.desk.updates import News
from crabhook.hook.call import HookCall
from crabhook.model.card import Card
from crabhook.server.address import Address, Tls, Tokens, UnixAddress
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health, HealthPort, open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.v1 import permission_pb2 as pb
from crabhook.v1.permission_pb2_grpc import PermissionServiceStub
from tests.support.runners import bare_runner
from tests.support.seat import hears

SOON = 60.0  # seconds after which a test gives up on what should happen at once
METHOD = "/crabhook.v1.PermissionService/RequestPermission"
BASH = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t1"}
_TICKETS = count(1)

Waiting: TypeAlias = "grpc.aio.UnaryStreamCall[Any, Any]"


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose sockets have short names, as they must."""
    with tempfile.TemporaryDirectory(prefix="crab", dir="/tmp") as name:
        yield Path(name)


@dataclass
class Opened:
    """A port that is open, and the desk behind it."""

    runner: Runner
    bound: Sequence[Address]
    news: list[News] = field(default_factory=list)
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def hears(self, news: News) -> None:
        """Take in what a screen would show."""
        self.news.append(news)
        self._more.set()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is true, looking whenever there is news."""
        async with asyncio.timeout(SOON):
            while not true():
                self._more.clear()
                await self._more.wait()

    async def waiting(self, many: int = 1) -> Sequence[Card]:
        """Wait until so many cards wait; return them."""
        await self.until(lambda: len(self.runner.broker.waiting()) == many)
        return self.runner.broker.waiting()


@asynccontextmanager
async def opened(
    *addresses: Address,
    wait: float = 60.0,
    token: str | None = None,
    tls: Tls | None = None,
    **parts: Any,
) -> AsyncIterator[Opened]:
    """Open a port on the addresses, or on a socket of its own; nothing waits any more at the end.

    `parts` are of the runner behind it, as `bare_runner` takes them.
    """
    with ExitStack() as own:
        runner = bare_runner(**parts)
        service = PermissionPort(runner, wait=wait, tokens=Tokens(token))
        places = addresses or (UnixAddress(own.enter_context(short_folder()) / "s"),)
        health = HealthPort(Health(runner), tokens=Tokens(token))
        async with open_port(service, places, tls, health=health) as bound:
            port = Opened(runner, bound)
            stop = hears(runner, port.hears)
            try:
                yield port
            finally:
                stop()
                runner.close()


@asynccontextmanager
async def connected(
    address: Address, credentials: grpc.ChannelCredentials | None = None
) -> AsyncIterator[grpc.aio.Channel]:
    """A client's channel, on a connection it shares with nobody."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    target = str(address)
    channel = (
        grpc.aio.secure_channel(target, credentials, options=options)
        if credentials
        else grpc.aio.insecure_channel(target, options=options)
    )
    async with channel:
        yield channel


def request(payload: Any = None, **fields: Any) -> pb.PermissionRequest:
    """A request with a ticket of its own; `payload` is JSON, or bytes as they are."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload or BASH).encode()
    ticket = {"request_id": f"r{next(_TICKETS)}", "secret": "hush"}
    return pb.PermissionRequest(**{**ticket, "platform": "claude", "payload": data, **fields})


async def ask(
    channel: grpc.aio.Channel, asked: pb.PermissionRequest, **how: Any
) -> pb.PermissionResponse:
    """Ask as the generated client does."""
    stub: Any = PermissionServiceStub(channel)
    response = await stub.RequestPermission(asked, timeout=SOON, **how)
    assert isinstance(response, pb.PermissionResponse)
    return response


async def confirm(channel: grpc.aio.Channel, request_id: str, secret: str = "hush") -> None:
    """Send the receipt for a reply."""
    stub: Any = PermissionServiceStub(channel)
    named = pb.ConfirmReplyRequest(request_id=request_id, secret=secret)
    await stub.ConfirmReply(named, timeout=SOON)


@asynccontextmanager
async def asking(channel: grpc.aio.Channel, asked: pb.PermissionRequest) -> AsyncIterator[Waiting]:
    """Ask and see the server's first word by itself, which a unary grpcio client cannot."""
    method: Any = channel.unary_stream(
        METHOD,
        request_serializer=pb.PermissionRequest.SerializeToString,
        response_deserializer=pb.PermissionResponse.FromString,
    )
    call = method(asked, timeout=SOON)
    try:
        yield call
    finally:
        call.cancel()
        with suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
            await call.code()


def new_call(asked: pb.PermissionRequest) -> HookCall:
    """The request as crabhook's own client carries it, for a connection without grpcio."""
    headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", METHOD),
        (":authority", "localhost"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    ]
    return HookCall(Encoder().encode(headers), asked.SerializeToString())


def path_of(port: Opened) -> Path:
    """The socket the port listens on."""
    (address,) = port.bound
    assert isinstance(address, UnixAddress)
    return address.path
