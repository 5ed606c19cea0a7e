"""Hooks with a list of servers, over one record in PostgreSQL: whichever leads, none is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.test_shared_record import said, served, stands_by, until
from tests.support.cluster import Cluster, held_up, running
from tests.support.service import CRABHOOK, Service
from tests.support.team import founded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOOKS = 100
_UNDER_WAY = (
    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'WITH%'"
)


WAITS, RULES = ("--no-desk", "--alone", "300"), ("--headless",)
DENIES = ("--headless", "--otherwise", "deny")
"""What a server does with a question: it waits for an operator, goes by its rules, denies the rest."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running() as made:
        yield made


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.emptied()


@contextmanager
def two(url: str, first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[Service, Service]]:
    """Two servers of one record, for as long as the block lasts: one leads, the other stands by."""
    with served(url, *first) as leader, served(url, *second, waits=False) as standby:
        stands_by(standby)
        yield leader, standby


def asks(servers: Sequence[Service], command: str, number: int = 1) -> subprocess.Popen[str]:
    """A hook of an agent that wants to run this; it has both servers in its list."""
    told: dict[str, object] = {"hook_event_name": "PermissionRequest", "session_id": "s1"}
    told |= {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/tmp"}
    told |= {"tool_use_id": f"t{number}", "permission_mode": "default", "transcript_path": "/x"}
    hook = subprocess.Popen(
        [CRABHOOK, "--server", ",".join(one.address for one in servers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=servers[0].environment,
    )
    assert hook.stdin is not None
    hook.stdin.write(json.dumps(told))
    hook.stdin.close()
    hook.stdin = None
    return hook


def free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def token_of(service: Service) -> str:
    """The token file that this server made for itself."""
    return str(service.folder / ".local" / "state" / "crabhook" / "token")


def shown(port: int, token: str) -> object:
    """What becomes of a hook that asks this port alone, and shows the token of a file."""
    told = {"hook_event_name": "PermissionRequest", "session_id": "s1", "tool_name": "Bash"}
    told |= {"cwd": "/tmp", "permission_mode": "default", "transcript_path": "/x"}
    asked = told | {"tool_input": {"command": "ls"}}
    done = subprocess.run(
        [CRABHOOK, "--server", f"127.0.0.1:{port}", "--token-file", token],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
    )
    return json.loads(done.stdout or "{}").get("hookSpecificOutput", {}).get("decision")


@pytest.mark.thorough
def test_a_hook_with_one_servers_token_is_answered_by_the_next_after_a_fail_over(url: str) -> None:
    """Each server made a token file of its own."""
    ports = free_ports()
    first_at, second_at = (("--listen", f"127.0.0.1:{port}") for port in ports)
    with two(url, (*DENIES, *first_at), (*DENIES, *second_at)) as (first, second):
        token, own = token_of(first), token_of(second)
        assert Path(token).read_text() != Path(own).read_text()
        assert shown(ports[0], token) is not None
        assert shown(ports[0], own) is None
        assert first.end(signal.SIGTERM) == 0
        second.listens()
        assert shown(ports[1], token) is not None
        assert shown(ports[1], own) is not None
        assert any("are admitted at this server alone" in line for line in second.said)
        kept = second.audit("--all-kinds", "--json", "--last", "1000")
        assert Path(token).read_text().strip() not in kept
        assert "as they were written" in second.audit("verify")


def waiting(cluster: Cluster) -> int:
    return int(cluster.sql("SELECT count(*) FROM crabhook.waiting")[0][0])


def behavior(hook: subprocess.Popen[str]) -> object:
    decision = said(hook)
    assert isinstance(decision, dict), hook.returncode
    return decision["behavior"]


@pytest.mark.thorough
def test_both_servers_are_restarted_and_no_hook_is_lost_or_asked_twice(
    cluster: Cluster, url: str
) -> None:
    with two(url, WAITS, WAITS) as (first, second):
        hooks = [asks((first, second), f"make {n}", n) for n in range(HOOKS)]
        until(lambda: waiting(cluster) == HOOKS)
        assert first.end(signal.SIGUSR1) == 0
        second.listens()
        with served(url, *DENIES, folder=first.folder, waits=False) as again:
            stands_by(again)
            time.sleep(1)  # the hooks wait at the second one
            assert all(hook.poll() is None for hook in hooks)
            assert second.end(signal.SIGUSR1) == 0
            again.listens()
            assert [behavior(hook) for hook in hooks] == ["deny"] * HOOKS
            record = again.audit("--all-kinds", "--last", "1000")
            assert record.count("[headless after") == HOOKS
            assert record.count(" taken-up ") == 2 * HOOKS
            assert f"#{HOOKS + 1} " not in record
            assert "as they were written" in again.audit("verify")


@pytest.mark.thorough
def test_a_hook_whose_leader_is_killed_is_answered_by_the_next(cluster: Cluster, url: str) -> None:
    with two(url, WAITS, DENIES) as (first, second):
        hook = asks((second, first), "make")  # the first of its list stands by
        until(lambda: waiting(cluster) == 1)
        first.process.kill()
        assert behavior(hook) == "deny"
        assert behavior(asks((first, second), "make more", 2)) == "deny"  # the first is gone


@pytest.mark.thorough
def test_a_hook_whose_leader_stands_still_goes_on_to_the_next(cluster: Cluster, url: str) -> None:
    with two(url, WAITS, DENIES) as (first, second):
        hook = asks((first, second), "make")
        until(lambda: waiting(cluster) == 1)
        first.process.send_signal(signal.SIGSTOP)
        cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        assert behavior(hook) == "deny"
        first.process.send_signal(signal.SIGCONT)
        stands_by(first)


@pytest.mark.thorough
def test_of_two_leaders_the_one_that_stood_still_gives_no_answer_that_was_under_way(
    cluster: Cluster, url: str
) -> None:
    with two(url, RULES, RULES) as (first, second):
        with held_up(cluster):
            listed = asks((first, second), "ls -l")
            until(lambda: cluster.sql(_UNDER_WAY))
            alone = asks((first,), "ls -a", 2)  # it knows of no other server
            time.sleep(0.5)
            first.process.send_signal(signal.SIGSTOP)
            assert cluster.sql("SELECT pg_terminate_backend(pid) FROM (" + _UNDER_WAY + ") AS of")
        second.listens()
        assert behavior(listed) == "allow"
        first.process.send_signal(signal.SIGCONT)
        stands_by(first)
        alone.kill()  # it looks for a leader at the one address that it has
        assert said(alone) is None
        assert second.audit().count("ls -l") == 1
        assert "ls -a" not in second.audit("--all-kinds")
        assert "as they were written" in second.audit("verify")


@pytest.mark.thorough
def test_a_leader_that_stands_still_loses_the_lead_by_itself(cluster: Cluster, url: str) -> None:
    with two(url, RULES, RULES) as (first, second):
        first.process.send_signal(signal.SIGSTOP)
        second.listens()  # PostgreSQL ends a writer's session of which it hears nothing
        assert behavior(asks((first, second), "ls -l")) == "allow"
        first.process.send_signal(signal.SIGCONT)
        stands_by(first)


@pytest.mark.thorough
def test_a_hook_that_comes_between_two_leaders_waits_for_the_next(
    cluster: Cluster, url: str
) -> None:
    with two(url, RULES, DENIES) as (first, second):
        second.process.send_signal(signal.SIGSTOP)  # so that it is slow to lead
        first.process.kill()
        hook = asks((first, second), "make")
        time.sleep(1)
        second.process.send_signal(signal.SIGCONT)
        assert behavior(hook) == "deny"


@pytest.mark.thorough
def test_with_the_database_gone_for_long_a_hook_waits_for_one_failover(
    cluster: Cluster, url: str
) -> None:
    with two(url, RULES, RULES) as (first, second):
        cluster.stop()
        try:
            time.sleep(12)  # until the leader turns all away
            begun = time.monotonic()
            hook = asks((first, second), "ls -l")
            assert said(hook) is None
            assert 6 <= time.monotonic() - begun < 8
        finally:
            cluster.start()
        until(lambda: said(asks((first, second), "ls -l", 2)) is not None)


@pytest.mark.thorough
def test_desks_and_verbs_go_on_at_the_server_that_leads_then(
    cluster: Cluster, url: str, tmp_path: Path
) -> None:
    places = [f"127.0.0.1:{port}" for port in free_ports()]
    homes = [Path(tempfile.mkdtemp(prefix="crabhook-l-", dir="/tmp")) for _ in places]
    below = ".local/state/crabhook/team"
    team = founded(homes[0] / below, time.time())
    team.seat(tmp_path / "crabhook", "ann", f"{places[1]},{places[0]}")  # the standby is first
    shutil.copytree(homes[0] / below, homes[1] / below)
    here = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}

    def crabhook(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen([CRABHOOK, *words], stdout=-1, stderr=-1, text=True, env=here)

    options = ("--no-desk", "--alone", "300", "--operators")
    try:
        with (
            served(url, *options, places[0], folder=homes[0]) as first,
            served(url, *options, places[1], folder=homes[1], waits=False) as second,
        ):
            stands_by(second)
            hook = asks((first, second), "make")
            until(lambda: waiting(cluster) == 1)
            watch = crabhook("watch", "--json")
            assert watch.stdout is not None
            (card,) = json.loads(watch.stdout.readline())["waiting"]
            assert card["number"] == 1
            doctor = crabhook("doctor", "desk").communicate(timeout=60)[0]
            assert f"{places[1]} is the team's, stands by" in doctor
            first.process.kill()
            second.listens()
            for line in watch.stdout:  # until it has all there is from the other one
                told = json.loads(line)
                if told["type"] == "snapshot":
                    break
            watch.kill()
            watch.communicate()
            denied = crabhook("deny", "1")
            assert denied.communicate(timeout=60)[1] == ""
            assert denied.returncode == 0
            assert behavior(hook) == "deny"
            assert "deny" in second.audit()
    finally:
        for home in homes:
            shutil.rmtree(home)
