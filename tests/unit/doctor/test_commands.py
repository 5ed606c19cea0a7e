"""The commands that mend can be pasted into a shell, and mean what was meant."""

import argparse
import shlex
import sys
from pathlib import Path

import pytest

from crabhook.cli.install import add_arguments
from crabhook.doctor.finding import (
    chmod_command,
    crabhook_command,
    edit_command,
    install_command,
    uninstall_command,
)
from crabhook.model.card import Stance
from crabhook.platforms.installation import Installation, SettingsScope
from tests.unit.doctor.home import Home


def test_our_own_command_is_named_shortly_where_that_finds_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert crabhook_command("serve", "--listen", "unix:/a b") == (
        "crabhook serve --listen 'unix:/a b'"
    )
    monkeypatch.setenv("PATH", "/nowhere")
    assert crabhook_command("serve") == f"{shlex.quote(sys.executable)} -m crabhook serve"


@pytest.mark.parametrize(
    "how",
    [
        Installation("", "", Stance.GATE),
        Installation("", "", Stance.COMPANION, fail_closed=True, wait=60),
        Installation("", "", Stance.GATE, False, 3600, "h:1", "/a token", "/c a"),
    ],
)
def test_what_was_installed_is_installed_once_more(home: Home, how: Installation) -> None:
    words = shlex.split(install_command("claude", SettingsScope.LOCAL, Path("/pro ject"), how))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    asked = parser.parse_args(words[2:])
    assert words[:2] == ["crabhook", "install"]
    assert (asked.agent, asked.scope, asked.project) == ("claude", "local", Path("/pro ject"))
    told = (asked.stance, asked.fail_closed, asked.wait, asked.server)
    assert told == (how.stance, how.fail_closed, how.wait, how.server)
    assert (asked.token_file, asked.tls_ca) == (how.token_file, how.tls_ca)


def test_the_usual_way_is_said_shortly(home: Home) -> None:
    assert install_command("claude", SettingsScope.USER, home.project) == "crabhook install claude"
    assert uninstall_command("codex", SettingsScope.PROJECT, home.project) == (
        "crabhook uninstall codex --scope project"
    )
    gate = Installation("", "", Stance.GATE)
    assert (
        install_command("gemini", SettingsScope.USER, home.project, gate)
        == "crabhook install gemini"
    )


def test_an_editor_is_opened_where_the_problem_is() -> None:
    path = Path("/a b/rules.toml")
    assert edit_command(path, "rules.toml, line 7: no") == "${EDITOR:-vi} +7 '/a b/rules.toml'"
    assert edit_command(path, "it is not UTF-8") == "${EDITOR:-vi} '/a b/rules.toml'"
    assert chmod_command("700", path) == "chmod 700 '/a b/rules.toml'"
