"""Each scope has its file."""

import sys
from pathlib import Path

import pytest

from crabhook.model.errors import InstallError
from crabhook.platforms.claude.settings import settings_path
from crabhook.platforms.installation import SettingsScope

PROJECT = Path("/src/app")


@pytest.mark.parametrize(
    ("scope", "environment", "expected"),
    [
        (SettingsScope.USER, {"HOME": "/home/u"}, "/home/u/.claude/settings.json"),
        (
            SettingsScope.USER,
            {"HOME": "/home/u", "CLAUDE_CONFIG_DIR": "/conf"},
            "/conf/settings.json",
        ),
        (
            SettingsScope.USER,
            {"HOME": "/home/u", "CLAUDE_CONFIG_DIR": ""},
            "/home/u/.claude/settings.json",
        ),
        (SettingsScope.PROJECT, {"CLAUDE_CONFIG_DIR": "/conf"}, "/src/app/.claude/settings.json"),
        (SettingsScope.LOCAL, {}, "/src/app/.claude/settings.local.json"),
    ],
)
def test_a_scope_names_its_file(
    scope: SettingsScope, environment: dict[str, str], expected: str
) -> None:
    assert settings_path(scope, PROJECT, environment) == Path(expected)


def test_a_relative_project_starts_where_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        settings_path(SettingsScope.PROJECT, Path("app"), {})
        == tmp_path / "app/.claude/settings.json"
    )


def test_without_a_home_there_are_no_user_settings() -> None:
    with pytest.raises(InstallError, match="HOME"):
        settings_path(SettingsScope.USER, PROJECT, {})


@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", "/etc/claude-code"), ("darwin", "/Library/Application Support/ClaudeCode")],
)
def test_managed_settings_lie_where_the_platform_has_them_and_nothing_moves_them(
    platform: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    found = settings_path(SettingsScope.MANAGED, PROJECT, {"CLAUDE_CONFIG_DIR": "/conf"})
    assert str(found) == f"{folder}/managed-settings.json"
