"""What is looked at in a folder."""

from pathlib import Path

from crabhook.lint.discover import File, FileKind, files_below, looks_like_a_hook


def test_folders_of_other_peoples_code_are_passed_over(tmp_path: Path) -> None:
    for folder in ("hooks", ".git", ".venv", "node_modules", "__pycache__"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").touch()
    (tmp_path / "hooks" / "config.toml").touch()
    (tmp_path / "hooks" / "readme.md").touch()
    names = [path.relative_to(tmp_path).as_posix() for path in files_below(tmp_path)]
    assert names == ["hooks/a.py", "hooks/config.toml"]


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "a.sh").touch()
    assert [path.name for path in files_below(tmp_path)] == ["a.sh"]


def test_a_script_is_a_hook_when_it_speaks_as_one() -> None:
    def looks(kind: FileKind, text: str) -> bool:
        return looks_like_a_hook(File(Path("a"), text, kind))

    assert looks(FileKind.SHELL, "jq .tool_input")
    assert looks(FileKind.PYTHON, "sys.stdin; hook_event_name")
    assert not looks(FileKind.PYTHON, "tool_input = None")
    assert not looks(FileKind.SHELL, "echo hello")
    assert not looks(FileKind.JSON, "tool_input")
