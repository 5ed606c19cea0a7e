"""Who is let in at the permission port, and what an envelope must be."""

import asyncio
from typing import Any

import grpc
import pytest

from crabhook.app.leadership import StandingBy
from crabhook.model.decision import Decision, Verdict
from crabhook.server.address import TcpAddress
from crabhook.store.postgres.leader import Leader
from tests.support.port import SOON, ask, asking, confirm, connected, opened, request
from tests.support.seat import seat

LOOPBACK = TcpAddress("127.0.0.1", 0)
STATUS = grpc.StatusCode


async def refused(call: Any) -> grpc.StatusCode:
    """Return the status a call is refused with."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    code = error.value.code()
    assert error.value.details()
    assert isinstance(code, STATUS)
    return code


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        (("authorization", "Bearer wrong"),),
        (("authorization", "t0ken"),),
        (("authorization", ""),),
        (("token", "t0ken"),),
    ],
)
async def test_over_tcp_nobody_asks_without_the_token(metadata: Any) -> None:
    async with opened(LOOPBACK, token="t0ken") as port, connected(port.bound[0]) as channel:
        assert await refused(ask(channel, request(), metadata=metadata)) is STATUS.UNAUTHENTICATED
        assert await refused(confirm(channel, "r1")) is STATUS.UNAUTHENTICATED
        assert not port.runner.broker.waiting()
        assert not port.runner.broker.feed()


async def test_over_tcp_a_port_without_a_token_lets_nobody_in() -> None:
    async with opened(LOOPBACK, token=None) as port, connected(port.bound[0]) as channel:
        for shown in ("Bearer None", "Bearer ", ""):
            asked = ask(channel, request(), metadata=(("authorization", shown),))
            assert await refused(asked) is STATUS.UNAUTHENTICATED


async def test_over_tcp_the_token_lets_in() -> None:
    shown = (("authorization", "Bearer t0ken"),)
    async with opened(LOOPBACK, token="t0ken") as port, connected(port.bound[0]) as channel:
        asked = asyncio.ensure_future(ask(channel, request(), metadata=shown))
        (card,) = await port.waiting()
        seat(port.runner).answer(card.number, Decision(Verdict.ALLOW))
        assert (await asked).permission_decision == "allow"


async def test_over_the_socket_no_token_is_needed() -> None:
    async with (
        opened(token="t0ken") as port,
        connected(port.bound[0]) as channel,
        asking(channel, request()),
    ):
        await port.waiting()


@pytest.mark.parametrize(
    "wrong",
    [
        {"request_id": ""},
        {"request_id": "x" * 65},
        {"request_id": "a b"},
        {"secret": ""},
        {"secret": "é"},
        {"platform": ""},
        {"platform": "nobody"},
    ],
    ids=repr,
)
async def test_a_bad_envelope_is_refused_before_anything_is_read(wrong: dict[str, str]) -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        assert await refused(ask(channel, request(b"rubbish", **wrong))) is STATUS.INVALID_ARGUMENT
        assert not port.runner.broker.feed()
        assert not port.news


async def test_the_server_waits_no_longer_than_it_was_told_to() -> None:
    async with opened(wait=0.05) as port, connected(port.bound[0]) as channel:
        asked = ask(channel, request(wait_ms=3_600_000))
        assert await asyncio.wait_for(refused(asked), SOON) is STATUS.DEADLINE_EXCEEDED
        assert not port.runner.broker.waiting()


async def test_a_standby_that_lost_the_record_sends_no_hook_to_another_server() -> None:
    standing = StandingBy(Leader())
    async with opened(sharing=standing) as port, connected(port.bound[0]) as channel:
        for lost, status in ((False, STATUS.UNAVAILABLE), (True, STATUS.FAILED_PRECONDITION)):
            standing.record_lost = lost
            assert await refused(ask(channel, request())) is status
