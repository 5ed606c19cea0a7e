"""A list of servers: who is asked, in which order, for how long, and with what."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import grpc
import pytest

from crabhook.hook import Options, Unanswered, failover
from crabhook.hook.failover import listed
from crabhook.v1 import permission_pb2 as pb
from tests.unit.hook.peers import Answer, Operator, ask, listening, replying, run_hook, serving
from tests.unit.hook.test_client_waiting import ACCEPTANCE, Asked, server_process

PINGED = (("grpc.http2.min_ping_interval_without_data_ms", 10),)


def standby(leader: str = "") -> Answer:
    """Refuse as a server that does not lead, saying which one does."""

    def refuse(_: pb.PermissionRequest, context: grpc.ServicerContext) -> NoReturn:
        context.set_trailing_metadata((("crabhook-leader", leader),) if leader else ())
        context.abort(grpc.StatusCode.UNAVAILABLE, "this server stands by")
        raise AssertionError

    return refuse


def refusing(code: grpc.StatusCode, words: str = "not here") -> Answer:
    def refuse(_: pb.PermissionRequest, context: grpc.ServicerContext) -> NoReturn:
        context.abort(code, words)
        raise AssertionError

    return refuse


def yes(_: pb.PermissionRequest, __: grpc.ServicerContext) -> pb.PermissionResponse:
    return replying(b"yes", confirm=True)


def options_of(*addresses: str, wait: float = 30.0, reconnect: float = 20.0) -> Options:
    options = Options()
    options.server, options.token = ",".join(addresses), "the-token"
    options.wait, options.reconnect = wait, reconnect
    return options


@contextlib.contextmanager
def each(*answers: Answer) -> Iterator[tuple[list[Operator], list[str]]]:
    """Serve a server for each answer, on ports of the loopback."""
    with ExitStack() as stack:
        operators = [Operator(answer) for answer in answers]
        ports = [
            stack.enter_context(serving(one, "127.0.0.1:0", options=PINGED))[1] for one in operators
        ]
        yield operators, [f"127.0.0.1:{port}" for port in ports]


@contextlib.contextmanager
def nobody() -> Iterator[str]:
    """An address of the loopback where a connection is refused."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{line.getsockname()[1]}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a:7443,b:7443", ["a:7443", "b:7443"]),
        ("a:1, b:2,", ["a:1", "b:2"]),
        ("a:1,a:1", ["a:1"]),
        (",", [","]),
        ("unix:/run/x.sock,b:7443", ["unix:/run/x.sock", "b:7443"]),
        ("unix:/tmp/a,b/x.sock", ["unix:/tmp/a,b/x.sock"]),
    ],
)
def test_a_list_is_cut_at_its_commas_but_a_path_is_not(text: str, parts: list[str]) -> None:
    assert listed(text) == parts


def test_a_socket_whose_path_holds_a_comma_is_asked_as_before(folder: Path) -> None:
    (folder / "a,b").mkdir()
    operator = Operator(yes)
    with serving(operator, f"unix:{folder}/a,b/s"):
        assert ask(options_of(f"unix:{folder}/a,b/s")).stdout == b"yes"


def test_where_one_server_refuses_the_next_is_asked_under_the_same_ticket_and_token() -> None:
    with each(standby(), yes) as ((first, second), addresses):
        assert ask(options_of(*addresses)).stdout == b"yes"
    (refused,), (answered,) = first.requests, second.requests
    assert (refused.request_id, refused.secret) == (answered.request_id, answered.secret)
    assert second.metadata[0]["authorization"] == "Bearer the-token"


def test_a_server_that_is_not_there_is_passed_over() -> None:
    with nobody() as gone, each(yes) as ((operator,), (address,)):
        assert ask(options_of(gone, address)).stdout == b"yes"
    assert len(operator.requests) == 1


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED,
    ],
)
def test_what_another_server_may_answer_is_asked_there(code: grpc.StatusCode) -> None:
    with each(refusing(code), yes) as (_, addresses):
        assert ask(options_of(*addresses)).stdout == b"yes"


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.PERMISSION_DENIED,
    ],
)
def test_what_the_leader_refuses_is_refused(code: grpc.StatusCode) -> None:
    with (
        each(refusing(code), yes) as ((_, second), addresses),
        pytest.raises(Unanswered, match="not here") as unanswered,
    ):
        ask(options_of(*addresses))
    assert (unanswered.value.kind, second.requests) == ("unreachable", [])


def test_a_server_of_a_list_that_says_nothing_is_put_in_words() -> None:
    with (
        each(refusing(grpc.StatusCode.PERMISSION_DENIED, "")) as (_, (address,)),
        pytest.raises(Unanswered, match=f"{address}: the server refuses this request"),
    ):
        ask(options_of("127.0.0.1:1", address))


def test_where_a_refusal_says_the_leader_it_is_asked_next() -> None:
    with each(yes, yes, yes) as (operators, addresses):
        operators[0].answer = standby(addresses[2])
        assert ask(options_of(*addresses)).stdout == b"yes"
    assert [len(operator.requests) for operator in operators] == [1, 0, 1]


def test_an_address_that_is_not_in_the_list_is_never_asked() -> None:
    with each(yes) as ((stranger,), (elsewhere,)), each(standby(elsewhere), yes) as (_, addresses):
        assert ask(options_of(*addresses)).stdout == b"yes"
    assert stranger.callers == []


def test_where_nobody_is_there_the_agent_does_not_wait() -> None:
    begun = time.monotonic()
    with nobody() as one, nobody() as other, pytest.raises(Unanswered) as unanswered:
        ask(options_of(one, other))
    assert unanswered.value.kind == "unreachable"
    assert one in str(unanswered.value)
    assert other in str(unanswered.value)
    assert time.monotonic() - begun < 5


def test_where_servers_only_stand_by_a_leader_is_awaited_for_a_while() -> None:
    with nobody() as gone, each(standby()) as ((operator,), (address,)):
        asked = Asked(options_of(gone, address))
        while len(operator.requests) < 2:
            time.sleep(0.01)
        operator.answer = yes
        asked.end()
    assert asked.reply is not None
    assert asked.reply.stdout == b"yes"


def test_where_servers_only_stand_by_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failover, "_NEW_PATIENCE", 0.4)
    with (
        each(standby(), standby()) as (operators, addresses),
        pytest.raises(Unanswered, match="stands by") as unanswered,
    ):
        ask(options_of(*addresses))
    assert (unanswered.value.kind, unanswered.value.status) == ("unreachable", 14)
    assert all(len(operator.requests) > 1 for operator in operators)


def test_where_every_server_stands_by_no_longer_than_a_failover_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failover, "_FAILOVER", 0.6)
    begun = time.monotonic()
    with each(standby(), refusing(grpc.StatusCode.FAILED_PRECONDITION)) as (operators, addresses):
        with pytest.raises(Unanswered, match="stands by") as unanswered:
            ask(options_of(*addresses))
        assert 0.6 <= time.monotonic() - begun < 4
        assert (unanswered.value.kind, len(operators[0].requests) > 2) == ("unreachable", True)


def test_where_one_is_silent_a_leader_is_awaited_longer_than_a_failover(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failover, "_FAILOVER", 0.1)
    with nobody() as gone, each(standby()) as ((operator,), (address,)):
        asked = Asked(options_of(gone, address))
        time.sleep(1.5)
        operator.answer = yes
        asked.end()
    assert asked.reply is not None
    assert asked.reply.stdout == b"yes"


@pytest.mark.process
def test_a_leader_that_is_killed_is_followed_by_the_next_with_the_same_ticket(folder: Path) -> None:
    with server_process(folder / "a", "hold") as dead:
        asked = Asked(options_of(f"unix:{folder}/a", f"unix:{folder}/b", reconnect=30))
        assert dead.stdout
        ticket = dead.stdout.readline().split()
        with server_process(folder / "b", "answer") as next_one:
            dead.kill()
            assert next_one.stdout
            assert next_one.stdout.readline().split() == ticket
            asked.end()
    assert asked.reply is not None
    assert asked.reply.stdout == b"decided"


def test_a_leader_that_falls_silent_is_left_for_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failover, "_PING_EVERY", 0.05)
    monkeypatch.setattr(failover, "_SILENCE", 0.4)
    asked: list[bytes] = []

    def accept_and_say_nothing(line: socket.socket) -> None:
        asked.append(line.recv(1 << 16))
        line.sendall(ACCEPTANCE)
        while line.recv(1 << 16):
            pass

    operator = Operator(yes)
    with listening(folder / "a", accept_and_say_nothing), serving(operator, f"unix:{folder}/b"):
        reply = ask(options_of(f"unix:{folder}/a", f"unix:{folder}/b"))
    assert reply.stdout == b"yes"
    (request,) = operator.requests
    assert request.request_id.encode() in asked[0]


def test_a_leader_that_fell_silent_is_not_left_before_another_has_the_request(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failover, "_PING_EVERY", 0.1)
    monkeypatch.setattr(failover, "_SILENCE", 0.6)
    told: list[str] = []

    def stop_for_a_while(line: socket.socket) -> None:
        line.recv(1 << 16)
        line.sendall(ACCEPTANCE)
        while line.recv(1 << 16):
            pass
        told.append("left")

    def slowly(_: pb.PermissionRequest, __: grpc.ServicerContext) -> pb.PermissionResponse:
        time.sleep(0.3)  # in which the first would hear that it was left
        told.append("taken by the next")
        return replying(b"yes", confirm=True)

    next_one = serving(Operator(slowly), f"unix:{folder}/b", options=PINGED)
    with listening(folder / "a", stop_for_a_while), next_one:
        assert ask(options_of(f"unix:{folder}/a", f"unix:{folder}/b")).stdout == b"yes"
    assert told == ["taken by the next", "left"]


def test_a_leader_that_lives_is_waited_for_however_long_it_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failover, "_PING_EVERY", 0.1)
    pings = threading.Semaphore(0)
    ping = failover._PingedCall.ping

    def counted(call: failover._PingedCall) -> None:
        ping(call)
        pings.release()

    monkeypatch.setattr(failover._PingedCall, "ping", counted)

    def hold(_: pb.PermissionRequest, context: grpc.ServicerContext) -> pb.PermissionResponse:
        operators[0].hold(context)
        return replying(b"at last")

    with each(hold, yes) as (operators, addresses):
        asked = Asked(options_of(*addresses))
        assert operators[0].accepted.acquire(timeout=60)
        for _ in range(8):  # more than a server takes that was not told to
            assert pings.acquire(timeout=60)
        operators[0].released.set()
        asked.end()
    assert asked.reply is not None
    assert asked.reply.stdout == b"at last"
    assert [len(operator.requests) for operator in operators] == [1, 0]


@pytest.mark.process
def test_the_receipt_goes_to_the_server_that_answered() -> None:
    with each(standby(), yes) as ((first, second), addresses):
        hook = run_hook("--server", ",".join(addresses))
    assert (hook.stdout, hook.stderr, hook.returncode) == (b"yes", b"", 0)
    assert (len(first.confirmed), len(second.confirmed)) == (0, 1)


@pytest.mark.process
def test_a_wish_to_deny_is_kept_where_no_server_of_the_list_answers() -> None:
    with nobody() as one, nobody() as other:
        hook = run_hook("--server", f"{one},{other}", "--when-unreachable=deny")
    assert b'"permissionDecision":"deny"' in hook.stdout


@pytest.mark.process
def test_a_hook_that_knows_a_standby_alone_is_told_to_name_all_servers() -> None:
    with each(standby()) as (_, (address,)):
        hook = run_hook("--server", address)
    assert b"stands by" in hook.stderr
    assert b"name all servers of that record in --server" in hook.stderr


@pytest.mark.process
def test_a_hook_whose_whole_list_answers_and_none_leads_is_sent_to_the_database() -> None:
    with each(standby(), refusing(grpc.StatusCode.UNAVAILABLE)) as (_, addresses):
        hook = run_hook("--server", ",".join(addresses))
    assert b"all of them answer, and none leads" in hook.stderr
    assert b"look at those servers and at their database" in hook.stderr
    assert b"name all servers" not in hook.stderr


@pytest.mark.process
def test_a_hook_awaits_no_other_leader_where_no_server_can_write_the_record() -> None:
    unrecorded = refusing(grpc.StatusCode.FAILED_PRECONDITION)
    with each(unrecorded, unrecorded) as (operators, addresses):
        hook = run_hook("--server", ",".join(addresses))
        assert [len(operator.requests) for operator in operators] == [1, 1]
    assert b"all of them answer, and none leads" in hook.stderr
    with each(unrecorded, standby()) as (operators, addresses):  # which may lead soon
        run_hook("--server", ",".join(addresses))
        assert all(len(operator.requests) > 1 for operator in operators)


@pytest.mark.process
def test_a_hook_with_a_silent_server_beside_a_standby_is_not_told_that_all_answer() -> None:
    with each(standby()) as (_, (address,)), nobody() as other:
        hook = run_hook("--server", f"{address},{other}")
    assert b"all of them answer" not in hook.stderr
    assert b"name all servers" not in hook.stderr
