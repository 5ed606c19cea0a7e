"""`crabhook lint`: exit codes, formats, and output that moves no terminal."""

import json
from pathlib import Path

import pytest

from crabhook.cli import main

BAD = "import json\nprint(json.dumps({'action': 'block'}))\n"
MEDIUM = "import json\nprint(json.dumps({'message': 'hello'}))\n"


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.py"
    path.write_text(BAD)
    return str(path)


@pytest.fixture
def medium(tmp_path: Path) -> str:
    path = tmp_path / "medium.py"
    path.write_text(MEDIUM)
    return str(path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.py"
    path.write_text("import sys\nsys.exit(0)\n")
    return str(path)


def test_it_exits_with_0_where_nothing_is_found(
    good: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", good]) == 0
    assert capsys.readouterr().out == "1 file looked at: nothing found\n"


@pytest.mark.parametrize(
    ("level", "of_bad", "of_medium"),
    [
        ("critical", 1, 0),
        ("high", 1, 0),
        ("medium", 1, 1),
        ("low", 1, 1),
        ("never", 0, 0),
    ],
)
def test_it_exits_with_1_on_findings_at_or_above_fail_on(
    bad: str, medium: str, level: str, of_bad: int, of_medium: int
) -> None:
    assert main(["lint", "--fail-on", level, bad]) == of_bad
    assert main(["lint", "--fail-on", level, medium]) == of_medium


def test_high_is_what_it_fails_on_by_itself(bad: str, medium: str) -> None:
    assert (main(["lint", bad]), main(["lint", medium])) == (1, 0)


def test_it_exits_with_2_where_something_could_not_be_looked_at(bad: str, tmp_path: Path) -> None:
    assert main(["lint", bad, str(tmp_path / "gone.py")]) == 2
    (tmp_path / "empty").mkdir()
    assert main(["lint", str(tmp_path / "empty")]) == 2


def test_the_finding_has_file_line_severity_and_rule(
    bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["lint", bad])
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"{bad}:2:29: critical CH001 ")


def test_json_and_sarif_are_one_json_value(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", "--format", "json", bad])
    assert json.loads(capsys.readouterr().out)["findings"][0]["rule"] == "CH001"
    main(["lint", "--format", "sarif", bad])
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"][0]["ruleId"] == "CH001"


def test_the_profile_chooses_the_rules(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--profile", "standard", "--format", "json", bad]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["profile"] == "standard"
    assert {one["rule"] for one in found["findings"]} == {"HP-001", "HP-002", "HP-008"}


def test_a_rule_can_be_left_out_by_its_id_and_by_no_other(
    bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", "--ignore", "CH001", bad]) == 0
    assert main(["lint", "--ignore", "CH999", bad]) == 2
    assert "no rule CH999" in capsys.readouterr().err


def test_the_agent_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "hook.py"
    path.write_text("import json\nprint(json.dumps({'decision': 'deny', 'reason': 'no'}))\n")
    assert main(["lint", "--agent", "gemini", str(path)]) == 0
    assert main(["lint", "--agent", "claude", str(path)]) == 1


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_what_is_in_a_file_moves_no_terminal(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "settings.json"
    name = "Pre\\u001b[2JToolUse\\u202e"
    path.write_text('{"hooks": {"' + name + '": []}}')
    assert main(["lint", "--format", form, str(path)]) == 1
    shown = capsys.readouterr().out
    assert "ToolUse" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
