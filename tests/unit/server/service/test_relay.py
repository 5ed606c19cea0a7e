"""What a relay carries arrives whole, in order, in both directions, and ends on both sides."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from crabhook.server.address import TcpAddress, UnixAddress
from crabhook.server.service import activation
from crabhook.server.service.activation import Relay
from crabhook.server.unix_socket import Peer
from tests.support.port import short_folder
from tests.support.service import listening

SOON = 60.0
LARGE = os.urandom(1 << 20) * 9

Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()


async def shut(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@asynccontextmanager
async def far_end(
    folder: Path | None, serve: Serve = echo
) -> AsyncIterator[TcpAddress | UnixAddress]:
    """A server to carry to; all its connections are over at the end."""
    meetings: set[asyncio.Task[None]] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        meeting = asyncio.current_task()
        assert meeting
        meetings.add(meeting)
        try:
            await serve(reader, writer)
        finally:
            await shut(writer)

    if folder:
        server = await asyncio.start_unix_server(meet, folder / "far")
        where: TcpAddress | UnixAddress = UnixAddress(folder / "far")
    else:
        server = await asyncio.start_server(meet, "127.0.0.1", 0)
        where = TcpAddress(*server.sockets[0].getsockname())
    async with asyncio.timeout(SOON):
        try:
            yield where
        finally:
            server.close()
            await asyncio.gather(*meetings)


@asynccontextmanager
async def relayed(folder: Path, serve: Serve = echo) -> AsyncIterator[Relay]:
    """Carry `folder/near` to a server of the test's."""
    async with far_end(folder, serve) as far:
        relay = Relay()
        async with relay.accepting(listening(folder / "near"), far):
            yield relay
        relay.close()
        while relay._open:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)


@asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_unix_connection(folder / "near")
    try:
        yield reader, writer
    finally:
        await shut(writer)


async def test_what_is_sent_comes_back_whole_however_much_it_is(folder: Path) -> None:
    async with relayed(folder), connected(folder) as (reader, writer):
        writer.write(LARGE)
        assert await reader.readexactly(len(LARGE)) == LARGE


async def test_it_takes_no_more_than_a_little_of_what_nobody_reads(folder: Path) -> None:
    taking = asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await taking.wait()
        writer.write(b"%d" % len(await reader.readexactly(len(LARGE))))

    async with relayed(folder, slow), connected(folder) as (reader, writer):
        writer.write(LARGE)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await writer.drain()
        taking.set()
        assert await reader.read() == b"%d" % len(LARGE)


@pytest.mark.parametrize("how", ["close", "abort"])
async def test_a_client_that_is_gone_is_gone_on_the_other_side_too(folder: Path, how: str) -> None:
    met, gone = asyncio.Event(), asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.set()
        await reader.read()
        gone.set()

    async with relayed(folder, wait), connected(folder) as (_, writer):
        await met.wait()
        getattr(writer.transport, how)()
        await gone.wait()


async def test_a_server_that_hangs_up_is_heard_to_its_last_word(folder: Path) -> None:
    async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(LARGE)

    async with relayed(folder, speak), connected(folder) as (reader, _):
        assert await reader.read() == LARGE


async def test_another_users_connection_is_turned_away_unheard(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = False

    async def hear(*_: object) -> None:
        nonlocal heard
        heard = True

    monkeypatch.setattr(activation, "peer_of", lambda _: Peer(4242, 65_534))
    async with relayed(folder, hear), connected(folder) as (reader, _):
        assert await reader.read() == b""
    assert not heard
    assert "uid 65534" in caplog.text


async def test_a_connection_that_cannot_be_carried_on_is_ended(folder: Path) -> None:
    carried = Relay().accepting(listening(folder / "near"), UnixAddress(folder / "nobody"))
    async with asyncio.timeout(SOON), carried, connected(folder) as (reader, _):
        assert await reader.read() == b""


async def test_what_is_open_goes_on_when_no_more_is_accepted(folder: Path) -> None:
    relay, near = Relay(), listening(folder / "near")
    async with far_end(folder) as far:
        async with relay.accepting(near, far):
            line = connected(folder)
            reader, writer = await line.__aenter__()
            writer.write(b"a")
            assert await reader.readexactly(1) == b"a"
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_unix_connection(folder / "near")
        writer.write(b"b")
        assert await reader.readexactly(1) == b"b"
        relay.close()
        assert await reader.read() == b""
        await shut(writer)


async def test_tcp_is_carried_to_tcp() -> None:
    near, relay = listening("127.0.0.1"), Relay()
    port = near.getsockname()[1]
    async with far_end(None) as far, relay.accepting(near, far):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"a")
        assert await reader.readexactly(1) == b"a"
        await shut(writer)


async def test_many_at_once_each_hear_their_own(folder: Path) -> None:
    async def ask(n: int) -> bytes:
        async with connected(folder) as (reader, writer):
            writer.write(b"%06d" % n)
            return await reader.readexactly(6)

    async with relayed(folder):
        heard = await asyncio.gather(*map(ask, range(200)))
        assert heard == [b"%06d" % n for n in range(200)]
