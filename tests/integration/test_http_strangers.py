"""The HTTP door and those who may not ask there, or ask too much: a true server, real connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.server.address import MAX_REQUEST
from tests.support.http_desk import PATH, HttpDesk, call

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNKED = {"Transfer-Encoding": "chunked"}


@pytest.fixture(scope="module")
def one_for_all() -> Iterator[HttpDesk]:
    with HttpDesk() as desk:
        yield desk


@pytest.fixture
def shared(one_for_all: HttpDesk) -> HttpDesk:
    return one_for_all.anew()


@pytest.fixture
def desk() -> Iterator[HttpDesk]:
    """A server that no test before this one has spoken to."""
    with HttpDesk() as desk:
        yield desk


# Who may ask.


REFUSED: dict[str, tuple[int, dict[str, str], tuple[str, ...]]] = {
    "no token": (401, {}, ("Authorization",)),
    "a wrong token": (401, {"Authorization": "Bearer nonsense"}, ()),
    "a token in letters no token has": (401, {"Authorization": "Bearer \xff"}, ()),
    "another scheme": (401, {"Authorization": "Basic Og=="}, ()),
    "a name made to lead here": (421, {"Host": "evil.example"}, ()),
    "our name at another port": (421, {"Host": "localhost:1"}, ()),
    "no port where there is one": (421, {"Host": "localhost"}, ()),
    "a web page": (403, {"Origin": "http://evil.example"}, ()),
    "a web page of nowhere": (403, {"Origin": "null"}, ()),
    "a web page's fetch": (403, {"Sec-Fetch-Site": "cross-site"}, ()),
    "our own page, which there is none": (403, {"Sec-Fetch-Site": "same-origin"}, ()),
    "a form": (415, {"Content-Type": "application/x-www-form-urlencoded"}, ()),
    "plain text": (415, {"Content-Type": "text/plain"}, ()),
    "a form with a file": (415, {"Content-Type": "multipart/form-data; boundary=b"}, ()),
    "no type": (415, {}, ("Content-Type",)),
    "a compressed body": (415, {"Content-Encoding": "gzip"}, ()),
    "a stance that is none": (400, {"X-Crabhook-Stance": "lenient"}, ()),
    "a wait that is none": (400, {"X-Crabhook-Wait": "-1"}, ()),
    "terms that do not exist": (400, {"X-Crabhook-Verdict": "allow"}, ()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_who_may_not_ask_is_turned_away_and_no_card_is_made(shared: HttpDesk, what: str) -> None:
    status, headers, without = REFUSED[what]
    payload = call(what, session_id="refused")
    said = shared.send(payload, without=without, **headers)
    assert said.status == status
    assert said.body.startswith(b"crabhook: ")
    assert not any(name.startswith("access-control") for name in said.headers)
    assert not any("session=refused" in line for line in shared.said)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_the_loopbacks_own_names_are_ours(shared: HttpDesk, host: str) -> None:
    assert shared.send(b"{}", Host=f"{host}:{shared.port}").status == 400  # not 421: it came in


def test_a_type_may_have_parameters(shared: HttpDesk) -> None:
    assert shared.send(b"{}", Content_Type="application/json; charset=utf-8").status == 400


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "DELETE"])
def test_hooks_are_posted_and_nothing_else(shared: HttpDesk, method: str) -> None:
    said = shared.send(method=method)
    assert (said.status, said.headers["allow"]) == (405, "POST")


def test_a_preflight_gets_no_leave(shared: HttpDesk) -> None:
    said = shared.send(
        method="OPTIONS",
        Origin="http://evil.example",
        Access_Control_Request_Method="POST",
        without=("Authorization",),
    )
    assert said.status == 403
    assert not any(name.startswith("access-control") for name in said.headers)


@pytest.mark.parametrize("path", ["/", "/hooks/claude/", "/hooks/claude?x=1", "/hooks/%63laude"])
def test_there_is_one_way_to_write_the_path(shared: HttpDesk, path: str) -> None:
    assert shared.send(path=path).status == 404


def test_whoever_lacks_the_token_is_told_of_once_and_named_nowhere(desk: HttpDesk) -> None:
    for _ in range(5):
        desk.send(call("ls"), Authorization="Bearer red")
    desk.send(b"{}")
    desk.wait_for("unreadable input of 2 bytes")
    told = [line for line in desk.said if "no CRABHOOK_TOKEN" in line]
    assert len(told) == 1
    assert "CRABHOOK_TOKEN" in told[0]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b"null", b'{"hook_event_name": 1}', b"\xff", b"[" * 100_000]
)
def test_what_cannot_be_read_is_refused_and_seen(shared: HttpDesk, body: bytes) -> None:
    said = shared.send(body)
    assert said.status == 400
    assert b"unreadable input" in said.body
    shared.wait_for(f"unreadable input of {len(body)} bytes")


def test_what_is_no_http_ends_the_connection_and_nothing_else(shared: HttpDesk) -> None:
    for junk in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HELO there\r\n\r\n",
        b"\0" * 9000,
    ):
        line = shared.line()
        line.raw(junk)
        assert line.answer().status == 400
    assert shared.send(method="GET", path="/healthz").status == 200


# What is too much, or too slow.


def test_a_body_that_says_it_is_too_long_is_refused_before_it_is_sent(shared: HttpDesk) -> None:
    line = shared.line()
    line.send("POST", PATH, shared.headers | {"Content-Length": str(MAX_REQUEST + 1)}, b"")
    assert line.answer().status == 413


def test_a_body_that_does_not_say_so_is_refused_when_it_is(shared: HttpDesk) -> None:
    line, piece = shared.line(), b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    line.send("POST", PATH, shared.headers | CHUNKED, b"")
    try:
        for _ in range((MAX_REQUEST >> 20) + 2):
            line.raw(piece)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it did not even listen to the end
    assert line.answer().status == 413


def test_heads_have_a_bound(shared: HttpDesk) -> None:
    for headers in ({"X-Long": "x" * 100_000}, {f"X-{n}": "x" for n in range(1000)}):
        assert shared.send(b"{}", **headers).status == 400


def test_a_body_without_the_token_is_not_read(shared: HttpDesk) -> None:
    line = shared.line()
    headers = shared.headers | {"Authorization": "Bearer none", "Content-Length": "1000000"}
    line.send("POST", PATH, headers, b"")
    assert line.answer().status == 401


# What watches the machine.


def test_health_is_told_to_anybody_who_calls_us_by_our_name(shared: HttpDesk) -> None:
    said = shared.send(method="GET", path="/healthz", without=("Authorization",))
    assert (said.status, said.body, said.headers["connection"]) == (200, b"ok\n", "close")
    assert shared.send(method="GET", path="/healthz", Host="evil.example").status == 421


def test_metrics_are_for_whoever_shows_the_token(shared: HttpDesk) -> None:
    said = shared.send(method="GET", path="/metrics")
    assert said.status == 200
    assert said.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert b"crabhook_" in said.body
    assert shared.send(method="GET", path="/metrics", without=("Authorization",)).status == 401
