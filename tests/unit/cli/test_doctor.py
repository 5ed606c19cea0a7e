"""`crabhook doctor`, as a person runs it; what it finds is tested in tests/unit/doctor."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.cli import main
from tests.support.port import short_folder


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with a project, and no agent on PATH."""
    with short_folder() as folder:
        (folder / "project").mkdir()
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        monkeypatch.setenv("COLUMNS", "90")
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CRABHOOK_SERVER"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.chdir(folder / "project")
        yield folder


def test_a_new_person_is_told_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--quick"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("FAULT") for line in told) == 1
    assert told[-1].endswith("-m crabhook demo")
    assert told[0] == "This machine"
    assert all(len(line) <= 90 or "mend:" in line or "Next:" in line for line in told)


@pytest.mark.process
def test_each_agent_has_its_heading(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["install", "claude", "--gate"])
    main(["install", "codex", "--gate"])
    capsys.readouterr()
    assert main(["doctor", "--quick"]) == 1
    told = capsys.readouterr().out.splitlines()
    headings = [line for line in told if line and not line.startswith(("ok", "WARN", "FAULT", " "))]
    assert headings[:3] == ["Claude Code", "Codex", "This machine"]
    assert " Next: " in headings[-1]


@pytest.mark.process
def test_json_is_one_value_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    main(["install", "claude", "--gate"])
    capsys.readouterr()
    code = main(["doctor", "claude", "--json", "--quick"])
    told = json.loads(capsys.readouterr().out)
    assert told["exit_code"] == code == 1
    by_id = {one["id"]: one for one in told["findings"]}
    assert by_id["hook.installed"]["status"] == "ok"
    assert by_id["server.answers"]["mend"].endswith("crabhook serve")


@pytest.mark.process
def test_what_an_agents_settings_say_moves_no_terminal(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude", "--gate"])
    settings = home / ".claude" / "settings.json"
    group = {"hooks": [{"type": "command", "command": "evil \x1b[2J \u202e"}]}
    document = json.loads(settings.read_text())
    document["hooks"]["PreToolUse"].append(group)
    settings.write_text(json.dumps(document))
    capsys.readouterr()
    for form in ([], ["--json"]):
        main(["doctor", "claude", "--quick", *form])
        told = capsys.readouterr().out
        assert "evil" in told
        assert not {"\x1b", "\u202e"} & set(told)


def test_live_without_the_agent_could_not_look(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "gemini", "--quick", "--live", "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert findings[-1]["id"] == "live.denial"
    assert (findings[-1]["status"], findings[-1]["agent"]) == ("unknown", "gemini")


def test_a_program_is_some_agents(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--program", "/x"]) == 2
    assert "needs the agent's name" in capsys.readouterr().err


def test_an_agent_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["doctor", "cluade"])
    assert caught.value.code == 2
    assert "claude" in capsys.readouterr().err
