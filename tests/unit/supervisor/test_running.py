"""What the supervisor does when its own parts fail: the contract's exit codes, and never a block."""

import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crabhook.supervisor import running
from crabhook.supervisor.running import Arguments, main


@pytest.fixture
def stdin() -> Iterator[io.BufferedWriter]:
    """What the process reads from its standard input, for as long as the test lasts."""
    read_end, write_end = os.pipe()
    kept = os.dup(0)
    os.dup2(read_end, 0)
    os.close(read_end)
    with os.fdopen(write_end, "wb") as given:
        yield given
    os.dup2(kept, 0)
    os.close(kept)


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arguments:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    verdict = json.dumps({"allow_stop": False, "feedback": "go on"})
    settings = tmp_path / "settings.toml"
    settings.write_text(f"[supervisor]\nreviewer = ['/bin/echo', '{verdict}']\n")
    return Arguments(settings_file=settings, environment={})


@pytest.mark.process
def test_the_answer_alone_is_on_standard_output(
    told: Arguments, stdin: io.BufferedWriter, capfd: pytest.CaptureFixture[str]
) -> None:
    stdin.write(b'{"session_id": "s"}')
    stdin.close()
    assert main(told) == 0
    out, err = capfd.readouterr()
    assert out == '{"decision":"block","reason":"go on"}\n'
    assert err == ""


@pytest.mark.process
@pytest.mark.parametrize("how", [{"verbose": True}, {"environment": {"CRABHOOK_DEBUG": "1"}}])
def test_what_was_found_is_said_on_standard_error_only_when_asked_for(
    told: Arguments,
    stdin: io.BufferedWriter,
    capfd: pytest.CaptureFixture[str],
    how: dict[str, Any],
) -> None:
    stdin.write(b'{"session_id": "s"}')
    stdin.close()
    assert main(replace(told, **how)) == 0
    assert capfd.readouterr().err == "crabhook supervisor: event 1, limit 20, stop: not allowed\n"


@pytest.mark.process
@pytest.mark.parametrize("given", [b"", b" \n", b"nonsense", b"[]", b'{"cut'])
def test_a_session_id_without_usable_input_is_a_stop(
    told: Arguments, stdin: io.BufferedWriter, capfd: pytest.CaptureFixture[str], given: bytes
) -> None:
    stdin.write(given)
    stdin.close()
    assert main(replace(told, session_id="s")) == 0
    assert capfd.readouterr().out == '{"decision":"block","reason":"go on"}\n'


@pytest.mark.process
def test_a_session_id_with_standard_input_closed_is_a_stop(
    told: Arguments, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = os.dup(0)
    os.close(0)
    try:
        assert main(replace(told, session_id="s")) == 0
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert capfd.readouterr().out == '{"decision":"block","reason":"go on"}\n'


@pytest.mark.process
def test_a_session_id_at_a_terminal_is_a_stop(
    told: Arguments, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = os.openpty()
    kept = os.dup(0)
    os.dup2(theirs, 0)
    try:
        assert main(replace(told, session_id="s")) == 0
    finally:
        os.dup2(kept, 0)
        for one in (kept, ours, theirs):
            os.close(one)
    assert capfd.readouterr().out == '{"decision":"block","reason":"go on"}\n'


def test_a_session_id_changes_nothing_of_an_input_that_can_be_read(
    told: Arguments, stdin: io.BufferedWriter, capfd: pytest.CaptureFixture[str]
) -> None:
    stdin.write(b'{"session_id": "t", "hook_event_name": "PreToolUse", "tool_name": "Bash"}')
    stdin.close()
    assert main(replace(told, session_id="s")) == 0
    assert capfd.readouterr().out == "{}\n"


def test_a_fault_of_our_own_lets_the_agent_go_on(
    told: Arguments,
    stdin: io.BufferedWriter,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("of our own")

    monkeypatch.setattr(running, "read", broken)
    stdin.close()
    assert main(told) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("supervisor SDK failed: a fault of crabhook's own, ZeroDivisionError(")


def test_more_than_any_hook_is_given_is_refused(
    told: Arguments,
    stdin: io.BufferedWriter,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(running, "MOST_INPUT", 10)
    stdin.write(b"{" + b" " * 20)
    stdin.close()
    assert main(told) == 2
    assert capfd.readouterr().err.startswith("failed to parse hook input: it is larger than")
