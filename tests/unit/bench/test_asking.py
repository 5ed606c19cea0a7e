"""The cheap client asks everything once, and takes no answer it was not due."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import mkdtemp

import grpc
import pytest

from bench.asking import ask_all, request_for
from bench.inputs import DECIDED_EVENT, new_call
from bench.process import BenchError
from crabhook.v1.permission_pb2 import PermissionRequest, PermissionResponse, Reply
from crabhook.v1.permission_pb2_grpc import (
    PermissionServiceServicer,
    add_PermissionServiceServicer_to_server,
)

pytestmark = pytest.mark.thorough


class Port(PermissionServiceServicer):
    """Answers every request with its own payload, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []

    async def RequestPermission(  # noqa: N802 - the wire's name
        self, request: PermissionRequest, _context: object
    ) -> PermissionResponse:
        self.asked.append(request)
        return PermissionResponse(reply=Reply(stdout=request.payload))


@pytest.fixture
async def port() -> AsyncIterator[tuple[str, Port]]:
    folder = Path(mkdtemp(prefix="asking-", dir="/tmp"))
    service, server = Port(), grpc.aio.server()
    add_PermissionServiceServicer_to_server(service, server)
    server.add_insecure_port(f"unix:{folder}/s")
    await server.start()
    try:
        yield f"{folder}/s", service
    finally:
        await server.stop(None)
        shutil.rmtree(folder)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("lines", [1, 8])
async def test_every_request_is_asked_once_in_every_way(
    port: tuple[str, Port], lines: int, fresh: bool
) -> None:
    path, service = port
    requests = [request_for(new_call(DECIDED_EVENT)) for _ in range(20)]
    asked = await asyncio.to_thread(
        ask_all,
        path,
        requests,
        lines=lines,
        fresh=fresh,
        due=lambda stdout: b"tool_use_id" in stdout,
    )
    assert sorted(request.SerializeToString() for request in service.asked) == sorted(requests)
    assert len(asked.each) == 20
    assert max(asked.each) <= asked.whole


async def test_an_answer_that_was_not_due_is_no_figure(port: tuple[str, Port]) -> None:
    requests = [request_for(new_call(DECIDED_EVENT))]
    with pytest.raises(BenchError, match="not due"):
        await asyncio.to_thread(
            ask_all, port[0], requests, lines=1, fresh=False, due=lambda _: False
        )
