"""The HTTP door, in process: whatever a connection sends, only a hook with the token gets in.

A browser's marks, a foreign `Host` and hook_headers that do not exist are turned away in documented
words; nothing is allowed before the operator says so; when the connection ends, nobody waits.
"""

from __future__ import annotations

import asyncio
import re
from random import Random
from typing import Any

from aiohttp import web

from crabhook.model.decision import Decision, Verdict
from crabhook.platforms.claude.write import body
from crabhook.platforms.sending import STANCE, WAIT, path_of
from crabhook.server.address import Tokens
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health
from crabhook.server.http.listener import NAMED, HookRoute, healthz, hook_headers
from crabhook.server.http.middleware import HeaderCheck, Middleware, Route, TurnedAwayError
from tests.fuzz.mutation import words
from tests.fuzz.payloads import samples
from tests.fuzz.target import Target
from tests.support.runners import bare_runner
from tests.support.seat import decide

TOKEN = "the-token"
PATH = path_of("claude")
HERE = ("127.0.0.1", 7780)
OUR_NAMES = re.compile(r"(?i)(localhost|127\.0\.0\.1|\[::1\]|\[127\.0\.0\.1\])\.*:0*7780")
TERMS = {STANCE.lower(), WAIT.lower()}
DOCUMENTED = {100, 200, 400, 401, 403, 404, 405, 409, 413, 415, 421, 429}
STATUS = re.compile(rb"^HTTP/\d\.\d (\d{3}) ", re.MULTILINE)
TURNS = 12
"""Turns of the loop, after which a request that can be answered is, or waits."""
_LOOP = asyncio.Runner()


class Wire(asyncio.Transport):
    """A connection's end without a socket: what is written to it is kept."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__({"sockname": HERE, "peername": ("127.0.0.1", 50_000)})
        self._protocol, self._reading, self._closing = protocol, True, False
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Be told what counts as written: here all does."""

    def is_reading(self) -> bool:
        return self._reading and not self._closing

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    abort = close


def law(data: bytes) -> None:
    """One connection's bytes: at once, and the operator allows; in pieces, and it ends before."""
    _LOOP.run(_law(data, max(1, len(data)), answers=True))
    _LOOP.run(_law(data, 97, answers=False))


async def _law(data: bytes, size: int, *, answers: bool) -> None:
    runner = bare_runner()
    middleware = _middleware(runner)
    protocol = middleware.connections()
    wire = Wire(protocol)
    protocol.connection_made(wire)
    for at in range(0, len(data), size):
        if not wire.is_reading():
            break
        protocol.data_received(data[at : at + size])
    await _turns()
    assert not _allows(wire.written), "allowed, and nobody has"
    if waiting := runner.broker.waiting():
        assert f"Bearer {TOKEN}".encode() in data
        if answers and not wire.is_closing():
            decide(runner, waiting[0].number, Decision(Verdict.ALLOW))
            await _turns()
            assert _allows(wire.written) <= 1
    wire.close()
    await _turns()
    assert {int(status) for status in STATUS.findall(wire.written)} <= DOCUMENTED, wire.written
    assert not runner.broker.waiting()
    assert "pending=0" in repr(runner)
    assert not middleware.connections._transports
    assert not middleware.connections._strangers
    runner.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}, "a task is left behind"


def _middleware(runner: Runner) -> Middleware:
    way = AnonymousIntake(runner, wait=60.0, named=NAMED)
    middleware = Middleware(HeaderCheck(Tokens(TOKEN)), way.complain, runner.witness.stranger)
    hooks = HookRoute(way, middleware.connections, "claude", body)

    async def let_in(request: web.BaseRequest) -> web.StreamResponse:
        _may_ask(request)  # where it may not, it is lost with a 500, which is not documented
        return await hooks.answer(request)

    middleware.routes = {
        PATH: Route("POST", let_in),
        "/healthz": Route("GET", healthz(Health(runner)), token=False),
    }
    return middleware


def _may_ask(request: web.BaseRequest) -> None:
    """Say of a request that was led to the hooks what had to be seen before."""
    headers = request.headers
    assert headers.getall("Authorization") == [f"Bearer {TOKEN}"]
    assert "Origin" not in headers
    assert set(headers.getall("Sec-Fetch-Site", [])) <= {"none"}
    (host,) = headers.getall("Host")
    assert OUR_NAMES.fullmatch(host), host
    assert (request.method, request.raw_path) == ("POST", PATH)
    assert _has_terms(request) or not _takes_terms(request)


def _has_terms(request: web.BaseRequest) -> bool:
    """Whether a request's hook_headers are some that there are, each once."""
    names = [name.lower() for name, _ in request.headers.items()]
    ours = [name for name in names if name.startswith("x-crabhook-")]
    return len(ours) == len(set(ours)) and set(ours) <= TERMS


def _takes_terms(request: web.BaseRequest) -> bool:
    try:
        hook_headers(request.headers)
    except TurnedAwayError:
        return False
    return True


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def _allows(written: bytes) -> int:
    return written.count(b'"permissionDecision":"allow"') + written.count(b'"behavior":"allow"')


def _post(payload: bytes, *more: str, **changes: str) -> bytes:
    named = {
        "Host": "127.0.0.1:7780",
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Content-Length": str(len(payload)),
    }
    fields = [f"{name}: {value}" for name, value in (named | changes).items()] + list(more)
    return "\r\n".join([f"POST {PATH} HTTP/1.1", *fields, "", ""]).encode() + payload


def seeds() -> list[bytes]:
    """HookRoute, alone and one behind another, in pieces, and those that may not ask."""
    waits = b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}'
    calls = [waits, *(data for data in samples("claude") if b'"PermissionRequest"' in data)][:4]
    calls += samples("claude")[:2]
    first, pieces = _post(calls[0]), b"2\r\n{}\r\n0\r\n\r\n"
    chunked = _post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + pieces
    return [
        *map(_post, calls),
        first + _post(calls[1]),
        chunked,
        _post(calls[0], f"{STANCE}: companion", f"{WAIT}: 30", "Expect: 100-continue"),
        _post(calls[0], "Origin: null"),
        _post(calls[0], Host="evil.localhost:7780"),
        _post(calls[0], f"{STANCE}: gate", f"{STANCE}: supervisor"),
        _post(calls[0], "Sec-Fetch-Site: none", Host="LOCALHOST.:07780"),
        _post(calls[0], "Connection: Upgrade", "Upgrade: websocket"),
        first.replace(TOKEN.encode(), b"nonsense"),
        b"GET /healthz HTTP/1.1\r\nHost: [::1]:7780\r\n\r\n" + first,
    ]


_MEASURED = re.compile(rb"(Content-Length: )\d+(?=\r\n)")
_VOCABULARY = (
    "\r\n", "\n", "\r", ": ", " ", "\t", "\0", "\xff", "POST", "GET", "HEAD", "OPTIONS", "CONNECT", "/healthz", PATH,
    "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "Host: ", "\r\nHost: localhost:7780", "127.0.0.1:7780", "[::1]:7780", "[::1%lo]",
    "evil.example", "localhost", "127.1", ".", ":443", "\r\nOrigin: null", "\r\nSec-Fetch-Site: none", "cross-site",
    f"\r\nAuthorization: Bearer {TOKEN}", "Bearer", "Basic", TOKEN, f"\r\n{STANCE}: gate", f"\r\n{WAIT}: 9", "X-Crabhook-",
    "supervisor", "companion", "\r\nTransfer-Encoding: chunked", "chunked", "gzip", "identity", "\r\nContent-Encoding: gzip",
    "\r\nContent-Length: 2", "\r\nExpect: 100-continue", "\r\nConnection: close", "keep-alive", "Upgrade", "\r\n\r\n", "0\r\n\r\n",
    "application/json", "; charset=utf-16", "text/plain", "\r\n folded", "ffffffffffffffff", "99999999", "-1", "0x2", "{}", "[]",
)  # fmt: skip
_WORDS = words.of(_VOCABULARY, [("{", "}"), ('"', '"'), ("[", "]"), ("2\r\n", "\r\n")])


def mutated(data: bytes, chance: Random) -> bytes:
    """Vary it, and mostly let the first body be as long as its head says."""
    varied = _WORDS(data, chance)
    head, parted, body = varied.partition(b"\r\n\r\n")
    if chance.random() < 0.2 or not parted:
        return varied
    return _MEASURED.sub(b"\\g<1>%d" % len(body), head + b"\r\n") + b"\r\n" + body


TARGET = Target(law, mutated, seeds, longest=8192)
