"""`crabhook uninstall`, where it differs from `install` (whose tests try both)."""

import json
from pathlib import Path

import pytest

from crabhook.cli import main


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file, which is not there yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path / ".claude" / "settings.json"


def test_uninstall_gives_back_what_was_there_and_keeps_its_one_backup(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = b'{\n\t"note": "d\xc3\xa9j\xc3\xa0",\n\t"n": [1.0, 1e400, 12345678901234567890]\n}'
    path.parent.mkdir()
    path.write_bytes(original)
    main(["install", "claude"])
    assert main(["uninstall", "claude"]) == 0
    assert path.read_bytes() == original
    backup = path.with_name("settings.json.crabhook-backup")
    assert backup.read_bytes() == original
    assert sorted(path.parent.iterdir()) == [path, backup]
    assert capsys.readouterr().out.count(f"{backup}\n") == 2


def test_uninstalling_what_is_not_there_writes_nothing(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["uninstall", "claude"]) == 0
    assert not path.parent.exists()
    assert "no hooks of crabhook" in capsys.readouterr().out


def test_other_peoples_hooks_stay(path: Path) -> None:
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    path.parent.mkdir()
    path.write_text(json.dumps(theirs))
    main(["install", "claude", "--gate"])
    assert json.loads(path.read_text()) != theirs
    assert main(["uninstall", "claude"]) == 0
    assert json.loads(path.read_text()) == theirs
