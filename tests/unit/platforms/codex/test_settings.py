"""Our entries in Codex's hooks.json, and what a shell makes of their lines."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crabhook.install.entries import count, is_ours, with_hooks, without_hooks
from crabhook.install.program import stub
from crabhook.install.settings_file import read_settings
from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.platforms import PLATFORMS
from crabhook.platforms.codex.events import EVENTS
from crabhook.platforms.codex.settings import (
    groups,
    settings_path,
    troubles,
)
from crabhook.platforms.event_table import decided
from crabhook.platforms.installation import Installation, SettingsScope, observed, waiting
from tests.support.client import SAMPLES
from tests.support.codex_grammar import Fate, fate

DECIDED = decided(EVENTS)
HOLDABLE = waiting(EVENTS)
OBSERVED = {name: EVENTS[name].hook for name in observed(EVENTS)}

PYTHON, STUB = "/opt/a venv/bin/python", "/opt/a venv/lib/crabhook/hook/run.py"
FOREIGN = {
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]
    }
}
STANCES = (Stance.COMPANION, Stance.GATE)
KNOWN = {"type", "command", "timeout", "statusMessage"}


def entries(stance: Stance = Stance.GATE, **more: Any) -> dict[str, Any]:
    return dict(groups(Installation(PYTHON, STUB, stance=stance, **more)))


def handler(group: Any) -> dict[str, Any]:
    (one,) = group["hooks"]
    return dict(one)


@pytest.mark.parametrize("stance", STANCES)
def test_every_event_is_hooked_in_every_stance(stance: Stance) -> None:
    assert set(entries(stance)) == set(EVENTS)
    assert set(HOLDABLE) == set(PLATFORMS["codex"].holdable())


@pytest.mark.parametrize("stance", STANCES)
def test_a_handler_has_only_keys_that_codex_knows_and_is_known_as_ours(stance: Stance) -> None:
    for group in entries(stance).values():
        assert set(group) == {"hooks"}  # no matcher: every tool, and every source
        one = handler(group)
        assert set(one) <= KNOWN
        assert is_ours(one)
        assert ("--companion" in one["command"]) == (stance is Stance.COMPANION)


def test_timeouts_are_whole_seconds_and_ours_is_always_the_shorter() -> None:
    for event, group in entries(wait=100).items():
        one = handler(group)
        words = shlex.split(one["command"])
        client = int(words[words.index("--wait") + 1])
        assert isinstance(one["timeout"], int)
        assert client < one["timeout"]
        if event in ("SessionEnd", "Interrupt"):
            assert one["timeout"] == 3  # all that Codex gives them
        assert (one["timeout"] == 160) == (event not in OBSERVED)


def test_what_decides_says_what_it_waits_for_and_nothing_else_does() -> None:
    said = {event for event, group in entries().items() if "statusMessage" in handler(group)}
    assert said == set(DECIDED)


def run(line: str, event: str) -> subprocess.CompletedProcess[bytes]:
    payload = {"session_id": "s", "hook_event_name": event, "cwd": "/", "tool_name": "Bash"}
    return subprocess.run(
        ["/bin/sh", "-c", line],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env={},
        timeout=60,
        check=False,
    )


@pytest.mark.process
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "Stop", "SessionEnd"])
def test_the_line_runs_the_client_which_denies_only_where_it_was_told_to(
    event: str, closed: bool, tmp_path: Path
) -> None:
    installation = Installation(
        sys.executable,
        stub(),
        stance=Stance.GATE,
        fail_closed=closed,
        server=f"unix:{tmp_path}/no body",
    )
    ran = run(handler(groups(installation)[event])["command"], event)
    denies = closed and event in DECIDED
    assert fate(event, ran.stdout) is (Fate.DENIED if denies else Fate.NOTHING)
    assert ran.returncode == 0
    assert b"no body" in ran.stderr


@pytest.mark.process
@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "Stop"])
def test_where_crabhook_is_gone_a_hook_that_fails_closed_still_denies(event: str) -> None:
    ran = run(handler(entries(fail_closed=True)[event])["command"], event)
    denies = event in DECIDED
    assert fate(event, ran.stdout) is (Fate.DENIED if denies else Fate.NOTHING)
    assert ran.returncode != 2  # which blocks


def test_installing_twice_is_installing_once_and_foreign_hooks_stay() -> None:
    before = json.dumps(FOREIGN, indent=2) + "\n"
    once = with_hooks(before, entries())
    assert with_hooks(once, entries()) == once
    assert json.loads(once)["hooks"]["PreToolUse"][0] == FOREIGN["hooks"]["PreToolUse"][0]
    assert count(once) == len(EVENTS)
    assert json.loads(without_hooks(once)) == FOREIGN


@pytest.mark.parametrize(
    ("scope", "environment", "expected"),
    [
        (SettingsScope.USER, {"HOME": "/home/u"}, "/home/u/.codex/hooks.json"),
        (SettingsScope.USER, {"HOME": "/home/u", "CODEX_HOME": "/conf"}, "/conf/hooks.json"),
        (SettingsScope.PROJECT, {"CODEX_HOME": "/conf"}, "/src/app/.codex/hooks.json"),
    ],
)
def test_a_scope_names_its_file(
    scope: SettingsScope, environment: dict[str, str], expected: str
) -> None:
    assert settings_path(scope, Path("/src/app"), environment) == Path(expected)


@pytest.mark.parametrize(
    ("scope", "words"), [(SettingsScope.LOCAL, "scope local"), (SettingsScope.USER, "HOME")]
)
def test_what_codex_has_not_is_refused(scope: SettingsScope, words: str) -> None:
    with pytest.raises(InstallError, match=words):
        settings_path(scope, Path("/src/app"), {})


def test_text_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(InstallError, match="UTF-8"):
        entries(server="unix:/\udcff")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("[features]\nhooks = false\n", "switches every hook off"),
        ('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\n', "holds hooks too"),
        ('approval_policy = "never"\n', "Without --gate only calls are held"),
        ("not toml", "cannot be read"),
    ],
)
def test_what_the_settings_beside_make_of_our_hooks_is_said(
    settings: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text(settings)
    (said,) = troubles(tmp_path / "hooks.json", read_settings)
    assert words in said


@pytest.mark.parametrize(
    "settings",
    [None, "", '[hooks.state."a:b"]\ntrusted_hash = "x"\n', "[features]\nhooks = true\n", "hooks = 7\n"],
)  # fmt: skip
def test_ordinary_settings_beside_are_passed_over(settings: str | None, tmp_path: Path) -> None:
    if settings is not None:
        (tmp_path / "config.toml").write_text(settings)
    assert list(troubles(tmp_path / "hooks.json", read_settings)) == []


def test_every_recorded_event_is_one_that_is_hooked() -> None:
    recorded = {
        json.loads(file.read_text())["hook_event_name"]
        for file in (SAMPLES / "codex").glob("*.json")
    }
    assert recorded <= set(entries())
