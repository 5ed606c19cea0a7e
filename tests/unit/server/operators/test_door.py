"""Strangers at the desks' port take no desk's place, whatever they do before TLS."""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import AsyncExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import grpc
import pytest

from crabhook.model.actor import Role
from crabhook.server.address import TcpAddress, UnixAddress
from crabhook.server.metrics.tally import Tally, TurnedAway
from crabhook.server.operators import door as module
from crabhook.server.operators.door import (
    NEW_OF_ADDRESS,
    Door,
    listening_at,
    network_of,
    number_of_ipv4,
)
from crabhook.v1 import operator_pb2 as pb
from tests.support.desk import PlayedDesk
from tests.support.port import short_folder
from tests.support.team_port import TeamPort, team_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

MANY = 2300
OWN, FIFTY = ["127.0.0.1"], [f"127.0.0.{number}" for number in range(2, 52)]
AT_ONCE = 60.0  # seconds after which a test gives up on what happens at once
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
"""How a client's first message of TLS begins; the rest of this one never comes."""


@pytest.fixture
def many_files() -> Iterator[None]:
    """Room for both ends of so many connections in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * MANY), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def strangers(
    address: TcpAddress, addresses: Sequence[str], first: bytes = b"", many: int = MANY
) -> Iterator[list[socket.socket]]:
    """So many connections that are held open, from so many addresses, and say no more than that."""
    held = list[socket.socket]()
    try:
        for number in range(many):
            stranger = socket.socket()
            held.append(stranger)
            stranger.bind((addresses[number % len(addresses)], 0))
            stranger.connect((address.host, address.port))
            if first:
                stranger.send(first)
        yield held
    finally:
        for stranger in held:
            stranger.close()


async def attaches(port: TeamPort) -> bool:
    """Whether a desk attaches at its first try."""
    async with port.calls("ann") as calls:
        try:
            event = await calls.Watch(pb.WatchRequest(), timeout=AT_ONCE).read()
        except grpc.aio.AioRpcError:
            return False
        return bool(event.HasField("hello"))


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize(
    ("addresses", "first"),
    [(OWN, b""), (FIFTY, b""), (FIFTY[:1], HELLO), (FIFTY, HELLO)],
    ids=["silent, of its own address", "silent, of 50", "in TLS, of another", "in TLS, of 50"],
)
async def test_a_desk_attaches_at_its_first_try_beside_2300_strangers(
    tmp_path: Path, addresses: Sequence[str], first: bytes
) -> None:
    tally = Tally()
    server = PlayedDesk(witness=tally)
    async with team_port(server.runner, tmp_path, ann=Role.ADMIN) as port:
        with strangers(port.address, addresses, first):
            assert await attaches(port)
    assert tally.turned_away_for[TurnedAway.ROOM] > 0
    words, alarm = server.runner.warned[0]
    assert words.startswith("a desk at 127.0.0.")
    assert words.endswith("was refused: too many of its connections do not finish TLS")
    assert alarm


async def test_so_many_desks_of_one_address_attach_one_after_another_at_their_first_try(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    async with (
        team_port(server.runner, tmp_path, ann=Role.ADMIN) as port,
        AsyncExitStack() as attached,
    ):
        for _ in range(NEW_OF_ADDRESS + 16):
            calls = await attached.enter_async_context(port.calls("ann"))
            watch = calls.Watch(pb.WatchRequest(), timeout=AT_ONCE)
            assert (await watch.read()).HasField("hello")
            watch.cancel()
    assert not server.runner.warned


async def ends(stranger: socket.socket) -> bool:
    """Whether the other side ends a connection."""
    stranger.setblocking(False)
    with suppress(ConnectionError):
        async with asyncio.timeout(AT_ONCE):
            return not await asyncio.get_running_loop().sock_recv(stranger, 1)
    return True


@pytest.fixture
async def echoed() -> AsyncIterator[tuple[Door, TcpAddress, list[str]]]:
    """A door before a listener that sends back what comes; its address, and who was crowded out."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
        writer.close()

    crowded = list[str]()
    with short_folder() as folder:
        server = await asyncio.start_unix_server(echo, folder / "s")
        door = Door(UnixAddress(folder / "s"), crowded.append)
        try:
            yield door, door.open(TcpAddress("127.0.0.1", 0)), crowded
            assert [path.name for path in folder.iterdir()] == ["s"]
        finally:
            door.close()
            await door.end()
            server.close()
    assert (door._open, door._new, door._carried) == ({}, {}, set())


async def test_who_says_nothing_is_let_go_and_so_is_who_does_not_speak_tls(
    echoed: tuple[Door, TcpAddress, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_WITHIN", 0.2)
    _, address, crowded = echoed
    with strangers(address, OWN, many=1) as (silent,):
        assert await ends(silent)
    with strangers(address, OWN, b"GET / HTTP/1.1\r\n\r\n", many=1) as (other,):
        assert await ends(other)
    assert not crowded


async def test_the_oldest_silent_connection_of_an_address_makes_room_and_no_other(
    echoed: tuple[Door, TcpAddress, list[str]],
) -> None:
    _, address, crowded = echoed
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(HELLO)
    assert await reader.readexactly(len(HELLO)) == HELLO
    with strangers(address, OWN, many=NEW_OF_ADDRESS - 1) as own, strangers(address, OWN, many=1):
        assert await ends(own[0])
        writer.write(b"more")
        assert await reader.readexactly(4) == b"more"
    assert crowded == ["127.0.0.1"]
    writer.close()


async def test_a_connection_whose_tls_must_be_done_is_not_new_any_more(
    echoed: tuple[Door, TcpAddress, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HANDSHAKE_WITHIN", -2.0)
    door, address, crowded = echoed
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(HELLO)
    assert await reader.readexactly(len(HELLO)) == HELLO
    async with asyncio.timeout(AT_ONCE):
        while door._new:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
    monkeypatch.setattr(module, "OF_ADDRESS", 1)
    with strangers(address, OWN, many=1) as (beyond,):
        assert await ends(beyond)
    assert crowded == ["127.0.0.1"]
    writer.close()


async def test_a_client_that_is_gone_is_gone_behind_the_door_too(
    echoed: tuple[Door, TcpAddress, list[str]],
) -> None:
    door, address, _ = echoed
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(HELLO)
    assert await reader.readexactly(len(HELLO)) == HELLO
    writer.transport.abort()
    async with asyncio.timeout(AT_ONCE):
        while door._carried:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)


async def test_a_door_before_nothing_is_closed(echoed: tuple[Door, TcpAddress, list[str]]) -> None:
    door, address, _ = echoed
    door._behind = UnixAddress(door._behind.path.with_name("none"))
    with strangers(address, OWN, HELLO, many=1) as (client,):
        assert await ends(client)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(address.host, address.port)


async def test_a_desk_attaches_whatever_letters_are_in_the_folder_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TemporaryDirectory(prefix="%41", dir="/tmp") as own:
        monkeypatch.setenv("XDG_RUNTIME_DIR", own)
        async with team_port(PlayedDesk().runner, tmp_path, ann=Role.ADMIN) as port:
            assert await attaches(port)


@pytest.mark.parametrize(
    ("host", "as_ipv4", "network"),
    [
        ("192.0.2.7", "192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7", "0000:0000:0000:0000"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2:3::4", "2001:0db8:0001:0002"),
        ("fe80::1%eth0", "fe80::1%eth0", "fe80:0000:0000:0000"),
    ],
)
def test_an_address_counts_by_its_network(host: str, as_ipv4: str, network: str) -> None:
    assert number_of_ipv4(host) == as_ipv4
    assert network_of(host) == network


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "::"])
def test_a_wildcard_and_a_name_are_heard_on_ipv4_too(host: str) -> None:
    listening = listening_at(TcpAddress(host, 0))
    try:
        ports = {sock.getsockname()[1] for sock in listening}
        assert len(ports) == 1
        socket.create_connection(("127.0.0.1", *ports)).close()
    finally:
        for sock in listening:
            sock.close()


def test_a_port_that_is_taken_is_not_listened_at() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        listening_at(TcpAddress("127.0.0.1", taken.getsockname()[1]))
