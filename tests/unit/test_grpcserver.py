"""No request's bytes end a listener that serves gRPC; every call after it is served as before."""

from __future__ import annotations

import logging
import ssl
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.hook.call import UNIMPLEMENTED
from crabhook.model.actor import Role
from crabhook.server.address import Address, TcpAddress
from crabhook.server.operators.joining import InvitationAddress, open_invitation
from crabhook.team.certificates import Authority
from crabhook.team.enrolling import Inviting
from crabhook.team.invitation import Joins
from crabhook.v1 import operator_pb2, permission_pb2
from tests.support.desk import PlayedDesk
from tests.support.port import opened
from tests.support.raw_http2 import Header, headers, send, unverified
from tests.support.team_port import team_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HOOKS = permission_pb2.DESCRIPTOR.services_by_name["PermissionService"].full_name
DESKS = operator_pb2.DESCRIPTOR.services_by_name["OperatorService"].full_name
JOINS = "crabhook.v1.EnrolService"
HIGH = bytes(range(0x80, 0x100))
PATHS = [
    b"/\xff", b"\xff", b"/" + HIGH, b"/\xc3", b"/\xed\xa0\x80", b"/a/\xc0\xaf", b"/x\xf8\x88\x80\x80\x80",
    f"/{HOOKS}/RequestPermission".encode() + b"\xff", b"/\xe9", b"/", b"", b"/no/such", b"*",
]  # fmt: skip
VALUES: list[Header] = [
    (b"x-high", HIGH), (b"x-high-bin", HIGH), (b"authorization", b"Bearer \xff\xfe"), (b"grpc-timeout", b"\xff"),
    (b"grpc-encoding", b"\xff"), (b"user-agent", HIGH), (b"content-type", b"application/grpc\xff"), (b"x\xff", b"y"),
    (b"grpc-trace-bin", b"\xff"), (b"te", b"\xff"), (b"host", b"\xff"), (b"grpc-accept-encoding", b"\xff"),
]  # fmt: skip


@asynccontextmanager
async def listener(kind: str, folder: Path) -> AsyncIterator[tuple[Address, Any, bytes]]:
    """A listener of this kind: its address, its TLS, and the path of a method that it serves."""
    if kind == "unix":
        async with opened() as port:
            yield port.bound[0], None, f"/{HOOKS}/ConfirmReply".encode()
    elif kind == "tcp":
        async with opened(TcpAddress("127.0.0.1", 0), token="t") as port:
            yield port.bound[0], None, f"/{HOOKS}/ConfirmReply".encode()
    elif kind == "desks":
        desk = PlayedDesk()
        async with team_port(desk.runner, folder, ada=Role.ADMIN) as desks:
            context = shown(desks.certificates["ada"], folder)
            yield desks.address, context, f"/{DESKS}/Desks".encode()
    else:
        inviting = Inviting(Joins.DESK, print, _never, _never, print)  # type: ignore[arg-type]
        authority = Authority.new("ours", time.time()).certificate
        place = InvitationAddress("127.0.0.1", 0, "127.0.0.1")
        async with open_invitation(inviting, authority, place, time.time()) as (made, _):
            path = f"/{JOINS}/BeginJoin".encode()
            yield TcpAddress("127.0.0.1", made.port), unverified(), path


def _never(*_: object) -> Any:
    raise AssertionError


def shown(pair: tuple[bytes, bytes], folder: Path) -> ssl.SSLContext:
    """TLS that shows a desk's certificate."""
    context = unverified()
    for name, content in zip(("cert", "key"), pair, strict=True):
        (folder / name).write_bytes(content)
    context.load_cert_chain(folder / "cert", folder / "key")
    return context


KINDS = ["unix", "tcp", "desks", "join"]


@pytest.mark.parametrize("kind", KINDS)
async def test_no_path_ends_a_listener(kind: str, tmp_path: Path) -> None:
    async with listener(kind, tmp_path) as (address, context, served):
        for path in PATHS:
            await send(address, headers(path), context=context)
            answer = await send(address, headers(served), context=context)
            assert answer not in (None, UNIMPLEMENTED), path


@pytest.mark.parametrize("kind", KINDS)
async def test_no_header_ends_a_listener(kind: str, tmp_path: Path) -> None:
    async with listener(kind, tmp_path) as (address, context, served):
        for header in VALUES:
            await send(address, headers(served, header), context=context)
        for changed in (b":method", b":scheme", b":authority", b"te", b"content-type"):
            sent = [(name, HIGH if name == changed else value) for name, value in headers(served)]
            await send(address, sent, context=context)
        answer = await send(address, headers(served), context=context)
        assert answer not in (None, UNIMPLEMENTED)


@pytest.mark.parametrize("path", [b"/\xff", b"/no/such", f"/{HOOKS}/No".encode()])
async def test_a_method_that_is_not_served_is_told_so(path: bytes) -> None:
    async with opened() as port:
        assert await send(port.bound[0], headers(path)) == UNIMPLEMENTED


async def test_a_header_that_is_no_utf_8_writes_nothing_into_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with opened(TcpAddress("127.0.0.1", 0), token="t") as port:
        sent = headers(f"/{HOOKS}/ConfirmReply".encode(), (b"x-high", HIGH))
        assert await send(port.bound[0], sent) not in (None, UNIMPLEMENTED)
    assert not [record for record in caplog.records if "x80" in record.getMessage()]


def test_a_fault_of_the_servers_own_stays_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("grpc._cython.cygrpc")
    try:
        {}["ours"]
    except KeyError:
        log.exception("Unexpected [%s] raised by servicer method [%s]", "KeyError", "/a/b")
    assert caplog.records[-1].exc_info
