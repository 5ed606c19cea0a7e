"""The program a hook starts is found and made ready."""

import os
import sys
from pathlib import Path

import pytest

from crabhook.install import program
from crabhook.model.errors import InstallError


def test_the_interpreter_is_the_one_of_the_environment_and_no_link_of_it_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "python"
    link.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "_base_executable", str(link))
    assert program.interpreter() == str(link)
    assert Path(sys.executable) in program.interpreters()


def test_the_interpreter_outlives_the_virtual_environment() -> None:
    assert not Path(program.interpreter()).is_relative_to(sys.prefix)


def test_without_the_environments_own_python_the_running_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_base_executable", str(tmp_path / "gone"))
    assert program.interpreter() == sys.executable


def test_an_interpreter_without_a_path_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(InstallError):
        program.interpreter()


def test_the_stub_is_a_file_of_the_hooks_folder_and_absolute() -> None:
    stub = Path(program.stub())
    assert stub.is_absolute()
    assert stub.is_file()
    assert stub.parts[-3:] == ("crabhook", "hook", "run.py")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "crabhook" / "hook"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "client.py").write_text("ANSWER = 42\n")
    monkeypatch.setattr(program, "_hook_folder", lambda: folder)
    return folder


def test_an_installation_without_its_stub_is_refused(package: Path) -> None:
    with pytest.raises(InstallError, match="not complete"):
        program.stub()


def test_compiling_leaves_what_the_interpreter_will_load(package: Path) -> None:
    assert not program.is_compiled()
    assert program.compile_hook()
    assert program.is_compiled()
    tag = sys.implementation.cache_tag
    assert (package / "__pycache__" / f"client.{tag}.pyc").is_file()
    assert (package.parent / "__pycache__" / f"__init__.{tag}.pyc").is_file()


@pytest.mark.parametrize("place", [".", ".."])
def test_a_folder_that_cannot_be_written_is_no_failure(package: Path, place: str) -> None:
    (package / place / "__pycache__").write_text("in the way")
    assert not program.compile_hook()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/home/u/.pyenv/shims/python", 1),
        ("/home/u/.cache/uv/archive-v0/x/bin/python", 1),
        ("/home/u/.venv/bin/python", 0),
    ],
)
def test_an_interpreter_that_would_disappoint_is_spoken_of(path: str, said: int) -> None:
    assert len(list(program.misgivings(path))) == said


@pytest.mark.skipif(os.getuid() != 0, reason="only a file of root's is safe for every user")
def test_what_other_users_cannot_reach_or_another_can_write_is_said(tmp_path: Path) -> None:
    mine, file = tmp_path / "mine", tmp_path / "mine" / "run.py"
    mine.mkdir(mode=0o700)
    file.write_text("")
    file.chmod(0o644)
    assert [f"cannot get to {file} by {mine}" in one for one in program.unshared(str(file))] == [
        True
    ]
    assert list(program.unshared("/bin/sh")) == []
    mine.chmod(0o777)
    (said,) = program.unshared(str(file))
    assert "not only root can write" in said
