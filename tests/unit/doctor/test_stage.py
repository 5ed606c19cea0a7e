"""The stage has a server, rules and hooks of its own, and is struck afterwards."""

import json

import pytest

from crabhook.doctor.live_check import stage
from crabhook.doctor.processes import ProgramError, ask
from crabhook.hook import Options
from tests.support.examples import share
from tests.unit.doctor.home import Home

pytestmark = pytest.mark.process

WHERE = "crabhook.doctor.live_check.WHERE"


@pytest.mark.parametrize(
    ("agent", "file"),
    share(
        [
            ("claude", ".claude/settings.json"),
            ("gemini", ".gemini/settings.json"),
            ("codex", ".codex/hooks.json"),
        ],
        0,
    ),
)
@pytest.mark.usefixtures("home")
def test_a_server_listens_hooks_ask_it_and_then_there_is_nothing(agent: str, file: str) -> None:
    options = Options()
    with stage(agent) as one:
        options.server = one.server
        assert ask(options).there
        assert json.loads((one.folder / file).read_text())["hooks"]
        assert one.server in (one.folder / file).read_text()
        one.write("settings.json", {"a": 1})
        one.write("settings.json", {"b": 2})
        assert json.loads((one.folder / "settings.json").read_text()) == {"a": 1, "b": 2}
    assert not ask(options).there
    assert not one.folder.exists()


def test_nothing_of_the_users_environment_is_there(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home.config))
    with stage("claude") as one:
        assert "hush" not in one.environment.values()
        assert set(one.environment) - {"PYTHONPATH"} == {
            "HOME",
            "TMPDIR",
            "XDG_RUNTIME_DIR",
            "PATH",
            "LANG",
            "TERM",
        }


def test_what_cannot_be_set_up_says_why_and_leaves_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = home.folder / "stages"
    stages.mkdir()
    monkeypatch.setattr(WHERE, str(stages))
    with pytest.raises(ProgramError, match="there is no agent 'nobody'"), stage("nobody"):
        pytest.fail("it was set up")
    assert list(stages.iterdir()) == []
