"""Hooks and servers are upgraded one after the other: each gets on with what the other was.

A machine with agents keeps its client while the operator's machine has a new
server, and the other way round. The older one is a wheel kept by `make
baseline`, installed as its owner would; every cell is its own installed hook.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.client import sample
from tests.support.examples import share
from tests.support.older import TODAY, WHEELS, Hook, Program, unpack
from tests.support.plain_desk import PlainDesk
from tests.support.port import short_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
EDITED = "ls -l 'é'; echo $HOME"

# What is asked, what the operator says, and what the agent must then read.
ASKED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "allowed": ("PreToolUse-Bash", "allow", {"permissionDecision": "allow"}),
    "denied": (
        "PreToolUse-Bash",
        "deny not today: é",
        {"permissionDecision": "deny", "permissionDecisionReason": "not today: é"},
    ),
    "edited": (
        "PreToolUse-Bash",
        f"edit {EDITED}",
        {
            "permissionDecision": "allow",
            "updatedInput": {"command": EDITED, "description": "write"},
        },
    ),
    "handed back": ("PreToolUse-Bash", "ask", {"permissionDecision": "ask"}),
    "a plan": ("PreToolUse-ExitPlanMode", "allow", {"permissionDecision": "allow"}),
    "a prompt": ("PermissionRequest-Bash", "allow", {"decision": {"behavior": "allow"}}),
    "a prompt denied": (
        "PermissionRequest-Write",
        "deny no",
        {"decision": {"behavior": "deny", "message": "no"}},
    ),
    "a form": ("Elicitation", "decline", {"action": "decline"}),
}


def within(expected: object, given: object) -> bool:
    """Whether all that is expected was given; a newer server may say more beside it."""
    if isinstance(expected, dict) and isinstance(given, dict):
        return all(key in given and within(one, given[key]) for key, one in expected.items())
    return expected == given


@pytest.fixture(scope="module", params=WHEELS, ids=lambda wheel: wheel.parent.name)
def older(request: pytest.FixtureRequest) -> Iterator[Program]:
    with tempfile.TemporaryDirectory(prefix="crabhook-older-") as folder:
        yield unpack(request.param, Path(folder))


@pytest.fixture(scope="module", params=["older hook", "older server"])
def pair(request: pytest.FixtureRequest, older: Program) -> tuple[Program, Program]:
    """The hook's program and the server's: one of them the older."""
    return (older, TODAY) if request.param == "older hook" else (TODAY, older)


@pytest.fixture(scope="module")
def desk(pair: tuple[Program, Program]) -> Iterator[PlainDesk]:
    server = pair[1]
    with PlainDesk(program=server.command, **server.environment) as desk:
        yield desk


@pytest.fixture
def home() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def installed(pair: tuple[Program, Program], desk: PlainDesk) -> Iterator[Callable[[str], Hook]]:
    """Return how to find the hook of an event at the desk's gate, installed once for all."""
    with short_folder() as folder:
        pair[0].install(folder, desk.address, "--gate")
        yield partial(pair[0].installed, folder)


def test_an_older_program_is_kept() -> None:
    assert WHEELS


def test_it_is_the_older_program_that_runs(older: Program, home: Path) -> None:
    place = subprocess.run(
        [shutil.which("python") or "python", "-c", "import crabhook; print(crabhook.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=home,
        env={"PATH": os.environ["PATH"], **older.environment},
    ).stdout
    assert place.startswith(older.environment["PYTHONPATH"])
    hook = older.hook(home, f"unix:{home}/s", "PreToolUse", "--gate")
    assert any(older.environment["PYTHONPATH"] in word for word in hook.command)


@pytest.mark.parametrize("name", ASKED)
def test_each_answer_is_the_agents_whoever_is_older(
    pair: tuple[Program, Program],
    desk: PlainDesk,
    installed: Callable[[str], Hook],
    name: str,
) -> None:
    recorded, said, expected = ASKED[name]
    event = recorded.split("-")[0]
    started = installed(event).start(sample(recorded, session_id=f"{pair[0].name} {name}"))
    number = desk.wait_for(rf"^#(\d+) {event} ")[1]
    desk.say(f"{number} {said}")
    specific = started.answer()["hookSpecificOutput"]
    assert within(expected, specific), specific
    desk.wait_for(rf"^#{number} delivered")


def test_a_question_is_answered_whoever_is_older(
    pair: tuple[Program, Program], desk: PlainDesk, installed: Callable[[str], Hook]
) -> None:
    hook = installed("PreToolUse")
    started = hook.start(sample("PreToolUse-AskUserQuestion", session_id=f"{pair[0].name} asks"))
    number = desk.wait_for(r"^#(\d+) PreToolUse AskUserQuestion")[1]
    desk.say(f'{number} answer 1=2 2="the 2nd, é"')
    given = started.answer()["hookSpecificOutput"]["updatedInput"]["answers"]
    assert given == {"Which library?": "pydantic", "Which features?": "the 2nd, é"}


def test_what_is_only_observed_passes_whoever_is_older(
    pair: tuple[Program, Program], desk: PlainDesk, home: Path
) -> None:
    hook = pair[0].hook(home, desk.address, "SessionStart")
    assert hook.start(sample("SessionStart", session_id=f"{pair[0].name} start")).answer() == {}


def test_megabytes_are_asked_whole_whoever_is_older(
    pair: tuple[Program, Program], desk: PlainDesk, installed: Callable[[str], Hook]
) -> None:
    hook = installed("PreToolUse")
    tool_input = {"file_path": "/tmp/long", "content": "line\n" * 800_000}
    payload = sample("PreToolUse-Write", session_id=f"{pair[0].name} long", tool_input=tool_input)
    started = hook.start(payload)
    number = desk.wait_for(r"^#(\d+) PreToolUse Write")[1]
    desk.say(f"{number} allow")
    assert started.answer()["hookSpecificOutput"]["permissionDecision"] == "allow"


def test_a_token_is_shown_over_tcp_whoever_is_older(
    pair: tuple[Program, Program], home: Path
) -> None:
    client, server = pair
    token = home / "token"
    token.write_text("t0ken\n", encoding="utf-8")
    token.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options = ("--token-file", str(token))
    with PlainDesk(*options, listen=address, program=server.command, **server.environment) as desk:
        hook = client.hook(home, address, "PreToolUse", "--gate", *options)
        started = hook.start(sample("PreToolUse-Bash"))
        desk.say(f"{desk.card('Bash')} deny by wire")
        assert started.answer()["hookSpecificOutput"]["permissionDecisionReason"] == "by wire"


@pytest.mark.parametrize("word", ["away", "here"])
def test_an_older_client_that_says_to_be_away_is_told_that_nobody_listens_to_it(
    older: Program, word: str
) -> None:
    with PlainDesk() as desk:
        done = subprocess.run(
            [older.command, word, "--server", desk.address],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": str(desk.folder), **older.environment},
        )
        assert done.returncode == 1
        assert "has no desk that could be left" in done.stderr
        desk.say("orders")
        desk.wait_for("^· no order stands$")


def test_a_question_outlives_the_upgrade_of_its_server(older: Program, home: Path) -> None:
    with PlainDesk(program=older.command, **older.environment) as desk:
        hook = older.hook(home, desk.address, "PreToolUse", "--gate")
        started = hook.start(sample("PreToolUse-Bash"))
        desk.card("Bash")
        desk.kill()
        desk.stop()
        desk.program, desk.environment = TODAY.command, {}
        desk.start()
        number = desk.card("Bash")
        desk.say(f"{number} deny after the upgrade")
        specific = started.answer()["hookSpecificOutput"]
        assert specific["permissionDecisionReason"] == "after the upgrade"
        desk.wait_for(rf"^#{number} delivered")


def test_today_takes_out_what_the_older_installed(older: Program, home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"}\n', encoding="utf-8")
    older.run("install", "claude", "--gate", "--server", f"unix:{home}/s", home=home)
    assert "hooks" in json.loads(settings.read_text(encoding="utf-8"))
    TODAY.run("uninstall", "claude", home=home)
    assert json.loads(settings.read_text(encoding="utf-8")) == {"model": "opus"}


BREAKING = {
    "a field that is gone": ("optional uint32 seconds = 2;", ""),
    "a field with another number": ("optional uint32 seconds = 2;", "optional uint32 seconds = 9;"),
    "a field of another type": ("string passphrase = 3;", "uint32 passphrase = 3;"),
    "a field of another name": ("string passphrase = 3;", "string password = 3;"),
    "a value that is gone": ("PRESENCE_AWAY = 2;", "PRESENCE_OUT = 2;"),
    "a call of another name": ("rpc SetPresence(", "rpc PutPresence("),
}


@pytest.fixture(scope="module")
def check() -> list[str]:
    """Return the command by which `make check` holds the wire against its baseline."""
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", "check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (command,) = (line for line in planned.splitlines() if line.startswith("buf breaking"))
    return command.split()


@pytest.mark.parametrize("name", ["nothing changed", *share(list(BREAKING), 0)])
def test_a_wire_that_an_older_program_cannot_read_does_not_pass_the_check(
    tmp_path: Path, check: list[str], name: str
) -> None:
    change = BREAKING.get(name)
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    file = tmp_path / "proto" / "crabhook" / "v1" / "desk.proto"
    text = file.read_text(encoding="utf-8")
    if change:
        assert change[0] in text
        file.write_text(text.replace(*change), encoding="utf-8")
    checked = subprocess.run(
        check,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )
    assert (checked.returncode != 0) == (change is not None), checked.stdout + checked.stderr
