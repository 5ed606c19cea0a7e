"""An accepted request: waiting for the operator, and finding a lost server again."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import grpc
import pytest

from crabhook.hook import Options, Unanswered, client
from crabhook.v1 import permission_pb2 as pb
from tests.unit.hook.peers import (
    PAYLOAD,
    Operator,
    Script,
    ask,
    listening,
    replying,
    run_hook,
    serving,
    start_hook,
)
from tests.unit.hook.test_call import (
    ACCEPTED,
    GOAWAY,
    PING,
    SETTINGS,
    answer,
    ending,
    frame,
    head,
)
from tests.unit.hook.test_client import options_for

if TYPE_CHECKING:
    from crabhook.hook.wire import WireReply

ACCEPTANCE = frame(SETTINGS) + head(*ACCEPTED)
PINGED_EVERY = 200  # milliseconds


class Asked:
    """A question asked on a thread of its own, so that the test can act meanwhile."""

    def __init__(self, options: Options) -> None:
        self.reply: WireReply | None = None
        self.unanswered: Unanswered | None = None
        self._thread = threading.Thread(target=self._ask, args=(options,))
        self._thread.start()

    def _ask(self, options: Options) -> None:
        try:
            self.reply = ask(options)
        except Unanswered as unanswered:
            self.unanswered = unanswered

    def end(self) -> "Asked":
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self


def accept_then(rest: bytes = b"") -> Script:
    """Accept the request, say `rest`, and hang up."""

    def script(line: socket.socket) -> None:
        line.recv(1 << 16)
        line.sendall(ACCEPTANCE + rest)

    return script


def accept_and_vanish(path: Path) -> Script:
    """Accept the request, and be nowhere to be found."""

    def script(line: socket.socket) -> None:
        path.unlink()
        accept_then()(line)

    return script


def answer_with(text: bytes) -> Script:
    reply = replying(text).SerializeToString()
    return accept_then(frame(0, 0, 1, answer(reply)) + ending())


def refuse_with(status: int) -> Script:
    def script(line: socket.socket) -> None:
        line.recv(1 << 16)
        line.sendall(frame(SETTINGS) + head(*ACCEPTED, ("grpc-status", str(status)), ended=True))

    return script


# Waiting.


def test_acceptance_is_followed_by_any_amount_of_waiting(folder: Path) -> None:
    def wait(
        _request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        operator.hold(context)
        return replying(b"at last")

    operator = Operator(wait)
    with serving(operator, f"unix:{folder}/s"):
        asked = Asked(options_for(folder / "s"))
        assert operator.accepted.acquire(timeout=60)
        time.sleep(0.3)
        assert asked.reply is None
        operator.released.set()
        asked.end()
    assert asked.reply is not None
    assert asked.reply.stdout == b"at last"
    assert len(operator.requests) == 1


@contextlib.contextmanager
def pinging(operator: Operator, folder: Path) -> Iterator[None]:
    options = [
        ("grpc.keepalive_time_ms", PINGED_EVERY),
        ("grpc.keepalive_timeout_ms", PINGED_EVERY),
        ("grpc.http2.ping_timeout_ms", PINGED_EVERY),
        ("grpc.keepalive_permit_without_calls", 1),
    ]
    with serving(operator, f"unix:{folder}/s", options=options):
        yield


@pytest.mark.process
def test_a_waiting_hook_answers_the_servers_pings_and_a_stopped_one_is_noticed(
    folder: Path,
) -> None:
    ended = threading.Event()

    def wait(
        _request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        context.add_callback(ended.set)
        operator.hold(context)
        return replying(b"still here")

    operator = Operator(wait)
    with pinging(operator, folder), start_hook("--server", f"unix:{folder}/s") as hook:
        assert hook.stdin
        hook.stdin.close()
        hook.stdin = None
        assert operator.accepted.acquire(timeout=60)
        assert not ended.wait(5 * PINGED_EVERY / 1000)
        hook.send_signal(signal.SIGSTOP)
        assert ended.wait(60)
        hook.kill()
        assert hook.communicate(timeout=60) == (b"", b"")


@pytest.mark.process
def test_a_hook_that_dies_frees_its_place_at_once(folder: Path) -> None:
    ended = threading.Event()

    def wait(
        _request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        context.add_callback(ended.set)
        operator.hold(context)
        return replying(b"too late")

    operator = Operator(wait)
    server = f"unix:{folder}/s"
    with serving(operator, server), start_hook("--server", server) as hook:
        assert hook.stdin
        hook.stdin.close()
        hook.stdin = None
        assert operator.accepted.acquire(timeout=60)
        hook.terminate()
        assert ended.wait(60)
        assert hook.communicate(timeout=60) == (b"", b"")


def test_a_server_that_stops_gently_still_answers_what_it_has_accepted(folder: Path) -> None:
    def wait(
        _request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        operator.hold(context)
        return replying(b"my last word")

    operator = Operator(wait)
    with serving(operator, f"unix:{folder}/s") as (server, _):
        asked = Asked(options_for(folder / "s"))
        assert operator.accepted.acquire(timeout=60)
        stopped = server.stop(grace=20)  # says goodbye, and lets running calls run
        time.sleep(0.2)
        operator.released.set()
        asked.end()
        assert stopped.wait(60)
    assert asked.reply is not None
    assert asked.reply.stdout == b"my last word"


@pytest.mark.process
def test_an_operator_who_does_not_decide_in_time_has_not_decided(folder: Path) -> None:
    def wait(
        _request: pb.PermissionRequest, context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        operator.hold(context)
        return replying(b"too late")

    operator = Operator(wait)
    with serving(operator, f"unix:{folder}/s"):
        server = ("--server", f"unix:{folder}/s", "--wait=0.4")
        passed = run_hook(*server, "--when-unreachable=deny")
        denied = run_hook(*server, "--when-lost=deny")
    assert (passed.returncode, passed.stdout) == (0, b"")
    assert b"got no decision from the operator" in passed.stderr
    assert b"nobody decided in time" in passed.stderr
    assert b"--wait" in passed.stderr
    assert b'"permissionDecision":"deny"' in denied.stdout


@pytest.mark.process
def test_a_server_that_says_nobody_decided_is_not_asked_again(folder: Path) -> None:
    def give_up(_request: pb.PermissionRequest, context: grpc.ServicerContext) -> NoReturn:
        context.send_initial_metadata(())
        time.sleep(0.1)  # or gRPC may send them in one with the end, and nothing was accepted
        context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "words of the server's")

    operator = Operator(give_up)
    with serving(operator, f"unix:{folder}/s"):
        server = ("--server", f"unix:{folder}/s", "--wait=1000", "--reconnect=1000")
        passed = run_hook(*server, "--when-unreachable=deny")
        denied = run_hook(*server, "--when-lost=deny")
        with pytest.raises(Unanswered, match="nobody decided in time") as unanswered:
            ask(options_for(folder / "s", wait=1000, reconnect=1000))
    assert len(operator.requests) == 3
    assert (passed.returncode, passed.stdout) == (0, b"")
    assert passed.stderr == (
        b"crabhook got no decision from the operator (unix:%s/s: nobody decided"
        b" in time); the agent goes on by its own rules, which may ask its user or run it without asking;"
        b" give more time with --wait\n" % bytes(folder)
    )
    assert b'"permissionDecision":"deny"' in denied.stdout
    assert (unanswered.value.kind, unanswered.value.status) == ("late", 4)


def test_a_ticket_found_again_after_its_time_is_late_and_not_lost(folder: Path) -> None:
    with (
        listening(folder / "s", accept_then(), refuse_with(4)),
        pytest.raises(Unanswered, match="nobody decided in time") as unanswered,
    ):
        ask(options_for(folder / "s", reconnect=1000, wait=1000))
    assert (unanswered.value.kind, unanswered.value.status) == ("late", 4)


# Finding a lost server again.


@pytest.mark.parametrize(
    "loss",
    [
        b"",
        frame(GOAWAY, payload=bytes(8)),
        frame(3, 0, 1, bytes(4)),
        frame(3, 0, 1, (8).to_bytes(4, "big")),
        ending(1),
        ending(13),
        ending(14),
        frame(0, 0, 1, b"\0\0\0\0\x09half"),
        b"\xff" * 9,
    ],
    ids=[
        "closed",
        "goodbye",
        "reset",
        "cancel",
        "CANCELLED",
        "INTERNAL",
        "UNAVAILABLE",
        "half",
        "garbage",
    ],
)
def test_a_lost_request_is_asked_again_and_answered(folder: Path, loss: bytes) -> None:
    with listening(folder / "s", accept_then(loss), answer_with(b"decided")):
        assert ask(options_for(folder / "s", reconnect=20)).stdout == b"decided"


def test_it_is_asked_again_as_often_as_it_is_lost(folder: Path) -> None:
    with listening(folder / "s", *[accept_then()] * 4, answer_with(b"decided")):
        assert ask(options_for(folder / "s", reconnect=20)).stdout == b"decided"


def test_while_it_is_sought_nothing_counts_as_nobody(folder: Path) -> None:
    with listening(folder / "s", accept_and_vanish(folder / "s")):
        asked = Asked(options_for(folder / "s", reconnect=20))
        time.sleep(0.2)  # nobody listens; it tries, and tries again
    scripts = [refuse_with(14), lambda line: line.sendall(b"HTTP/1.1 502\r\n")]
    with listening(folder / "s", *scripts, answer_with(b"decided")):
        asked.end()
    assert asked.reply is not None
    assert asked.reply.stdout == b"decided"


@pytest.mark.parametrize("status", [3, 7, 12, 16])
def test_a_definite_no_ends_the_search(folder: Path, status: int) -> None:
    with (
        listening(folder / "s", accept_then(), refuse_with(status)),
        pytest.raises(Unanswered) as unanswered,
    ):
        ask(options_for(folder / "s", reconnect=1000, wait=1000))
    assert (unanswered.value.kind, unanswered.value.status) == ("lost", status)


@pytest.mark.parametrize("status", [2, 10])
def test_a_server_that_fails_for_good_after_acceptance_is_lost(folder: Path, status: int) -> None:
    with (
        listening(folder / "s", accept_then(ending(status))),
        pytest.raises(Unanswered) as unanswered,
    ):
        ask(options_for(folder / "s", reconnect=1000, wait=1000))
    assert (unanswered.value.kind, unanswered.value.status) == ("lost", status)


def test_a_handler_that_crashes_after_acceptance_is_lost_and_not_unreachable(folder: Path) -> None:
    def crash(_request: pb.PermissionRequest, context: grpc.ServicerContext) -> NoReturn:
        context.send_initial_metadata(())
        time.sleep(0.5)  # else gRPC may send them with the end, as of a call that nobody took
        raise RuntimeError("a fault of the server's")

    with serving(Operator(crash), f"unix:{folder}/s"), pytest.raises(Unanswered) as unanswered:
        ask(options_for(folder / "s", reconnect=1000, wait=1000))
    assert (unanswered.value.kind, unanswered.value.status) == ("lost", 2)


def test_an_answer_that_cannot_be_read_is_no_answer(folder: Path) -> None:
    for response in (
        b"",
        b"\xff",
        pb.PermissionResponse(permission_decision="allow").SerializeToString(),
    ):
        with (
            listening(folder / "s", accept_then(frame(0, 0, 1, answer(response)) + ending())),
            pytest.raises(Unanswered, match="cannot be read") as unanswered,
        ):
            ask(options_for(folder / "s", reconnect=1000, wait=1000))
        assert unanswered.value.kind == "lost"
        (folder / "s").unlink()


def test_the_search_ends_when_its_time_is_over(folder: Path) -> None:
    begun = time.monotonic()
    vanish = accept_and_vanish(folder / "s")
    with listening(folder / "s", vanish), pytest.raises(Unanswered) as unanswered:
        ask(options_for(folder / "s", reconnect=0.4))
    assert unanswered.value.kind == "lost"
    assert time.monotonic() - begun < 10


def test_the_search_ends_when_the_operators_time_is_over(folder: Path) -> None:
    begun = time.monotonic()
    with listening(folder / "s", accept_then()), pytest.raises(Unanswered) as unanswered:
        ask(options_for(folder / "s", reconnect=1000, wait=0.4))
    assert unanswered.value.kind in ("lost", "late")
    assert time.monotonic() - begun < 10


@pytest.mark.process
def test_with_no_time_to_search_a_lost_request_is_lost_at_once(folder: Path) -> None:
    with listening(folder / "s", accept_then()):
        options = ("--server", f"unix:{folder}/s", "--reconnect", "0")
        hook = run_hook(*options, "--when-unreachable=deny")
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert b"crabhook lost the operator while the request waited" in hook.stderr
    # A peer that hangs up on unread bytes resets; which of the two comes is the kernel's choice.
    assert b"the connection was closed" in hook.stderr or b"reset by peer" in hook.stderr


def test_a_server_found_again_has_the_search_time_to_accept_and_no_more(folder: Path) -> None:
    def greet_and_wait(line: socket.socket) -> None:
        line.sendall(frame(SETTINGS))
        with contextlib.suppress(ConnectionError):
            while line.recv(1 << 16):
                pass

    with (
        listening(folder / "s", accept_then(), greet_and_wait),
        pytest.raises(Unanswered) as unanswered,
    ):
        ask(options_for(folder / "s", reconnect=0.4, wait=1000))
    assert unanswered.value.kind == "lost"


def test_the_pauses_grow_and_stay_short(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    clock = [0.0]

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(client, "sleep", sleep)
    monkeypatch.setattr(client, "monotonic", lambda: clock[0])
    vanish = accept_and_vanish(folder / "s")
    with listening(folder / "s", vanish), pytest.raises(Unanswered):
        ask(options_for(folder / "s", reconnect=10, wait=1000))
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0]


def test_a_reset_by_the_network_is_a_loss() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        options = Options()
        options.server = f"127.0.0.1:{listener.getsockname()[1]}"
        options.reconnect = 20.0
        asked = Asked(options)
        line, _ = listener.accept()
        line.recv(1)
        line.sendall(ACCEPTANCE)
        time.sleep(0.1)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        line.close()
        again, _ = listener.accept()
        with again:
            answer_with(b"decided")(again)
        asked.end()
    assert asked.reply is not None
    assert asked.reply.stdout == b"decided"


@contextlib.contextmanager
def server_process(path: Path, manner: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.unit.hook.server_process", str(path), manner],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as server:
        try:
            assert server.stdout
            assert server.stdout.readline() == "ready\n"
            yield server
        finally:
            server.kill()


@pytest.mark.process
def test_a_server_killed_and_started_again_is_asked_with_the_same_ticket(folder: Path) -> None:
    with start_hook("--server", f"unix:{folder}/s", "--wait=60") as hook:
        assert hook.stdin
        with server_process(folder / "s", "hold") as server:
            hook.stdin.write(PAYLOAD)
            hook.stdin.close()
            hook.stdin = None
            assert server.stdout
            ticket = server.stdout.readline().split()
        with server_process(folder / "s", "answer") as server:
            assert server.stdout
            assert server.stdout.readline().split() == ticket
            stdout, stderr = hook.communicate(timeout=60)
    assert (stdout, stderr, hook.returncode) == (b"decided", b"", 0)
    assert len(set(ticket)) == 2


@pytest.mark.process
def test_a_server_killed_before_it_accepts_was_never_reached(folder: Path) -> None:
    with server_process(folder / "s", "hold") as server:
        os.kill(server.pid, signal.SIGSTOP)
        with start_hook("--server", f"unix:{folder}/s", "--when-lost=deny") as hook:
            assert hook.stdin
            hook.stdin.write(PAYLOAD)
            hook.stdin.close()
            hook.stdin = None
            time.sleep(0.3)
            server.kill()
            stdout, stderr = hook.communicate(timeout=60)
    assert (stdout, hook.returncode) == (b"", 0)
    assert b"crabhook cannot ask the operator" in stderr


def test_pings_of_a_busy_peer_do_not_lengthen_the_wait(folder: Path) -> None:
    def ping(line: socket.socket) -> None:
        line.recv(1 << 16)
        line.sendall(ACCEPTANCE)
        with contextlib.suppress(ConnectionError):
            while True:
                line.sendall(frame(PING, payload=bytes(8)))
                line.recv(1 << 16)
                time.sleep(0.02)

    with (
        listening(folder / "s", ping),
        pytest.raises(Unanswered, match="nobody decided in time") as unanswered,
    ):
        ask(options_for(folder / "s", wait=0.4))
    assert unanswered.value.kind == "late"
