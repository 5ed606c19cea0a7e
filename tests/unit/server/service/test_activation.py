"""A port behind sockets handed down is the port it is elsewhere: as quick to notice, as strict."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest

from crabhook.model.card import State
from crabhook.model.decision import Decision, Verdict
from crabhook.server.address import Address, PortError, TcpAddress, Tokens, UnixAddress
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.service.activation import open_behind
from tests.support.port import Opened, ask, asking, confirm, connected, request, short_folder
from tests.support.runners import bare_runner
from tests.support.seat import hears, seat
from tests.support.service import listening

TOKEN = (("authorization", "Bearer t0ken"),)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with short_folder() as path:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(path))
        yield path


def found(folder: Path, pattern: str = "*") -> list[Path]:
    return list(folder.glob(pattern))


@asynccontextmanager
async def behind(*sockets: socket.socket) -> AsyncIterator[Opened]:
    """A port behind these sockets."""
    runner = bare_runner()
    service = PermissionPort(runner, wait=60.0, tokens=Tokens("t0ken"))

    def own(places: Sequence[Address]) -> AbstractAsyncContextManager[Sequence[Address]]:
        return open_port(service, places)

    async with open_behind(sockets, own, tls=False) as bound:
        port = Opened(runner, bound)
        stop = hears(runner, port.hears)
        try:
            yield port
        finally:
            stop()
            runner.close()


async def test_a_hook_is_answered_and_says_that_it_has_heard(folder: Path) -> None:
    async with behind(listening(folder / "s")) as port, connected(port.bound[0]) as channel:
        assert list(port.bound) == [UnixAddress(folder / "s")]
        waiting = asyncio.ensure_future(ask(channel, request(request_id="one")))
        (card,) = await port.waiting()
        seat(port.runner).answer(card.number, Decision(Verdict.ALLOW))
        assert (await waiting).permission_decision == "allow"
        await confirm(channel, "one")
        await port.until(
            lambda: bool((ended := port.runner.broker.card(card.number)) and ended.delivered)
        )


async def test_a_hook_that_leaves_takes_its_card_along(folder: Path) -> None:
    async with behind(listening(folder / "s")) as port, connected(port.bound[0]) as channel:
        async with asking(channel, request()) as call:
            (card,) = await port.waiting()
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call.code()
            await port.waiting(0)
        left = port.runner.broker.card(card.number)
        assert left
        assert left.state is State.WITHDRAWN


async def test_a_connection_that_is_cut_takes_its_cards_along(folder: Path) -> None:
    async with behind(listening(folder / "s")) as port:
        async with connected(port.bound[0]) as channel, asking(channel, request()):
            await port.waiting(1)
        await port.waiting(0)


async def test_the_private_socket_is_ours_alone_and_gone_afterwards(folder: Path) -> None:
    async with behind(listening(folder / "s")):
        (own,) = found(folder, "crabhook-*")
        assert own.stat().st_mode & 0o777 == 0o700
        assert (own / "s").stat().st_mode & 0o777 == 0o600
    assert found(folder) == [folder / "s"]


async def test_tcp_shows_the_token_and_is_never_taken_for_a_unix_socket(folder: Path) -> None:
    async with behind(listening("127.0.0.1"), listening(folder / "s")) as port:
        tcp, unix = port.bound
        assert isinstance(tcp, TcpAddress)
        observed: dict[str, Any] = {"hook_event_name": "Notification"}
        async with connected(tcp) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await ask(channel, request(observed))
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
            await ask(channel, request(observed), metadata=TOKEN)
        async with connected(unix) as channel:
            await ask(channel, request(observed))


async def test_tcp_alone_opens_no_socket_that_needs_no_token(folder: Path) -> None:
    async with behind(listening("127.0.0.1")):
        assert not found(folder, "crabhook-*/s")


async def test_what_others_can_reach_needs_tls_and_nothing_is_opened(folder: Path) -> None:
    line = listening("0.0.0.0")
    with pytest.raises(PortError, match="needs TLS"):
        async with behind(line):
            pytest.fail("served in the clear")
    assert not found(folder)
    line.close()


async def test_replies_under_way_are_given_before_connections_are_cut(folder: Path) -> None:
    async with connected(UnixAddress(folder / "s")) as channel:
        async with behind(listening(folder / "s")) as port:
            waiting = asyncio.ensure_future(ask(channel, request()))
            await port.waiting(1)
        with pytest.raises(grpc.aio.AioRpcError, match="closed the desk"):
            await waiting
