"""A change is planned, shown, and carried out, and its errors name the file."""

from pathlib import Path

import pytest

from crabhook.install.settings_file import plan
from crabhook.model.errors import InstallError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "settings.json"
    file.write_text('{\n  "a": 1\n}\n')
    return file


def test_a_plan_changes_nothing_yet(path: Path) -> None:
    change = plan(path, lambda text: text.replace("1", "2"))
    assert not change.is_none
    assert path.read_text() == '{\n  "a": 1\n}\n'


def test_carrying_out_writes_what_was_planned(path: Path) -> None:
    plan(path, lambda text: text.replace("1", "2")).carry_out()
    assert path.read_text() == '{\n  "a": 2\n}\n'


def test_the_difference_shows_the_lines_that_change(path: Path) -> None:
    difference = plan(path, lambda text: text.replace("1", "2")).difference()
    assert difference.splitlines()[:2] == [f"--- {path}", f"+++ {path}"]
    assert '-  "a": 1\n+  "a": 2\n' in difference


def test_lines_without_an_end_do_not_run_together_in_the_difference(path: Path) -> None:
    path.write_text("{}")
    assert plan(path, lambda _: "{1}").difference().splitlines()[-2:] == ["-{}", "+{1}"]


def test_no_change_has_no_difference(path: Path) -> None:
    change = plan(path, lambda text: text)
    assert change.is_none
    assert change.difference() == ""


def test_a_refusal_names_the_file(path: Path) -> None:
    def refuse(_: str) -> str:
        raise InstallError("no")

    with pytest.raises(InstallError) as caught:
        plan(path, refuse)
    assert str(caught.value) == f"{path}: no"
    change = plan(path, lambda text: text + "\n")
    path.write_text("{}")
    with pytest.raises(InstallError) as caught:
        change.carry_out()
    assert str(caught.value).startswith(f"{path}: it was changed")
