"""Which script a command runs, and where that is."""

import json
from pathlib import Path

import pytest

from crabhook.lint.configuration import protocols
from crabhook.lint.configuration.command import program, project_of
from crabhook.lint.configuration.read import read_configuration, read_json


def found(path: Path, command: str, **more: object) -> object:
    handler = {"type": "command", "command": command, **more}
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    configuration = read_configuration(path, read_json(text), protocols()["claude"])
    one = program(configuration, configuration.handlers[0])
    return one and (one.written, one.path, one.direct, one.relative)


@pytest.mark.parametrize(
    ("command", "written", "direct"),
    [
        ("python3 /a/b.py", "/a/b.py", False),
        ("/usr/bin/env python3 -u /a/b.py --quiet", "/a/b.py", False),
        ("PYTHONPATH=x python3.12 '/a/b c.py'", "/a/b c.py", False),
        ("env A=1 bash /a/b.sh", "/a/b.sh", False),
        ("uv run --script /a/b.py", "/a/b.py", False),
        ("uv run /a/b.py", "/a/b.py", False),
        ("/a/b.sh --strict | tee log", "/a/b.sh", True),
        ("bash /a/b.sh && echo done", "/a/b.sh", False),
        ("bash /a#b/c.sh # guards", "/a#b/c.sh", False),
    ],
)
def test_the_script_is_found_behind_its_interpreter(
    tmp_path: Path, command: str, written: str, direct: bool
) -> None:
    path = tmp_path / "settings.json"
    assert found(path, command) == (written, Path(written), direct, False)


@pytest.mark.parametrize(
    "command",
    [
        "crabhook",
        "npx some-hook",
        "python3 -c 'print(1)'",
        "python3 -m hooks.guard",
        "uv run --with requests /a/b.py",
        "echo '/a/b.py'",
        "cd /a && ./b.py",
        'bash "$(pwd)/b.sh"',
        "bash `pwd`/b.sh",
        "bash 'never closed",
        "jq . > /tmp/x",
        "",
    ],
)
def test_where_no_script_is_named_by_a_path_none_is_guessed(tmp_path: Path, command: str) -> None:
    assert found(tmp_path / "settings.json", command) is None


def test_with_arguments_there_is_no_shell(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    told = found(path, "python3", args=["/a/it's.py"])
    assert told == ("/a/it's.py", Path("/a/it's.py"), False, False)


def test_the_projects_folder_is_the_one_that_holds_the_agents(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    script = tmp_path / ".claude" / "b.py"
    for written in ("$CLAUDE_PROJECT_DIR/.claude/b.py", "${CLAUDE_PROJECT_DIR}/.claude/b.py"):
        assert found(path, f'python3 "{written}"') == (written, script, False, False)
    assert found(path, "python3 .claude/b.py") == (".claude/b.py", script, False, True)
    assert project_of(path) == tmp_path
    assert project_of(tmp_path / "settings.json") is None


def test_a_plugins_root_holds_its_folder_of_hooks(tmp_path: Path) -> None:
    path = tmp_path / "hooks" / "hooks.json"
    written = "${CLAUDE_PLUGIN_ROOT}/hooks/b.sh"
    assert found(path, written) == (written, tmp_path / "hooks" / "b.sh", True, False)


def test_what_is_in_no_known_folder_is_somewhere_that_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for written in ("$CLAUDE_PROJECT_DIR/b.py", "$ELSEWHERE/b.py", "~/b.py", "hooks/b.py"):
        one = found(path, f"python3 {written}")
        assert isinstance(one, tuple)
        assert one[1] is None
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "b.py").touch()
    beside = found(path, "python3 hooks/b.py")
    assert beside == ("hooks/b.py", tmp_path / "hooks" / "b.py", False, True)


def test_ones_own_home_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".claude" / "settings.json"
    assert found(path, "~/b.sh") == ("~/b.sh", tmp_path / "b.sh", True, False)
    assert found(path, "$HOME/b.sh") == ("$HOME/b.sh", tmp_path / "b.sh", True, False)
    project = found(path, "$CLAUDE_PROJECT_DIR/b.sh")
    assert project == ("$CLAUDE_PROJECT_DIR/b.sh", None, True, False), "any project's"
    assert found(path, "./b.sh") == ("./b.sh", None, True, True)


def test_handlers_that_are_no_commands_run_no_script(tmp_path: Path) -> None:
    assert found(tmp_path / "settings.json", "/a/b.py", type="prompt") is None
