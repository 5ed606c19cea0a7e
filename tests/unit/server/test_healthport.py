"""The standard health service, asked as those ask who watch any gRPC server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1.health_pb2_grpc import HealthStub

from crabhook.server.address import GRACE, TcpAddress, Tls
from crabhook.server.grpc import listener as module
from crabhook.server.grpc.listener import SERVICES, WATCHES
from tests.support.port import SOON, Opened, ask, asking, connected, opened, request

TCP = TcpAddress("127.0.0.1", 0)
TOKEN = (("authorization", "Bearer t0ken"),)
UP = pb.HealthCheckResponse.SERVING
DOWN = pb.HealthCheckResponse.NOT_SERVING
UNKNOWN = pb.HealthCheckResponse.SERVICE_UNKNOWN


@asynccontextmanager
async def looking(
    port: Opened, credentials: grpc.ChannelCredentials | None = None
) -> AsyncIterator[Any]:
    """A client's stub."""
    async with connected(port.bound[0], credentials) as channel:
        yield HealthStub(channel)


async def check(stub: Any, service: str = "", **how: Any) -> int:
    response = await stub.Check(pb.HealthCheckRequest(service=service), timeout=SOON, **how)
    return int(response.status)


def watch(stub: Any, service: str = "", **how: Any) -> Any:
    return stub.Watch(pb.HealthCheckRequest(service=service), **how)


async def told(watching: Any) -> int:
    """The next thing a watch is told."""
    async with asyncio.timeout(SOON):
        return int((await watching.read()).status)


async def test_the_services_are_named_as_on_the_wire() -> None:
    assert SERVICES == ("", "crabhook.v1.PermissionService")


@pytest.mark.parametrize("service", SERVICES)
async def test_it_is_up_while_open_and_down_while_closing(service: str) -> None:
    async with opened() as port, looking(port) as stub:
        assert await check(stub, service) == UP
        port.runner.close()
        assert await check(stub, service) == DOWN


async def test_it_is_down_once_the_next_server_is_awaited() -> None:
    async with opened() as port, looking(port) as stub:
        port.runner.hand_over()
        assert await check(stub) == DOWN


async def test_all_services_are_listed() -> None:
    async with opened() as port, looking(port) as stub:
        listed = await stub.List(pb.HealthListRequest(), timeout=SOON)
        assert {name: one.status for name, one in listed.statuses.items()} == dict.fromkeys(
            SERVICES, UP
        )


async def test_of_a_service_nobody_knows_nothing_is_told() -> None:
    async with opened() as port, looking(port) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await check(stub, "crabhook.v1.Secret")
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
        assert "Secret" not in str(refused.value.details())
        assert await told(watch(stub, "crabhook.v1.Secret")) == UNKNOWN


async def test_beyond_the_socket_anybody_may_look_and_nobody_ask(tmp_path: Path) -> None:
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1")
    made.private_key_pem.write_to_path(tmp_path / "key.pem")
    made.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    trusting = grpc.ssl_channel_credentials(authority.cert_pem.bytes())
    tls = Tls(tmp_path / "cert.pem", tmp_path / "key.pem")
    for how, credentials in ((None, None), (tls, trusting)):
        async with opened(TCP, token="t0ken", tls=how) as port:
            async with looking(port, credentials) as stub:
                assert await check(stub) == UP
            async with connected(port.bound[0], credentials) as channel:
                with pytest.raises(grpc.aio.AioRpcError, match="UNAUTHENTICATED"):
                    await ask(channel, request())


async def test_to_go_on_watching_takes_the_token_beyond_the_socket() -> None:
    async with opened(TCP, token="t0ken") as port, looking(port) as stub:
        for shown in ((), (("authorization", "Bearer guess"),)):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await watch(stub, metadata=shown, timeout=SOON).read()
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        watching = watch(stub, metadata=TOKEN)
        assert await told(watching) == UP
        watching.cancel()


async def test_who_watches_is_told_once_and_again_when_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.01)
    async with opened() as port, looking(port) as stub:
        watching = watch(stub)
        assert await told(watching) == UP
        next_word = asyncio.ensure_future(told(watching))
        await asyncio.wait([next_word], timeout=0.1)
        assert not next_word.done(), "told again that nothing has changed"
        port.runner.close()
        assert await next_word == DOWN


async def test_there_is_room_for_a_few_and_again_when_they_have_gone() -> None:
    async with opened() as port, looking(port) as stub:
        watching = [watch(stub) for _ in range(WATCHES)]
        assert [await told(one) for one in watching] == [UP] * WATCHES
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await watch(stub, timeout=SOON).read()
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await check(stub) == UP
        for one in watching:
            one.cancel()
        async with asyncio.timeout(SOON):
            while True:
                again = watch(stub)
                try:
                    assert (await again.read()).status == UP
                except grpc.aio.AioRpcError:
                    continue
                break
        again.cancel()


async def test_those_who_watch_do_not_hold_up_the_ports_closing() -> None:
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        port_stack = await stack.enter_async_context(AsyncExitStack())
        port = await port_stack.enter_async_context(opened())
        stub = await stack.enter_async_context(looking(port))
        watching = watch(stub)
        assert await told(watching) == UP
        last_word = asyncio.ensure_future(told(watching))  # one that waits is not told by an end
        began = loop.time()
        await port_stack.aclose()
        assert loop.time() - began < GRACE / 2
        assert await last_word == DOWN
        assert await watching.read() is grpc.aio.EOF
        assert await watching.code() is grpc.StatusCode.OK


async def test_looking_changes_nothing_for_those_who_wait() -> None:
    async with (
        opened() as port,
        looking(port) as stub,
        connected(port.bound[0]) as channel,
        asking(channel, request()),
    ):
        before = (await port.waiting(), port.runner.broker.feed(), len(port.news))
        assert await check(stub) == UP
        assert await told(watch(stub)) == UP
        assert before == (port.runner.broker.waiting(), port.runner.broker.feed(), len(port.news))
