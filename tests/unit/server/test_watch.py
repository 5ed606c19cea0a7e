"""A listener that ends is an alarm, is opened anew, and costs no waiting hook its decision."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook import grpcserver
from crabhook.hook.call import OK, UNIMPLEMENTED
from crabhook.model.actor import Role
from crabhook.model.decision import Decision, Verdict
from crabhook.server.address import Address, TcpAddress, Tokens, UnixAddress
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.parts import Faults
from crabhook.server.grpc.listener import Fitness, GrpcListener, Health, HealthPort, open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.http.listener import NAMED, Opening, open_http
from crabhook.server.ndjson.bridge import BridgeListener, open_bridge
from crabhook.server.operators import listener
from crabhook.server.operators.listener import open_operators
from crabhook.server.operators.service import OperatorService
from crabhook.server.watch import (
    LOOK_EVERY,
    TICK,
    TICKS,
    Heard,
    ListenerWatch,
    grpc_talk,
    heard_at,
)
from crabhook.v1 import operator_pb2
from tests.support.bridge import Line, envelope
from tests.support.client import Client
from tests.support.port import BASH, short_folder
from tests.support.raw_http2 import headers, send
from tests.support.runners import bare_runner
from tests.support.seat import decide, hears
from tests.support.team import founded
from tests.unit.test_grpcserver import shown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

WITHIN = 60.0
HEALTH = b"/grpc.health.v1.Health/Check"
EVIL = headers(b"/\xff\xfe")


class Kept:
    """A server's port, watched, and what its watch warned of."""

    def __init__(self) -> None:
        self.watch, faults = ListenerWatch(), Faults()
        faults.report(lambda: self.watch.trouble)
        self.runner = bare_runner(faults=faults, silent=lambda: self.watch.silent)
        self.warned: list[str] = []
        self.gave_up: list[Exception] = []
        self.watch.warn = self.warned.append
        self.watch.give_up = self.gave_up.append
        self.watch.opened_anew = self.runner.witness.opened_anew

    @property
    def opened_anew(self) -> int:
        return self.runner.witness.listeners

    @asynccontextmanager
    async def hooks(self, *addresses: Address) -> AsyncIterator[list[Address]]:
        """Listen for hooks, and watch."""
        tokens = Tokens("t")
        service = PermissionPort(self.runner, wait=60.0, tokens=tokens)
        health = HealthPort(Health(self.runner), tokens=tokens)
        opening = open_port(service, addresses, health=health, watch=self.watch)
        async with opening as bound, self.watching():
            yield list(bound)
        self.runner.close()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        keeping = asyncio.ensure_future(self.watch.keep())
        try:
            yield
        finally:
            keeping.cancel()


async def until(true: Callable[[], bool], within: float = WITHIN) -> None:
    async with asyncio.timeout(within):
        while not true():  # noqa: ASYNC110 - of what this test sees, some has no event
            await asyncio.sleep(0.02)


@pytest.fixture
def mortal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grpcio that we do not know: its own loop reads the paths, and ends."""
    monkeypatch.setattr(grpcserver, "_can_keep_paths_out", lambda: False)


@pytest.mark.process
@pytest.mark.usefixtures("mortal")
async def test_a_waiting_hook_gets_its_allow_though_its_listener_ended_meanwhile() -> None:
    kept = Kept()
    with short_folder() as folder:
        async with kept.hooks(UnixAddress(folder / "s")) as (address,):
            hook = Client(str(address), json.dumps(BASH).encode(), "--wait", "50")
            await until(lambda: len(kept.runner.broker.waiting()) == 1)
            (card,) = kept.runner.broker.waiting()
            await send(address, EVIL)
            await until(lambda: kept.opened_anew == 1)
            assert [one.number for one in kept.runner.broker.waiting()] == [card.number]
            decide(kept.runner, card.number, Decision(Verdict.ALLOW))
            answer = await asyncio.to_thread(hook.finish)
    assert answer.output["hookSpecificOutput"]["permissionDecision"] == "allow"


def test_a_listener_that_ended_is_noticed_within_the_5_seconds_that_the_pages_promise() -> None:
    assert LOOK_EVERY + 2 * TICKS * TICK < 5  # a look, and two calls unanswered


@pytest.mark.usefixtures("mortal")
@pytest.mark.parametrize("kind", ["unix", "tcp"])
async def test_a_listener_that_ended_is_an_alarm_and_is_open_again_by_itself(
    kind: str,
) -> None:
    kept = Kept()
    with short_folder() as folder:
        place = UnixAddress(folder / "s") if kind == "unix" else TcpAddress("127.0.0.1", 0)
        async with kept.hooks(place) as (address,):
            await send(address, EVIL)
            await until(lambda: kept.watch.silent == 1)
            assert kept.runner.troubles()[0].startswith("HOOKS CANNOT CONNECT: ")
            assert Health(kept.runner).reason is Fitness.SILENT
            await until(lambda: kept.opened_anew == 1)
            assert await send(address, headers(HEALTH)) == OK
            await until(lambda: kept.watch.silent == 0)
            assert Health(kept.runner).serving
            if isinstance(address, UnixAddress):
                assert address.path.stat().st_mode & 0o777 == 0o600
    assert [text for text in kept.warned if "opened again: " in text]


@pytest.mark.usefixtures("mortal")
async def test_the_desks_listener_is_open_again_by_itself(tmp_path: Path) -> None:
    kept = Kept()
    team = founded(tmp_path / "team", time.time())
    reader = team.reader()
    service = OperatorService(kept.runner, reader.current)
    pair, place = reader.server_pair(), TcpAddress("127.0.0.1", 0)
    context = shown(team.let_in("ada", Role.ADMIN), tmp_path)
    asked = headers(
        f"/{operator_pb2.DESCRIPTOR.services_by_name['OperatorService'].full_name}/Desks".encode()
    )
    opening = open_operators(service, place, pair, reader.authority, kept.watch)
    async with opening as address, kept.watching():
        assert await kept.watch._listeners[0].call() is Heard.ANSWERED
        assert await send(address, asked, context=context) not in (None, UNIMPLEMENTED)
        await send(address, EVIL, context=context)
        await until(lambda: kept.opened_anew == 1)
        assert await send(address, asked, context=context) not in (None, UNIMPLEMENTED)


async def test_the_desks_listener_is_open_again_when_nothing_listens_behind_its_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept()
    team = founded(tmp_path / "team", time.time())
    reader = team.reader()
    service = OperatorService(kept.runner, reader.current)
    with short_folder() as folder:
        monkeypatch.setattr(listener, "folder_behind", lambda: nullcontext(folder))
        opening = open_operators(
            service, TcpAddress("127.0.0.1", 0), reader.server_pair(), reader.authority, kept.watch
        )
        async with opening, kept.watching():
            (desks,) = kept.watch._listeners
            assert await desks.call() is Heard.ANSWERED
            (folder / "s").unlink()
            await until(lambda: kept.opened_anew == 1)
            assert await desks.call() is Heard.ANSWERED


async def test_the_http_door_is_open_again_by_itself() -> None:
    kept = Kept()
    intake = AnonymousIntake(kept.runner, wait=60.0, named=NAMED)
    opening = Opening("127.0.0.1:0", Tokens("t"))
    async with open_http(opening, kept.runner, intake, watch=kept.watch) as at, kept.watching():
        (door,) = kept.watch._listeners
        assert await door.call() is Heard.ANSWERED
        door._server.close()  # type: ignore[attr-defined]
        await until(lambda: kept.opened_anew == 1)
        assert await door.call() is Heard.ANSWERED
        assert door.at == at.address  # type: ignore[attr-defined]


async def test_a_listener_everywhere_is_called_by_ipv4_where_it_has_no_ipv6() -> None:
    kept = Kept()
    async with kept.hooks(TcpAddress("127.0.0.1", 0)) as (address,):
        assert isinstance(address, TcpAddress)
        everywhere = TcpAddress("::", address.port)
        assert await heard_at(everywhere, None, grpc_talk) is Heard.ANSWERED


@asynccontextmanager
async def bridge_of(kept: Kept) -> AsyncIterator[BridgeListener]:
    """A harness bridge, watched."""
    intake = AnonymousIntake(kept.runner, wait=60.0, named="harness bridge")
    with short_folder() as folder:
        opening = open_bridge(intake, f"unix:{folder}/b", kept.watch)
        async with opening, kept.watching():
            (bridge,) = kept.watch._listeners
            assert isinstance(bridge, BridgeListener)
            yield bridge
        kept.runner.close()


async def test_a_call_to_the_bridge_is_answered_and_noted_nowhere() -> None:
    kept = Kept()
    heard: list[object] = []
    stop = hears(kept.runner, heard.append)
    async with bridge_of(kept) as bridge:
        assert await bridge.call() is Heard.ANSWERED
        await until(lambda: not bridge._bridge._open)
        assert not kept.watch.silent
    stop()
    assert not heard


async def test_the_bridge_is_open_again_by_itself_and_what_waits_there_goes_on() -> None:
    kept = Kept()
    async with bridge_of(kept) as bridge:
        reader, writer = await asyncio.open_unix_connection(bridge._at.path)
        line = Line(reader, writer)
        await line.send(envelope("r"))
        await until(lambda: len(kept.runner.broker.waiting()) == 1)
        (card,) = kept.runner.broker.waiting()
        bridge._server.close()  # type: ignore[union-attr]
        await until(lambda: kept.watch.silent == 1)
        assert kept.runner.troubles()[0].startswith("HARNESSES CANNOT CONNECT: ")
        assert Health(kept.runner).reason is Fitness.SILENT
        await until(lambda: kept.opened_anew == 1)
        assert await bridge.call() is Heard.ANSWERED
        assert bridge._at.path.stat().st_mode & 0o777 == 0o600
        await until(lambda: kept.watch.silent == 0)
        decide(kept.runner, card.number, Decision(Verdict.ALLOW))
        assert (await line.answer())["payload"]["action"] == "json_output"
        writer.close()
    assert [text for text in kept.warned if "opened again: harnesses" in text]


async def test_a_bridge_that_takes_connections_and_does_not_serve_them_is_opened_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Kept()
    held: list[asyncio.StreamWriter] = []
    async with bridge_of(kept) as bridge:
        with monkeypatch.context() as broken:
            broken.setattr(bridge._bridge, "accept", lambda _reader, writer: held.append(writer))
            await bridge.open_anew()
            await until(lambda: kept.watch.silent == 1)
            assert "does not answer" in kept.runner.troubles()[0]
        await until(lambda: kept.watch.silent == 0)
        assert await bridge.call() is Heard.ANSWERED
        for writer in held:
            writer.transport.abort()


@pytest.mark.usefixtures("mortal")
async def test_a_listener_whose_address_another_took_ends_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, open_anew = Kept(), GrpcListener.open_anew
    with socket.socket() as other:

        async def taken_before(listener: GrpcListener) -> None:
            if listener._server is not None and other.getsockname()[1] == 0:
                await listener._server.stop(None)  # which frees the address
                (address,) = listener.bound
                assert isinstance(address, TcpAddress)
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                other.bind((address.host, address.port))
                other.listen()
            await open_anew(listener)

        monkeypatch.setattr(GrpcListener, "open_anew", taken_before)
        async with kept.hooks(TcpAddress("127.0.0.1", 0)) as (address,):
            await send(address, EVIL)
            await until(lambda: len(kept.gave_up) == 1, 60.0)
    assert "cannot listen on" in str(kept.gave_up[0])
