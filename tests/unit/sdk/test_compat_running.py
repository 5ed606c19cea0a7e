"""REQ-006.8 to 006.10: the process."""

import io
import json
import sys
from typing import Any, NoReturn

import pytest

from crabhook.sdk.compat import (
    HookInput,
    HookOutput,
    format_hook_error,
    output_hook_error,
    read_stdin,
    run_hook,
    write_stdout,
)
from crabhook.sdk.event import Platform
from tests.support.rows import every_row
from tests.unit.sdk import samples


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Broken(io.StringIO):
    def read(self, _size: int | None = -1, /) -> str:
        raise OSError("the cable is out")


def given_stdin(monkeypatch: pytest.MonkeyPatch, stdin: object) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin) if isinstance(stdin, str) else stdin)


def test_006_8_standard_input_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    given_stdin(monkeypatch, '{"a": 1}\n\n')
    assert read_stdin() == '{"a": 1}\n\n'


@pytest.mark.parametrize("stdin", [Terminal("typed"), Broken("x"), None])
def test_006_8_a_terminal_or_any_exception_reads_as_the_empty_string(
    monkeypatch: pytest.MonkeyPatch, stdin: object
) -> None:
    given_stdin(monkeypatch, stdin)
    assert read_stdin() == ""


def test_006_8_write_stdout_prints(capsys: pytest.CaptureFixture[str]) -> None:
    write_stdout("{}")
    assert capsys.readouterr().out == "{}\n"


def fail() -> NoReturn:
    raise ValueError("it is broken")


def failing() -> ValueError:
    with pytest.raises(ValueError, match="broken") as caught:
        fail()
    return caught.value


def test_006_9_an_error_is_a_block_with_everything_about_it() -> None:
    told = format_hook_error(failing(), "while counting")
    assert told["decision"] == "block"
    first, *rest = told["reason"].splitlines()
    assert "Hook Script Error" in first
    assert "while counting" in told["reason"]
    assert any("ValueError" in line for line in rest)
    assert any("it is broken" in line for line in rest)
    assert "Traceback (most recent call last)" in told["reason"]
    assert 'raise ValueError("it is broken")' in told["reason"]


def test_006_9_the_context_is_optional() -> None:
    assert "Context" not in format_hook_error(failing())["reason"]


def test_006_9_an_error_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    output_hook_error(failing(), "here")
    printed = json.loads(capsys.readouterr().out)
    assert printed["decision"] == "block"
    assert "here" in printed["reason"]


@every_row("platform, name", samples.SPECIFIED)
def test_006_10_every_recorded_input_is_read_given_and_answered(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    platform: str,
    name: str,
) -> None:
    given_stdin(monkeypatch, samples.text(platform, name))
    seen: list[HookInput] = []

    def refuse(hook_input: HookInput) -> HookOutput:
        seen.append(hook_input)
        return HookOutput("block", reason="no")

    assert run_hook(refuse, Platform(platform)) == 0
    word = "deny" if platform == "gemini" else "block"
    assert json.loads(capsys.readouterr().out) == {"decision": word, "reason": "no"}
    assert seen[0].raw_input == samples.raw(platform, name)


@pytest.mark.parametrize("stdin", ["", "{", "null", "[]"])
def test_006_10_a_broken_input_is_given_as_an_empty_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stdin: str
) -> None:
    given_stdin(monkeypatch, stdin)
    assert run_hook(lambda given: HookOutput(reason=repr(given.raw_input)), Platform.CLAUDE) == 0
    assert json.loads(capsys.readouterr().out) == {"reason": "{}"}


def _unwritable(_: HookInput) -> HookOutput:
    return HookOutput(raw_output={"a": object()})


def _raising(_: HookInput) -> HookOutput:
    raise failing()


def _not_an_output(_: HookInput) -> Any:
    return "deny"


@pytest.mark.parametrize("function", [_raising, _unwritable, _not_an_output])
def test_006_10_an_exception_is_printed_as_a_block_and_0_returned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], function: Any
) -> None:
    given_stdin(monkeypatch, samples.text("claude", "Stop"))
    assert run_hook(function, Platform.CLAUDE) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["decision"] == "block"
    assert "Hook Script Error" in printed["reason"]
