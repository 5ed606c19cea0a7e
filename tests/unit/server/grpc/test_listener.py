"""Where the port opens, for whom, and that it leaves nothing behind."""

import asyncio
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme

from crabhook.broker.messages import Refusal
from crabhook.model.errors import CrabhookError
from crabhook.server.address import PortError, TcpAddress, Tls, UnixAddress
from crabhook.server.grpc import listener
from crabhook.server.unix_socket import SocketTakenError
from crabhook.v1 import permission_pb2 as pb
from crabhook.v1.permission_pb2_grpc import PermissionServiceServicer
from tests.support.port import ask, connected, opened, request, short_folder

OBSERVED = {"hook_event_name": "Notification"}
TOKEN = (("authorization", "Bearer t0ken"),)
SERVE = """
import asyncio, pathlib, sys
from crabhook.server.address import UnixAddress
from tests.support.port import opened

async def main():
    async with opened(UnixAddress(pathlib.Path(sys.argv[1]))):
        print("open", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest.fixture
def tls(folder: Path) -> Tls:
    made = trustme.CA().issue_cert("127.0.0.1", "localhost")
    made.private_key_pem.write_to_path(folder / "key.pem")
    for chain in made.cert_chain_pems:
        chain.write_to_path(folder / "cert.pem", append=True)
    return Tls(folder / "cert.pem", folder / "key.pem")


@pytest.mark.parametrize("name", ["s", "a b", "a%20b", "é?#,s"])
async def test_a_socket_is_its_owners_alone_and_gone_afterwards(name: str, folder: Path) -> None:
    place = UnixAddress(folder / "own" / name)
    async with opened(place) as port:
        assert list(port.bound) == [place]
        assert place.path.is_socket()
        assert place.path.stat().st_mode & 0o777 == 0o600
        assert place.path.parent.stat().st_mode & 0o777 == 0o700
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(os.fsencode(place.path))
    assert names(place.path.parent) == []


async def test_opening_changes_nothing_about_the_process(folder: Path) -> None:
    before = os.umask(0o022)
    os.umask(before)
    async with opened(UnixAddress(folder / "s")):
        after = os.umask(before)
        os.umask(after)
        assert after == before


async def test_a_second_server_is_refused_and_the_first_goes_on(folder: Path) -> None:
    place = UnixAddress(folder / "s")
    async with opened(place) as first:
        with pytest.raises(SocketTakenError, match=f"process {os.getpid()}"):
            async with opened(place):
                pytest.fail("two servers on one socket")
        async with connected(first.bound[0]) as channel:
            assert await ask(channel, request(OBSERVED)) == pb.PermissionResponse(reply=pb.Reply())


@pytest.fixture
def serving(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a process of its own."""
    command = [sys.executable, "-c", SERVE, str(folder / "s")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"open\n"
        yield server
        server.kill()


@pytest.mark.process
async def test_a_killed_servers_socket_is_taken_over(
    folder: Path, serving: subprocess.Popen[bytes]
) -> None:
    place = UnixAddress(folder / "s")
    with pytest.raises(SocketTakenError, match=f"process {serving.pid}"):
        async with opened(place):
            pytest.fail("two servers on one socket")
    serving.kill()
    serving.wait()
    assert place.path.is_socket()
    async with opened(place) as port, connected(port.bound[0]) as channel:
        await ask(channel, request(OBSERVED))


async def test_a_socket_can_be_left_and_taken_many_times_over(folder: Path) -> None:
    place = UnixAddress(folder / "s")
    for _ in range(5):
        async with opened(place) as port, connected(port.bound[0]) as channel:
            await ask(channel, request(OBSERVED))
            assert place.path.is_socket()


async def test_a_tcp_port_is_nobody_elses(folder: Path) -> None:
    async with opened(TcpAddress("127.0.0.1", 0)) as port:
        with pytest.raises(
            PortError,
            match=r"^cannot listen on 127\.0\.0\.1:\d+: another program listens there.* --listen$",
        ):
            async with opened(*port.bound):
                pytest.fail("two servers on one port")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "localhost.", "example.invalid"])
async def test_beyond_loopback_the_port_needs_tls(host: str, folder: Path) -> None:
    with pytest.raises(PortError, match=r"needs TLS.*--tls-cert"):
        async with opened(TcpAddress(host, 0), token="t0ken"):
            pytest.fail("open to the world")


async def test_a_port_that_cannot_open_everywhere_listens_nowhere(folder: Path) -> None:
    async with opened(TcpAddress("127.0.0.1", 0)) as port:
        (free,) = port.bound
    assert isinstance(free, TcpAddress)
    wrong: list[list[Any]] = [[TcpAddress("0.0.0.0", 0)], [UnixAddress(folder / "gone" / "x")]]
    (folder / "gone").write_text("a file")
    for last in wrong:
        with pytest.raises(CrabhookError):
            async with opened(UnixAddress(folder / "s"), free, *last):
                pytest.fail("half open")
        with socket.socket() as line:
            assert line.connect_ex((free.host, free.port)) != 0
        assert names(folder) == ["gone"]


async def test_several_addresses_lead_to_one_desk(folder: Path) -> None:
    places = (UnixAddress(folder / "s"), UnixAddress(folder / "t"), TcpAddress("127.0.0.1", 0))
    async with opened(*places, token="t0ken") as port:
        for address in port.bound:
            async with connected(address) as channel:
                await ask(channel, request(OBSERVED), metadata=TOKEN)
        assert len(port.runner.broker.feed()) == 3
        assert isinstance(port.bound[2], TcpAddress)
        assert port.bound[2].port != 0


async def test_with_tls_the_port_is_open_to_who_trusts_it_and_to_nobody_in_the_clear(
    folder: Path,
) -> None:
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1")
    made.private_key_pem.write_to_path(folder / "key.pem")
    made.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    trusting = grpc.ssl_channel_credentials(authority.cert_pem.bytes())
    doubting = grpc.ssl_channel_credentials(trustme.CA().cert_pem.bytes())
    tls = Tls(folder / "cert.pem", folder / "key.pem")
    async with opened(TcpAddress("0.0.0.0", 0), token="t0ken", tls=tls) as port:
        (bound,) = port.bound
        assert isinstance(bound, TcpAddress)
        here = TcpAddress("127.0.0.1", bound.port)
        async with connected(here, trusting) as channel:
            assert (await ask(channel, request(OBSERVED), metadata=TOKEN)).HasField("reply")
            with pytest.raises(grpc.aio.AioRpcError, match="UNAUTHENTICATED"):
                await ask(channel, request(OBSERVED))
        for credentials in (doubting, None):
            async with connected(here, credentials) as channel:
                with pytest.raises(grpc.aio.AioRpcError, match="UNAVAILABLE"):
                    await ask(channel, request(OBSERVED), metadata=TOKEN)
        assert len(port.runner.broker.feed()) == 1


@pytest.mark.parametrize("broken", ["missing", "rubbish"])
@pytest.mark.parametrize("which", ["cert.pem", "key.pem"])
async def test_tls_files_that_are_none_are_refused_in_words(
    which: str, broken: str, folder: Path, tls: Tls
) -> None:
    path = folder / which
    path.unlink() if broken == "missing" else path.write_text("rubbish")
    words = "TLS files cannot be read" if broken == "missing" else "cannot listen on"
    with pytest.raises(PortError, match=words):
        async with opened(TcpAddress("127.0.0.1", 0), tls=tls):
            pytest.fail("open without TLS")


async def test_the_port_offers_two_methods_and_nothing_that_decides_or_lists() -> None:
    offered = {name for name in vars(PermissionServiceServicer) if name[0] != "_"}
    assert offered == {"RequestPermission", "ConfirmReply"}
    service = pb.DESCRIPTOR.services_by_name["PermissionService"]
    assert {method.name for method in service.methods} == offered
    others = [
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        "/grpc.channelz.v1.Channelz/GetServers",
        "/crabhook.v1.PermissionService/Answer",
        "/crabhook.v1.OperatorService/ListCards",
    ]
    async with opened() as port, connected(port.bound[0]) as channel:
        for method in others:
            call: Any = channel.unary_unary(method, None, None)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call(b"", timeout=60)
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_client_of_before_is_told_where_being_away_is_said_now() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        call: Any = channel.unary_unary("/crabhook.v1.DeskService/SetPresence", None, None)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call(b"\x08\x02", timeout=60)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert "crabhook team init" in (refused.value.details() or "")
        assert not port.runner.broker.orders()


async def test_closing_lets_replies_under_way_arrive() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        asked = asyncio.ensure_future(ask(channel, request()))
        await port.waiting()
        port.runner.close()
        with pytest.raises(grpc.aio.AioRpcError) as told:
            await asked
    assert told.value.details() == Refusal.CLOSED


def is_held(line: socket.socket) -> bool:
    """Whether the other end keeps a connection that says nothing."""
    line.settimeout(1.0)
    try:
        while line.recv(4096):
            pass
    except TimeoutError:
        return True
    except ConnectionError:
        pass
    return False


async def test_who_holds_connections_takes_no_place_from_another_address(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "CONNECTIONS", 3)
    own = UnixAddress(folder / "s")
    async with opened(own, TcpAddress("127.0.0.1", 0)) as port:
        _, bound = port.bound
        assert isinstance(bound, TcpAddress)
        lines = [socket.create_connection((bound.host, bound.port)) for _ in range(6)]
        for line in lines:
            line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4]) + bytes(5))
        held = [await asyncio.to_thread(is_held, line) for line in lines]
        assert sum(held) == 3
        async with connected(own) as channel:
            await ask(channel, request(OBSERVED))
        for line in lines:
            line.close()


@pytest.mark.parametrize(
    ("files", "most"),
    [((1024, 4096), 512), ((20_000, 20_000), 18_976), ((1 << 20, 1 << 20), 20_000),
     ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), 20_000)],
)  # fmt: skip
def test_an_address_leaves_files_for_the_others(
    files: tuple[int, int], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: files)
    assert listener._most() == most
