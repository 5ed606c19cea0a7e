"""`crabhook uninstall`, where it differs from `install` (whose tests try both)."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from crabhook.cli import main
from tests.support.plain_desk import CRABHOOK
from tests.support.typist import Typist


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


def test_uninstalling_says_what_is_kept_and_how_to_remove_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude"])
    (path.parents[1] / ".local/state/crabhook").mkdir(parents=True)
    capsys.readouterr()
    assert main(["uninstall", "claude"]) == 0
    kept = capsys.readouterr().out
    assert f"{path.parents[1]}/.local/state/crabhook" in kept
    assert "crabhook uninstall --all" in kept


class Everything:
    """A home with hooks, rules, a record and a backup; an uninstallation in a process of its own."""

    def __init__(self, path: Path) -> None:
        self.home, self.path = path.parents[1], path
        path.parent.mkdir()
        path.write_text('{"note": 1}\n')
        main(["install", "claude"])
        self.backup = path.with_name("settings.json.crabhook-backup")
        self.folders = [self.home / ".config/crabhook", self.home / ".local/state/crabhook"]
        for folder in self.folders:
            (folder / "below").mkdir(parents=True)
        (self.home / ".config/other").mkdir()
        self.environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.home)}
        self.environment["XDG_RUNTIME_DIR"] = str(self.home / "run")

    def is_whole(self) -> bool:
        return self.backup.exists() and all((one / "below").exists() for one in self.folders)


@pytest.mark.process
def test_all_of_it_goes_once_a_person_has_said_yes(path: Path) -> None:
    home = Everything(path)
    with Typist((CRABHOOK, "uninstall", "--all"), home.environment) as person:
        person.answer("[y/N] ", "y\n")
        code, output, errors = person.finish()
    assert code == 0, errors
    assert str(home.folders[1]) in output
    assert path.read_text() == '{"note": 1}\n'
    assert not any(one.exists() for one in (home.backup, *home.folders))
    assert (home.home / ".config/other").is_dir()


@pytest.mark.process
@pytest.mark.parametrize("answer", ["n\n", "\n", None])
def test_without_a_persons_yes_nothing_goes(path: Path, answer: str | None) -> None:
    home = Everything(path)
    words = (CRABHOOK, "uninstall", "--all")
    if answer is None:
        done = subprocess.run(
            words,
            input=b"y\n",
            env=home.environment,
            capture_output=True,
            timeout=60,
            check=False,
            start_new_session=True,
        )
        code = done.returncode
    else:
        with Typist(words, home.environment) as person:
            person.answer("[y/N] ", answer)
            code, _, _ = person.finish()
    assert code != 0
    assert home.is_whole()
