"""Which project an agent works in."""

import os
import time
from pathlib import Path

import pytest

from crabhook.policy.context import NOT_LOOKED, wanted_by
from crabhook.rulebook.context import (
    LOOK_AGAIN,
    PROJECTS_KEPT,
    Projects,
    context_here,
    look,
    project_of,
)


def test_a_project_is_the_nearest_folder_that_looks_like_one(tmp_path: Path) -> None:
    inner = tmp_path / "p" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "p" / ".git").mkdir()
    assert project_of(str(inner)) == tmp_path / "p"
    assert str(project_of("/nowhere/at/all")) == "/nowhere/at/all"


def test_neither_the_home_nor_a_folder_above_it_is_ever_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "me"
    (home / "work" / "shop").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(home)
    for marked in (tmp_path, tmp_path / "people", home):
        for mark in (".claude", ".git", ".crabhook"):
            (marked / mark).mkdir()
    for told in (home, tmp_path / "linked"):
        monkeypatch.setenv("HOME", str(told))
        for name in (home, tmp_path / "linked"):
            assert project_of(str(name / "work" / "shop")) == name / "work" / "shop"
    (home / "work" / ".git").mkdir()
    assert project_of(str(home / "work" / "shop")) == home / "work"


def test_an_agent_in_the_root_the_home_or_between_has_no_project_by_fallback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "me"
    (home / "unmarked").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(home)
    monkeypatch.setenv("HOME", str(home))
    for cwd in (Path("/"), tmp_path, home.parent, home, tmp_path / "linked"):
        assert context_here(project_of(str(cwd))).project == ""
    unmarked = home / "unmarked"
    assert context_here(project_of(str(unmarked))).project == str(unmarked)


def test_a_folder_of_an_agent_that_is_not_on_this_machine_is_not_known(
    tmp_path: Path,
) -> None:
    wanted = wanted_by(["a"])
    assert context_here(tmp_path).below(str(tmp_path), wanted).whole
    assert not context_here(tmp_path / "none").below(str(tmp_path), wanted).whole


def test_a_folders_project_is_looked_up_once_a_second(tmp_path: Path) -> None:
    time = [0.0]
    projects = Projects(lambda: time[0])
    inner = tmp_path / "p" / "src"
    inner.mkdir(parents=True)
    assert projects.of(str(inner)) == project_of(str(inner))
    (tmp_path / "p" / ".git").mkdir()
    assert projects.of(str(inner)) != tmp_path / "p"
    time[0] = LOOK_AGAIN
    assert projects.of(str(inner)) == tmp_path / "p"


def test_only_so_many_folders_are_remembered(tmp_path: Path) -> None:
    projects = Projects()
    for number in range(PROJECTS_KEPT + 10):
        projects.of(str(tmp_path / str(number)))
    assert repr(projects) == f"<Projects {PROJECTS_KEPT}>"


@pytest.mark.parametrize("cwd", ["/" + "x" * 300, "/a\0b", "/\ud800"])
def test_a_folder_that_cannot_be_looked_at_is_a_project_of_its_own(cwd: str) -> None:
    assert str(project_of(cwd)) == cwd


def test_each_name_of_a_call_leads_where_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").write_text("")
    for name, target in {
        "up": "..", "b/link": "../file", "b/gone": "nowhere/x", "loop": "loop", "b/round": "../loop/b",
        "own": str(tmp_path), "b/chain": "link",
    }.items():  # fmt: skip
        (tmp_path / "a" / name).symlink_to(target)
    real = context_here(tmp_path).real
    folders = [
        "",
        "a",
        "a/b",
        "a/up",
        "a/up/a/b",
        "a/loop",
        "a/b/round",
        "a/own/a",
        "a//b",
        "a/./b",
    ]
    names = ["file", "link", "gone", "loop", "round", "chain", "up", "new", "new/er", "..", ".", "",
             "../file", "loop/x", "loop/..", "loop/../file", "up/../a"]  # fmt: skip
    for one in (f"{tmp_path}/{folder}/{name}" for folder in folders for name in names):
        assert real(one) == os.path.realpath(one)
    for odd in ("/", "//", "//x", "/x", "/x/", f"{tmp_path}/a/" + "n" * 300, f"{tmp_path}//"):
        assert real(odd) == os.path.realpath(odd)


def test_a_name_that_no_file_can_have_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "\ufffd").symlink_to("/etc")  # what Node opens for a lone surrogate
    real = context_here(tmp_path).real
    for name in ("\0", "\0/a", "a\0b/../c"):
        assert real(f"{tmp_path}/{name}") == f"{tmp_path}/{name}"
    for half in ("\ud800", "\udcff"):
        assert real(f"{tmp_path}/{half}/passwd") == "/etc/passwd"
        assert real(f"{tmp_path}/{half}") == "/etc"
        assert real(f"{tmp_path}/x{half}") == f"{tmp_path}/x\ufffd"
        assert context_here(tmp_path / half).project == f"{tmp_path}/{half}"


def test_a_name_that_is_longer_than_any_files_leads_nowhere_at_once() -> None:
    name = "/x" * 200_000  # link by link, it would be followed for seconds; a longer one for hours
    before = time.process_time()
    assert context_here(Path("/")).real(name) == name
    assert look(name, wanted_by(["*"])) == NOT_LOOKED
    assert time.process_time() - before < 0.5
