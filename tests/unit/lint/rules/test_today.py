"""The default profile, today's protocol: each point of what was asked, by its own words."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from crabhook.lint.linting import lint
from crabhook.lint.rules import PROFILES, TODAY
from crabhook.lint.rules.subjects import Hook, Setup
from crabhook.lint.script import HookScript, Language
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.installation import Installation
from tests.unit.lint.corpus import cases_for, gives

Judge = Callable[..., list[str]]


@pytest.fixture
def found(tmp_path: Path) -> Judge:
    """Judge a project: files by path below it; yields what each finding says, its id first."""

    def judged(files: Mapping[str, object], *, only: str = "") -> list[str]:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        report = lint([tmp_path / name for name in files], TODAY)
        told = [f"{one.rule.id} {one.message}" for one in report.findings]
        return [one for one in told if one.startswith(only)]

    return judged


def registered(event: str, *handlers: Mapping[str, object], matcher: str | None = None) -> object:
    group: dict[str, object] = {"hooks": [{"type": "command", **one} for one in handlers]}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {event: [group]}}


def asked(*rules: str) -> None:
    """Every one of these rules has bad hooks in the corpus, and good ones that are left alone."""
    for rule in rules:
        assert all(gives(case, rule, "today") for case in cases_for(rule, "bad"))
        assert not any(gives(case, rule, "today") for case in cases_for(rule, "good"))


def test_action_and_message_are_not_read_by_claude_code(found: Judge) -> None:
    asked("CH001", "CH002")
    told = found({"a.py": 'import json\nprint(json.dumps({"action": "block", "message": "no"}))\n'})
    assert [one[:5] for one in told] == ["CH001", "CH002"]
    assert "'block'" in told[0]


def test_a_hook_that_means_to_block_but_exits_1(found: Judge) -> None:
    asked("CH003")
    assert found({"a.sh": "echo Blocked >&2\nexit 1\n"}) == [
        "CH003 this says that it refuses, and exits with 1: the action goes ahead"
    ]
    assert found({"b.sh": "echo Blocked >&2\nexit 3\n"}), "3 blocks no more than 1"
    gemini = {
        ".gemini/settings.json": registered(
            "BeforeTool", {"command": 'bash "$GEMINI_PROJECT_DIR"/c.sh', "timeout": 9000}
        ),
        "c.sh": "echo Blocked >&2\nexit 3\n",
    }
    assert not found(gemini), "to Gemini CLI 3 is a denial"


def test_a_wrong_hook_event_name(found: Judge) -> None:
    asked("CH004")
    text = "jq -n '{hookSpecificOutput: {hookEventName: \"PretoolUse\"}}'\n"
    assert found({"a.sh": text}) == [
        "CH004 hookEventName 'PretoolUse' is no event, did you mean PreToolUse?"
    ]


def test_a_hook_of_several_events_may_bear_several_names(found: Judge) -> None:
    one = 'jq -n \'{hookSpecificOutput: {hookEventName: "%s", additionalContext: "x"}}\'\n'
    files = {
        ".claude/settings.json": registered("Stop", {"command": "bash $CLAUDE_PROJECT_DIR/a.sh"}),
        "a.sh": f"if x; then\n{one % 'Stop'}else\n{one % 'SubagentStop'}fi\n",
    }
    assert not found(files)


def test_two_hooks_that_both_rewrite_the_input(found: Judge) -> None:
    asked("CH109")
    rewriter = (
        "import json, sys\ncall = json.load(sys.stdin)\n"
        'changed = {**call["tool_input"], "a": 1}\n'
        'print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}}))\n'
    )
    commands = [{"command": f"python3 $CLAUDE_PROJECT_DIR/{name}.py"} for name in "ab"]
    files = {"a.py": rewriter, "b.py": rewriter}
    both = {".claude/settings.json": registered("PreToolUse", *commands)}
    (told,) = found({**files, **both})
    assert "a.py" in told
    assert "b.py both rewrite the input" in told
    twice = {".claude/settings.json": registered("PreToolUse", commands[0], commands[0])}
    assert not found({**files, **twice}), "one command, registered twice, runs once"


@pytest.mark.parametrize(
    ("timeout", "mixed"),
    [
        *((timeout, True) for timeout in (1500, 5000, 60_000, 90_000, 600_000)),
        *((timeout, False) for timeout in (5, 600, 3600, 3660, 7200, 86_400)),
    ],
)
def test_seconds_taken_for_milliseconds(found: Judge, timeout: int, mixed: bool) -> None:
    asked("CH107")
    files = {"settings.json": registered("PreToolUse", {"command": "x", "timeout": timeout})}
    assert bool(found(files, only="CH107")) is mixed


@pytest.mark.parametrize(
    ("timeout", "mixed"), [(60, True), (999, True), (1000, False), (60000, False)]
)
def test_milliseconds_taken_for_seconds(found: Judge, timeout: int, mixed: bool) -> None:
    handler = {"command": "x", "timeout": timeout}
    files = {".gemini/settings.json": registered("BeforeTool", handler)}
    assert bool(found(files, only="CH107")) is mixed


@pytest.mark.parametrize("timeout", [60, 999, 1000, 1500, 60_500])
def test_a_timeout_that_its_size_gives_a_unit_is_not_doubted(found: Judge, timeout: int) -> None:
    handler = {"command": "x", "timeout": timeout}
    files = {".qwen/settings.json": registered("PreToolUse", handler)}
    assert not found(files, only="CH107")


@pytest.mark.parametrize("timeout", [1200, 1800, 3600, 7200, 86_400])
def test_minutes_and_hours_in_seconds_are_a_few_seconds_at_qwen(found: Judge, timeout: int) -> None:
    handler = {"command": "x", "timeout": timeout}
    files = {".qwen/settings.json": registered("PreToolUse", handler)}
    (remark,) = found(files, only="CH107")
    assert f"Write {timeout}000" in remark


def test_what_crabhook_itself_has_installed_is_not_doubted(found: Judge) -> None:
    handler = {"command": "/opt/bin/crabhook", "args": ["--wait", "5000"], "timeout": 5000}
    files = {"settings.json": registered("PreToolUse", handler)}
    assert not found(files, only="CH107")


def test_a_registered_timeout_shorter_than_the_hooks_own_wait(found: Judge) -> None:
    asked("CH108")
    files = {
        ".claude/settings.json": registered(
            "PreToolUse", {"command": 'bash "$CLAUDE_PROJECT_DIR/a.sh"', "timeout": 10}
        ),
        "a.sh": "sleep 11\n",
    }
    (told,) = found(files)
    assert "the registered timeout is 10 s" in told
    assert "waits up to 11 s (sleep, line 1)" in told
    assert not found({**files, "a.sh": "sleep 10\n"})


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        ({"command": "/opt/bin/crabhook", "args": ["--companion", "--wait", "61"]}, "--wait 61"),
        ({"command": "crabhook --wait=61 --companion"}, "--wait 61"),
        (
            {"command": "python3", "args": ["-I", "/o/crabhook/hook/run.py", "--wait", "61"]},
            "--wait 61",
        ),
        ({"command": "curl", "args": ["-s", "-m", "90", "http://localhost/"]}, "-m 90"),
        ({"command": "curl -sS --max-time 90 http://localhost/ || true"}, "--max-time 90"),
        ({"command": "curl -m61 http://localhost/"}, "-m 61"),
        ({"command": "timeout 2m /usr/bin/guard"}, "timeout 2m"),
        ({"command": "timeout", "args": ["-k", "5", "--foreground", "61", "guard"]}, "timeout 61"),
        ({"command": "sleep 61"}, "sleep 61"),
        ({"command": "crabhook --wait 60"}, ""),
        ({"command": "crabhook --wait never"}, ""),
        ({"command": "timeout 20 curl -m 90 http://localhost/"}, ""),
        ({"command": "timeout -k 90 20 guard"}, ""),
        ({"command": "guard --wait 90"}, ""),
        ({"command": "curl -m $LONG http://localhost/"}, ""),
    ],
)
def test_a_registered_timeout_shorter_than_the_wait_in_the_hooks_own_words(
    found: Judge, handler: dict[str, Any], told: str
) -> None:
    files = {"settings.json": registered("PreToolUse", {**handler, "timeout": 60})}
    findings = found(files, only="CH108")
    assert len(findings) == bool(told)
    assert all(f"({told})" in one for one in findings)


@pytest.mark.parametrize("wait", [60, 3600, 86_400])
def test_what_crabhook_installs_waits_no_longer_than_its_timeouts(found: Judge, wait: int) -> None:
    written = groups(Installation("/usr/bin/python3", "/o/crabhook/hook/run.py", wait=wait))
    hooks = {event: [group] for event, group in written.items()}
    assert not found({"settings.json": json.dumps({"hooks": hooks})}, only="CH108")


def test_the_agents_own_timeout_counts_where_none_is_registered(found: Judge) -> None:
    files = {
        ".claude/settings.json": registered(
            "SessionEnd", {"command": "bash $CLAUDE_PROJECT_DIR/a.sh"}
        ),
        "a.sh": "sleep 2\n",
    }
    (told,) = found(files)
    assert "the default timeout is 1.5 s" in told


def test_the_hooks_of_a_sessions_end_share_the_longest_of_their_timeouts(found: Judge) -> None:
    slow = {"command": "bash $CLAUDE_PROJECT_DIR/a.sh"}
    files = {
        ".claude/settings.json": registered("SessionEnd", slow, {"command": "x", "timeout": 30}),
        "a.sh": "sleep 2\n",
    }
    assert not found(files)


def test_a_matcher_that_matches_nothing(found: Judge) -> None:
    asked("CH104", "CH105", "CH106")
    files = {
        "settings.json": registered("PreToolUse", {"command": "x"}, matcher="mcp__server|bash")
    }
    first, second = found(files)
    assert "mcp__server__.* hits all of the server's" in first + second
    assert "did you mean Bash?" in first + second


def test_an_updated_input_that_drops_fields(found: Judge) -> None:
    asked("CH005")
    assert found(
        {
            "a.sh": "jq -n '{hookSpecificOutput: {hookEventName: \"PreToolUse\", updatedInput: {}}}'\n"
        }
    ) == ["CH005 updatedInput is empty: every field is lost"]


def test_codex_gemini_and_copilot_are_judged_by_their_own_rules() -> None:
    asked("CH015", "CH016", "CH017", "CH023")


def test_entries_that_cannot_work_are_found() -> None:
    asked("CH101", "CH102", "CH103", "CH110", "CH111", "CH112", "CH113", "CH114", "CH115", "CH116")


def test_answers_that_cannot_work_are_found() -> None:
    asked("CH006", "CH007", "CH008", "CH009", "CH010", "CH011", "CH012", "CH013", "CH014")


def test_a_stop_hook_that_is_also_registered_elsewhere_is_left_alone(found: Judge) -> None:
    command = {"command": "bash $CLAUDE_PROJECT_DIR/a.sh"}
    handlers = [{"hooks": [{"type": "command", **command}]}]
    files = {
        ".claude/settings.json": {"hooks": {"Stop": handlers, "PreToolUse": handlers}},
        "a.sh": "echo no >&2\nexit 2\n",
    }
    assert not found(files), "its exit may be for the other event"


def test_no_fact_is_no_finding() -> None:
    hook = Hook(HookScript(Language.SHELL))
    assert not [one for check in TODAY.scripts.values() for one in check(hook)]


def test_every_rule_has_a_function_and_an_id_of_its_own() -> None:
    for profile in PROFILES.values():
        for rules in (profile.scripts, profile.setups):
            assert len(set(rules.values())) == len(rules)
            assert list(rules) == sorted(rules)
    assert (len(TODAY.scripts), len(TODAY.setups)) == (19, 22)
    assert Setup.__dataclass_fields__["runs"]
