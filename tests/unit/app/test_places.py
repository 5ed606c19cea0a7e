"""Where the owner's rule files are."""

from pathlib import Path

import pytest

from crabhook.app.places import rule_files


def test_they_are_among_the_settings_and_our_own_folders_are_protected_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    files = rule_files()
    assert files.user == tmp_path / "config" / "crabhook" / "rules.toml"
    assert set(files.protected.own) == {
        str(tmp_path / "config" / "crabhook"),
        str(tmp_path / "state" / "crabhook"),
        str(tmp_path / "run" / "crabhook"),
    }
