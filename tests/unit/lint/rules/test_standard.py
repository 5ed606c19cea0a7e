"""HP-001 to HP-008, the standard's checks as it words them: `crabhook lint --profile standard`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crabhook.lint.configuration import protocols
from crabhook.lint.linting import lint
from crabhook.lint.rules import STANDARD, standard
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


OUTER = "except Exception as error:\n    print(error, file=sys.stderr)\n    sys.exit(0)\n"


@pytest.mark.parametrize(
    ("handler", "does"),
    [
        ("raise", "raises again"),
        ("raise RuntimeError('no') from error", "raises again"),
        ("if str(error): raise", "raises again"),
        ("pass", "just ends"),
        ("print(error, file=sys.stderr)", "just ends"),
        ("sys.exit(0)", ""),
        ("raise SystemExit(0)", ""),
        ("raise SystemExit", ""),
        ("end()", ""),
        ("if error: sys.exit(0)", ""),
    ],
)
def test_hp_005_an_except_that_raises_again_or_just_ends_is_found(
    tmp_path: Path, handler: str, does: str
) -> None:
    text = GOOD.replace(OUTER, f"except Exception as error:\n    {handler}\n")
    assert text != GOOD
    (tmp_path / "hook.py").write_text(text + "\n\ndef end():\n    sys.exit(0)\n")
    found = lint([tmp_path / "hook.py"], STANDARD).findings
    assert [one.rule.id for one in found] == (["HP-005"] if does else [])
    assert all(does in one.message for one in found)


IN_MAIN = (
    SHEBANG
    + """import json, sys

def main():
    try:
        event = json.load(sys.stdin)
    except ValueError as error:
        print(error, file=sys.stderr)
        {}
    print(json.dumps({{"action": "continue"}}))

if __name__ == "__main__":
    {}
"""
)


@pytest.mark.parametrize(
    ("handler", "call", "found"),
    [
        ("return", "main()", ["HP-005"]),
        ("return", "main()\n    sys.exit(0)", []),
        ("return", "sys.exit(main())", []),
        ("event = {}", "main()", []),  # it goes on
        ("raise", "main()", ["HP-005"]),
        ("raise", "try:\n        main()\n    except ValueError:\n        sys.exit(0)", []),
        ("raise", "run(main)", []),  # who knows what run does
    ],
)
def test_hp_005_what_comes_after_a_function_counts(
    ids: Judge, handler: str, call: str, found: list[str]
) -> None:
    assert ids(IN_MAIN.format(handler, call)) == found


@pytest.mark.parametrize(
    "more",
    [
        "for line in 'ab':\n    try:\n        int(line)\n    except ValueError:\n        pass\n",
        "try:\n    int('a')\nexcept SystemExit:\n    raise\nexcept Exception:\n    sys.exit(0)\n",
        "try:\n    int('a')\nexcept ValueError:\n    pass\nfinally:\n    sys.exit(0)\n",
        "class A:\n  def f(self):\n    try:\n      int('a')\n    except ValueError:\n      raise\n",
    ],
)
def test_hp_005_an_error_that_may_be_handled_is_none(ids: Judge, more: str) -> None:
    assert ids(GOOD + more) == []


def test_hp_006_messages_go_to_stderr(ids: Judge) -> None:
    assert ids(changed("print(error, file=sys.stderr)", 'print("failed:", error)')) == ["HP-006"]


@pytest.mark.parametrize(("seconds", "found"), [("59.9", []), ("60", ["HP-007"])])
def test_hp_007_what_it_waits_for_is_under_60_000_ms(
    ids: Judge, seconds: str, found: list[str]
) -> None:
    wait = f"import time; time.sleep({seconds})\n    event"
    assert ids(changed("event", wait)) == found


def registered(tmp_path: Path, agent: str, event: str, timeout: float) -> list[str]:
    path = tmp_path / f".{agent}" / "settings.json"
    path.parent.mkdir()
    handler = f'{{"type": "command", "command": "x", "timeout": {timeout}}}'
    path.write_text(f'{{"hooks": {{"{event}": [{{"hooks": [{handler}]}}]}}}}')
    return [one.message for one in lint([path], STANDARD).findings if one.rule.id == "HP-007"]


@pytest.mark.parametrize(
    ("event", "seconds"),
    [("PreToolUse", 30), ("PostToolUse", 30), ("SessionStart", 10), ("Stop", 5),
     ("Notification", 5), ("UserPromptSubmit", 59.999), ("SubagentStop", 59.999)],
)  # fmt: skip
@pytest.mark.parametrize("over", [0.0, 0.01])
def test_hp_007_the_registered_timeout_is_within_its_events(
    tmp_path: Path, event: str, seconds: float, over: float
) -> None:
    found = registered(tmp_path, "claude", event, seconds + over)
    assert len(found) == (over > 0)


def test_hp_007_units_are_converted(tmp_path: Path) -> None:
    (found,) = registered(tmp_path, "claude", "UserPromptSubmit", 61)
    assert found == "timeout 61 is 61000 ms, which is not under 60000"


@pytest.mark.parametrize(("milliseconds", "number"), [(30_000, 0), (30_001, 1)])
def test_hp_007_gemini_counts_in_milliseconds_and_has_names_of_its_own(
    tmp_path: Path, milliseconds: int, number: int
) -> None:
    found = registered(tmp_path, "gemini", "BeforeTool", milliseconds)
    assert len(found) == number
    assert all("for PreToolUse the limit is 30000 ms" in one for one in found)


def test_hp_007_what_a_script_waits_for_is_within_the_limit_of_its_events(tmp_path: Path) -> None:
    hook = tmp_path / ".claude" / "hooks" / "hook.py"
    hook.parent.mkdir(parents=True)
    hook.write_text(changed("event =", "import time; time.sleep(6)\n    event ="))
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/hook.py'.replace('"', '\\"')
    handler = f'{{"type": "command", "command": "{command}", "timeout": 5}}'
    settings = tmp_path / ".claude" / "settings.json"
    for event, number in (("PreToolUse", 0), ("Stop", 1)):
        settings.write_text(f'{{"hooks": {{"{event}": [{{"hooks": [{handler}]}}]}}}}')
        found = lint([tmp_path / ".claude"], STANDARD).findings
        assert [one.rule.id for one in found] == ["HP-007"] * number


def test_hp_008_the_output_has_action(ids: Judge) -> None:
    assert ids(changed('{"action": "continue"}', '{"decision": "block"}')) == ["HP-008"]
    assert ids(changed('{"action": "continue"}', "answer(event)")) == [], "it may have one"


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ('{"action": "block", "message": "no"}', []),
        ('{"action": "block"}', ["HP-008"]),
        ('{"action": "block" if event else "continue"}', ["HP-008"]),
        ('{"action": "block", **event}', []),  # it may have one
        ('{"action": "allow"}', ["HP-008"]),
        ('{"action": "deny", "message": "no"}', ["HP-008"]),
        ('{"action": True}', ["HP-008"]),
        ('{"action": event["x"]}', []),
    ],
)
def test_hp_008_action_is_continue_or_block_and_a_block_has_its_message(
    ids: Judge, output: str, found: list[str]
) -> None:
    assert ids(changed('{"action": "continue"}', output)) == found


def test_the_events_are_those_of_the_agent(ids: Judge) -> None:
    assert ids('{"hooks": {"PreTool": []}}', "settings.json") == ["HP-EVENT"]
    assert ids('{"hooks": {"PreToolUse": []}}', "settings.json") == []


def test_the_five_limits_of_single_events_are_stricter_than_the_one_of_all() -> None:
    assert sorted(standard.TIMEOUTS_MS.values()) == [5_000, 5_000, 10_000, 30_000, 30_000]
    assert set(standard.TIMEOUTS_MS) <= set(protocols()["claude"].events)
    assert len(STANDARD.scripts) == 8
