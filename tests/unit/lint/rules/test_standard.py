"""HP-001 to HP-008, the standard's checks as it words them: `crabhook lint --profile standard`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crabhook.lint.linting import lint
from crabhook.lint.profile import STANDARD
from crabhook.lint.rules import standard, standard_table
from tests.unit.lint.corpus import cases_for, gives

Judge = Callable[..., list[str]]

SHEBANG = "#!/usr/bin/env python3\n"
GOOD = SHEBANG + (
    "import json, sys\n"
    "try:\n"
    "    event = json.load(sys.stdin)\n"
    '    print(json.dumps({"action": "continue"}))\n'
    "    sys.exit(0)\n"
    "except Exception as error:\n"
    "    print(error, file=sys.stderr)\n"
    "    sys.exit(0)\n"
)


@pytest.fixture
def ids(tmp_path: Path) -> Judge:
    def judged(text: str, name: str = "hook.py") -> list[str]:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return [one.rule.id for one in lint([path], STANDARD).findings]

    return judged


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.mark.parametrize("rule", [f"HP-00{number}" for number in range(1, 9)])
def test_hp_001_to_hp_008_are_each_broken_by_a_hook_of_the_corpus(rule: str) -> None:
    bad = cases_for(rule, "bad")
    assert bad
    assert all(gives(case, rule, "standard") for case in bad)


def test_a_hook_that_keeps_the_standard_gives_nothing(ids: Judge) -> None:
    assert ids(GOOD) == []


@pytest.mark.parametrize("first", ["", "#!/usr/bin/python3\n", "#!/usr/bin/env python\n"])
def test_hp_001_the_first_line_is_usr_bin_env_python3(ids: Judge, first: str) -> None:
    assert ids(changed(SHEBANG, first)) == ["HP-001"]


def test_hp_001_a_shell_script_is_no_python3(ids: Judge) -> None:
    assert ids("#!/bin/bash\nexit 1\n", "hook.sh") == ["HP-001"]


@pytest.mark.parametrize(
    "reading",
    ["json.load(sys.stdin)", "json.loads(sys.stdin.read())", "json.load(sys.stdin.buffer)"],
)
def test_hp_002_json_is_read_from_stdin_with_json_load_or_loads(ids: Judge, reading: str) -> None:
    assert ids(changed("json.load(sys.stdin)", reading)) == []


@pytest.mark.parametrize(
    "reading", ["input()", "json.loads(sys.argv[1])", "json.load(open('event.json'))", "{}"]
)
def test_hp_002_not_with_input_or_from_argv_or_files(ids: Judge, reading: str) -> None:
    assert ids(changed("json.load(sys.stdin)", reading)) == ["HP-002"]


@pytest.mark.parametrize(
    "printing", ["pass", "print(\"{'action': 1}\")", 'sys.stderr.write(json.dumps({"action": 1}))']
)
def test_hp_003_json_is_printed_to_stdout(ids: Judge, printing: str) -> None:
    assert ids(changed('print(json.dumps({"action": "continue"}))', printing)) == ["HP-003"]


@pytest.mark.parametrize(
    "printing", ["sys.stdout.write(json.dumps({0}))", "json.dump({0}, sys.stdout)"]
)
def test_hp_003_however_it_is_printed(ids: Judge, printing: str) -> None:
    answer = printing.format('{"action": "continue"}')
    assert ids(changed('print(json.dumps({"action": "continue"}))', answer)) == []


def test_hp_004_errors_are_handled(ids: Judge) -> None:
    text = 'import json, sys\njson.load(sys.stdin)\nprint(json.dumps({"action": "continue"}))\n'
    assert ids(SHEBANG + text) == ["HP-004"]
    assert ids(changed("except Exception as error", "except KeyError as error")) == ["HP-004"]


@pytest.mark.parametrize("code", ["1", "2", "'failed'"])
def test_hp_005_on_an_error_it_exits_with_0(ids: Judge, code: str) -> None:
    text = changed("stderr)\n    sys.exit(0)", f"stderr)\n    sys.exit({code})")
    assert ids(text) == ["HP-005"]


def test_hp_006_messages_go_to_stderr(ids: Judge) -> None:
    assert ids(changed("print(error, file=sys.stderr)", 'print("failed:", error)')) == ["HP-006"]


@pytest.mark.parametrize(("seconds", "found"), [("59.9", []), ("60", ["HP-007"])])
def test_hp_007_what_it_waits_for_is_under_60_000_ms(
    ids: Judge, seconds: str, found: list[str]
) -> None:
    wait = f"import time; time.sleep({seconds})\n    event"
    assert ids(changed("event", wait)) == found


@pytest.mark.parametrize(("timeout", "found"), [(59_999, []), (60_000, ["HP-007"])])
def test_hp_007_the_registered_timeout_is_under_60_000_ms(
    ids: Judge, timeout: int, found: list[str]
) -> None:
    handler = f'{{"type": "command", "command": "x", "timeout": {timeout}}}'
    text = f'{{"hooks": {{"PreToolUse": [{{"hooks": [{handler}]}}]}}}}'
    assert ids(text, "settings.json") == found


def test_hp_008_the_output_has_action(ids: Judge) -> None:
    assert ids(changed('{"action": "continue"}', '{"decision": "block"}')) == ["HP-008"]
    assert ids(changed('{"action": "continue"}', "answer(event)")) == [], "it may have one"


def test_the_events_are_those_of_the_agent(ids: Judge) -> None:
    assert ids('{"hooks": {"PreTool": []}}', "settings.json") == ["HP-EVENT"]
    assert ids('{"hooks": {"PreToolUse": []}}', "settings.json") == []


def test_the_table_of_timeouts_has_every_event_under_the_one_limit() -> None:
    assert set(standard.TIMEOUTS_MS.values()) == {standard.LIMIT_MS}
    assert len(standard.TIMEOUTS_MS) == 33
    assert len(standard_table.SCRIPTS) == 8
