"""`crabhook install --strict`: what is written, what is refused, and that it goes again."""

import json
from pathlib import Path

import pytest

from crabhook.cli import main
from crabhook.hook import read_options
from tests.support.rows import every_row
from tests.support.team import Founded, founded

HOOKED = ["claude", "codex", "gemini", "qwen", "copilot"]


@pytest.fixture(autouse=True)
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Founded:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "QWEN_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    made = founded(tmp_path / "team", 1_800_000_000.0)
    made.let_in("ann")
    made.let_in("bob")
    return made


@every_row("agent", HOOKED)
def test_hooks_of_every_agent_that_starts_commands_can_be_strict(
    agent: str, team: Founded, capsys: pytest.CaptureFixture[str]
) -> None:
    strict = ["--strict", "--team", str(team.folder.team), "--need", "2"]
    strict += ["--of", "bob, ann"]
    assert main(["install", agent, *strict]) == 0
    assert "2 people of bob, ann" in capsys.readouterr().out
    assert main(["install", agent, *strict, "--dry-run"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["uninstall", agent]) == 0


def test_what_nobody_signed_is_denied_by_hooks_that_fail_closed(
    tmp_path: Path, team: Founded
) -> None:
    strict = ["--strict", "--team", "team/team", "--fail-closed"]
    assert main(["install", "claude", *strict]) == 0
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    for event, wish in (("PreToolUse", "deny"), ("PermissionRequest", "deny"), ("Stop", "")):
        options = read_options(hooks[event][0]["hooks"][0]["args"][5:], {})
        assert not options.problem
        assert (options.team, options.when_unsigned) == (str(team.folder.team), wish)


def test_what_cannot_be_strict_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, why in (
        (["claude", "--strict"], "--strict needs --team"),
        (["claude", "--team", "team/team"], "go with --strict"),
        (["claude", "--need", "2"], "go with --strict"),
        (["claude", "--of", "ann"], "go with --strict"),
        (["claude", "--strict", "--team", "none"], "there is no team file"),
        (["claude", "--strict", "--team", "team/team", "--transport", "http"], "no signatures"),
        (["opencode", "--strict", "--team", "team/team"], "no signatures"),
        (["codex", "--strict", "--team", "team/team", "--when-unsigned", "ask"], "cannot be told"),
        (["claude", "--strict", "--team", "team/team", "--need", "3"], "has 2 who can"),
        (["claude", "--strict", "--team", "team/team", "--of", "@leads"], "of @leads"),
    ):
        assert main(["install", *arguments]) == 1, arguments
        assert why in capsys.readouterr().err
    for wrong in (["--need", "0"], ["--of", "ann,"]):
        with pytest.raises(SystemExit):
            main(["install", "claude", "--strict", "--team", "team/team", *wrong])


def test_a_team_is_exported_for_the_machines_of_agents(
    tmp_path: Path, team: Founded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "state" / "crabhook").mkdir(parents=True)
    team.folder.path.rename(tmp_path / "state" / "crabhook" / "team")
    assert main(["team", "export", str(tmp_path / "out")]) == 0
    for name in ("team", "authority.pem"):
        assert (tmp_path / "out" / name).stat().st_mode & 0o777 == 0o644
    assert main(["install", "claude", "--strict", "--team", "out/team"]) == 0
