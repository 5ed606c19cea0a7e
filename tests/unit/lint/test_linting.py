"""From paths to findings: the whole corpus, and what is done about files that cannot be judged."""

import os
from pathlib import Path

import pytest

from crabhook.lint.linting import lint
from crabhook.lint.profile import PROFILES, STANDARD, TODAY
from crabhook.lint.protocol import PROTOCOLS
from tests.unit.lint.corpus import CASES, cases_for, gives, judged, report_of

_SCRIPT = '#!/usr/bin/env python3\nimport json, sys\njson.load(sys.stdin)["tool_input"]\n'


@pytest.mark.parametrize("profile", list(PROFILES))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_of_the_corpus_gives_what_it_says_and_nothing_else(case: Path, profile: str) -> None:
    for path, one in judged(case, profile).items():
        assert one.given == one.wanted, path
    assert not report_of(case, profile).unread


@pytest.mark.parametrize("rule", [rule.id for rule in TODAY.rules()])
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
    settings = hooks / "settings.json"
    settings.write_text('{"hooks": {"PreToolUse": [{"hooks": [' + command + "]}]}}")
    report = lint([settings], TODAY)
    assert [one.rule.id for one in report.findings] == ["CH001"]
    assert report.findings[0].path.name == "guard.py"


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
    named = ["binary.py", "latin.py", "large.sh", "hook.js", "pipe.py", "gone.py", "good.py"]
    report = lint([tmp_path / name for name in named], TODAY)
    reasons = {one.path.name: one.reason for one in report.unread}
    assert list(reasons) == named[:-1]
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
        for name, protocol in PROTOCOLS.items()
    }
    assert found == {"claude": ["CH006"], "gemini": [], "codex": ["CH015"]}
    assert not lint([path], TODAY).findings, "whose it is cannot be known"


def test_the_standard_says_nothing_of_today_and_today_nothing_of_the_standard() -> None:
    always = {"CH020", "CH021", "CH022", "CH101"}
    assert all(one.id.startswith("HP-") for one in STANDARD.rules() if one.id not in always)
    assert not any(one.id.startswith("HP-") for one in TODAY.rules())
