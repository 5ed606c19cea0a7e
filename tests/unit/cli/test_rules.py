"""`crabhook rules`: what a person does with rules, on real files."""

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from crabhook.cli import consent, main
from tests.support.examples import share
from tests.support.typist import Typist


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a project in it, which is where the command is called."""
    folder = tmp_path / "work" / "app"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "crabhook" / "rules.toml"


def trust(answer: str, *options: str) -> tuple[int, str]:
    """Trust the project's rules at a terminal; return the exit code and what the terminal shows."""
    with Typist(
        [sys.executable, "-m", "crabhook", "rules", "trust", *options], os.environ
    ) as person:
        person.answer("[y/N] ", answer)
        return person.finish()[0], person.shown


def call(*words: str) -> int:
    return main(["rules", *words])


def agreed(*words: str) -> tuple[int, str]:
    """Do what asks for a yes, and say yes; return the exit code and all that was shown.

    That it is asked on the terminal alone is in tests/integration/test_consent.py.
    """
    asked: list[str] = []

    def agrees(text: str) -> bool:
        asked.append(text)
        return True

    with (
        patch.object(consent, "agrees", agrees),
        redirect_stdout(StringIO()) as shown,
        redirect_stderr(shown),
    ):
        code = call(*words)
    assert len(asked) == 1
    return code, shown.getvalue() + asked[0]


def test_rules_alone_is_the_list_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("add", "deny", "Bash(rm *)") == 0
    capsys.readouterr()
    assert call() == call("list") == 0
    listed = capsys.readouterr().out
    assert listed == 2 * listed[: len(listed) // 2]
    assert listed.count("Bash(rm *)") == 2


@pytest.mark.parametrize(
    ("written", "scope"),
    [(".", "{here}"), ("lib/..", "{here}"), ("~/shop", "~/shop"), ("/srv/shop", "/srv/shop")],
)
def test_a_rule_of_a_project_takes_its_folder_as_a_person_writes_it(
    written: str, scope: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("add", "deny", "Bash(rm *)", "--project", written) == 0
    assert f"project={scope.format(here=project)}" in capsys.readouterr().out


def test_a_rule_is_added_listed_and_removed_and_comments_stay(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text('# mine\n[[rule]]\nverdict = "deny"  # never\nmatch = "Bash(rm *)"\n')
    scope = ("--mode", "plan", "--note", "why", "--expires", "2027-01-31")
    code, shown = agreed("add", "allow", "Bash(ls *)", "Read", *scope)
    assert code == 0
    sentence = "allow Bash(ls *) | Read, mode=plan, until 2027-01-31 00:00 UTC  # why\n"
    assert f"Added to {file}, line 6: {sentence}" in shown
    assert call("list") == 0
    listed = capsys.readouterr().out
    assert "1  deny" in listed
    assert "2  allow" in listed
    assert "mode=plan" in listed
    assert "until 2027-01-31" in listed
    assert call("remove", "2") == 0
    assert capsys.readouterr().out == f"Removed from {file}: {sentence}"
    assert file.read_text() == '# mine\n[[rule]]\nverdict = "deny"  # never\nmatch = "Bash(rm *)"\n'


def test_a_rule_that_cannot_be_is_refused_and_nothing_is_written(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("add", "allow", "Write(a)") == 1
    assert "written Edit" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize("match", ["Bash(rm -rf *)", "Bash(git push)", "Bash", "Bash(python3 *)"])
def test_an_allow_of_what_is_looked_at_each_time_is_written_only_on_a_second_word(
    file: Path, capsys: pytest.CaptureFixture[str], match: str
) -> None:
    assert call("add", "allow", match) == 1
    said = capsys.readouterr().err
    assert match in said
    assert "--anyway" in said
    assert not file.exists()
    assert call("add", "deny", match) == 0
    assert agreed("add", "allow", match, "--anyway")[0] == 0
    assert "2  allow" in listed_after(capsys)


def listed_after(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert call("list") == 0
    return capsys.readouterr().out


def test_an_allow_that_leaves_a_shell_to_its_options_is_written_with_a_word_on_that() -> None:
    code, shown = agreed("add", "allow", "Bash(npm run *)")
    assert code == 0
    assert "--script-shell" in shown
    code, shown = agreed("add", "allow", "Bash(npm run build)")
    assert code == 0
    assert "note:" not in shown


def test_a_matcher_that_does_not_mean_what_it_looks_like_is_written_with_a_word_on_that(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("add", "deny", "Bash(git push:* --force)") == 0
    assert "is a colon and any text" in capsys.readouterr().err
    assert call("add", "deny", "Bash(git push:*)") == 0
    assert capsys.readouterr().err == ""


def test_a_broken_file_is_said_to_be_broken_with_its_line(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("\n[[rule]]\nverdict = 1\n")
    for words in (["list"], ["add", "deny", "Bash"], ["remove", "1"], ["explain", "ls"]):
        assert call(*words) == 1
        assert f"{file}, line 3: verdict must be" in capsys.readouterr().err
    assert file.read_text() == "\n[[rule]]\nverdict = 1\n"


def test_explain_shows_each_part_and_which_rule_decides_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    agreed("add", "allow", "Bash(git status *)")
    call("add", "deny", "Bash(rm *)")
    capsys.readouterr()
    assert call("explain", "git status && sudo rm -rf x > ~/.bashrc") == 0
    shown = capsys.readouterr().out
    for part in (
        "git status",
        "sudo rm -rf x",
        "(hidden) rm -rf x",
        "> ~/.bashrc",
        "verdict: deny",
    ):
        assert part in shown
    assert "allow Bash(git status *)" in shown
    assert "shell-startup" in shown
    assert call("explain", "--tool", "Read", ".env") == 0
    assert "verdict: ask-operator" in capsys.readouterr().out


def test_what_is_explained_cannot_write_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("explain", "echo \x1b[2J\u202e") == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "verdict: open" in shown


def test_a_table_is_held_against_the_rules(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agreed("add", "allow", "Bash(ls *)")
    table = project / "table.tsv"
    table.write_text("# mine\nallow\tls -la\nopen\tls; who\nopen\tls\u2424who\n")
    assert call("test", str(table)) == 0
    assert "3 of 3 as expected" in capsys.readouterr().out
    table.write_text("deny\tls\n")
    assert call("test", str(table)) == 1
    shown = capsys.readouterr().out
    assert "line 1: ls" in shown
    assert "expected deny, got allow" in shown
    table.write_text("ls\n")
    assert call("test", str(table)) == 1
    assert "line 1: it must hold" in capsys.readouterr().err


@pytest.mark.process
def test_a_projects_rules_count_from_the_moment_they_are_trusted_to_their_next_change(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = project / ".crabhook" / "rules.toml"
    theirs.parent.mkdir()
    theirs.write_text(
        '[[rule]]\nverdict = "deny"\nmatch = "Bash(ls *)"\n[[rule]]\nverdict = "allow"\nmatch = "Bash(who)"\n'
    )

    def said(command: str) -> str:
        capsys.readouterr()
        assert call("explain", command) == 0
        return capsys.readouterr().out.split("verdict: ")[1].split("\n")[0]

    assert [said("ls"), said("who")] == ["open", "open"]
    assert trust("y\n")[0] == 0
    assert [said("ls"), said("who")] == ["deny", "open"]
    assert trust("y\n", "--full")[0] == 0
    assert [said("ls"), said("who")] == ["deny", "allow"]
    theirs.write_text(theirs.read_text() + "\n")
    assert [said("ls"), said("who")] == ["open", "open"]
    assert call("list") == 0
    assert "not trusted as it is now" in capsys.readouterr().out
    assert call("trust", "--revoke") == 0
    assert call("trust", "--revoke") == 1


@pytest.mark.process
@pytest.mark.parametrize(
    ("answer", "code"),
    share([("y\n", 0), ("yes\n", 0), ("n\n", 1), ("\x04", 1), ("\n", 1)], 0),
)
def test_trust_shows_what_would_count_on_the_terminal_and_asks_there(
    project: Path, answer: str, code: int
) -> None:
    theirs = project / ".crabhook" / "rules.toml"
    theirs.parent.mkdir()
    theirs.write_text('[[rule]]\nverdict = "allow"\nmatch = "Bash(who)"\nnote = "\\u001b[2J"\n')
    found, shown = trust(answer)
    assert found == code
    assert "Bash(who)  # ␛[2J  [would not count]" in shown


@pytest.mark.process
def test_the_yes_of_trust_needs_a_terminal_and_no_pipe_gives_it(
    project: Path, tmp_path: Path
) -> None:
    theirs = project / ".crabhook" / "rules.toml"
    theirs.parent.mkdir()
    theirs.write_text('[[rule]]\nverdict = "allow"\nmatch = "Bash(who)"\n')
    command = [sys.executable, "-m", "crabhook", "rules", "trust", "--full"]
    done = subprocess.run(
        command, input="y\n", capture_output=True, text=True, check=False, start_new_session=True
    )
    assert done.returncode == 1
    assert "there is no terminal to ask on" in done.stderr
    assert not (tmp_path / "config" / "crabhook" / "trusted.toml").exists()
    with pytest.raises(SystemExit):
        call("trust", "--full", "--yes")


def test_a_rule_that_has_ended_is_marked_in_the_list(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    ends = {"past": "2020-01-31T00:00:00Z", "still": "2999-01-31T00:00:00Z"}
    file.write_text(
        "".join(
            f'[[rule]]\nverdict = "allow"\nmatch = "Bash({name})"\nexpires = {end}\n'
            for name, end in ends.items()
        )
    )
    assert call("list") == 0
    _, past, still = capsys.readouterr().out.splitlines()[:3]
    assert past.endswith("Bash(past)  ENDED 2020-01-31 00:00 UTC")
    assert still.endswith("Bash(still)  until 2999-01-31 00:00 UTC")


def test_there_must_be_something_to_trust(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("trust") == 1
    assert "there are no rules" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["lst"],
        ["add", "maybe", "Bash"],
        ["add", "allow"],
        ["remove", "x"],
        ["add", "deny", "Bash", "--expires", "soon"],
    ],
)
def test_what_cannot_be_understood_ends_with_a_usage(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        call(*words)
    assert caught.value.code == 2


def test_risks_are_listed_and_stay_when_rules_come_and_go(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    risk = '[[risk]]\nmatch = "Bash(deploy *)"\nlevel = 2\nwords = "deploys"\n'
    file.parent.mkdir(parents=True)
    file.write_text(risk)
    assert call("add", "deny", "Bash(rm *)") == 0
    assert agreed("remove", "1")[0] == 0
    assert file.read_text().strip() == risk.strip()
    assert call("list") == 0
    assert "risk danger Bash(deploy *)  # deploys" in capsys.readouterr().out
    assert call("explain", "deploy now") == 0
    assert "▲▲ deploys" in capsys.readouterr().out


ALLOWED = '[[rule]]\nverdict = "allow"\nmatch = "Bash(ls *)"\n'


def test_the_tests_of_both_files_are_run_and_each_failure_is_said(
    file: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("test") == 0
    file.parent.mkdir(parents=True)
    file.write_text(ALLOWED + '[[test]]\nallow = ["ls", "ls -l"]\nask = "who"\n')
    assert call("test") == 0
    assert f"{file}: 3 of 3 tests hold" in capsys.readouterr().out
    theirs = project / ".crabhook" / "rules.toml"
    theirs.parent.mkdir()
    theirs.write_text(ALLOWED + '[[test]]\nallow = "ls"\n')
    assert call("test") == 0
    assert f"{theirs}: 1 of 1 tests hold" in capsys.readouterr().out
    theirs.write_text(ALLOWED + '[[test]]\ndeny = "ls"\n')
    assert call("test", "--project", str(project)) == 1
    shown = capsys.readouterr().out
    assert (
        f"{theirs}, line 5: the rules must deny `ls`, but they allow it: {theirs}, line 1" in shown
    )
    assert f"{theirs}: 0 of 1 tests hold" in shown
    assert f"{file}: 3 of 3 tests hold" in shown


def test_a_rule_that_is_set_aside_is_marked_and_explained(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(ALLOWED + '[[test]]\ndeny = "ls"\n')
    assert call("list") == 0
    assert "[set aside: a test fails]" in capsys.readouterr().out
    assert call("explain", "ls") == 0
    shown = capsys.readouterr().out
    assert "verdict: open" in shown
    assert "line 5: the rules must deny `ls`" in shown
    assert f"set aside until the tests hold: allow Bash(ls *) ({file}, line 1)" in shown


def test_a_rule_that_can_never_decide_is_an_error_with_the_rule_before_it(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(ALLOWED + ALLOWED.replace("ls", "ls -l"))
    why = f"{file}, line 4: allow Bash(ls -l *) can never decide: line 1 (allow Bash(ls *))"
    for words, code in ((["test"], 1), (["explain", "ls"], 0)):
        assert call(*words) == code
        assert why in capsys.readouterr().out
