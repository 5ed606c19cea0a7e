"""`crabhook install` and `crabhook uninstall`, as a person runs them."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crabhook.cli import main
from crabhook.install.program import interpreter
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.installation import MAX_TIMEOUT, decided, observed, waiting
from crabhook.server.address import default_address

HOLDABLE = waiting(EVENTS)
OBSERVED = {name: EVENTS[name].hook for name in observed(EVENTS)}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home, and a project to stand in."""
    folder = tmp_path / "home"
    folder.mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    return folder


@pytest.fixture
def path(home: Path) -> Path:
    return home / ".claude" / "settings.json"


def entry(path: Path, event: str) -> dict[str, Any]:
    handler: dict[str, Any] = json.loads(path.read_text())["hooks"][event][-1]["hooks"][-1]
    return handler


def test_install_writes_the_companion_for_the_user(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "claude"]) == 0
    hooks = json.loads(path.read_text())["hooks"]
    assert set(hooks) == {*decided(EVENTS), *HOLDABLE, *OBSERVED}
    found = entry(path, "PermissionRequest")
    assert found["command"] == interpreter()
    server = str(default_address())
    assert found["args"][5:] == ["--companion", "--server", server, "--wait", "86430"]
    assert found["timeout"] == 86_460
    said = capsys.readouterr()
    for word in (str(path), f"{len(hooks)} events", "first answer wins", "run `crabhook` in"):
        assert word in said.out
    assert said.err == ""


@pytest.mark.parametrize("agent", ["claude", "gemini", "codex", "qwen", "copilot"])
@pytest.mark.parametrize("moved", ["CRABHOOK_SERVER", "XDG_RUNTIME_DIR", ""])
def test_every_hook_names_its_server_as_it_was_when_installed(
    home: Path, agent: str, moved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if moved:
        value = "unix:/srv/a" if moved == "CRABHOOK_SERVER" else "/srv"
        monkeypatch.setenv(moved, value)
    server = "unix:/srv/a" if moved == "CRABHOOK_SERVER" else str(default_address())
    assert main(["install", agent]) == 0
    own = {"codex": "hooks.json", "copilot": "hooks/crabhook.json"}
    file = own.get(agent, "settings.json")
    hooks = json.loads((home / f".{agent}" / file).read_text())["hooks"]
    handlers = [one for groups in hooks.values() for group in groups for one in group["hooks"]]
    assert handlers
    for one in handlers:
        words = one["args"] if "args" in one else shlex.split(one["command"])
        assert words[words.index("--server") + 1] == server


@pytest.mark.parametrize("agent", ["claude", "gemini", "codex", "qwen", "copilot", "opencode"])
def test_everybodys_settings_name_a_server_for_all_of_them_or_are_not_written(
    agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", agent, "--scope", "managed"]) == 1
    said = capsys.readouterr()
    words = "Say with --server" if agent == "claude" else "no settings of the scope managed"
    assert (words in said.err, said.out) == (True, "")


@pytest.mark.process
def test_an_environment_neither_moves_nor_silences_an_installed_hook(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a project's settings can set for every hook; here of one that names no server."""
    monkeypatch.setenv("CRABHOOK_SERVER", f"unix:{tmp_path}/nobody")
    main(["install", "claude", "--gate", "--fail-closed"])
    found = entry(path, "PreToolUse")
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash"}
    environment = {
        "CRABHOOK_SERVER": "unix:/somewhere/else",
        "CRABHOOK_WAIT": "0.1",
        "CRABHOOK_WHEN_UNREACHABLE": "pass",
        "CRABHOOK_WHEN_LOST": "pass",
        "XDG_RUNTIME_DIR": str(tmp_path / "other"),
        "PYTHONPATH": str(tmp_path),
        "PYTHONSTARTUP": str(tmp_path / "x.py"),
    }
    ran = subprocess.run(
        [found["command"], *found["args"]],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
    )
    denied = json.loads(ran.stdout)["hookSpecificOutput"]
    assert denied["permissionDecision"] == "deny"
    assert f"{tmp_path}/nobody" in denied["permissionDecisionReason"]


@pytest.mark.process
def test_what_is_written_can_be_run(path: Path, tmp_path: Path) -> None:
    main(["install", "claude", "--server", f"unix:{tmp_path}/nobody"])
    for event in ("PermissionRequest", "SessionEnd"):
        found = entry(path, event)
        payload = json.dumps({"session_id": "s", "hook_event_name": event, "cwd": "/"}).encode()
        ran = subprocess.run(
            [found["command"], *found["args"]],
            input=payload,
            capture_output=True,
            env={},
            timeout=60,
            check=False,
        )
        assert (ran.returncode, ran.stdout) == (0, b"")
        assert b"nobody" in ran.stderr


@pytest.mark.process
def test_a_hook_that_fails_closed_denies_where_no_server_is(path: Path, tmp_path: Path) -> None:
    main(["install", "claude", "--fail-closed", "--server", f"unix:{tmp_path}/nobody"])
    found = entry(path, "PermissionRequest")
    payload = {
        "session_id": "s",
        "hook_event_name": "PermissionRequest",
        "cwd": "/",
        "tool_name": "Bash",
        "tool_input": {},
    }
    ran = subprocess.run(
        [found["command"], *found["args"]],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env={},
        timeout=60,
        check=False,
    )
    assert json.loads(ran.stdout)["hookSpecificOutput"]["decision"]["behavior"] == "deny"


def test_options_reach_the_entries(path: Path, tmp_path: Path) -> None:
    for name in ("t", "ca"):
        Path(name).touch()
    arguments = [
        "--gate",
        "--fail-closed",
        "--wait",
        "60",
        "--server",
        "unix:s",
        "--token-file",
        "t",
        "--tls-ca",
        "ca",
    ]
    assert main(["install", "claude", *arguments]) == 0
    project = tmp_path / "project"
    passed = [
        "--server",
        f"unix:{project}/s",
        "--token-file",
        f"{project}/t",
        "--tls-ca",
        f"{project}/ca",
    ]
    found = entry(path, "PreToolUse")
    assert found["args"][5:] == [
        *passed,
        "--wait",
        "90",
        "--when-unreachable",
        "deny",
        "--when-lost",
        "deny",
    ]
    assert (found["timeout"], found["onFailure"]) == (120, "block")
    assert entry(path, "Stop")["args"][5:] == [*passed, "--wait", "90"]
    assert "onFailure" not in entry(path, "Stop")
    observed = entry(path, "Notification")
    assert observed["args"][5:] == [*passed, "--wait", "5"]
    assert "onFailure" not in observed


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["--scope", "project"], "project/.claude/settings.json"),
        (["--scope", "local"], "project/.claude/settings.local.json"),
        (["--scope", "local", "--project", "../other"], "other/.claude/settings.local.json"),
        ([], "home/.claude/settings.json"),
    ],
)
def test_the_scope_chooses_the_file_for_both_commands(
    arguments: list[str], file: str, tmp_path: Path
) -> None:
    assert main(["install", "claude", *arguments]) == 0
    assert [p.resolve() for p in tmp_path.rglob("settings*.json")] == [tmp_path / file]
    assert main(["uninstall", "claude", *arguments]) == 0
    assert not (tmp_path / file).exists()


def test_installing_again_writes_nothing_and_says_so(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude"])
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    capsys.readouterr()
    assert main(["install", "claude"]) == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert "nothing was written" in capsys.readouterr().out
    assert [p.name for p in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{\n  "a": 1,\n}\n', "line 3, column 1"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        (b'"\xff"', "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone(
    path: Path, command: str, content: bytes, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert main([command, "claude"]) == 1
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == ["settings.json"]
    said = capsys.readouterr().err
    assert str(path) in said
    assert complaint in said
    assert "Nothing was changed" in said


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_dry_run_shows_the_difference_and_writes_nothing(
    path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "uninstall":
        main(["install", "claude"])
        capsys.readouterr()
    before = path.read_bytes() if path.exists() else None
    assert main([command, "claude", "--dry-run"]) == 0
    assert (path.read_bytes() if path.exists() else None) == before
    out = capsys.readouterr().out
    assert out.startswith(f"--- {path}\n+++ {path}\n@@ ")
    assert "hook/run.py" in out


def test_a_hook_that_never_gives_up_waits_as_long_as_its_agent_can(path: Path) -> None:
    assert main(["install", "claude", "--wait", "never"]) == 0
    waits = entry(path, "PreToolUse")
    client = int(waits["args"][waits["args"].index("--wait") + 1])
    assert client < waits["timeout"] <= MAX_TIMEOUT
    assert waits["timeout"] == MAX_TIMEOUT


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("agent", [["emacs"], []])
def test_an_unknown_agent_is_told_which_exist(
    command: str, agent: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *agent]) == 1
    assert "claude (Claude Code)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--wait", "0"],
        ["--wait", "2147424"],
        ["--wait", "soon"],
        ["--wait", "Never"],
        ["--wait", "-1"],
        ["--companion", "--gate"],
        ["--scope", "world"],
        ["--server", ""],
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_written(
    wrong: list[str], path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["install", "claude", *wrong])
    assert caught.value.code == 2
    assert wrong[0] in capsys.readouterr().err
    assert not path.exists()


def test_a_list_with_a_slip_in_the_environment_is_refused_before_anything_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRABHOOK_SERVER", "a:1,a:1")
    assert main(["install", "claude"]) == 1
    assert "CRABHOOK_SERVER: 'a:1,a:1' names a:1 twice" in capsys.readouterr().err
    assert not path.exists()


def test_what_keeps_the_hooks_from_working_is_said(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.parent.mkdir()
    path.write_text('{"disableAllHooks": true}')
    assert main(["install", "claude", "--token-file", "missing"]) == 0
    said = capsys.readouterr().err
    assert "disableAllHooks is true" in said
    assert "there is no" in said


def test_a_second_scope_is_warned_of_the_first(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude"])
    capsys.readouterr()
    main(["install", "claude", "--scope", "local"])
    assert f"crabhook is in {path} too" in capsys.readouterr().err


def test_broken_settings_of_another_scope_are_nobodys_business(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.parent.mkdir()
    path.write_text("{")
    assert main(["install", "claude", "--scope", "local"]) == 0
    assert capsys.readouterr().err == ""


def test_shared_settings_are_said_to_hold_this_machines_paths(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["install", "claude", "--scope", "project"])
    assert "this machine's" in capsys.readouterr().err


def gemini_settings(home: Path) -> Path:
    return home / ".gemini" / "settings.json"


def test_gemini_cli_is_installed_into_and_taken_out_of_again(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "gemini", "--server", "unix:/s"]) == 0
    said = capsys.readouterr()
    assert "Gemini CLI's hooks for crabhook, 7 events" in said.out
    assert "then start `gemini`" in said.out
    assert "in a folder that is not trusted Gemini CLI runs no hooks at all" in said.err
    assert "an allow does not answer Gemini CLI's own dialog" in said.err
    settings = gemini_settings(home)
    assert "--platform gemini" in settings.read_text()
    assert not (home / ".claude").exists()
    assert main(["uninstall", "gemini"]) == 0
    assert not settings.exists()


def test_nobody_can_be_a_companion_of_gemini_cli(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "gemini", "--companion"]) == 1
    assert "cannot be its companion. It can be: gate" in capsys.readouterr().err
    assert not gemini_settings(home).exists()


def test_gemini_cli_has_no_local_settings(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("install", "uninstall"):
        assert main([command, "gemini", "--scope", "local"]) == 1
        assert "no settings of the scope local" in capsys.readouterr().err


def test_gemini_cli_installed_in_two_scopes_is_told_of(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "gemini"]) == 0
    capsys.readouterr()
    assert main(["install", "gemini", "--scope", "project"]) == 0
    assert f"crabhook is in {gemini_settings(home)} too" in capsys.readouterr().err


def test_codex_is_installed_into_and_taken_out_of_again(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    path = home / ".codex" / "hooks.json"
    foreign = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    path.parent.mkdir()
    path.write_text(json.dumps(foreign))
    (path.parent / "config.toml").write_text('approval_policy = "never"\n')
    assert main(["install", "codex", "--gate", "--server", "unix:/s"]) == 0
    said = capsys.readouterr()
    assert "Codex's hooks for crabhook, 12 events" in said.out
    assert "then start `codex`" in said.out
    for words in ("or type /hooks", "only PermissionRequest can approve", "approval_policy"):
        assert words in said.err
    written = path.read_text()
    assert "--platform codex" in written
    assert main(["install", "codex", "--gate", "--server", "unix:/s"]) == 0
    assert path.read_text() == written  # so that nothing has to be reviewed again
    assert main(["uninstall", "codex"]) == 0
    assert json.loads(path.read_text()) == foreign
    assert not (home / ".claude").exists()


def test_codex_has_no_local_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "codex", "--scope", "local"]) == 1
    assert "no settings of the scope local" in capsys.readouterr().err


@pytest.mark.process
def test_a_reader_that_has_had_enough_gets_no_traceback(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "crabhook", "install", "claude"],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment,
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        (("--server", "desk.example:7443"), ("Install again with --tls-ca", "wants its token")),
        (("--server", "desk.example:7443", "--tls-ca", "ca.pem"), ("wants its token",)),
        (("--server", "127.0.0.1:7443", "--token-file", "token"), ()),
        (("--server", "desk.example"), ("no hook reaches the server",)),
        (("--server", "a.example:7443,127.0.0.1:7444"), ("a.example:7443 is beyond", "its token")),
        (("--server", "unix:/run/s,b"), ()),
        (("--server", "unix:/run/s"), ()),
    ],
)
def test_what_keeps_hooks_from_a_server_by_tcp_is_said_when_they_are_installed(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], warned: tuple[str, ...]
) -> None:
    for name in ("token", "ca.pem"):
        Path(name).write_text("x")
    assert main(["install", "claude", *options]) == 0
    told = capsys.readouterr().err
    assert told.count("Note: ") == len(warned)
    assert all(words in told for words in warned)


def test_installing_again_keeps_what_is_the_owners_once(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.parent.mkdir()
    mine = '{"model": "opus"}\n'
    path.write_text(mine)
    for options in ((), ("--gate",), ("--gate", "--fail-closed"), ("--wait", "60")):
        assert main(["install", "claude", *options]) == 0
    assert f"but for hooks of crabhook: {path}.crabhook-backup" in capsys.readouterr().out
    assert [one.read_text() for one in path.parent.glob("*backup*")] == [mine]
    path.write_text(path.read_text().replace("opus", "sonnet"))
    assert main(["install", "claude"]) == 0
    changed = path.with_name("settings.json.crabhook-backup.2")
    assert '"sonnet"' in changed.read_text()
    assert main(["uninstall", "claude"]) == 0
    assert sorted(path.parent.glob("*backup*")) == [Path(f"{path}.crabhook-backup"), changed]


def test_hooks_alone_in_a_file_are_nobodys_loss(path: Path) -> None:
    for options in ((), ("--gate",), ("--companion",)):
        assert main(["install", "claude", *options]) == 0
    assert list(path.parent.glob("*backup*")) == []
