"""Whether the hook is installed, whole and as this version writes it; and what mends it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crabhook.doctor.checks.installed import (
    current,
    installed,
    readable,
    signed,
    strict_hooks_of,
)
from crabhook.doctor.finding import Status
from crabhook.model.actor import Role
from tests.support.team import founded
from tests.unit.doctor.home import Home, is_well, typist


@pytest.mark.process
def test_no_hook_is_a_fault_that_installing_mends(home: Home) -> None:
    finding = home.look(installed)
    assert (finding.status, finding.id) == (Status.FAULT, "hook.installed")
    assert "asks no operator" in finding.means
    home.mend(finding)
    assert is_well(home.look(installed))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--gate",), "gate"),
        (("--companion",), "companion"),
        (("--gate", "--fail-closed"), "gate, fail-closed"),
    ],
)
def test_what_is_installed_is_told(home: Home, options: tuple[str, ...], told: str) -> None:
    home.install(*options)
    finding = home.look(installed)
    assert is_well(finding)
    assert finding.what == f"in {home.settings} (user): 32 events, {told}"
    assert finding.figures["events"] == 32


@pytest.mark.parametrize("agent", ["gemini", "codex", "qwen", "copilot"])
def test_every_agent_s_hooks_are_found(home: Home, agent: str) -> None:
    home.install(agent=agent)
    (finding,) = installed(home.case(agent))
    assert is_well(finding)
    (finding,) = current(home.case(agent))
    assert is_well(finding)


@pytest.mark.process
@pytest.mark.parametrize("text", ["{", '{"hooks": 1}', '{"a": 1, "a": 2}', "{\n  // mine\n}"])
def test_settings_that_cannot_be_read_are_a_fault_that_editing_mends(home: Home, text: str) -> None:
    home.write(home.settings, text)
    finding = home.look(readable)
    assert (finding.status, str(home.settings) in finding.what) == (Status.FAULT, True)
    home.mend(finding, editor=typist(home.folder, "{}"))
    assert is_well(home.look(readable))


def test_where_there_are_no_settings_there_is_nothing_to_say(home: Home) -> None:
    assert list(readable(home.case())) == []


def hooks(home: Home) -> dict[str, Any]:
    """All that is hooked; a shell finds our interpreter by another of its names."""
    hooks: dict[str, Any] = json.loads(home.settings.read_text())["hooks"]
    for group in (group for groups in hooks.values() for group in groups):
        for handler in group["hooks"]:
            handler["command"] = str(Path(handler["command"]).resolve())
    return hooks


def old_options(settings: dict[str, Any]) -> object:
    return settings["hooks"]["Stop"][0]["hooks"][0].update(command="/old/python")


def fewer_events(settings: dict[str, Any]) -> object:
    return settings["hooks"].pop("Stop")


def narrower(settings: dict[str, Any]) -> object:
    return settings["hooks"]["PreToolUse"][0].update(matcher="Bash")


def twice(settings: dict[str, Any]) -> object:
    return settings["hooks"]["PreToolUse"].extend(settings["hooks"]["PreToolUse"])


@pytest.mark.process
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_companion_of_before_that_asks_no_rule_before_a_call_is_a_fault(
    home: Home, agent: str
) -> None:
    home.install("--companion", agent=agent)

    def as_before(settings: dict[str, Any]) -> None:
        if agent == "codex":
            del settings["hooks"]["PreToolUse"]
        else:
            settings["hooks"]["PreToolUse"][0]["matcher"] = "AskUserQuestion|ExitPlanMode"

    home.change(
        as_before, home.settings if agent == "claude" else home.folder / ".codex" / "hooks.json"
    )
    (finding,) = current(home.case(agent))
    assert (finding.status, "PreToolUse is " in finding.what) == (Status.FAULT, True)
    home.mend(finding)
    (finding,) = current(home.case(agent))
    assert is_well(finding)


def gone(settings: dict[str, Any]) -> object:
    return settings["hooks"].pop("PreToolUse")


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        (old_options, Status.WARNING, "Stop is written otherwise"),
        (fewer_events, Status.WARNING, "Stop is missing"),
        (narrower, Status.FAULT, "PreToolUse is written otherwise"),
        (twice, Status.FAULT, "PreToolUse is written otherwise"),
        (gone, Status.FAULT, "PreToolUse is missing"),
    ],
)
def test_other_entries_than_this_version_writes_are_mended_by_installing_them_again(
    home: Home, change: Callable[[dict[str, Any]], object], status: Status, told: str
) -> None:
    home.install("--gate", "--fail-closed", "--wait", "120")
    as_it_was = hooks(home)
    home.change(change)
    finding = home.look(current)
    assert (finding.status, told in finding.what) == (status, True)
    home.mend(finding)
    assert is_well(home.look(current))
    assert hooks(home) == as_it_was


@pytest.mark.process
def test_a_project_s_hooks_are_mended_in_the_project(home: Home) -> None:
    home.install("--scope", "local", "--gate")
    path = home.project / ".claude" / "settings.local.json"
    home.change(gone, path)
    finding = home.look(current)
    assert "--scope local" in finding.mend
    home.mend(finding)
    assert is_well(home.look(current))
    assert not home.settings.exists()


def test_people_without_a_key_that_signs_are_warned_of_where_hooks_are_strict(home: Home) -> None:
    team = founded(home.folder / "team", 1_800_000_000.0)
    for name in ("ann", "bob", "cem"):
        team.let_in(name)
    team.let_in("dan", Role.VIEWER)
    team.forget_signing("bob", "dan")
    team.revoke("cem")
    home.install("--strict", "--team", str(team.folder.team))
    (warned,) = [one for one in signed(home.case()) if "no key signs" in one.what]
    assert (warned.status, warned.what) == (Status.WARNING, "no key signs decisions for bob")
    assert "crabhook team invite NAME" in warned.advice


def test_strict_hooks_are_found_once_with_what_they_check_by(home: Home) -> None:
    team = founded(home.folder / "team", 1_800_000_000.0)
    team.let_in("ann")
    home.install("--gate")
    assert strict_hooks_of([home.case()]) == ()
    home.install("--strict", "--team", str(team.folder.team))
    (strict,) = strict_hooks_of([home.case(), home.case()])
    assert strict.team == str(team.folder.team)


def test_the_team_file_of_strict_hooks_is_looked_at(home: Home) -> None:
    team = founded(home.folder / "team", 1_800_000_000.0)
    team.let_in("ann")
    team.let_in("bob")
    path = team.folder.team
    home.install("--strict", "--team", str(path), "--need", "2")

    def told() -> set[str]:
        return {f"{finding.status} {finding.what}" for finding in signed(home.case())}

    assert f"ok {path}: ann, bob can sign" in told()
    path.chmod(0o666)
    assert any(finding.startswith("warning not only root") for finding in told())
    path.chmod(0o600)
    before = path.read_bytes()
    team.revoke("bob")
    assert "fault 2 people have to sign, and the team file has ann" in told()
    for content, why in ((before[:-1], "has not signed it"), (b"{}", "not what this version")):
        path.write_bytes(content)
        assert all(finding.startswith("fault") and why in finding for finding in told())
    home.install("--gate")
    assert told() == set()
