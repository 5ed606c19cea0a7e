"""The law of today for calls of the past, read from real files."""

from pathlib import Path

import pytest

from crabhook.policy.rule import RuleFileError
from crabhook.rulebook.files import RuleFiles
from crabhook.rulebook.rulings import CurrentRules
from tests.unit.policy.law import bash


@pytest.fixture
def files(tmp_path: Path) -> RuleFiles:
    files = RuleFiles(tmp_path / "config")
    files.folder.mkdir()
    files.user.write_text(
        'unprotect = ["ci"]\n[[rule]]\nverdict = "allow"\nmatch = "Bash(ls *)"\n'
        f'scope = {{ project = "{tmp_path}/a" }}\n'
    )
    for project in ("a", "b"):
        (tmp_path / project / "src").mkdir(parents=True)
        (tmp_path / project / ".git").mkdir()
    return files


def test_a_call_is_under_the_law_of_the_project_it_was_made_in(
    files: RuleFiles, tmp_path: Path
) -> None:
    law = CurrentRules(files)
    here, there = bash("ls", f"{tmp_path}/a/src"), bash("ls", f"{tmp_path}/b")
    assert law(here).context.project == f"{tmp_path}/a"
    assert law(here).ruling(here).verdict == "allow"
    assert law(there).ruling(there).verdict is None


def test_the_law_holds_still_while_the_past_is_held_against_it(
    files: RuleFiles, tmp_path: Path
) -> None:
    law, event = CurrentRules(files), bash("ls", f"{tmp_path}/a")
    before = law(event)
    files.user.write_text("nonsense")
    assert law(event) is before
    with pytest.raises(RuleFileError):
        law(bash("ls", f"{tmp_path}/b"))


def test_what_the_user_took_off_the_list_is_not_protected(files: RuleFiles) -> None:
    assert CurrentRules(files).protected.off == {"ci"}


def test_a_call_that_cannot_be_judged_is_a_question_and_not_the_end(
    files: RuleFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = bash("ls", f"{tmp_path}/a")
    law = CurrentRules(files)(event)
    monkeypatch.delattr(type(law.policy), "examine")
    assert law.ruling(event).verdict == "ask-operator"
