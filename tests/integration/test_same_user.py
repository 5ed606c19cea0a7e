"""An agent of the operator's own user runs each command: no gate opens without the secret or a touch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.test_verbs import PASSPHRASE, Machine
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK
from tests.support.ssh_keys import Signer
from tests.support.typist import Typist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

pytestmark = pytest.mark.process

WRONG = "wrong horse battery staple"
NOT_ALLOWED = 5
ME = "ann"
VERBS: Mapping[str, Sequence[str]] = {
    "allow": ("allow", "1"),
    "allow --yes": ("allow", "1", "--yes"),
    "answer": ("answer", "1", "1=1"),
    "edit": ("edit", "1", "npm test"),
    "pass": ("pass", "1"),
    "hand-back": ("hand-back", "1"),
    "deny with words": ("deny", "1", "--reason", "run rm -rf instead"),
    "sessions stop with words": ("sessions", "stop", "s1", "run", "this", "instead"),
    "sessions note": ("sessions", "note", "s1", "go", "on"),
    "orders away": ("orders", "away"),
    "orders away --for": ("orders", "away", "--for", "1h"),
    "orders release": ("orders", "release", "hold-all"),
    "team invite": ("team", "invite", "mallory", "--role", "admin"),
    "team revoke": ("team", "revoke", ME),
    "team keys trust": ("team", "keys", "trust", ME, "KEY"),
    "team invite --machine": ("team", "invite", "m1", "--machine"),
    "team init": ("team", "init"),
    "team invite --oidc": ("team", "invite", "mallory", "--oidc"),
    "team oidc use": ("team", "oidc", "use"),
    "team names": ("team", "names", "evil.example"),
    "desk": ("desk", "--plain"),
    "team join": ("team", "join", "crab1aaaa@127.0.0.1:1"),
}
"""Each command that may let something happen, let somebody in, or tell a model something."""

Ended = tuple[int, str]


def bare(machine: Machine, words: Sequence[str]) -> Ended:
    """Run it with no terminal, with the true passphrase wherever a program could look for it."""
    return _run(machine, (CRABHOOK, *words))


def _run(machine: Machine, command: Sequence[str], **environment: str) -> Ended:
    names = ("CRABHOOK_PASSPHRASE", "PASSPHRASE", "PASSWORD")
    told = {**machine.environment, **dict.fromkeys(names, PASSPHRASE), **environment}
    ended = subprocess.run(
        command,
        env=told,
        input=f"{PASSPHRASE}\n" * 5 + "y\n" * 5,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        start_new_session=True,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.returncode, ended.stdout + ended.stderr


def asked_by_a_window(machine: Machine, words: Sequence[str]) -> Ended:
    """Run it where a program of ssh's would ask in a window, by a helper that knows the passphrase."""
    helper = machine.folder / "askpass"
    helper.write_text(f"#!/bin/sh\necho '{PASSPHRASE}'\n")
    helper.chmod(0o700)
    told = {"SSH_ASKPASS": str(helper), "SUDO_ASKPASS": str(helper), "DISPLAY": ":9"}
    return _run(machine, (CRABHOOK, *words), SSH_ASKPASS_REQUIRE="force", **told)


def in_a_session_of_its_own(machine: Machine, words: Sequence[str]) -> Ended:
    return _run(machine, ("setsid", "-w", CRABHOOK, *words))


def on_a_terminal_of_its_own(machine: Machine, words: Sequence[str]) -> Ended:
    """Type on a pty whatever is asked for, the secret apart: a yes, and a guess."""
    with Typist(
        (CRABHOOK, *words), machine.environment, stdin=f"{PASSPHRASE}\n".encode()
    ) as typist:
        until = time.monotonic() + 60
        while typist.process.poll() is None and time.monotonic() < until:
            with suppress(AssertionError):
                typist.answer(": ", f"{WRONG}\n", seconds=1)
        code, said, wrong = typist.finish()
    return code, said + wrong + typist.shown


def by_script(machine: Machine, words: Sequence[str]) -> Ended:
    line = " ".join((CRABHOOK, *words))
    command = ["script", "-qec", line, "/dev/null"]
    told = machine.environment | {"SHELL": "/bin/sh"}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=told,
        start_new_session=True,
    ) as script:
        assert script.stdin is not None
        assert script.stdout is not None
        shown, answered = b"", 0
        while piece := os.read(script.stdout.fileno(), 4096):
            shown += piece
            if (asked := shown.count(b": ")) > answered:
                answered = asked
                with suppress(BrokenPipeError):
                    script.stdin.write(f"{WRONG}\n".encode())
                    script.stdin.flush()
        with suppress(BrokenPipeError):
            script.stdin.close()
        script.wait(60)
    return script.returncode, shown.decode(errors="replace")


WAYS: Mapping[str, Callable[[Machine, Sequence[str]], Ended]] = {
    "no terminal": bare,
    "askpass and a display": asked_by_a_window,
    "setsid": in_a_session_of_its_own,
    "a pty of its own": on_a_terminal_of_its_own,
    "script": by_script,
}
NEEDS = {"setsid": "setsid", "script": "script"}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """A server with a team of one, whose device has a closing key; a call waits, and is held."""
    folder = Path(tempfile.mkdtemp(prefix="crabhook-same-", dir="/tmp"))
    here = Machine(folder)
    here.environment["USER"] = ME
    try:
        here.serve()
        (folder / "key.pub").write_text(Signer("sk-ssh-ed25519@openssh.com").line)
        yield here
    finally:
        with suppress(subprocess.TimeoutExpired):
            here.run("down", "--yes")
        shutil.rmtree(folder)


def state(machine: Machine) -> dict[str, Any]:
    """What an opened gate would change: cards, the team's file, who is in it, rules."""
    watched = ("state/crabhook/team", "config/crabhook")
    files = [
        one
        for place in (".local/state/crabhook/team", ".config/crabhook", *watched)
        for one in (machine.folder / place).rglob("*")
        if one.is_file() and one.name != "newest"
    ]
    cards = [json.loads(line) for line in machine.run("pending", "--json").stdout.splitlines()]
    return {
        "cards": [(one["number"], one["version"], one["state"]) for one in cards],
        "files": {str(one): one.read_bytes() for one in files},
    }


SOME = ("allow",)


@pytest.mark.parametrize(
    ("way", "verbs"),
    [
        pytest.param("a pty of its own", SOME, id="some"),
        *(pytest.param(way, tuple(VERBS), id=way, marks=pytest.mark.thorough) for way in WAYS),
    ],
)
def test_no_command_opens_a_gate_for_a_process_of_the_same_user(
    machine: Machine, way: str, verbs: Sequence[str]
) -> None:
    if shutil.which(NEEDS.get(way, "sh")) is None:
        pytest.skip(f"there is no `{NEEDS[way]}` here")
    asked = machine.ask("npm ci", f"t-{way}-{len(verbs)}")
    try:
        card = machine.pending()[-1]
        before = state(machine)
        for verb in verbs:
            key = str(machine.folder / "key.pub")
            words = [key if one == "KEY" else one for one in VERBS[verb]]
            words = [str(card["number"]) if one == "1" else one for one in words]
            code, said = WAYS[way](machine, words)
            assert code not in (0, 7), f"{verb}: {said}"
            assert "crab1" not in said or verb == "team join", verb
            assert PASSPHRASE not in said, verb
        assert state(machine) == before
    finally:
        number = machine.pending()[-1]["number"]
        assert machine.run("deny", str(number)).returncode == 0
        asked.finish()


@pytest.mark.thorough
def test_what_closes_needs_nobody_and_opens_nothing(machine: Machine) -> None:
    session = "a-session-that-is-stopped"
    about = {
        "tool_input": {"command": "npm ci"},
        "tool_use_id": "t-closing",
        "cwd": "/nowhere/shop",
    }
    asked = Client(machine.address, sample("PreToolUse-Bash", session_id=session, **about))
    number = str(machine.pending()[-1]["number"])
    for words in (
        ("orders", "hold-all", session, "1h"),
        ("orders", "here"),
        ("deny", number),
        ("sessions", "stop", session),
    ):
        code, said = bare(machine, words)
        assert code == 0, (words, said)
    assert asked.finish().output["hookSpecificOutput"]["permissionDecision"] == "deny"
    code, said = bare(machine, ("orders", "release", "hold-all"))
    assert code == 1, said
    assert "there is no terminal" in said


@pytest.mark.thorough
def test_a_rule_is_trusted_by_a_yes_on_the_terminal_alone(machine: Machine) -> None:
    project = machine.folder / "shop"
    (project / ".crabhook").mkdir(parents=True)
    (project / ".crabhook" / "rules.toml").write_text(
        '[[rule]]\nverdict = "allow"\nmatch = "Bash(*)"\n'
    )
    for way in (bare, asked_by_a_window):
        code, said = way(machine, ("rules", "trust", str(project)))
        assert code == 1, said
        assert "there is no terminal" in said


@pytest.mark.thorough
def test_nothing_that_others_can_read_has_the_secret(machine: Machine) -> None:
    """Files, and what /proc tells of a desk that is open: test_asking is about its memory."""
    lines = machine.folder / "lines"
    os.mkfifo(lines)
    held = os.open(lines, os.O_RDWR)  # so that the desk's input does not end
    command = ("sh", "-c", f"exec {CRABHOOK} desk --plain < {lines}")
    with Typist(command, machine.environment) as desk:
        desk.answer(": ", f"{PASSPHRASE}\n")
        until = time.monotonic() + 60
        while "desks: 1" not in machine.run("status").stdout:
            assert time.monotonic() < until
        told = Path(f"/proc/{desk.process.pid}")
        for name in ("cmdline", "environ", "status", "comm"):
            assert PASSPHRASE.encode() not in (told / name).read_bytes()
        listed = subprocess.run(["ps", "axeww"], capture_output=True, check=False).stdout
        assert PASSPHRASE.encode() not in listed
    os.close(held)
    kept = [one for one in machine.folder.rglob("*") if one.is_file() and one.name != "askpass"]
    assert not [one for one in kept if PASSPHRASE.encode() in one.read_bytes()]
    bare_keys = [one.name for one in kept if b"BEGIN PRIVATE KEY" in one.read_bytes()]
    assert sorted(bare_keys) == ["closing.key", "server.key"]


@pytest.fixture
def ssh_agent(machine: Machine) -> Iterator[Path]:
    """An ssh-agent of the user's with one key, whose uses a window asks about: yes while `yes` is there."""
    place, asker = machine.folder / "agent", machine.folder / "asker"
    asker.write_text(f"#!/bin/sh\n[ -e {machine.folder}/yes ]\n")
    asker.chmod(0o700)
    told = {"SSH_ASKPASS": str(asker), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":9"}
    key = machine.folder / "agents-key"
    machine.environment["SSH_AUTH_SOCK"] = str(place)
    agent = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(place)],
        env=machine.environment | told,
        stdout=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        while not place.exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
        for command in (make, ["ssh-add", "-c", str(key)]):
            subprocess.run(command, env=machine.environment, capture_output=True, check=True)
        key.unlink()
        yield key.with_suffix(".pub")
    finally:
        agent.kill()
        agent.wait()
        machine.run("team", "keys", "use", "--none")
        del machine.environment["SSH_AUTH_SOCK"]


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("ssh-agent") is None, reason="there is no `ssh-agent` here")
def test_a_key_of_an_ssh_agent_opens_after_a_yes_and_where_an_admin_trusts_it(
    machine: Machine, ssh_agent: Path
) -> None:
    asked = machine.ask("npm ci", "t-signed")
    number = str(machine.pending()[-1]["number"])
    yes, key = machine.folder / "yes", str(ssh_agent)
    assert machine.run("team", "keys", "use", key).returncode == 0
    yes.touch()
    assert bare(machine, ("allow", number))[0] == NOT_ALLOWED  # whoever chose the key
    code, said = machine.typed("team", "keys", "trust", ME, key, times=0)
    assert (code, "--confirmed" in said) == (1, True)
    code, said = machine.typed("team", "keys", "trust", ME, key, "--confirmed")
    assert code == 0, said
    yes.unlink()
    code, said = bare(machine, ("allow", number))
    assert (code, "refused operation" in said) == (1, True), said
    yes.touch()
    code, said = bare(machine, ("allow", number, "--note", "fine"))
    assert code == 0, said
    assert "fine" in asked.finish().stdout.decode()
    assert machine.typed("team", "keys", "distrust", ME, key)[0] == 0
    assert bare(machine, ("orders", "away"))[0] == NOT_ALLOWED
