"""What is logged of decisions and news: enough to know what happened, and no secret."""

import asyncio
import logging
from typing import Any

import pytest

from crabhook.app.decisions import SHORT, DecisionLog
from crabhook.model.event import Event
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core.runner import Runner
from tests.support.playbook import asking
from tests.support.runners import bare_runner

DENIED = Ruling(RuleVerdict.DENY, None, "not here")


@pytest.fixture
async def runner(caplog: pytest.LogCaptureFixture) -> Runner:
    caplog.set_level(logging.DEBUG)
    log = DecisionLog()
    runner = bare_runner(decided=[log.hear])
    log.begin(runner)
    return runner


def ask(runner: Runner, event: str = "PreToolUse", **fields: Any) -> None:
    now = asyncio.get_running_loop().time()
    runner.enter(asking("a", event, wait=now + 60, **fields), DENIED)


def bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1"}


def logged(caplog: pytest.LogCaptureFixture, what: str) -> dict[str, Any]:
    (record,) = [one for one in caplog.records if one.getMessage() == what]
    return dict(vars(record)["fields"])


async def test_a_decision_is_logged_with_what_it_was_about(
    runner: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    ask(runner, **bash("ls"))
    assert logged(caplog, "decided") == {
        "verdict": "deny",
        "by": "the rules",
        "event": "PreToolUse",
        "tool": "Bash",
        "session": "s",
        "cwd": "/p",
        "subject": "ls",
        "reason": "the operator's rules deny this: not here",
    }


async def test_a_secret_is_taken_out_and_a_long_story_cut(
    runner: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    ask(runner, **bash(f"curl -H 'Authorization: Bearer {token}' {'x' * 4000}"))
    subject = logged(caplog, "decided")["subject"]
    assert token[4:] not in subject
    assert "[redacted" in subject
    assert len(subject) == SHORT + 1


async def test_what_is_only_watched_is_there_for_who_looks_closely(
    runner: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    ask(runner, "Notification")
    (record,) = caplog.records
    assert record.levelno == logging.DEBUG
    assert logged(caplog, "observed")["event"] == "Notification"


async def test_what_the_house_has_to_say_is_a_warning(
    runner: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    runner.announce("RULES NOT READ")
    runner.observe(Event("claude", "?"), "unreadable input of 3 bytes")
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "RULES NOT READ"),
        ("WARNING", "unreadable input of 3 bytes"),
    ]


@pytest.mark.parametrize("alarm", [True, False])
async def test_an_incident_of_the_server_is_logged_once(
    runner: Runner, caplog: pytest.LogCaptureFixture, *, alarm: bool
) -> None:
    runner.warn("ann has come into the team", alarm=alarm)
    assert [(one.levelno, one.getMessage()) for one in caplog.records] == [
        (logging.ERROR if alarm else logging.INFO, "ann has come into the team")
    ]
