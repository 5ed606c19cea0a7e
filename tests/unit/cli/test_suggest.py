"""`crabhook rules suggest`: from a real record to a rule in a real file."""

import json
import shlex
import time
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from crabhook.cli import consent, main, past
from crabhook.store.record import Entry
from tests.unit.cli.pastrecord import decided, write

DAY = 86_400
ODD = "/srv/it's here"
HOSTILE = "/srv/\x1b[2J\u202e"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's rules go; none are there yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "config" / "crabhook" / "rules.toml"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "crabhook"


def lately(command: str, verdict: str = "allow", days: float = 1, cwd: str = "/srv/shop") -> Entry:
    return decided(command, verdict, at=time.time() - days * DAY, cwd=cwd)


LOGS = [f"git log -n {number}" for number in range(3)]
LISTS = [f"ls {number}" for number in range(4)]


def call(*words: str) -> int:
    return main(["rules", *words])


def agreed(*words: str) -> tuple[int, str]:
    """Do what asks for a yes, and say yes; return the exit code and what was printed.

    That it is asked on the terminal alone is in tests/integration/test_consent.py.
    """
    with (
        patch.object(consent, "agrees", return_value=True) as asks,
        redirect_stdout(StringIO()) as shown,
    ):
        code = call(*words)
    asks.assert_called_once()
    return code, shown.getvalue()


def written(file: Path) -> list[dict[str, object]]:
    listed = tomllib.loads(file.read_text())["rule"]
    assert isinstance(listed, list)
    return listed


def test_suggestions_are_numbered_with_the_line_that_writes_each(
    file: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state, *map(lately, LOGS), *map(lately, LISTS), lately("cat a"))
    assert call("suggest") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("You allowed 8 calls yourself, 8 of them different. ")
    assert "  1  `ls` with any arguments, in /srv/shop\n     covers 4 decisions of yours\n" in shown
    assert "  2  `git log` with any arguments, in /srv/shop\n" in shown
    assert "such as: git log -n 2  |  git log -n 1  |  git log -n 0" in shown
    assert "crabhook rules add allow 'Bash(git log *)' --expires 20" in shown
    assert not file.exists()


@pytest.mark.process
@pytest.mark.parametrize("cwd", ["/srv/shop", ODD])
def test_the_line_that_is_shown_writes_the_rule_that_is_meant(
    file: Path, state: Path, capsys: pytest.CaptureFixture[str], cwd: str
) -> None:
    write(state, *(lately(one, cwd=cwd) for one in ("ls 'a b'; cat x", "ls; cat y", "ls z; cat w")))
    call("suggest")
    (line,) = [one for one in capsys.readouterr().out.splitlines() if "rules add" in one]
    words = shlex.split(line)
    assert words[:3] == ["crabhook", "rules", "add"]
    assert agreed(*words[2:])[0] == 0
    (pasted,) = written(file)
    assert pasted["match"] == ["Bash(ls *)", "Bash(cat *)"]
    assert pasted["scope"] == {"project": [cwd]}
    file.unlink()
    assert agreed("suggest", "--add", "1")[0] == 0
    (added,) = written(file)
    assert (added["match"], added["scope"]) == (pasted["match"], pasted["scope"])


@pytest.mark.process
def test_what_cannot_be_shown_is_not_offered_as_a_line_to_paste(
    file: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state, *(lately(one, cwd=HOSTILE) for one in LOGS))
    call("suggest")
    shown = capsys.readouterr().out
    assert shown.replace("\n", "").isprintable()
    assert "rules add" not in shown
    assert "\n     crabhook rules suggest --add 1\n" in shown
    assert call("suggest", "--json") == 0
    assert capsys.readouterr().out.isascii()
    assert agreed("suggest", "--add", "1")[0] == 0
    assert written(file)[0]["scope"] == {"project": [HOSTILE]}


@pytest.mark.process
def test_several_are_written_at_once_and_a_number_that_is_none_writes_nothing(
    file: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state, *map(lately, LOGS), *map(lately, LISTS))
    assert call("suggest", "--add", "1", "3") == 1
    assert "there is no suggestion 3: there are 2" in capsys.readouterr().err
    assert call("suggest", "--add", "0") == 1
    assert not file.exists()
    code, shown = agreed("suggest", "--add", "2", "1", "2")
    assert code == 0
    assert [one["match"] for one in written(file)] == ["Bash(git log *)", "Bash(ls *)"]
    assert f"Added to {file}, line 1: allow Bash(git log *)" in shown
    assert call("suggest") == 0
    assert "No rule would have served 3 times" in capsys.readouterr().out


def test_what_was_denied_ever_speaks_against_a_rule_whenever_it_was(
    state: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state, lately("git log --patch x", "deny", days=90), *map(lately, LOGS))
    call("suggest", "--since", "7d", "--last", "3")
    shown = capsys.readouterr().out
    assert "rules add" not in shown
    call("suggest", "--with-denials")
    shown = capsys.readouterr().out
    assert "'Bash(git log *)'" in shown
    assert "WOULD LET THROUGH WHAT WAS DENIED: " in shown
    assert "#7 Bash git log --patch x" in shown
    assert "None of these lets through" not in shown


@pytest.mark.parametrize(
    ("words", "allows"), [([], 7), (["--since", "3d"], 3), (["--last", "2"], 2), (["--since", "60d"], 8)]
)  # fmt: skip
def test_which_decisions_are_looked_at_can_be_chosen(
    state: Path, file: Path, capsys: pytest.CaptureFixture[str], words: list[str], allows: int
) -> None:
    old = [lately(one, days=10) for one in LISTS]
    write(state, lately("cat a", days=50), *old, *map(lately, LOGS))
    call("suggest", "--json", *words)
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["counts"]["allows"] == allows


def test_of_many_denials_some_are_shown_and_the_others_counted(
    state: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state, *(lately(f"git log {n}", "deny") for n in range(7)), *map(lately, LOGS))
    call("suggest", "--with-denials")
    shown = capsys.readouterr().out
    assert shown.count("WOULD LET THROUGH") == 5
    assert "AND 2 OTHER CALLS THAT WERE DENIED" in shown


def test_as_json_each_is_a_line_with_what_it_would_have_done(
    state: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(state, *map(lately, LOGS), lately("git log -p", "deny"))
    call("suggest", "--json", "--with-denials", "--at-least", "2")
    one, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (one["match"], one["project"]) == (["Bash(git log *)"], ["/srv/shop"])
    assert (one["covered"], one["spares"], one["adds"]) == (3, 3, 3)
    assert [denied["input"] for denied in one["denials"]] == [{"command": "git log -p"}]
    assert shlex.split(one["command"])[3:5] == ["allow", "Bash(git log *)"]
    assert last["counts"] == {"allows": 3, "different": 3, "looked_at": 3, "decided": 0}


def test_a_cut_is_said(
    state: Path,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(past, "DISTINCT", 2)
    write(state, *map(lately, LOGS))
    call("suggest")
    assert "Only the 2 most frequent of the different calls" in capsys.readouterr().out


def test_without_a_record_it_says_so(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("suggest") == 1
    assert "there is no record" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--at-least", "x"], ["--since", "soon"], ["--add"]])
def test_what_cannot_be_understood_ends_with_a_usage(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        call("suggest", *words)
    assert caught.value.code == 2
