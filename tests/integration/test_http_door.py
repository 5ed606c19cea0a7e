"""The HTTP door through a true server, with real connections: what becomes of a hook."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trustme

from crabhook.server.address import GRACE
from tests.support.http_desk import LOOPBACK, PATH, HttpDesk, Line, call
from tests.support.plain_desk import PlainDesk
from tests.support.rows import every_row
from tests.support.unserved import why_unserved

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNKED = {"Transfer-Encoding": "chunked"}


SESSIONS = count(1)


@pytest.fixture(scope="module")
def one_for_all() -> Iterator[HttpDesk]:
    with HttpDesk() as desk:
        yield desk


@pytest.fixture
def shared(one_for_all: HttpDesk) -> HttpDesk:
    return one_for_all.anew()


@pytest.fixture
def desk() -> Iterator[HttpDesk]:
    """A server that ends with its test."""
    with HttpDesk() as desk:
        yield desk


def decision(body: bytes) -> str:
    verdict: str = json.loads(body)["hookSpecificOutput"]["permissionDecision"]
    return verdict


# The operator's decision is what the agent reads.


def test_a_call_waits_and_its_answer_is_delivered(shared: HttpDesk) -> None:
    asking = shared.ask(call("ls", session_id="first"))
    number = shared.card("Bash")
    shared.say(f"{number} deny not here")
    said = asking.answer()
    assert said.status == 200
    assert said.headers["content-type"] == "application/json"
    assert said.output == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "not here",
        }
    }
    shared.wait_for(rf"^#{number} delivered")
    kinds = [entry["kind"] for entry in shared.record() if entry["session"] == "first"]
    assert kinds.count("asked") == kinds.count("decided") == kinds.count("delivered") == 1


def test_no_opinion_is_an_empty_body(shared: HttpDesk) -> None:
    asking = shared.ask(call("no opinion"))
    shared.say(f"{shared.card('Bash')} pass")
    said = asking.answer()
    assert (said.status, said.body) == (200, b"")
    assert said.headers["content-length"] == "0"


def test_what_blocks_by_an_exit_code_elsewhere_blocks_by_its_body_here(shared: HttpDesk) -> None:
    shared.say("hold TeammateIdle times=1")
    shared.wait_for("desk: hold TeammateIdle")
    payload = {"hook_event_name": "TeammateIdle", "session_id": "idle", "teammate_name": "helper"}
    asking = shared.ask(json.dumps(payload).encode())
    number = shared.wait_for(r"^#(\d+) TeammateIdle").group(1)
    shared.say(f"{number} keep-going paint the back, too")
    assert asking.answer().output == {"decision": "block", "reason": "paint the back, too"}


def test_a_companion_is_told_apart_by_its_header(shared: HttpDesk) -> None:
    said = shared.send(call("companion", session_id="beside"), X_Crabhook_Stance="companion")
    assert (said.status, said.body) == (200, b"")  # it leaves the call to PermissionRequest


def test_a_request_waits_no_longer_than_its_hook(shared: HttpDesk) -> None:
    began = time.monotonic()
    asking = shared.ask(call("be quick"), X_Crabhook_Wait="2")
    shared.card("Bash")
    said = asking.answer()
    assert said.status == 504
    assert b"nobody decided in time" in said.body
    assert 1 < time.monotonic() - began < 10


def test_one_connection_carries_many_hooks_one_after_another(shared: HttpDesk) -> None:
    line = shared.line()
    for word in ("allow", "deny no", "allow"):
        line.send("POST", PATH, shared.headers, call(f"again {word}"))
        shared.say(f"{shared.card('Bash')} {word}")
        assert decision(line.answer().body) == word.split()[0]


def test_a_body_in_pieces_is_one_body(shared: HttpDesk) -> None:
    line, payload = shared.line(), call("pieces")
    line.send("POST", PATH, shared.headers | CHUNKED, b"")
    for at in range(0, len(payload), 100):
        piece = payload[at : at + 100]
        line.raw(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    line.raw(b"0\r\n\r\n")
    shared.say(f"{shared.card('Bash')} allow")
    assert decision(line.answer().body) == "allow"


def test_a_client_that_waits_for_leave_to_send_its_body_gets_it(shared: HttpDesk) -> None:
    line, payload = shared.line(), call("patience")
    headers = shared.headers | {"Expect": "100-continue", "Content-Length": str(len(payload))}
    line.send("POST", PATH, headers, b"")
    assert line.socket.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
    line.raw(payload)
    shared.say(f"{shared.card('Bash')} allow")
    assert decision(line.answer().body) == "allow"


def test_of_two_equal_keys_the_last_counts_as_it_does_to_an_agent(shared: HttpDesk) -> None:
    twice = call("first").replace(b'"tool_name"', b'"tool_name": "Write", "tool_name"')
    asking = shared.ask(twice)
    shared.say(f"{shared.card('Bash')} allow")
    assert decision(asking.answer().body) == "allow"


def test_a_large_input_is_taken_whole(shared: HttpDesk) -> None:
    asking = shared.ask(call("x" * 3_000_000, session_id="large"))
    number = shared.wait_for(r"^#(\d+) PreToolUse Bash session=large").group(1)
    shared.say(f"{number} allow")
    assert decision(asking.answer().body) == "allow"


def test_an_answer_larger_than_any_buffer_arrives_whole(shared: HttpDesk) -> None:
    asking = shared.ask(call("echo", session_id="wide"))
    number = shared.wait_for(r"^#(\d+) PreToolUse Bash session=wide").group(1)
    shared.say(f"{number} deny " + "y" * 60_000)
    reason = asking.answer().output["hookSpecificOutput"]["permissionDecisionReason"]
    assert reason == "y" * 60_000
    shared.wait_for(rf"^#{number} delivered")


# Whoever goes is let go.


def withdrawn(desk: HttpDesk, number: int) -> None:
    desk.wait_for(rf"^#{number} WITHDRAWN")


def waiting(desk: HttpDesk, more: bytes = b"") -> tuple[Line, int]:
    """A hook that waits, with more bytes behind it; its connection, and its card."""
    line = desk.line()
    payload = call("wait for me", session_id=f"waits-{next(SESSIONS)}")
    headers = desk.headers | {"Content-Length": str(len(payload))}
    line.send("POST", PATH, headers, payload + more)
    return line, desk.card("Bash")


def test_closing_withdraws_the_card(shared: HttpDesk) -> None:
    line, number = waiting(shared)
    line.close()
    withdrawn(shared, number)


def test_closing_half_withdraws_the_card(shared: HttpDesk) -> None:
    line, number = waiting(shared)
    line.socket.shutdown(socket.SHUT_WR)
    withdrawn(shared, number)


def test_a_reset_withdraws_the_card(shared: HttpDesk) -> None:
    line, number = waiting(shared)
    line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    line.socket.close()
    withdrawn(shared, number)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(b"POST /hooks/claude HTTP/1.1\r\n", id="half a request"),
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 500, id="many requests"),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 1_000_000,
            id="a large request",
        ),
    ],
)
def test_closing_behind_more_requests_withdraws_the_card(shared: HttpDesk, more: bytes) -> None:
    line, number = waiting(shared, more)
    line.close()
    withdrawn(shared, number)


def test_a_request_behind_one_that_waits_is_answered_after_it(shared: HttpDesk) -> None:
    head = f"GET /healthz HTTP/1.1\r\nHost: {LOOPBACK}:{shared.port}\r\n\r\n".encode()
    line, number = waiting(shared, head)
    shared.say(f"{number} allow")
    assert decision(line.answer().body) == "allow"
    assert line.answer().body == b"ok\n"


def test_a_decision_that_comes_too_late_is_not_called_delivered(shared: HttpDesk) -> None:
    line, number = waiting(shared)
    line.close()
    withdrawn(shared, number)
    shared.say(f"{number} allow")
    shared.wait_for(rf"#{number} .*(too late|already|ended)")
    assert not any(said.endswith("delivered") for said in shared.said)


# The server's own end.


def test_the_operator_who_leaves_lets_go_of_what_waits(desk: HttpDesk) -> None:
    asking = desk.ask(call("ls"))
    desk.card("Bash")
    desk.stop()
    said = asking.answer()
    assert (said.status, b"closed the desk" in said.body) == (503, True)  # which onFailure heeds
    assert desk.process.returncode == 0


def test_a_server_that_makes_room_for_the_next_says_so(desk: HttpDesk) -> None:
    asking = desk.ask(call("ls"))
    desk.card("Bash")
    desk.process.send_signal(signal.SIGUSR1)
    said = asking.answer()
    assert said.status == 503
    assert b"makes room for the next" in said.body
    assert desk.process.wait(60) == 0


def test_an_idle_connection_does_not_keep_a_server_from_ending(desk: HttpDesk) -> None:
    line = desk.line()
    line.send("POST", PATH, desk.headers, b"{}")
    assert line.answer().status == 400
    with HttpDesk() as without_any:
        least = seconds_to_end(without_any)  # on a busy machine that is long as well
    assert seconds_to_end(desk) - least < GRACE
    assert line.ended()


def seconds_to_end(desk: HttpDesk) -> float:
    began = time.monotonic()
    desk.stop()
    return time.monotonic() - began


def test_two_servers_cannot_share_a_port(
    shared: HttpDesk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    other, taken = f"unix:{shared.folder}/other", f"{LOOPBACK}:{shared.port}"
    listen = ("--listen", other, "--http", taken)
    said = why_unserved(tmp_path, monkeypatch, capfd, *listen)
    assert f"the HTTP door cannot listen on {taken}" in said


@every_row(
    "address, says",
    [
        ("0.0.0.0:0", "needs TLS"),
        ("[::]:0", "needs TLS"),
        ("unix:/tmp/nothing", "HOST:PORT alone"),
        ("7780", "no address"),
    ],
)
def test_an_address_that_others_reach_is_refused_without_tls(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    address: str,
    says: str,
) -> None:
    listen = ("--listen", f"unix:{tmp_path}/s", "--http", address)
    assert says in why_unserved(tmp_path, monkeypatch, capfd, *listen)


def test_tls_lets_others_in_with_the_token_and_under_a_name_that_was_given(tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("desk.example", LOOPBACK)
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    files = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    with HttpDesk(*files, "--http-name", "desk.example", http="0.0.0.0:0") as desk:
        assert desk.url.startswith("https://")
        for host in (f"{LOOPBACK}:{desk.port}", "desk.example"):
            line = desk.line()
            line.socket = trust.wrap_socket(line.socket, server_hostname="desk.example")
            desk._lines_open.append(line)
            payload = call(host)
            line.send("POST", PATH, desk.headers | {"Host": host}, payload)
            number = desk.card("Bash")
            desk.say(f"{number} allow")
            assert decision(line.answer().body) == "allow"
            desk.wait_for(rf"^#{number} delivered")
        plain = desk.line()
        plain.send("POST", PATH, desk.headers, call("in the clear"))
        assert plain.ended()


# What it costs.


def test_hundreds_at_once_all_wait_and_those_who_go_are_let_go(desk: HttpDesk) -> None:
    asking = []
    for number in range(300):
        asking.append(desk.line())
        payload = call("ls", session_id=f"s{number}", tool_use_id=f"t{number}")
        asking[-1].send("POST", PATH, desk.headers, payload)
    for _ in asking:
        desk.card("Bash")
    for line in asking[:200]:
        line.close()
    gone = {desk.wait_for(r"^#(\d+) WITHDRAWN").group(1) for _ in asking[:200]}
    assert len(gone) == 200
    desk.process.terminate()
    assert [line.answer().status for line in asking[200:]] == [503] * 100
    assert desk.process.wait(60) == 0


def test_nobody_pays_for_the_door_who_does_not_open_it(tmp_path: Path) -> None:
    code = "import sys; import crabhook.cli.serve; print('aiohttp' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.strip() == "False"


@pytest.mark.cold
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_server_without_the_door_has_nothing_of_it_in_memory(shared: HttpDesk) -> None:
    def has_it(desk: PlainDesk) -> bool:
        return "/aiohttp/" in Path(f"/proc/{desk.process.pid}/maps").read_text("utf-8")

    assert has_it(shared)
    with PlainDesk() as without:
        assert not has_it(without)
