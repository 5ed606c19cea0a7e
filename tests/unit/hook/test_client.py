"""The hook's process: what it reads, whom it asks, what it prints, how it ends."""

import contextlib
import os
import posix
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import grpc
import pytest

import crabhook
from crabhook.hook import Options, Unanswered, client, fallback
from crabhook.hook.client import LARGEST_PAYLOAD
from crabhook.v1 import permission_pb2 as pb
from tests.support import isolation
from tests.unit.hook.peers import (
    CONSOLE,
    INSTALLED,
    PAYLOAD,
    Operator,
    ask,
    environment,
    listening,
    replying,
    run_hook,
    serving,
    start_hook,
)
from tests.unit.hook.test_call import ACCEPTED, SETTINGS, answer, ending, frame, head

PASSED_LINE = (
    b"; the agent goes on by its own rules, which may ask its user or run it without asking; "
)

pytestmark = pytest.mark.process


def options_for(path: Path, *, wait: float = 20.0, reconnect: float = 0.0) -> Options:
    options = Options()
    options.server = f"unix:{path}"
    options.wait = wait
    options.reconnect = reconnect
    return options


def assert_passed(hook: "subprocess.CompletedProcess[bytes]", *said: bytes) -> None:
    assert hook.returncode == 0
    assert hook.stdout == b""
    assert hook.stderr.count(b"\n") == 1
    assert PASSED_LINE in hook.stderr
    for words in said:
        assert words in hook.stderr


# What reaches the operator, and what comes back.


@pytest.mark.parametrize("door", [INSTALLED, CONSOLE], ids=["installed", "console"])
def test_the_reply_is_repeated_byte_for_byte(folder: Path, door: tuple[str, ...]) -> None:
    operator = Operator(lambda _request, _context: replying(b"\0out\xff\r\n", b"err\xfe", 37))
    with serving(operator, f"unix:{folder}/s"):
        hook = run_hook("--server", f"unix:{folder}/s", door=door)
    assert (hook.stdout, hook.stderr, hook.returncode) == (b"\0out\xff\r\n", b"err\xfe", 37)


def test_the_request_says_what_the_hook_was_told_and_who_it_is(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying())
    payload = b"\xff not even text \0"
    with serving(operator, f"unix:{folder}/s"):
        options = ("--server", f"unix:{folder}/s", "--platform=gemini", "--companion")
        with start_hook(*options, "--wait", "77") as hook:
            hook.communicate(payload, timeout=60)
    (request,) = operator.requests
    assert request.payload == payload
    assert (request.platform, request.stance) == ("gemini", pb.STANCE_COMPANION)
    assert 60_000 < request.wait_ms <= 77_000
    assert len(request.request_id) == len(request.secret) == 32
    assert request.request_id != request.secret
    assert request.client == pb.ClientFacts(
        host=os.uname().nodename, pid=hook.pid, user="ada", version=crabhook.__version__
    )
    assert operator.metadata[0]["user-agent"] == f"crabhook/{crabhook.__version__}"
    assert "authorization" not in operator.metadata[0]


@pytest.mark.parametrize(
    ("variable", "sent"),
    [("00-4b-f0-01", "00-4b-f0-01"), ("\udcff", "\ufffd"), (99_999 * "a", 64 * "a")],
)
def test_the_trace_of_its_environment_goes_along_and_costs_no_call(
    folder: Path, variable: str, sent: str
) -> None:
    operator = Operator(lambda _request, _context: replying())
    with serving(operator, f"unix:{folder}/s"):
        run_hook("--server", f"unix:{folder}/s", env=environment(TRACEPARENT=variable))
    assert [request.client.traceparent for request in operator.requests] == [sent]


def test_without_options_the_call_is_held_as_claudes(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    (folder / "crabhook").mkdir(mode=0o700)
    with serving(operator, f"unix:{folder}/crabhook/crabhook.sock"):
        hook = run_hook(env=environment(XDG_RUNTIME_DIR=str(folder)))
    assert hook.stdout == b"yes"
    (request,) = operator.requests
    assert (request.platform, request.stance) == ("claude", pb.STANCE_GATE)
    assert 3_600_000 < request.wait_ms <= 3_630_000


def test_no_two_requests_share_a_ticket(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying())
    with serving(operator, f"unix:{folder}/s"):
        for _ in range(3):
            ask(options_for(folder / "s"))
    tickets = {word for r in operator.requests for word in (r.request_id, r.secret)}
    assert len(tickets) == 6


def test_the_token_travels_as_a_bearers(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying())
    (folder / "token").write_text("s3cret\n")
    (folder / "token").chmod(0o600)
    with serving(operator, f"unix:{folder}/s"):
        server = ("--server", f"unix:{folder}/s")
        run_hook(*server, env=environment(CRABHOOK_TOKEN="from-env"))
        run_hook(*server, f"--token-file={folder}/token", env=environment(CRABHOOK_TOKEN="x"))
    assert [data["authorization"] for data in operator.metadata] == [
        "Bearer from-env",
        "Bearer s3cret",
    ]


@pytest.mark.parametrize("size", [0, 1, 70_000, LARGEST_PAYLOAD])
def test_a_payload_arrives_whole(folder: Path, size: int) -> None:
    payload = os.urandom(min(size, 1 << 20)) * max(1, size >> 20)
    assert len(payload) == size
    operator = Operator(lambda _request, _context: replying(b"ok"))
    with serving(operator, f"unix:{folder}/s"):
        hook = run_hook("--server", f"unix:{folder}/s", payload=payload)
    assert (hook.stdout, hook.stderr) == (b"ok", b"")
    assert operator.requests[0].payload == payload


@pytest.mark.parametrize("size", [0, 1, 16_384, 65_536, 5 << 20])
def test_a_reply_arrives_whole(folder: Path, size: int) -> None:
    text = os.urandom(size)
    operator = Operator(lambda _request, _context: replying(text, text[:1000], 3))
    with serving(operator, f"unix:{folder}/s"):
        hook = run_hook("--server", f"unix:{folder}/s")
    assert hook.stdout == text
    assert (hook.stderr, hook.returncode) == (text[:1000], 3)


# The receipt.


@pytest.mark.parametrize("reply", [(b"yes", b"", 0), (b"", b"no", 2), (b"", b"", 0)])
def test_a_reply_is_confirmed_when_it_was_printed_and_not_before(
    folder: Path, reply: tuple[bytes, bytes, int]
) -> None:
    server = f"unix:{folder}/s"
    operator = Operator(lambda _request, _context: replying(*reply, confirm=True))
    with (
        serving(operator, server),
        start_hook("--server", server, env=environment(CRABHOOK_TOKEN="t")) as hook,
    ):
        read: list[bytes] = []
        assert hook.stdin
        assert hook.stdout
        operator.on_confirm = lambda: read.append(stdout.read())
        stdout = hook.stdout  # at its end already: the agent need not wait for the receipt
        hook.stdin.close()
        hook.stdin = None
        assert hook.wait(60) == reply[2]
        assert hook.stderr
        assert hook.stderr.read() == reply[1]
    assert read == [reply[0]]
    (request,), (receipt,) = operator.requests, operator.confirmed
    assert (receipt.request_id, receipt.secret) == (request.request_id, request.secret)
    assert [data["authorization"] for data in operator.metadata] == ["Bearer t"] * 2


def test_what_nobody_waits_for_is_not_confirmed(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, f"unix:{folder}/s"):
        run_hook("--server", f"unix:{folder}/s")
    assert operator.requests
    assert not operator.confirmed


def test_what_could_not_be_printed_is_not_confirmed(folder: Path) -> None:
    server = f"unix:{folder}/s"
    operator = Operator(lambda _request, _context: replying(b"yes", confirm=True))
    reader, writer = os.pipe()
    os.close(reader)
    with serving(operator, server), start_hook("--server", server, stdout=writer) as hook:
        os.close(writer)
        hook.communicate(PAYLOAD, timeout=60)
    assert hook.returncode == 1
    assert operator.requests
    assert not operator.confirmed


def test_the_receipt_goes_the_way_the_reply_came(folder: Path) -> None:
    def answer_and_be_found_no_more(
        _request: pb.PermissionRequest, _context: grpc.ServicerContext
    ) -> pb.PermissionResponse:
        (folder / "s").unlink()
        return replying(b"yes", confirm=True)

    operator = Operator(answer_and_be_found_no_more)
    with serving(operator, f"unix:{folder}/s"):
        hook = run_hook("--server", f"unix:{folder}/s")
    assert (hook.stdout, hook.stderr, hook.returncode) == (b"yes", b"", 0)
    assert len(operator.confirmed) == 1


GOODBYE = frame(7, 0, 0, (1).to_bytes(4, "big") + bytes(4))


@pytest.mark.parametrize("parting", [b"", GOODBYE, b"garbage" * 9])
@pytest.mark.parametrize("stays", [True, False])
def test_where_the_receipt_cannot_go_the_way_the_reply_came_it_goes_nowhere(
    folder: Path, parting: bytes, *, stays: bool
) -> None:
    heard = bytearray()

    def answer_once(line: socket.socket) -> None:
        line.recv(1 << 16)
        message = replying(b"yes", b"why", 2, confirm=True).SerializeToString()
        line.sendall(frame(SETTINGS) + head(*ACCEPTED) + parting * (parting == GOODBYE))
        line.sendall(frame(0, 0, 1, answer(message)) + ending() + parting * (parting != GOODBYE))
        while stays and parting and (more := line.recv(1 << 16)):
            heard.extend(more)

    def turn_up_again(line: socket.socket) -> None:
        called_again.append(line)

    called_again: list[socket.socket] = []
    with listening(folder / "s", answer_once, turn_up_again):
        hook = run_hook("--server", f"unix:{folder}/s")
        assert not called_again
        with socket.socket(socket.AF_UNIX) as end:  # the second caller is this test itself
            end.connect(f"{folder}/s")
    assert (hook.stdout, hook.stderr, hook.returncode) == (b"yes", b"why", 2)
    assert b"ConfirmReply" not in heard
    assert len(called_again) == 1


def test_a_receipt_that_finds_no_room_is_given_up_in_time(folder: Path) -> None:
    asked: list[bytes] = []

    def give_no_room(line: socket.socket) -> None:
        none = b"\0\4" + bytes(4)  # INITIAL_WINDOW_SIZE 0, once the request is here
        asked.append(line.recv(1 << 16))
        message = replying(b"yes", b"", 2, confirm=True).SerializeToString()
        line.sendall(frame(SETTINGS, payload=none) + head(*ACCEPTED))
        line.sendall(frame(0, 0, 1, answer(message)) + ending())
        while more := line.recv(1 << 16):
            asked.append(more)

    with listening(folder / "s", give_no_room):
        hook = run_hook("--server", f"unix:{folder}/s")
    assert (hook.stdout, hook.stderr, hook.returncode) == (b"yes", b"", 2)
    assert b"ConfirmReply" in b"".join(asked)


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_server_that_does_not_take_the_receipt_holds_nobody(
    *, folder: Path, interrupted: bool
) -> None:
    server = f"unix:{folder}/s"
    heard, released = threading.Event(), threading.Event()
    operator = Operator(lambda _request, _context: replying(b"yes", b"", 2, confirm=True))

    def hear_and_say_nothing() -> None:
        heard.set()
        released.wait(60)

    operator.on_confirm = hear_and_say_nothing
    with serving(operator, server), start_hook("--server", server) as hook:
        assert hook.stdin
        hook.stdin.close()
        hook.stdin = None
        assert heard.wait(60)
        if interrupted:
            hook.send_signal(signal.SIGINT)
        assert hook.communicate(timeout=60) == (b"yes", b"")
        released.set()
    assert hook.returncode == 2


# When nobody takes the request.


def test_a_hook_without_a_server_leaves_the_agent_alone(folder: Path) -> None:
    hook = run_hook("--server", f"unix:{folder}/nobody")
    assert_passed(hook, b"No such file", b"open the desk: crabhook")


def test_a_socket_nobody_listens_on_leaves_the_agent_alone(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(f"{folder}/s")
    assert_passed(run_hook("--server", f"unix:{folder}/s"), b"Connection refused")


def test_an_address_no_socket_can_have_leaves_the_agent_alone() -> None:
    assert_passed(run_hook("--server", "unix:/" + "x" * 200), b"too long")
    assert_passed(run_hook("--server", "unix:"))


def test_too_large_an_input_is_not_sent(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with (
        serving(operator, f"unix:{folder}/s"),
        start_hook("--server", f"unix:{folder}/s") as hook,
    ):
        assert hook.stdin
        try:
            hook.stdin.write(bytes(LARGEST_PAYLOAD + 1))
            hook.stdin.close()
        except BrokenPipeError:
            pass
        hook.stdin = None
        stdout, stderr = hook.communicate(timeout=60)
    assert (stdout, hook.returncode) == (b"", 0)
    assert b"larger than 32 MiB" in stderr
    assert not operator.requests


def test_an_input_that_cannot_be_read_is_no_input(folder: Path) -> None:
    for_writing = os.open(folder / "input", os.O_WRONLY | os.O_CREAT)
    with start_hook(stdin=for_writing) as hook:
        os.close(for_writing)
        _, stderr = hook.communicate(timeout=60)
    assert hook.returncode == 0
    assert b"crabhook cannot pass on the hook's input (Bad file descriptor)" in stderr


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("UNAUTHENTICATED", b"--token-file or CRABHOOK_TOKEN: a revoked machine"),
        ("RESOURCE_EXHAUSTED", b"answer what waits"),
        ("INVALID_ARGUMENT", b"see crabhook --help"),
        ("UNAVAILABLE", b"open the desk: crabhook"),
        ("INTERNAL", b"look at the desk"),
        ("DATA_LOSS", b"look at the desk"),
    ],
)
def test_a_refusal_leaves_the_agent_alone_and_says_what_to_do(
    folder: Path, name: str, remedy: bytes
) -> None:
    def refuse(_request: pb.PermissionRequest, context: grpc.ServicerContext) -> None:
        context.abort(getattr(grpc.StatusCode, name), "wörds: 100%\n\x1b[31m")

    with serving(Operator(refuse), f"unix:{folder}/s"):  # type: ignore[arg-type]
        hook = run_hook("--server", f"unix:{folder}/s")
    assert_passed(hook, "/s: wörds: 100%".encode(), remedy)
    assert b"\x1b" not in hook.stderr
    assert name.encode() not in hook.stderr


def test_a_server_that_is_no_crabhook_leaves_the_agent_alone(folder: Path) -> None:
    server = grpc.server(__import__("concurrent.futures").futures.ThreadPoolExecutor(1))
    server.add_insecure_port(f"unix:{folder}/s")
    server.start()
    try:
        hook = run_hook("--server", f"unix:{folder}/s")
    finally:
        server.stop(0).wait(60)
    assert_passed(hook, b"/s: the server knows no such request)", b"a crabhook of this version")


def test_a_servers_fault_before_acceptance_leaves_the_agent_alone(folder: Path) -> None:
    def crash(_request: pb.PermissionRequest, _context: grpc.ServicerContext) -> None:
        raise RuntimeError("a fault of the server's")

    with serving(Operator(crash), f"unix:{folder}/s"):  # type: ignore[arg-type]
        hook = run_hook("--server", f"unix:{folder}/s")
    assert_passed(hook, b"/s: the server has a fault of its own)")


def test_every_status_of_grpc_is_told_in_words(folder: Path) -> None:
    def refuse(request: pb.PermissionRequest, context: grpc.ServicerContext) -> None:
        context.abort(codes[request.payload.decode()], "")

    codes = {code.name: code for code in grpc.StatusCode if code is not grpc.StatusCode.OK}
    with serving(Operator(refuse), f"unix:{folder}/s"):  # type: ignore[arg-type]
        for name, code in codes.items():
            with pytest.raises(Unanswered) as unanswered:
                ask(options_for(folder / "s"), name.encode())
            assert unanswered.value.kind == "unreachable"
            assert unanswered.value.status == code.value[0]
            phrase, _ = fallback._STATUSES[name]
            assert str(unanswered.value) == f"unix:{folder}/s: {phrase}"


def say(text: bytes) -> "object":
    def script(line: socket.socket) -> None:
        line.sendall(text)
        while line.recv(1 << 16):
            pass

    return script


def hang_up(line: socket.socket) -> None:
    line.recv(1)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (say(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak HTTP/2"),
        (say(b"220 ready\r\n"), "does not speak HTTP/2"),
        (hang_up, "closed|reset|Broken"),
        (say(b""), "no answer in time"),
        (say(frame(SETTINGS)), "no answer in time"),
        (say(frame(SETTINGS)[:5]), "no answer in time"),
        (say(frame(SETTINGS) + head((":status", "200"))), "not gRPC"),
        (say(frame(SETTINGS) + b"\xff" * 9), "a frame of"),
    ],
)
def test_a_peer_that_is_no_operator_is_given_up_in_time(
    folder: Path, script: "object", said: str
) -> None:
    with listening(folder / "s", script):  # type: ignore[arg-type]
        with pytest.raises(Unanswered, match=said) as unanswered:
            ask(options_for(folder / "s", wait=0.3))
        assert unanswered.value.kind == "unreachable"


def test_a_silent_peer_is_given_up_long_before_the_operators_time_is_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_GREETING_TIME", 0.2)
    with (
        listening(folder / "s", say(b"")),  # type: ignore[arg-type]
        pytest.raises(Unanswered, match="no answer in time"),
    ):
        ask(options_for(folder / "s", wait=1000))


def test_a_server_that_greets_may_take_its_time_to_accept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(_request: pb.PermissionRequest, _context: grpc.ServicerContext) -> object:
        time.sleep(0.5)
        return replying(b"late but there")

    monkeypatch.setattr(client, "_GREETING_TIME", 0.2)
    with serving(Operator(answer), f"unix:{folder}/s"):  # type: ignore[arg-type]
        assert ask(options_for(folder / "s")).stdout == b"late but there"


def test_an_early_no_is_heard_though_the_payload_was_never_read(folder: Path) -> None:
    def refuse(line: socket.socket) -> None:
        line.recv(24)
        refusal = head(*ACCEPTED, ("grpc-status", "8"), ("grpc-message", "full"), ended=True)
        line.sendall(frame(SETTINGS) + refusal)

    with (
        listening(folder / "s", refuse),
        pytest.raises(Unanswered, match="full") as unanswered,
    ):
        ask(options_for(folder / "s"), bytes(4 << 20))
    assert unanswered.value.status == 8


# The default address.


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_others_can_write_to_is_not_trusted(folder: Path, mode: int) -> None:
    operator = Operator(lambda _request, _context: replying(b"an impostor's yes"))
    (folder / "crabhook").mkdir()
    (folder / "crabhook").chmod(mode)
    with serving(operator, f"unix:{folder}/crabhook/crabhook.sock"):
        hook = run_hook(env=environment(XDG_RUNTIME_DIR=str(folder)))
    assert_passed(hook, b"its folder is not one that this user alone can write to")
    assert not operator.requests


@pytest.mark.parametrize("runtime", ["", "/run/elsewhere"])
def test_the_default_folder_in_tmp_is_looked_at_whatever_the_environment_says(runtime: str) -> None:
    """An installed hook names it; what XDG_RUNTIME_DIR says by then is another matter."""
    if refusal := isolation.why_not():
        pytest.skip(refusal)
    # The checkout may lie below /tmp itself, so it is bound to its place again.
    script = (
        'mount --bind "$0" /mnt && mount -t tmpfs tmpfs /tmp && '
        'mkdir -p "$0" && mount --bind /mnt "$0" && '
        'cd /tmp && mkdir -m 777 "crabhook-$(id -u)" && '
        'exec "$@" --server "unix:/tmp/crabhook-$(id -u)/crabhook.sock"'
    )
    ran = subprocess.run(
        isolation.isolated(["sh", "-c", script, str(Path(__file__).parents[3]), *INSTALLED]),
        input=PAYLOAD,
        capture_output=True,
        env=environment(XDG_RUNTIME_DIR=runtime),
        timeout=60,
        check=False,
    )
    assert_passed(ran, b"its folder is not one that this user alone can write to")


def test_a_link_to_a_folder_is_not_trusted(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"an impostor's yes"))
    (folder / "elsewhere").mkdir(mode=0o700)
    (folder / "crabhook").symlink_to(folder / "elsewhere")
    with serving(operator, f"unix:{folder}/elsewhere/crabhook.sock"):
        assert_passed(run_hook(env=environment(XDG_RUNTIME_DIR=str(folder))), b"its folder")
    assert not operator.requests


def test_another_users_folder_is_not_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "crabhook").mkdir(mode=0o700)
    monkeypatch.setitem(posix.environ, b"XDG_RUNTIME_DIR", bytes(folder))
    monkeypatch.setattr(posix, "getuid", lambda: os.getuid() + 1)
    with pytest.raises(Unanswered, match="its folder"):
        ask(Options())


@pytest.mark.parametrize("runtime", [None, b""])
def test_without_a_runtime_folder_the_socket_is_in_one_of_this_users(
    monkeypatch: pytest.MonkeyPatch, runtime: bytes | None
) -> None:
    monkeypatch.delitem(posix.environ, b"XDG_RUNTIME_DIR", raising=False)
    if runtime is not None:
        monkeypatch.setitem(posix.environ, b"XDG_RUNTIME_DIR", runtime)
    assert Options().server == f"unix:/tmp/crabhook-{os.getuid()}/crabhook.sock"


def test_an_address_given_expressly_is_trusted(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    with serving(operator, f"unix:{folder}/open/s"):
        assert run_hook("--server", f"unix:{folder}/open/s").stdout == b"yes"


# How it ends.


def test_an_agent_that_does_not_listen_ends_the_hook_quietly(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes" * 100_000))
    reader, writer = os.pipe()
    os.close(reader)
    server = f"unix:{folder}/s"
    with serving(operator, server), start_hook("--server", server, stdout=writer) as hook:
        os.close(writer)
        _, stderr = hook.communicate(PAYLOAD, timeout=60)
    assert (hook.returncode, stderr) == (1, b"")


def test_a_block_still_blocks_when_its_words_cannot_be_printed(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"no", b"because", 2))
    with serving(operator, f"unix:{folder}/s"):
        door = ("sh", "-c", 'exec "$@" >&-', "sh", *INSTALLED)
        hook = run_hook("--server", f"unix:{folder}/s", door=door)
    assert (hook.returncode, hook.stderr) == (2, b"because")


def test_a_pipe_that_takes_little_at_a_time_gets_everything(folder: Path) -> None:
    text = os.urandom(1 << 20)
    operator = Operator(lambda _request, _context: replying(text))
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    server = f"unix:{folder}/s"
    with (
        serving(operator, server),
        os.fdopen(reader, "rb") as stdout,
        start_hook("--server", server, stdout=writer) as hook,
    ):
        os.close(writer)
        assert hook.stdin
        hook.stdin.close()
        assert stdout.read() == text
        assert hook.wait(60) == 0


def test_nothing_of_a_reply_is_printed_before_the_whole_of_it_is_there(folder: Path) -> None:
    held = threading.Event()

    def stop_halfway(line: socket.socket) -> None:
        line.recv(1 << 16)
        half = replying(b"{" + b"x" * 100).SerializeToString()
        line.sendall(frame(SETTINGS) + head(*ACCEPTED))
        line.sendall(frame(0, 0, 1, b"\0" + (len(half) + 50).to_bytes(4, "big") + half))
        held.wait(60)

    with listening(folder / "s", stop_halfway):
        options = ("--server", f"unix:{folder}/s", "--reconnect=0", "--wait=0.5")
        with start_hook(*options) as hook:
            stdout, stderr = hook.communicate(PAYLOAD, timeout=60)
        held.set()
    assert (stdout, hook.returncode) == (b"", 0)
    assert b"nobody decided in time" in stderr


@pytest.mark.parametrize("door", [INSTALLED, CONSOLE], ids=["installed", "console"])
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
@pytest.mark.parametrize("stage", ["reading", "calling", "waiting", "finding it again"])
def test_a_signal_ends_the_hook_at_any_stage_with_nothing_said(
    folder: Path, door: tuple[str, ...], number: signal.Signals, code: int, stage: str
) -> None:
    gone = threading.Event()
    ready = threading.Event()

    def greet(line: socket.socket) -> None:
        line.recv(1 << 16)
        if stage != "calling":
            line.sendall(frame(SETTINGS) + head(*ACCEPTED))
        if stage == "finding it again":
            (folder / "s").unlink()
        ready.set()
        with contextlib.suppress(ConnectionError):
            while stage != "finding it again" and line.recv(1 << 16):
                pass
        gone.set()

    with start_hook("--server", f"unix:{folder}/s", door=door) as hook:
        assert hook.stdin
        hook.stdin.write(bytes(200_000))  # more than a pipe holds: it is reading
        if stage == "reading":
            hook.send_signal(number)
        else:
            with listening(folder / "s", greet):
                hook.stdin.close()
                hook.stdin = None
                assert ready.wait(60)
                if stage == "finding it again":
                    time.sleep(0.1)
                hook.send_signal(number)
                assert gone.wait(60)
        stdout, stderr = hook.communicate(timeout=60)
    assert (hook.returncode, stdout, stderr) == (code, b"", b"")


def test_a_fault_of_our_own_does_not_undo_a_wish_to_deny(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise MemoryError("no memory")

    class Ended(Exception):  # noqa: N818 - what the process does, not a mistake
        pass

    def end(code: int) -> None:
        raise Ended(code)

    reader, writer = os.pipe()
    os.write(writer, PAYLOAD)
    os.close(writer)
    keyboard = os.dup(0)
    os.dup2(reader, 0)
    monkeypatch.setattr(sys, "argv", ["crabhook", "--when-lost", "deny"])
    monkeypatch.setattr(posix, "uname", fail)
    monkeypatch.setattr(posix, "_exit", end)
    try:
        with pytest.raises(Ended, match="0"):
            client.main()
    finally:
        os.dup2(keyboard, 0)
        os.close(keyboard)
        os.close(reader)
    said = capfdbinary.readouterr()
    assert b'"permissionDecision":"deny"' in said.out
    assert b"MemoryError" in said.err
