"""What widens the rules takes a person, in whatever spelling an agent's shell starts it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.examples import share
from tests.support.plain_desk import CRABHOOK
from tests.support.typist import Typist, agree

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

PASSPHRASE = "one long passphrase for this test"
OTHER = "a passphrase that an agent chose"
DENIAL = '[[rule]]\nverdict = "deny"\nmatch = "Bash(git push *)"\n'
PYTHON = shlex.quote(sys.executable)
PROGRAM = shlex.quote(CRABHOOK)
CODE = "import sys, crabhook.cli as c; sys.exit(c.main(['rules', 'add', 'allow', 'Bash(x *)']))"
SPELLINGS = {
    "program": f"{PROGRAM} rules add allow 'Bash(x *)'",
    "module": f"{PYTHON} -m crabhook rules add allow 'Bash(x *)'",
    "glued": f"{PYTHON} -mcrabhook rules add allow 'Bash(x *)'",
    "bundled": f"{PYTHON} -Bmcrabhook rules add allow 'Bash(x *)'",
    "entry": f"sh {PROGRAM} rules add allow 'Bash(x *)'",
    "code": f"{PYTHON} -c {shlex.quote(CODE)}",
    "yes": f"yes | {PROGRAM} rules add allow 'Bash(x *)'",
    "wrapped": f"env CI=1 nice {PROGRAM} rules add allow 'Bash(x *)'",
    "computed": f"a=add; p={PROGRAM}; \"$p\" rules $a allow 'Bash(x *)'",
    "xargs": f"echo rules add pass 'Bash' --anyway | xargs {PROGRAM}",
    "removed": f"{PROGRAM} rules remove 1",
    "linked": f"ln -s {PROGRAM} ./git && ./git rules add allow Read",
    "trusted": f"{PROGRAM} rules trust --full .",
    "background": f"({PROGRAM} rules add allow 'Bash(x *)' <<< y; echo $? > code) & wait; exit $(cat code)",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a denial among its rules, and a project that would allow more."""
    rules = tmp_path / ".config" / "crabhook" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text(DENIAL)
    theirs = tmp_path / "app" / ".crabhook" / "rules.toml"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(DENIAL.replace("deny", "allow"))
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(home)}


def shell(home: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line as an agent does: no terminal, and a yes on standard input."""
    return subprocess.run(
        ["bash", "-c", line],
        input="y\ny\nyes\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=home / "app",
        env=environment(home),
        start_new_session=True,
    )


def settings(home: Path) -> dict[str, str]:
    folder = home / ".config" / "crabhook"
    return {one.name: one.read_text() for one in folder.iterdir() if one.suffix == ".toml"}


@pytest.mark.parametrize("name", share(list(SPELLINGS), 0))
def test_no_spelling_of_a_shell_line_widens_the_rules(home: Path, name: str) -> None:
    ended = shell(home, SPELLINGS[name])
    assert ended.returncode != 0
    assert "no script and no agent can do it. Run the command yourself" in ended.stderr
    assert settings(home) == {"rules.toml": DENIAL}


@pytest.mark.parametrize("verdict", share(["deny", "ask-operator", "ask-agent's-user"], 0))
def test_a_script_may_add_what_only_denies_or_asks(home: Path, verdict: str) -> None:
    ended = shell(home, f'{PROGRAM} rules add "{verdict}" "Bash(x *)"')
    assert ended.returncode == 0, ended.stderr
    assert "Bash(x *)" in settings(home)["rules.toml"]
    assert shell(home, f"{PROGRAM} rules remove 1").returncode != 0


def test_a_script_may_take_out_an_allow(home: Path) -> None:
    rules = home / ".config" / "crabhook" / "rules.toml"
    rules.write_text(DENIAL.replace("deny", "allow"))
    assert shell(home, f"{PROGRAM} rules remove 1").returncode == 0
    assert rules.read_text() == ""


def test_a_person_reads_what_gets_wider_and_says_yes_or_no(home: Path) -> None:
    command = [CRABHOOK, "rules", "add", "allow", "Bash(x *)"]
    code, _, shown = agree(command, environment(home), "n\n")
    assert code == 1
    assert "new:     allow            Bash(x *)" in shown
    assert "you did not agree: nothing was changed" in shown
    assert settings(home) == {"rules.toml": DENIAL}
    assert agree(command, environment(home))[0] == 0
    assert 'verdict = "allow"' in settings(home)["rules.toml"]
    code, _, shown = agree([CRABHOOK, "rules", "remove", "1"], environment(home))
    assert code == 0
    assert "removed: deny             Bash(git push *)" in shown


def test_rules_that_change_while_a_person_is_asked_are_not_written_over(home: Path) -> None:
    rules = home / ".config" / "crabhook" / "rules.toml"
    command = [CRABHOOK, "rules", "add", "allow", "Bash(x *)"]
    with Typist(command, environment(home)) as person:
        person.answer("[y/N] ", "")
        rules.write_text(DENIAL * 2)
        person.type(b"y\n")
        code, _, wrong = person.finish()
    assert code == 1
    assert "changed while you were asked" in wrong
    assert rules.read_text() == DENIAL * 2


def test_with_a_team_a_yes_is_not_enough_and_the_passphrase_is(home: Path) -> None:
    with Typist([CRABHOOK, "team", "init"], environment(home)) as person:
        person.answer("passphrase", f"{PASSPHRASE}\n")
        person.answer("same again", f"{PASSPHRASE}\n")
        assert person.finish()[0] == 0
    command = [CRABHOOK, "rules", "add", "allow", "Bash(x *)"]
    away = {"XDG_STATE_HOME": str(home / "elsewhere")}
    with Typist([CRABHOOK, "team", "init"], {**environment(home), **away}) as agent:
        agent.answer("passphrase", f"{OTHER}\n")
        agent.answer("same again", f"{OTHER}\n")
        agent.finish()
    with Typist(command, {**environment(home), **away}) as agent:
        for typed in ("yes", OTHER, ""):
            agent.answer("passphrase for the team", f"{typed}\n")
        assert agent.finish()[0] == 1
    with Typist(command, environment(home)) as person:
        for _ in range(3):
            person.answer("passphrase for the team", "yes\n")
        code, _, wrong = person.finish()
    assert code == 1
    assert "3 wrong passphrases: nothing was changed" in wrong
    assert settings(home)["rules.toml"] == DENIAL
    with Typist(command, environment(home)) as person:
        person.answer("passphrase for the team", f"{PASSPHRASE}\n")
        assert person.finish()[0] == 0
    assert 'verdict = "allow"' in settings(home)["rules.toml"]
