"""Which project an agent works in."""

from pathlib import Path

from crabhook.rulebook.projects import LOOK_AGAIN, PROJECTS_KEPT, Projects, project_of


def test_a_project_is_the_nearest_folder_that_looks_like_one(tmp_path: Path) -> None:
    inner = tmp_path / "p" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "p" / ".git").mkdir()
    assert project_of(str(inner)) == tmp_path / "p"
    assert str(project_of("/nowhere/at/all")) == "/nowhere/at/all"


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
