"""Servers that begin: beside another, at once with another, where one was just killed, and too late."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook.store.record import RecordKind
from tests.support.client import Client, sample
from tests.support.ledger import Ledger
from tests.support.lives import Trial
from tests.support.mortal import MortalServer

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAN = {"plan": "# one"}


@pytest.fixture
def server() -> Iterator[MortalServer]:
    with MortalServer() as server:
        server.start()
        yield server


def record(server: MortalServer) -> Ledger:
    return Ledger(server.state / "crabhook")


@pytest.mark.thorough
def test_a_second_server_on_the_same_socket_leaves_at_once_and_harms_nothing() -> None:
    with Trial(hooks=10) as trial:
        trial.server.start()
        trial.fleet.launch(10)
        trial.server.hears(" PreToolUse ", times=10)
        second = trial.server.another()
        _, said = second.communicate(timeout=60)
        assert second.returncode == 2
        assert "already listens" in said
        trial.last_life()
        ledger = trial.aftermath()
        assert len(trial.fleet.ends.answered) == 10
        assert ledger.of(RecordKind.GAP) == []
        assert ledger.broken_laws(trial.fleet.ends) == []


@pytest.mark.thorough
@pytest.mark.parametrize("rounds", [1, 4])
def test_of_two_servers_that_begin_at_once_one_serves_and_keeps_what_waited(rounds: int) -> None:
    with Trial(hooks=10) as trial:
        trial.server.start()
        trial.fleet.launch(10)
        trial.server.hears(" PreToolUse ", times=10)
        for _ in range(rounds):
            trial.server.kill()
            rivals = [trial.server.another() for _ in range(2)]
            lost = next_to_end(rivals)
            assert lost.wait(60) == 2
            (winner,) = [one for one in rivals if one is not lost]
            winner.kill()
            for one in rivals:
                one.communicate()  # which also reads what is left of their pipes
        trial.server.start()
        trial.last_life()
        ledger = trial.aftermath()
        assert len(trial.fleet.ends.answered) == 10
        assert ledger.broken_laws(trial.fleet.ends) == []


def test_a_hook_finds_its_place_though_the_socket_was_gone_for_a_second(
    server: MortalServer,
) -> None:
    client = Client(server.address, sample("PreToolUse-Bash"))
    server.hears("#1 PreToolUse")
    server.kill()
    Path(server.address.removeprefix("unix:")).unlink()
    time.sleep(1)
    server.start()
    server.hears("#1 PreToolUse", times=2)
    server.say("1 deny after all")
    assert "after all" in client.finish().stdout.decode()
    server.hears("#1 delivered")
    assert len(record(server).of(RecordKind.DECIDED)) == 1


def test_a_plan_approved_before_a_kill_needs_no_second_approval_after_it(
    server: MortalServer,
) -> None:
    about = {"session_id": "s", "cwd": "/p", "tool_name": "ExitPlanMode", "tool_input": PLAN}
    asks = {**about, "hook_event_name": "PreToolUse", "tool_use_id": "t1"}
    client = Client(server.address, json.dumps(asks).encode())
    server.hears("#1 PreToolUse")
    client.send_signal(signal.SIGSTOP)
    server.kill()
    server.start()
    server.say("1 edit # two")  # while the hook is not back: nothing can have reached it
    server.hears("#1 ALLOWED")
    server.kill()
    server.start()
    client.send_signal(signal.SIGCONT)
    assert client.finish().code == 0
    follows = {**about, "hook_event_name": "PermissionRequest"}
    answer = Client(server.address, json.dumps(follows).encode()).finish()
    decision = answer.output["hookSpecificOutput"]["decision"]
    assert (decision["behavior"], decision["updatedInput"]) == ("allow", {"plan": "# two"})
    assert not any("#2 " in line for line in server.heard)


def next_to_end(processes: list[subprocess.Popen[str]]) -> subprocess.Popen[str]:
    """Wait until one of the processes has ended; return it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for one in processes:
            if one.poll() is not None:
                return one
        time.sleep(0.02)
    raise AssertionError("both serve, or none ends")


def test_a_call_that_may_run_once_runs_once_over_kills(server: MortalServer) -> None:
    def ask(event: str, use_id: str) -> bytes:
        call = {"session_id": "s", "cwd": "/p", "permission_mode": "auto", "tool_use_id": use_id}
        call |= {"hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": "ls"}}
        payload = json.dumps(call).encode()
        answer = Client(server.address, payload, "--companion").finish()
        assert answer.code == 0
        return answer.stdout

    assert ask("PermissionDenied", "t1") == b""
    server.hears("#1 PermissionDenied")
    server.kill()
    server.start()
    server.say("1 retry")
    server.hears("may run once now")
    server.kill()
    server.start()
    assert b'"permissionDecision":"allow"' in ask("PreToolUse", "t2")
    server.kill()
    server.start()
    assert ask("PreToolUse", "t3") == b""
