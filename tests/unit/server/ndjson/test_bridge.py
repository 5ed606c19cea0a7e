"""The bridge's socket is made as carefully as the port's own, and closed with all that is on it."""

import asyncio
import stat
from pathlib import Path

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.server.address import AddressError, TcpAddress, UnixAddress
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.ndjson import bridge as module
from crabhook.server.ndjson.bridge import NAMED, open_bridge
from crabhook.server.unix_socket import Peer, SocketTakenError
from tests.support.bridge import envelope, line_to, notes, opened_bridge
from tests.support.port import SOON, path_of, short_folder
from tests.support.runners import bare_runner
from tests.support.seat import seat

HERE = TcpAddress("127.0.0.1", 1)


def intake() -> AnonymousIntake:
    return AnonymousIntake(bare_runner(), wait=60, named=NAMED)


async def test_the_socket_is_its_owners_alone_and_gone_afterwards() -> None:
    async with opened_bridge() as port:
        path = path_of(port)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()
    assert not path.with_name("s.lock").exists()


async def test_a_dead_servers_socket_is_taken_over_and_a_live_ones_is_not() -> None:
    with short_folder() as folder:
        path = Path(folder, "s")
        with module._bound(UnixAddress(path)):  # as a dead server leaves it
            pass
        async with open_bridge(intake(), f"unix:{path}"):
            with pytest.raises(SocketTakenError, match="already listens"):
                async with open_bridge(intake(), f"unix:{path}"):
                    pass
            reader, writer = await asyncio.open_unix_connection(path)
            writer.close()
            assert await reader.read() == b""


@pytest.mark.parametrize("address", ["127.0.0.1:7", "nonsense", "unix:", "unix:" + "x" * 200])
async def test_anything_but_a_unix_socket_is_refused(address: str) -> None:
    with pytest.raises(AddressError):
        async with open_bridge(intake(), address):
            pass


async def test_another_users_process_is_turned_away_unheard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "peer_of", lambda _: Peer(4242, 65_534))
    async with opened_bridge() as port, line_to(port) as line:
        assert not await line.reader.read()
        assert notes(port) == ["harness bridge: process 4242 of user 65534 was turned away"]


async def test_an_answer_under_way_goes_out_before_the_socket_closes() -> None:
    async with opened_bridge() as port, line_to(port) as line:
        await line.send(envelope("r"))
        (card,) = await port.waiting()
        seat(port.runner).answer(card.number, Decision(Verdict.ALLOW))
        port.runner.close()
        answer = await line.answer()
        assert answer["payload"]["action"] == "json_output"


async def test_who_never_leaves_does_not_keep_the_server_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "GRACE", 0.05)
    runner = bare_runner()
    with short_folder() as folder:
        way = AnonymousIntake(runner, wait=60, named=NAMED)
        async with open_bridge(way, f"unix:{folder}/s"):
            reader, writer = await asyncio.open_unix_connection(f"{folder}/s")
            writer.write(b'{"request_id":"r","payload":{"hook_event_name":"PreToolUse"}}\n')
            async with asyncio.timeout(SOON):
                while not runner.broker.waiting():  # noqa: ASYNC110 - nothing tells of it here
                    await asyncio.sleep(0.01)
        assert await reader.read() == b""
        writer.close()
    assert not runner.broker.waiting()


async def test_a_hundred_connect_at_once() -> None:
    async with opened_bridge() as port:
        path = path_of(port)
        lines = await asyncio.gather(*(asyncio.open_unix_connection(path) for _ in range(300)))
        for _, writer in lines:
            writer.close()
