"""From paths to findings: the whole corpus, and what is done about files that cannot be judged."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from crabhook.install.entries import with_hooks
from crabhook.install.program import interpreter, stub
from crabhook.lint.configuration import protocols
from crabhook.lint.linting import lint
from crabhook.lint.report import as_sarif, lines
from crabhook.lint.rules import PROFILES, STANDARD, TODAY
from crabhook.model.card import Stance
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.event_table import Protocol
from crabhook.platforms.installation import Installation
from crabhook.present.safe import safe
from tests.support.examples import examples
from tests.support.rows import every_row
from tests.unit.lint.corpus import CASES, cases_for, gives, judged, report_of

_WORDS = [
    *("PreToolUse", "Stop", "SessionEnd", "BeforeTool", "hooks", "matcher", "type", "command"),
    *("args", "timeout", "async", "onFailure", "if", "http", "Bash|Edit", "(.+)+", "*x", "block"),
    *("python3 /no/where.py", "./a.sh", "$CLAUDE_PROJECT_DIR/b.sh", "~/c", "'", "\ud800", "a\0b"),
]
_SCRIPT = '#!/usr/bin/env python3\nimport json, sys\njson.load(sys.stdin)["tool_input"]\n'


@every_row("profile", list(PROFILES))
@every_row("case", CASES)
def test_a_file_of_the_corpus_gives_what_it_says_and_nothing_else(case: Path, profile: str) -> None:
    for path, one in judged(case, profile).items():
        assert one.given == one.wanted, path
    assert not report_of(case, profile).unread


@every_row("rule", [rule.id for rule in TODAY.rules()])
def test_every_rule_of_today_has_hooks_that_break_it_and_hooks_that_keep_it(rule: str) -> None:
    bad, good = cases_for(rule, "bad"), cases_for(rule, "good")
    assert bad
    assert good
    assert all(gives(case, rule, "today") for case in bad)
    assert not any(gives(case, rule, "today") for case in good)


def test_a_folder_is_searched_for_hooks_and_for_what_registers_them(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(_SCRIPT)
    (tmp_path / "library.py").write_text("import json\n")
    (tmp_path / "notes.txt").write_text("tool_input")
    (tmp_path / "settings.json").write_text('{"hooks": {"Stop": []}}')
    (tmp_path / "hooks.json").write_text('{"name": "no hooks"}')
    vendored = tmp_path / "node_modules"
    vendored.mkdir()
    (vendored / "hook.py").write_text(_SCRIPT)
    report = lint([tmp_path], TODAY)
    assert [path.name for path in report.files] == ["hook.py", "settings.json"]
    assert not report.unread


def test_a_folder_without_hooks_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("import json\n")
    report = lint([tmp_path], TODAY)
    assert [one.path for one in report.unread] == [tmp_path]


def test_a_script_that_a_configuration_names_is_read_with_it(tmp_path: Path) -> None:
    hooks = tmp_path / ".claude"
    hooks.mkdir()
    (hooks / "guard.py").write_text('print(\'{"action": "block"}\')\n')
    command = '{"type": "command", "command": "python3 $CLAUDE_PROJECT_DIR/.claude/guard.py"}'
    path = hooks / "settings.json"
    path.write_text('{"hooks": {"PreToolUse": [{"hooks": [' + command + "]}]}}")
    report = lint([path], TODAY)
    assert [one.rule.id for one in report.findings] == ["CH001"]
    assert report.findings[0].path.name == "guard.py"


def test_a_script_is_named_as_its_configuration_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "guard.py").write_text("x = \n")
    handler = '{"type": "command", "command": "python3 $CLAUDE_PROJECT_DIR/guard.py"}'
    text = '{"hooks": {"Stop": [{"hooks": [' + handler + "]}]}}"
    (tmp_path / ".claude" / "settings.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    (one,) = lint([Path(".claude/settings.json")], TODAY).findings
    assert one.path == Path("guard.py")
    (one,) = lint([tmp_path / ".claude" / "settings.json"], TODAY).findings
    assert one.path == tmp_path / "guard.py"


def test_a_file_that_is_named_twice_is_looked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "hook.py"
    path.write_text("import sys\nprint('blocked', file=sys.stderr)\nsys.exit(1)\n")
    report = lint([path, tmp_path / ".." / tmp_path.name / "hook.py"], TODAY)
    assert len(report.files) == 1
    assert len(report.findings) == 1


def test_what_cannot_be_read_is_said_and_the_rest_is_judged(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'")
    (tmp_path / "large.sh").write_bytes(b"#" * (11 * 1024 * 1024))
    (tmp_path / "hook.js").write_text("process.exit(1)")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "good.py").write_text(_SCRIPT)
    long = "a" * 5000
    named = [long, "binary.py", "latin.py", "large.sh", "hook.js", "pipe.py", "gone.py", "good.py"]
    report = lint([tmp_path / name for name in named], TODAY)
    reasons = {one.path.name: one.reason for one in report.unread}
    assert list(reasons) == named[:-1]
    assert "too long" in reasons[long]
    assert "binary" in reasons["binary.py"]
    assert "UTF-8" in reasons["latin.py"]
    assert "larger" in reasons["large.sh"]
    assert "neither" in reasons["hook.js"]
    assert "regular" in reasons["pipe.py"]
    assert [path.name for path in report.files] == ["good.py"]


def test_the_agent_that_is_named_counts_before_all_signs(tmp_path: Path) -> None:
    path = tmp_path / "hook.py"
    path.write_text('import json\nprint(json.dumps({"decision": "deny", "reason": "no"}))\n')
    found = {
        name: [one.rule.id for one in lint([path], TODAY, protocol).findings]
        for name, protocol in protocols().items()
    }
    silent = {"gemini": [], "qwen": [], "opencode": []}
    assert found == silent | {"claude": ["CH006"], "codex": ["CH015"], "copilot": ["CH006"]}
    assert not lint([path], TODAY).findings, "whose it is cannot be known"


@pytest.mark.parametrize("stance", [Stance.COMPANION, Stance.GATE])
@pytest.mark.parametrize("fail_closed", [False, True])
def test_what_crabhooks_own_installer_writes_has_nothing_wrong(
    tmp_path: Path, stance: Stance, *, fail_closed: bool
) -> None:
    folder = tmp_path / ".claude"
    folder.mkdir()
    installation = Installation(interpreter(), stub(), stance, fail_closed, wait=5000)
    path = folder / "settings.json"
    path.write_text(with_hooks("", groups(installation)), encoding="utf-8")
    assert lint([path], TODAY).findings == []


_CONTENT = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(_WORDS),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4)
        ),
        max_leaves=20,
    ).map(lambda value: json.dumps({"hooks": value}).encode()),
)


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=_CONTENT,
    name=st.sampled_from(["a.py", "a.sh", "a.json", "a.toml", "a"]),
    agent=st.sampled_from([None, *protocols().values()]),
)
def test_whatever_a_file_holds_there_is_a_report(
    tmp_path: Path, content: bytes, name: str, agent: Protocol | None
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for profile in PROFILES.values():
        report = lint([path], profile, agent)
        assert len(report.files) + len(report.unread) == 1
        assert all(one.place.line >= 1 and one.place.column >= 1 for one in report.findings)
        json.dumps(as_sarif(report, profile))


@pytest.mark.parametrize(
    "command",
    [
        "'",
        "\ud800/a.py",
        "a\0/b.py",
        "python3 /" + "a/" * 5000,
        "~root/a.sh",
        "$(/a.py",
        "\x1b[2J/a",
    ],
    ids=range(7),
)
def test_no_command_is_too_strange_to_be_looked_for(tmp_path: Path, command: str) -> None:
    handler = {"type": "command", "command": command}
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}))
    report = lint([path], TODAY)
    assert report.files == [path]
    assert all(line.isprintable() for line in map(safe, lines(report)))


def test_the_standard_says_nothing_of_today_and_today_nothing_of_the_standard() -> None:
    always = {"CH020", "CH021", "CH022", "CH101"}
    assert all(one.id.startswith("HP-") for one in STANDARD.rules() if one.id not in always)
    assert not any(one.id.startswith("HP-") for one in TODAY.rules())
