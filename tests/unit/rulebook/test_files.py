"""Rule files on the disk."""

import stat
from pathlib import Path

import pytest

from crabhook.policy.rule import RuleFileError, Trust
from crabhook.rulebook.files import (
    LARGEST,
    RuleFiles,
    RulesError,
    Trusted,
    digest,
    read_project_file,
    read_text,
    write_text,
    write_trusted,
)
from tests.support.hostile_files import TRAPS, make

RULE = '[[rule]]\nverdict = "deny"\nmatch = "Bash"\n'


def test_no_files_are_no_rules(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    assert files.user_rules().rules == ()
    assert files.trusted_files() == ()
    assert files.project_rules(tmp_path).trust is Trust.NONE
    assert len(files.policy(tmp_path)) == 0


def test_the_users_rules_and_a_trusted_projects_make_one_policy(tmp_path: Path) -> None:
    files, project = RuleFiles(tmp_path / "mine"), tmp_path / "app"
    write_text(files.user, RULE)
    write_text(project / ".crabhook" / "rules.toml", RULE)
    assert len(files.policy(project)) == 1
    write_text(files.trusted, write_trusted([Trusted(str(project), digest(RULE.encode()))]))
    assert len(files.policy(project)) == 2


def test_a_file_is_written_whole_for_its_owner_alone_and_a_link_stays(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.toml", tmp_path / "rules.toml"
    kept.write_text("old")
    link.symlink_to(kept)
    write_text(link, "new")
    assert link.is_symlink()
    assert kept.read_text() == "new"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.toml", "rules.toml"]


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(RulesError, match="cannot be read"):
        read_text(tmp_path / "folder")
    (tmp_path / "file").write_bytes(b"\xff")
    with pytest.raises(RuleFileError, match="not UTF-8"):
        read_text(tmp_path / "file")
    with pytest.raises(RulesError, match="cannot be written"):
        write_text(tmp_path / "file" / "rules.toml", "x")
    with pytest.raises(RulesError, match="cannot be written"):
        write_text(tmp_path / "folder", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("kind", TRAPS)
def test_a_projects_file_that_is_no_plain_one_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    files, project = RuleFiles(tmp_path / "mine"), tmp_path / "app"
    make(project / ".crabhook" / "rules.toml", kind)
    assert files.project_rules(project).trust is Trust.NONE  # it is not even opened
    write_text(files.trusted, write_trusted([Trusted(str(project), digest(b"x"))]))
    with pytest.raises(RulesError, match="cannot be read: it is"):
        files.project_rules(project)


def test_a_projects_file_may_be_no_link_and_the_users_own_may(tmp_path: Path) -> None:
    files, project = RuleFiles(tmp_path / "mine"), tmp_path / "app"
    (tmp_path / "kept.toml").write_text(RULE)
    for link in (files.user, project / ".crabhook" / "rules.toml"):
        link.parent.mkdir(parents=True)
        link.symlink_to(tmp_path / "kept.toml")
    assert len(files.user_rules().rules) == 1
    with pytest.raises(RulesError, match="it is a link"):
        read_project_file(project)


def test_a_rule_file_has_a_largest_size(tmp_path: Path) -> None:
    files = RuleFiles(tmp_path)
    files.user.write_text("#" * LARGEST)
    assert files.user_rules().rules == ()
    files.user.write_text("#" * (LARGEST + 1))
    with pytest.raises(RulesError, match="larger than 1024 KiB"):
        files.user_rules()
