"""The permission port, in process: any row of calls is answered or refused in documented words.

Nothing is allowed before the operator says so, and then only what the operator said it of; when
the server closes, nobody waits any more.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import Order, OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.server.address import Tokens
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.permission import _STATUS, PermissionPort
from crabhook.v1 import permission_pb2 as pb
from tests.fuzz.mutation import messages
from tests.fuzz.payloads import MUTATION, samples, says_allow
from tests.fuzz.target import Target
from tests.support.runners import bare_runner
from tests.support.seat import decide, seat

DOCUMENTED = {
    *_STATUS.values(),
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.PERMISSION_DENIED,
}
SOON = 60.0
_LOOP = asyncio.Runner()


class EndedError(Exception):
    """What grpcio raises out of a call that is aborted."""


class Caller:
    """A call's context, as far as the port looks at one: its peer, and how it is refused."""

    def __init__(self) -> None:
        self.code: grpc.StatusCode | None = None

    def peer(self) -> str:
        return "unix:"

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()

    async def send_initial_metadata(self, _: Any) -> None:
        """Be told that the request was taken."""

    async def abort(self, code: grpc.StatusCode, details: str, _: Any = ()) -> None:
        assert code in DOCUMENTED, code
        assert details.isprintable()
        self.code = code
        raise EndedError


def law(data: bytes) -> None:
    """Calls one after the other, all of them at once with the operator; see `messages`."""
    _LOOP.run(_law(data))


async def _law(data: bytes) -> None:
    runner = bare_runner()
    for name in runner.broker.holdable():
        seat(runner).order(Order(OrderKind.HOLD, name))
    port: Any = PermissionPort(runner, wait=60.0, tokens=Tokens())
    asked: list[tuple[str, asyncio.Task[Any]]] = []
    for which, message in messages.split(data):
        try:
            if which == messages.CONFIRM:
                await _confirmed(port, pb.ConfirmReplyRequest.FromString(message))
                continue
            request = pb.PermissionRequest.FromString(message)
        except DecodeError:
            continue  # grpcio refuses it before it is ours
        call = asyncio.ensure_future(_asked(port, request))
        asked.append((request.request_id, call))
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    early = [call.result() for _, call in asked if call.done()]
    assert not any(map(_allows, early)), "allowed, and nobody has"
    allowed = _decided(runner)
    await asyncio.sleep(0)
    runner.close()
    async with asyncio.timeout(SOON):
        given = [(name, await call) for name, call in asked]
    assert {name for name, response in given if _allows(response)} <= allowed
    assert not runner.broker.waiting()
    assert "pending=0" in repr(runner)


async def _asked(port: Any, request: pb.PermissionRequest) -> pb.PermissionResponse | None:
    try:
        response = await port.RequestPermission(request, Caller())
    except EndedError:
        return None
    assert isinstance(response, pb.PermissionResponse)
    return response


async def _confirmed(port: Any, request: pb.ConfirmReplyRequest) -> None:
    caller = Caller()
    try:
        await port.ConfirmReply(request, caller)
    except EndedError:
        assert caller.code is grpc.StatusCode.PERMISSION_DENIED


def _decided(runner: Runner) -> set[str]:
    """Allow every other card, deny the rest; return the requests that were allowed."""
    allowed = set()
    for place, card in enumerate(runner.broker.waiting()):
        legs = {leg.id for leg in card.requests}
        decision = Decision(Verdict.DENY, reason="no") if place % 2 else Decision(Verdict.ALLOW)
        try:
            decide(runner, card.number, decision)
        except DecisionError:
            continue
        allowed |= legs if decision.verdict is Verdict.ALLOW else set()
    return allowed


def _allows(response: pb.PermissionResponse | None) -> bool:
    if response is None or not response.reply.stdout:
        return False
    plainly = "allow" in (response.permission_decision, response.decision)
    return plainly or says_allow(json.loads(response.reply.stdout))


def seeds() -> list[bytes]:
    """Each platform's calls, alone and a few together, with receipts and one ticket twice."""
    rows: list[bytes] = []
    for platform in PLATFORMS:
        calls = [
            pb.PermissionRequest(request_id=f"r{number}", secret="s", platform=platform, payload=payload, wait_ms=30_000)
            for number, payload in enumerate(samples(platform))
        ]  # fmt: skip
        asks = [(messages.ASK, call.SerializeToString()) for call in calls]
        receipt = pb.ConfirmReplyRequest(request_id="r1", secret="s").SerializeToString()
        rows += [messages.joined(asks[at : at + 4]) for at in range(0, len(asks), 4)]
        rows.append(messages.joined([asks[1], asks[1], (messages.CONFIRM, receipt), *asks[-2:]]))
    return rows


TARGET = Target(law, messages.of(MUTATION), seeds, longest=16384)
