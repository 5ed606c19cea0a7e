"""`crabhook doctor` beside a real server: what it says, what it leaves, and a way to health."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.plain_desk import CRABHOOK
from tests.support.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(300)


@contextmanager
def running() -> Iterator[Service]:
    """A server without a person, in a home with a project."""
    with Service("--headless", rules='[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\n') as one:
        (one.folder / "project").mkdir()
        yield one


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    with running() as one:
        yield one


@pytest.fixture
def service() -> Iterator[Service]:
    """A server that its test ends, or whose record or home it changes."""
    with running() as one:
        yield one


def crabhook(home: Service, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of crabhook's in the server's home, as a person there does."""
    path = f"{CRABHOOK.rpartition('/')[0]}:/usr/bin:/bin"
    return subprocess.run(
        [CRABHOOK, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=home.folder / "project",
        env=home.environment | {"PATH": path, "CRABHOOK_SERVER": home.address},
    )


def findings(home: Service, *words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the findings by their ids."""
    done = crabhook(home, "doctor", "--json", "--quick", *words)
    told = json.loads(done.stdout)
    assert told["exit_code"] == done.returncode, done.stderr
    return done.returncode, {one["id"]: one for one in told["findings"]}


@pytest.mark.parametrize("agent", ["claude", "gemini", "codex"])
def test_an_installation_beside_its_server_has_no_fault_of_ours(
    shared: Service, agent: str
) -> None:
    crabhook(shared, "install", agent)
    _, found = findings(shared, agent)
    faults = {one["id"] for one in found.values() if one["status"] == "fault"}
    assert faults == ({"hook.permitted"} if agent == "codex" else set())  # nobody reviewed them
    assert found["server.answers"]["status"] == "ok"
    assert found["server.socket"]["status"] == "ok"
    assert "the server there" in found["hook.fast"]["what"]
    assert found["rules.own"]["figures"] == {"number": 1}


def test_to_be_examined_leaves_nothing_in_the_record(shared: Service) -> None:
    crabhook(shared, "install", "claude")
    findings(shared, "claude")
    exported = shared.audit("export")
    kinds = {json.loads(line)["kind"] for line in exported.splitlines()}
    assert kinds == {"document", "rules-changed"}, "its rules"
    assert "Notification" not in exported
    assert "crabhook-doctor" not in exported


def test_from_nothing_each_next_step_leads_to_health(service: Service) -> None:
    """A person who only ever does what the last line says is done in a few steps."""
    steps = []
    for _ in range(5):
        done = crabhook(service, "doctor", "claude", "--quick")
        if done.returncode == 0:
            break
        (step,) = re.findall(r"Next: (?:\S*/)?crabhook (.*)$", done.stdout, re.MULTILINE)
        steps.append(step)
        assert crabhook(service, *step.split()).returncode == 0
    assert (done.returncode, steps) == (0, ["install claude"])


def test_a_server_that_ended_is_missed_and_found_again(service: Service) -> None:
    crabhook(service, "install", "claude", "--gate", "--server", service.address)
    service.end()
    code, found = findings(service, "claude")
    assert (code, found["server.answers"]["status"]) == (1, "fault")
    assert found["server.answers"]["mend"] == f"crabhook serve --listen {service.address}"
    with Service("--headless", folder=service.folder):
        code, found = findings(service, "claude")
    assert (code, found["server.answers"]["status"]) == (0, "ok")


def test_a_record_edited_behind_a_servers_back_is_found(service: Service) -> None:
    crabhook(service, "install", "claude", "--gate", "--server", service.address)
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash"}
    payload |= {"tool_input": {"command": "rm -rf x"}, "tool_use_id": "t"}  # type: ignore[dict-item]
    asked = subprocess.run(
        [CRABHOOK, "--server", service.address],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert '"permissionDecision":"deny"' in asked.stdout
    _, found = findings(service, "claude")
    assert found["record.whole"]["status"] == "ok"
    assert found["record.whole"]["figures"]["records"] > 0
    database = service.folder / ".local" / "state" / "crabhook" / "record.db"
    with sqlite3.connect(database, timeout=60) as record:
        record.execute("DROP TRIGGER record_never_changes")
        record.execute("UPDATE record SET verdict = 'allow' WHERE verdict = 'deny'")
    record.close()
    code, found = findings(service, "claude")
    assert (code, found["record.whole"]["status"]) == (1, "fault")
