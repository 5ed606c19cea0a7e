"""The doctor looks where the agent does, and starts and asks only what its owner has named."""

import json
from pathlib import Path

import pytest

from crabhook.doctor.facts import InspectedSettings, read
from crabhook.platforms.installation import SettingsScope
from tests.unit.doctor.home import Home


def test_every_scope_is_looked_at_and_ours_told_from_others(home: Home) -> None:
    home.install("--gate")
    home.install("--scope", "project")
    home.change(lambda it: it["hooks"]["Stop"].append({"hooks": [{"type": "command"}]}))
    case = home.case()
    assert [one.scope for one in case.settings if one.scope] == list(SettingsScope)
    assert [one.scope for one in case.hooked] == [SettingsScope.USER, SettingsScope.PROJECT]
    assert [one.event for one in case.settings[0].others] == ["Stop"]
    assert case.entries[0].event in case.agent.decided


def test_the_home_folder_as_a_project_is_read_once(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.install()
    home.project = home.folder
    found = home.case().settings
    assert [one.scope for one in found if one.scope] == [
        SettingsScope.USER,
        SettingsScope.LOCAL,
        SettingsScope.MANAGED,
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ""),
        ("{}", ""),
        ("{", "line 1"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": {"Stop": [{"hooks": [1]}]}}', "hooks.Stop[0].hooks[0] is not an object"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    found = read(path, SettingsScope.USER)
    assert problem in found.problem
    assert bool(found.problem) == bool(problem)
    assert (found.ours, found.others) == ((), ())


def test_no_file_is_no_problem(tmp_path: Path) -> None:
    assert read(tmp_path / "none", None) == InspectedSettings(tmp_path / "none", None)


def test_a_timeout_is_in_the_agents_own_unit(home: Home) -> None:
    home.install("--wait", "60", "--gate")
    home.install("--wait", "60", agent="gemini")
    home.install("--wait", "60", "--gate", agent="codex")
    for agent in ("claude", "gemini", "codex"):
        case = home.case(agent)
        assert case.patience(case.entries[0]) == 120
    home.change(lambda it: it["hooks"]["PreToolUse"][0]["hooks"][0].pop("timeout"))
    case = home.case()
    assert case.patience(case.entries[0]) == 600


class TestAProject:
    """It is cloned from anywhere, so what its settings name is not simply started."""

    def hostile(self, home: Home, handler: dict[str, object]) -> None:
        path = home.project / ".claude" / "settings.json"
        document = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", **handler}]}]}}
        home.write(path, document)

    @pytest.mark.parametrize(
        "handler",
        [
            {"command": "/tmp/evil", "args": ["/x/crabhook/hook/run.py"]},
            {"command": "/tmp/evil/crabhook --wait 5; rm -rf x"},
            {"command": "PY", "args": ["-c", "import evil", "STUB"]},
            {"command": "PY", "args": ["-I", "-S", "-c", "import evil", "STUB"]},
        ],
    )
    def test_its_programs_are_not_started(self, home: Home, handler: dict[str, object]) -> None:
        home.install("--gate")
        words = json.dumps(handler)
        ours = home.handlers()[0]
        words = words.replace("PY", ours["command"]).replace("STUB", ours["args"][4])
        self.hostile(home, json.loads(words))
        case = home.case()
        theirs = [one for one in case.entries if one in case.hooked[1].ours]
        assert theirs
        assert not any(map(case.may_start, theirs))
        assert all(map(home.case(trusting=True).may_start, theirs))
        assert all(map(case.may_start, case.hooked[0].ours))

    @pytest.mark.parametrize(
        ("options", "may"),
        [
            ("--server unix:/x", True),
            ("--server unix:/x --token-file /home/me/token", False),
            ("--server unix:/x --tls-ca /ca", False),
            ("--server evil.example:443", False),
        ],
    )
    def test_its_servers_are_not_shown_a_token(self, home: Home, options: str, may: bool) -> None:
        self.hostile(home, {"command": f"crabhook {options}"})
        case = home.case()
        assert case.may_ask(case.entries[0]) is may
        home.write(home.settings, (home.project / ".claude" / "settings.json").read_text())
        assert home.case().may_ask(home.case().hooked[0].ours[0])

    def test_what_our_installer_wrote_there_is_started(self, home: Home) -> None:
        home.install("--scope", "project", "--gate")
        case = home.case()
        assert all(map(case.may_start, case.entries))
        assert all(map(case.may_ask, case.entries))
