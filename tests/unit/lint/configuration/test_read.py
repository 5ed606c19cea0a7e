"""What a configuration registers, for whom, and what is wrong with its shape."""

from pathlib import Path

import pytest

from crabhook.lint.configuration import protocols
from crabhook.lint.configuration.read import (
    Configuration,
    Handler,
    SourceValue,
    protocol_by_path,
    protocol_of,
    read_configuration,
    read_json,
    registers_hooks,
)
from crabhook.lint.script import START, SourcePlace
from crabhook.model.jsontext import Value
from tests.support.rows import every_row


def read(text: str, agent: str = "claude") -> Configuration:
    return read_configuration(Path("settings.json"), read_json(text), protocols()[agent])


@pytest.mark.parametrize(
    ("path", "text", "agent"),
    [
        (".gemini/settings.json", "{}", "gemini"),
        (".codex/hooks.json", "{}", "codex"),
        (".claude/settings.local.json", '{"hooks": {"BeforeTool": []}}', "claude"),
        ("settings.json", '{"hooksConfig": {}}', "gemini"),
        ("settings.json", '{"hooks": {"BeforeTool": [], "SessionStart": []}}', "gemini"),
        ("hooks.json", '{"hooks": {"Interrupt": [], "Stop": [], "PreToolUse": []}}', "codex"),
        ("hooks/hooks.json", '{"hooks": {"PreToolUse": [], "Stop": []}}', "claude"),
        ("settings.json", "{}", "claude"),
    ],
)
def test_whose_a_configuration_is_shows_in_its_folder_or_its_keys(
    path: str, text: str, agent: str
) -> None:
    assert protocol_of(Path(path), read_json(text)).name == agent


def test_a_folder_of_no_agent_tells_nothing() -> None:
    assert protocol_by_path(Path("hooks/settings.json")) is None


def test_handlers_are_read_with_their_event_and_matcher() -> None:
    text = (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}],'
        ' "PreToolUse": [{"matcher": "Bash", "hooks": ['
        '{"type": "command", "command": "b", "args": ["c"], "timeout": 5}]}]}}'
    )
    first, second = read(text).handlers
    assert (first.event, first.matcher, first.command, first.timeout) == (
        "Stop",
        None,
        ("a", None),
        None,
    )
    assert (second.event, second.matcher, second.command, second.timeout) == (
        "PreToolUse",
        "Bash",
        ("b", ("c",)),
        5,
    )


@every_row(
    "text, told, column",
    [
        ("[]", "the whole file is not an object", 1),
        ('{"hooks": []}', '"hooks" is not an object', 11),
        ('{"hooks": {"Stop": {}}}', '"Stop" is not a list', 20),
        ('{"hooks": {"Stop": [1]}}', "matcher group of Stop is not an object", 21),
        ('{"hooks": {"Stop": [{}]}}', 'no list "hooks"', 21),
        ('{"hooks": {"Stop": [{"hooks": {}}]}}', '"hooks" is not a list', 31),
        ('{"hooks": {"Stop": [{"matcher": 1, "hooks": []}]}}', '"matcher" is not a text', 33),
        ('{"hooks": {"Stop": [{"hooks": [1]}]}}', "handler of Stop is not an object", 32),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}', 'no "type"', 32),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "x"}]}]}}', "a handler is one of", 33),
        ('{"hooks": {"Stop": [{"hooks": [{"type": []}]}]}}', "a handler is one of", 33),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "http"}]}]}}', 'no text "url"', 32),
    ],
)
def test_a_shape_that_the_agent_does_not_read_is_said(text: str, told: str, column: int) -> None:
    fault = read(text).faults[0]
    assert told in fault.message
    assert fault.place == SourcePlace(1, column)


@pytest.mark.parametrize("timeout", ["0", "-1", '"5"', "true", "null", "[]"])
def test_a_timeout_is_a_positive_number(timeout: str) -> None:
    handler = f'{{"type": "command", "command": "a", "timeout": {timeout}}}'
    faults = read(f'{{"hooks": {{"Stop": [{{"hooks": [{handler}]}}]}}}}').faults
    assert [one.message for one in faults] == ['"timeout" is not a positive number']


def test_switches_that_keep_hooks_from_running_are_seen() -> None:
    assert read('{"disableAllHooks": true}').switches
    assert not read('{"disableAllHooks": false}').switches
    assert read('{"hooksConfig": {"enabled": false}}', "gemini").switches
    assert read('{"features": {"hooks": false}}', "codex").switches
    assert not read('{"features": 3}', "codex").switches


def test_a_file_without_hooks_registers_none() -> None:
    assert not registers_hooks(Path("settings.json"), read_json('{"hooks": 1}'))
    assert not registers_hooks(Path("settings.json"), read_json("[]"))
    assert registers_hooks(Path("settings.json"), read_json('{"hooks": {}}'))


@pytest.mark.parametrize(
    ("agent", "event", "timeout", "seconds"),
    [
        ("claude", "PreToolUse", None, 600),
        ("claude", "UserPromptSubmit", None, 30),
        ("claude", "SessionEnd", None, 1.5),
        ("claude", "PreToolUse", 5, 5),
        ("gemini", "BeforeTool", None, 60),
        ("gemini", "BeforeTool", 5000, 5),
        ("codex", "Interrupt", None, 3),
    ],
)
def test_a_handler_has_as_long_as_its_agent_gives_it(
    agent: str, event: str, timeout: int | None, seconds: float
) -> None:
    value: dict[str, Value] = {} if timeout is None else {"timeout": timeout}
    members = {key: SourceValue(START, one) for key, one in value.items()}
    assert (
        Handler(event, None, SourceValue(START, value, members)).seconds(protocols()[agent])
        == seconds
    )
