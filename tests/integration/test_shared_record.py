"""A server whose record lies in PostgreSQL: another begins where it ended, and it never speaks after."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from crabhook.server.grpc.permission import ASK_INSTEAD
from crabhook.v1.permission_pb2 import PermissionRequest
from crabhook.v1.permission_pb2_grpc import PermissionServiceStub
from tests.support.cluster import Cluster, running
from tests.support.examples import share
from tests.support.service import CRABHOOK, Manager, Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RULES = '[[rule]]\nverdict = "allow"\nmatch = "Bash(ls *)"\n'
ALLOW = {"behavior": "allow"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running() as made:
        yield made


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.emptied()


def served(
    url: str, *options: str, folder: Path | None = None, waits: bool = True, **environment: str
) -> Service:
    """A server that has its record there, and says so in its settings for all commands."""
    service = Service(*options, rules=RULES, folder=folder, waits=waits, **environment)
    settings = service.folder / ".config" / "crabhook" / "settings.toml"
    settings.write_text(f"[record]\nstore = {json.dumps(url)}\n", encoding="utf-8")
    return service


def asks(
    service: Service,
    command: str,
    number: int = 1,
    server: str = "",
    *,
    event: str = "PermissionRequest",
    options: tuple[str, ...] = (),
) -> subprocess.Popen[str]:
    """A hook of an agent that wants to run this; it asks the service, or a `server` of others."""
    told = {"hook_event_name": event, "session_id": "s1", "cwd": "/tmp"}
    told |= {"tool_name": "Bash", "tool_input": {"command": command}}  # type: ignore[dict-item]
    told |= {"tool_use_id": f"t{number}", "permission_mode": "default", "transcript_path": "/x"}
    hook = subprocess.Popen(
        [CRABHOOK, "--server", server or service.address, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=service.environment,
    )
    assert hook.stdin is not None
    hook.stdin.write(json.dumps(told))
    hook.stdin.close()
    hook.stdin = None
    return hook


def said(hook: subprocess.Popen[str]) -> object:
    """What the hook tells its agent: the decision, or None."""
    out, _ = hook.communicate(timeout=60)
    return json.loads(out)["hookSpecificOutput"]["decision"] if out else None


def crabhook(service: Service, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CRABHOOK, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=service.environment,
    )


@pytest.mark.thorough
def test_hooks_and_every_command_about_the_record_work_with_one_in_postgresql(url: str) -> None:
    with served(url, "--headless") as service:
        assert said(asks(service, "ls -l")) == ALLOW
        assert said(asks(service, "make", 2)) is None
        assert "ls -l" in service.audit()
        assert ": as they were written" in service.audit("verify")
        assert "2 calls: 2 unchanged" in service.audit("replay")
        assert crabhook(service, "rules", "suggest").returncode == 0
        doctor = crabhook(service, "doctor").stdout
        assert "the record in PostgreSQL answers" in doctor
        assert "records are as they were written" in doctor
        assert not (service.folder / ".local/state/crabhook/record.db").exists()
        assert service.end() == 0
        assert service.audit("--store", url) == service.audit()


def status(service: Service, *words: str) -> str:
    return crabhook(service, "status", *words, "--server", service.address).stdout


@pytest.mark.thorough
def test_what_waited_with_a_leader_that_was_killed_is_put_to_the_standby_behind_its_open_port(
    cluster: Cluster, url: str
) -> None:
    with served(url, "--no-desk", "--alone", "60") as first:
        waits = asks(first, "make")
        until(lambda: cluster.sql("SELECT 1 FROM crabhook.waiting"))
        with served(url, "--headless", "--otherwise", "deny", waits=False) as second:
            stands_by(second)
            assert waits.poll() is None
            first.process.kill()
            begun = time.monotonic()
            second.listens()
            assert time.monotonic() - begun < 5
            assert any("leads now" in line and "process " in line for line in second.said)
            (first.folder / "t").symlink_to(second.folder / "s")  # as a virtual address moves
            (first.folder / "t").replace(first.folder / "s")
            decision = said(waits)
            assert isinstance(decision, dict)
            assert decision["behavior"] == "deny"
            assert "as they were written" in second.audit("verify")
            assert "taken-up" in second.audit("--all-kinds")


def test_a_standby_turns_hooks_away_at_once_says_who_leads_and_that_it_does_not_serve(
    url: str,
) -> None:
    place = f"127.0.0.1:{free_port()}"
    with (
        served(url, "--headless", "--listen", place) as leader,
        served(url, "--headless", waits=False) as standby,
    ):
        stands_by(standby)
        words = f"process {leader.process.pid}, at {place}. This server stands by"
        assert any(words in line for line in standby.said)
        until(lambda: f", at {place} leads" in status(standby))
        begun = time.monotonic()
        hook = asks(standby, "ls -l")
        out, err = hook.communicate(timeout=60)
        assert (out, time.monotonic() - begun < 5) == ("", True)
        assert "another server leads" in err
        with grpc.insecure_channel(standby.address) as channel:
            refused = permission_refused(channel)
            assert refused.code() is grpc.StatusCode.UNAVAILABLE
            assert dict(refused.trailing_metadata())[ASK_INSTEAD] == place
            assert health(channel) == HealthCheckResponse.NOT_SERVING
            with grpc.insecure_channel(leader.address) as other:
                assert health(other) == HealthCheckResponse.SERVING
            leader.process.kill()
            standby.listens()
            assert health(channel) == HealthCheckResponse.SERVING
        assert said(asks(standby, "ls -l")) == ALLOW
        assert standby.end() == 0


@pytest.mark.thorough
def test_a_standby_says_at_its_start_that_an_older_backup_was_put_back(
    cluster: Cluster, url: str
) -> None:
    with served(url, "--headless") as first:
        assert said(asks(first, "ls -a")) == ALLOW
        assert first.end() == 0
        (kept,) = first.folder.rglob("record-*.head")
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "seq": 1000}))
        with (
            served(url, "--headless"),
            served(url, "--headless", folder=first.folder, waits=False) as standby,
        ):
            standby.wait_for(lambda line: "cannot lead" in line and f"move {kept} away" in line)
            until(lambda: "an older backup was put back" in status(standby))
            kept.unlink()
            until(lambda: "an older backup" not in status(standby))


def test_a_deposed_leader_gives_nothing_that_is_not_on_record_and_stands_by(
    cluster: Cluster, url: str
) -> None:
    with served(url, "--headless") as first:
        assert said(asks(first, "ls -a")) == ALLOW
        first.process.send_signal(signal.SIGSTOP)  # it believes that it is the writer still
        cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        with served(url, "--headless") as second:
            late = asks(first, "ls -l", 2)
            time.sleep(0.2)
            first.process.send_signal(signal.SIGCONT)
            stands_by(first)
            assert any("another crabhook" in line for line in first.said), "\n".join(first.said)
            assert said(late) is None
            assert "ls -l" not in first.audit("--all-kinds")
            assert "as they were written" in first.audit("verify")
            second.process.kill()
            first.listens()  # and leads once more, in the same process
            assert said(asks(first, "ls -l", 3)) == ALLOW
            assert first.end() == 0
            assert "as they were written" in first.audit("verify")


def test_a_server_waits_for_a_database_that_does_not_answer_yet_and_says_so(
    cluster: Cluster, url: str
) -> None:
    cluster.stop()
    try:
        name = f"@crabhook-{os.getpid()}"
        with (
            Manager(name) as manager,
            served(url, "--headless", waits=False, NOTIFY_SOCKET=name) as service,
        ):
            heard = manager.hears()  # it has not begun, and needs longer
            assert "does not answer" in heard["STATUS"]
            assert int(heard["EXTEND_TIMEOUT_USEC"]) > 0
            assert "READY" not in heard
            service.wait_for(lambda line: "does not answer" in line)
            assert said(asks(service, "ls")) is None  # the agent has its fallback at once
            cluster.start()
            service.listens()
            assert manager.hears_until("READY")["READY"] == "1"
            assert said(asks(service, "ls -l")) == ALLOW
    finally:
        cluster.start()


@pytest.mark.parametrize("number", share([signal.SIGTERM, signal.SIGINT, signal.SIGUSR1], 0))
def test_a_server_that_waits_for_its_turn_ends_in_good_order(
    cluster: Cluster, number: signal.Signals
) -> None:
    with served("postgresql://crabhook@/x?host=/nowhere", "--headless", waits=False) as service:
        service.wait_for(lambda line: "waiting until it can be written" in line)
        assert service.end(number) == 0
        assert len(service.said) == 1, service.said


@pytest.mark.thorough
def test_while_the_database_is_away_hooks_are_turned_away_and_nothing_is_lost(
    cluster: Cluster, url: str
) -> None:
    with served(url, "--headless") as service:
        assert said(asks(service, "ls -a")) == ALLOW
        cluster.stop()
        try:
            service.wait_for(lambda line: "does not answer" in line or "is lost" in line)
            begun = time.monotonic()
            assert said(asks(service, "ls -b", 2)) is None
            assert time.monotonic() - begun < 5
            until(lambda: "trouble: NOT RECORDED" in status(service))
            assert "NOT RECORDED" in json.loads(status(service, "--json"))["troubles"][0]
        finally:
            cluster.start()
        service.wait_for(lambda line: "the record is written again" in line)
        assert said(asks(service, "ls -c", 3)) == ALLOW
        until(lambda: not json.loads(status(service, "--json"))["troubles"])
        assert "ls -b" not in service.audit("--all-kinds")
        assert ": as they were written" in service.audit("verify")
        assert sum("the record is written again" in line for line in service.said) == 1


def test_to_decide_without_a_record_is_no_setting_of_a_shared_one(url: str) -> None:
    with served(url, "--headless") as service:
        settings = service.folder / ".config" / "crabhook" / "settings.toml"
        settings.write_text(settings.read_text() + 'on_trouble = "decide"\n')
        refused = crabhook(service, "serve", "--headless")
        assert refused.returncode == 2
        assert "nothing is given that is not on record" in refused.stderr


def test_no_password_is_in_the_process_list_or_the_log(url: str) -> None:
    with served(url, "--headless") as service:
        refused = crabhook(service, "serve", "--headless", "--store", "postgresql://a:pw@h/d")
        assert refused.returncode == 2
        assert "~/.pgpass" in refused.stderr
        assert "pw@" not in refused.stderr


@pytest.mark.thorough
def test_a_standbys_http_door_says_what_it_is_and_takes_nothing(url: str) -> None:
    place = f"127.0.0.1:{free_port()}"
    with (
        served(url, "--headless") as leader,
        served(url, "--headless", "--http", place, waits=False) as standby,
    ):
        stands_by(standby)
        token = (standby.folder / ".local/state/crabhook/token").read_text().strip()
        assert answered(place, "/healthz") == (503, "standby\n")
        page = answered(place, "/metrics", token)[1]
        assert 'crabhook_part{part="standby"} 1.0' in page
        assert "crabhook_serving 0.0" in page
        leader.process.kill()
        standby.listens()
        assert answered(place, "/healthz")[0] == 200
        assert said(asks(standby, "ls -l")) == ALLOW
        page = answered(place, "/metrics", token)[1]
        assert 'crabhook_part{part="leader"} 1.0' in page
        assert "crabhook_epoch 2.0" in page
        assert "crabhook_commit_seconds 0.0\n" not in page


def answered(place: str, path: str, token: str = "") -> tuple[int, str]:
    line = HTTPConnection(place, timeout=60)
    try:
        line.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = line.getresponse()
        return response.status, response.read().decode()
    finally:
        line.close()


@pytest.mark.parametrize("number", share([signal.SIGTERM, signal.SIGUSR1], 0))
def test_a_standby_ends_in_good_order(url: str, number: signal.Signals) -> None:
    with served(url, "--headless"), served(url, "--headless", waits=False) as standby:
        stands_by(standby)
        assert standby.end(number) == 0


def stands_by(service: Service) -> None:
    service.wait_for(lambda line: "standing by" in line)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as line:
        port: int = line.getsockname()[1]
        return port


def permission_refused(channel: grpc.Channel) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as told:
        PermissionServiceStub(channel).RequestPermission(PermissionRequest(), timeout=60)
    return told.value


def health(channel: grpc.Channel) -> int:
    status: int = HealthStub(channel).Check(HealthCheckRequest(), timeout=60).status
    return status


def until(true: object) -> None:
    assert callable(true)
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
