"""Connections that say nothing, or not all of it: they keep nobody from a desk, and no agent waiting."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import grpc
import pytest

from crabhook.desk.commands import Decide, Done
from crabhook.desk.replica import Replica
from crabhook.model.actor import Role
from crabhook.model.decision import Decision, Verdict
from crabhook.server.address import TcpAddress, Tls
from crabhook.server.operators.listener import CONNECTIONS, HANDSHAKE_WITHIN
from tests.support.desk import PlayedDesk
from tests.support.port import ask, connected, opened, request
from tests.support.seat import decide
from tests.support.sitting import call
from tests.support.team_port import SOON, team_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crabhook.remote.desk import RemoteDesk

ALLOW = Decision(Verdict.ALLOW)
TOKEN = "a-token"
SHOWN = (("authorization", f"Bearer {TOKEN}"),)
SAID = (b"", b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n")
"""Nothing; the beginning of a TLS record; what is no TLS at all."""


@contextmanager
def half_open(port: int, many: int) -> Iterator[Sequence[socket.socket]]:
    """So many connections whose other end begins a handshake at most."""
    with ExitStack() as held:
        lines = [held.enter_context(socket.socket()) for _ in range(many)]
        for line in lines:
            line.setblocking(False)
            with suppress(BlockingIOError):
                line.connect(("127.0.0.1", port))
        yield lines


async def begun(lines: Sequence[socket.socket]) -> None:
    """Say what each says first, once it is there."""
    await asyncio.sleep(0.2)
    for number, line in enumerate(lines):
        with suppress(OSError):
            line.send(SAID[number % len(SAID)])


def closed(line: socket.socket) -> bool:
    try:
        return not line.recv(64)
    except BlockingIOError:
        return False
    except OSError:
        return True


async def decided(desk: RemoteDesk, server: PlayedDesk, number: int) -> None:
    """Have a card come, and decide it at the desk."""
    replica = Replica(desk, time.monotonic)
    leave = replica.follow()
    server.ask(call(session_id=f"s{number}"))
    async with asyncio.timeout(SOON):
        while (card := replica.card(number)) is None:  # noqa: ASYNC110 - news have no event
            await asyncio.sleep(0.002)
    outcome = asyncio.get_running_loop().create_future()
    replica.submit(Decide(number, card.revision, ALLOW), outcome.set_result)
    assert await asyncio.wait_for(outcome, SOON) == Done()
    leave()


@pytest.mark.parametrize("many", [300, pytest.param(2_000, marks=pytest.mark.thorough)])
async def test_who_begins_to_speak_and_stops_keeps_no_desk_and_no_agent_out(
    tmp_path: Path, many: int
) -> None:
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER) as port:
        own = port.team.folder
        shown = Tls(own.server, own.server_key)
        async with opened(TcpAddress("127.0.0.1", 0), tls=shown, token=TOKEN) as agents:
            (place,) = agents.bound
            assert isinstance(place, TcpAddress)
            with half_open(port.address.port, many) as lines, half_open(place.port, many) as more:
                await begun([*lines, *more])
                async with port.desk("ann") as desk:
                    await decided(desk, server, 1)
                credentials = grpc.ssl_channel_credentials(port.authority)
                async with connected(place, credentials) as channel:
                    asked = asyncio.ensure_future(ask(channel, request(), metadata=SHOWN))
                    (card,) = await agents.waiting()
                    decide(agents.runner, card.number, ALLOW)
                    assert b"allow" in (await asked).reply.stdout


@pytest.mark.thorough
async def test_more_connections_than_there_may_be_end_no_desk_and_are_over_soon(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER) as port:
        async with port.desk("ann") as desk:
            with half_open(port.address.port, CONNECTIONS + 500) as lines:
                await begun(lines)
                await decided(desk, server, 1)
                assert sum(map(closed, lines)) >= 400  # those beyond the bound, at once
                async with asyncio.timeout(3 * HANDSHAKE_WITHIN):
                    while not all(map(closed, lines)):  # noqa: ASYNC110 - a socket's end
                        await asyncio.sleep(0.5)
            await decided(desk, server, 2)
        async with port.desk("ann") as later:
            assert not later.lost
