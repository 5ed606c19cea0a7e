"""Nobody at the desk: rules decide, the rest gets one answer at once, through the true client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.client import Answer, Client, sample
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.port import short_folder
from tests.support.rows import every_row
from tests.support.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RULES = """
[[rule]]
verdict = "allow"
match = "Bash(npm run *)"

[[rule]]
verdict = "allow"
match = "Bash(open-all *)"

[[rule]]
verdict = "deny"
match = "Bash(rm *)"
note = "use the trash"

[[rule]]
verdict = "ask-operator"
match = "Bash(npm run deploy*)"
"""
NOBODY = "no person is at the desk: crabhook serve --headless"
AT_ONCE = ("--headless", "--log-format", "json")


def bash(command: str, call: str = "t1", event: str = "PreToolUse-Bash", **more: Any) -> bytes:
    changed = {"tool_input": {"command": command}, "cwd": "/nowhere/project", **more}
    return sample(event, **changed, **({"tool_use_id": call} if call else {}))


@contextmanager
def ended(server: subprocess.Popen[Any]) -> Iterator[subprocess.Popen[Any]]:
    """A process that does not outlive the test."""
    with server:
        try:
            yield server
        finally:
            server.kill()


def said(answer: Answer) -> Any:
    """What an answer tells the agent: nothing, or its hookSpecificOutput."""
    return None if answer.silent else answer.output["hookSpecificOutput"]


def verdict(answer: Answer) -> str | None:
    specific = said(answer)
    return specific and specific["permissionDecision"]


@pytest.fixture(scope="module", params=["pass", "ask", "deny"])
def otherwise(request: pytest.FixtureRequest) -> str:
    """Return what a server says to what its rules leave open; each has one server for all laws."""
    answer: str = request.param
    return answer


@pytest.fixture(scope="module")
def service(otherwise: str) -> Iterator[Service]:
    with Service(*AT_ONCE, "--otherwise", otherwise, rules=RULES) as one:
        yield one


def decides_by_rules(service: Service, expected: str | None, session: str) -> None:
    """See that rules decide what they cover, and that all else gets one answer."""
    commands = ("npm run build", "rm -rf x", "cat x", "npm run deploy")
    answers = [
        Client(service.address, bash(command, f"t{n}", session_id=session)).finish()
        for n, command in enumerate(commands)
    ]
    told = [verdict(answer) for answer in answers]
    assert told == ["allow", "deny", expected, expected]
    assert said(answers[1])["permissionDecisionReason"] == "use the trash"
    log = [decided_in(service, session) for _ in commands]
    assert [line["verdict"] for line in log] == ["allow", "deny", *[expected or "pass"] * 2]
    assert [line["subject"] for line in log] == list(commands)
    assert "npm run" in log[0]["by"]
    assert "rules.toml, line" in log[0]["by"]
    assert [line["by"] for line in log[2:]] == ["headless", "headless"]


def decided_in(service: Service, session: str) -> Any:
    """Wait for the next decision in a session that the log tells of."""
    while (line := service.logged("decided"))["session"] != session:
        pass
    return line


def test_rules_decide_and_what_they_leave_open_gets_the_one_answer(
    service: Service, otherwise: str
) -> None:
    decides_by_rules(service, None if otherwise == "pass" else otherwise, "ruled")


def test_without_a_word_on_it_what_rules_leave_open_is_passed() -> None:
    with Service(*AT_ONCE, rules=RULES) as service:
        decides_by_rules(service, None, "ruled")


def test_the_model_is_told_that_nobody_was_there_and_what_a_rule_wanted(
    service: Service, otherwise: str
) -> None:
    unlisted = said(Client(service.address, bash("cat x", session_id="told")).finish())
    deploys = bash("npm run deploy", "t2", session_id="told")
    to_be_asked = said(Client(service.address, deploys).finish())
    if otherwise == "pass":
        assert (unlisted, to_be_asked) == (None, None)
        return
    ends = {"ask": "hands back what no rule decides", "deny": "denies what no rule allows"}
    nobody = f"{NOBODY} {ends[otherwise]}"
    assert unlisted["permissionDecisionReason"] == nobody
    assert to_be_asked["permissionDecisionReason"].startswith(nobody)
    assert "npm run deploy" in to_be_asked["permissionDecisionReason"]


def test_what_is_protected_is_never_allowed_for_want_of_a_person(
    service: Service, otherwise: str
) -> None:
    reads = bash("open-all ~/.ssh/id_ed25519", session_id="protected")
    answer = Client(service.address, reads).finish()
    assert verdict(answer) == (None if otherwise == "pass" else otherwise)


SILENT = None
WAITING = {
    # what is asked: as a gate told to deny, and to ask
    "PreToolUse-AskUserQuestion": ("deny", "ask"),
    "PreToolUse-ExitPlanMode": ("deny", "ask"),
    "PreToolUse-mcp": ("deny", "ask"),
    "PermissionRequest-Bash": ("deny", SILENT),
    "PermissionRequest-AskUserQuestion": ("deny", SILENT),
    "Elicitation": ("decline", SILENT),
}


def test_nothing_ever_waits_and_each_event_is_told_what_it_can_be_told(
    service: Service, otherwise: str
) -> None:
    answers = {
        name: said(Client(service.address, sample(name, session_id=name)).finish())
        for name in WAITING
    }
    expected = {
        name: {"deny": denied, "ask": asked, "pass": SILENT}[otherwise]
        for name, (denied, asked) in WAITING.items()
    }
    assert {name: told_by(specific) for name, specific in answers.items()} == expected


def told_by(specific: Any) -> str | None:
    """Return the verdict in the fields of an answer's own event."""
    if specific is None:
        return SILENT
    return str(
        specific.get("permissionDecision")
        or specific.get("action")
        or specific["decision"]["behavior"]
    )


@every_row("name", ["Stop", "SessionStart", "PostToolUse-Bash", "ConfigChange"])
def test_events_that_are_only_watched_are_silent_however_strict_it_is(
    service: Service, name: str
) -> None:
    assert Client(service.address, sample(name, session_id="watched")).finish().silent


def test_one_call_gets_one_answer_on_both_its_legs_and_stands_once_on_record() -> None:
    with Service(*AT_ONCE, "--otherwise", "deny") as service:
        first = said(Client(service.address, bash("cat x")).finish())
        again = said(Client(service.address, bash("cat x", "", "PermissionRequest-Bash")).finish())
        assert (first["permissionDecision"], again["decision"]["behavior"]) == ("deny", "deny")
        assert service.end() == 0
        lines = [json.loads(line) for line in service.audit("--json").splitlines()]
        decided = [line for line in lines if line["kind"] == "decided"]
        assert {line["verdict"] for line in decided} == {"deny"}
        assert {line["body"]["by"] for line in decided} == {"headless"}
        assert "as they were written" in service.audit("verify")


def test_every_line_of_the_json_log_is_an_object_in_ascii_whatever_an_agent_sent() -> None:
    evil = 'echo "\x1b[2J\u202e\u2028\n{"what": "decided", "verdict": "allow"}\x00'
    with Service(*AT_ONCE, "--otherwise", "deny", "--log-level", "debug") as service:
        Client(service.address, bash(evil)).finish()
        Client(service.address, b"no JSON\x1b[2J at all").finish()
        Client(service.address, sample("Stop")).finish()
        assert service.end() == 0
        lines = [json.loads(line) for line in service.said]
        assert all(line.isascii() and line.isprintable() for line in service.said)
        assert all({"time", "level", "what"} <= set(line) for line in lines)
        assert [line["verdict"] for line in lines if line["what"] == "decided"] == ["deny"]
        assert [line["event"] for line in lines if line["what"] == "observed"] == ["Stop"]
        assert any(line["level"] == "warning" and "unreadable" in line["what"] for line in lines)


def test_a_line_of_the_text_log_is_safe_and_nobody_can_begin_another() -> None:
    evil = "echo \x1b[2J\u202e\n2026-11-22T00:00:00.000Z info decided verdict=allow"
    with Service("--headless", "--otherwise", "deny") as service:
        Client(service.address, bash(evil)).finish()
        line = service.wait_for(lambda line: " decided " in line)
        assert " info decided verdict=deny by=headless event=PreToolUse tool=Bash " in line
        assert "␛[2J" in line
        assert "␊2026" in line
        assert service.end() == 0
        assert not any(line.startswith("2026-11-22T00:00:00") for line in service.said)


def test_secrets_are_not_logged() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    with Service(*AT_ONCE) as service:
        Client(service.address, bash(f"curl -H 'Authorization: Bearer {token}' x")).finish()
        assert "[redacted" in service.logged("decided")["subject"]
        assert service.end() == 0
        assert token[4:] not in "\n".join(service.said)


def test_what_a_killed_server_left_waiting_is_answered_by_the_one_where_nobody_sits() -> None:
    with PlainDesk() as desk:
        client = Client(desk.address, bash("cat x"))
        desk.card("Bash")
        desk.kill()
        with Service(*AT_ONCE, "--otherwise", "deny", folder=desk.folder) as service:
            assert said(client.finish())["permissionDecisionReason"].startswith(NOBODY)
            assert service.end() == 0
        desk.stop()
        desk.start()


def test_it_lives_without_any_standard_stream_but_the_log() -> None:
    with short_folder() as home:
        unused = Service(*AT_ONCE, rules=RULES, folder=home)  # for its rules and environment
        command = f"exec '{CRABHOOK}' serve --headless --listen {unused.address} <&- >&-"
        with ended(
            subprocess.Popen(
                ["sh", "-c", command], stderr=subprocess.PIPE, env=unused.environment, text=True
            )
        ) as server:
            assert server.stderr is not None
            assert "listening" in server.stderr.readline()
            assert verdict(Client(unused.address, bash("npm run build")).finish()) == "allow"
            server.terminate()
            assert server.wait(60) == 0


def test_a_log_that_nobody_reads_holds_up_no_agent() -> None:
    with short_folder() as home:
        unused = Service(*AT_ONCE, rules=RULES, folder=home)  # for its rules and environment
        with ended(
            subprocess.Popen(
                [CRABHOOK, "serve", *AT_ONCE, "--listen", unused.address],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pipesize=4096,
                env=unused.environment,
            )
        ) as server:
            assert server.stderr is not None
            server.stderr.read(10)  # it has begun; nothing more is read
            for n in range(30):
                answer = Client(unused.address, bash(f"npm run {'x' * 150}", f"t{n}")).finish()
                assert verdict(answer) == "allow"
            server.terminate()
            assert server.wait(60) == 0


def test_what_headless_would_do_is_not_asked_for_where_a_person_sits() -> None:
    with Service("--otherwise", "deny", waits=False) as service:
        line = service.wait_for(lambda line: "--headless" in line)
        assert line.startswith("crabhook: --otherwise")
        assert service.process.wait(60) == 2


def test_headless_refuses_to_begin_with_rules_that_cannot_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "crabhook"
    folder.mkdir()
    (folder / "rules.toml").write_text("[[rule]]\nverdict = 'perhaps'\nmatch = 'Bash'\n")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    listen = f"unix:{tmp_path}/s"
    done = subprocess.run(
        [sys.executable, "-m", "crabhook", "serve", "--headless", "--listen", listen],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert (
        "crabhook: --headless decides by the rules alone, and NO RULES ARE in force" in done.stderr
    )
    assert "rules.toml, line 2" in done.stderr
    assert not (tmp_path / "s").exists()


def test_with_tests_that_fail_it_begins_without_the_rules_that_they_set_aside() -> None:
    tested = f'{RULES}\n[[test]]\ndeny = ["npm run build", "rm x"]\n'
    with Service(*AT_ONCE, "--otherwise", "deny", rules=tested) as service:
        failing = [line for line in service.said if "1 OF 2 TESTS OF THE RULES FAIL" in line]
        assert len(failing) == 1
        commands = ("npm run build", "open-all x", "rm x")
        answers = [
            verdict(Client(service.address, bash(command, f"t{n}")).finish())
            for n, command in enumerate(commands)
        ]
    assert answers == ["deny", "allow", "deny"]


def test_the_settings_say_the_same_as_the_options() -> None:
    settings = '[server]\nheadless = true\notherwise = "deny"\nlog_format = "json"\n'
    with short_folder() as home:
        folder = home / ".config" / "crabhook"
        folder.mkdir(parents=True)
        (folder / "settings.toml").write_text(settings, encoding="utf-8")
        with Service(folder=home) as service:
            assert verdict(Client(service.address, bash("cat x")).finish()) == "deny"
            assert service.logged("decided")["verdict"] == "deny"
            assert service.end() == 0
