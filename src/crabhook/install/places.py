"""Where Claude Code keeps its settings, scope by scope."""

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from crabhook.install.errors import InstallError


class Scope(StrEnum):
    """Whom a settings file is for."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"
    MANAGED = "managed"  # everybody's on this machine; only its owner may write there


_MANAGED: Mapping[str, str] = {"darwin": "/Library/Application Support/ClaudeCode"}
"""The folder of the managed settings, by platform; on any other it is in /etc."""

_IN_PROJECT = {Scope.PROJECT: "settings.json", Scope.LOCAL: "settings.local.json"}


def settings_path(scope: Scope, project: Path, environment: Mapping[str, str]) -> Path:
    """Return the absolute path of Claude Code's settings file for `scope`.

    CLAUDE_CONFIG_DIR moves the user's own settings, as it does for Claude Code; nothing
    moves the managed ones.
    Raises InstallError where there is no home to look in.
    """
    if scope is Scope.MANAGED:
        return Path(_MANAGED.get(sys.platform, "/etc/claude-code"), "managed-settings.json")
    if scope in _IN_PROJECT:
        return project.absolute() / ".claude" / _IN_PROJECT[scope]
    if folder := environment.get("CLAUDE_CONFIG_DIR"):
        return Path(folder).absolute() / "settings.json"
    if home := environment.get("HOME"):
        return Path(home).absolute() / ".claude" / "settings.json"
    raise InstallError("HOME is not set, so there are no user settings; name a --scope")
