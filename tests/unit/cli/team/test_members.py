"""A team founded, invited into and revoked from terminals, by who knows its passphrase alone."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from crabhook.cli.team.asking import new_passphrase, with_passphrase
from crabhook.model.actor import Role
from crabhook.team.certificates import WrongPassphraseError, opened
from crabhook.team.desk_keys import desk_folders
from crabhook.team.folder import Folder
from crabhook.team.membership import Principal, Team
from crabhook.team.team_file import TeamReader, team_in
from tests.support.examples import share
from tests.support.plain_desk import CRABHOOK
from tests.support.team import RIGHT, WRONG, founded
from tests.support.typist import Typist

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

OURS, NEW, AGAIN = "Your passphrase for the team ", "Your new passphrase, ", "The same again: "
OTHER = "another long one"


def environment(home: Path) -> dict[str, str]:
    """A person's own folders."""
    folders = {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "USER": "ann", **folders}


def folder(home: Path) -> Folder:
    return Folder(home / "state" / "crabhook" / "team")


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as line:
        return str(line.getsockname()[1])


def invited(host: Typist) -> str:
    """Wait for the line on standard output; type the passphrase first."""
    host.answer(OURS, f"{RIGHT}\n")
    assert host.process.stdout is not None
    for line in host.process.stdout:
        if found := re.search(rb"crab1\S+", line):
            return found[0].decode()
    raise AssertionError(host.finish())


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The home of who has founded a team."""
    home = tmp_path / "here"
    init = [CRABHOOK, "team", "init", "--operator", "ann", "--host", "desk.example"]
    with Typist(init, environment(home)) as ann:
        ann.answer(NEW, f"{RIGHT}\n")
        ann.answer(AGAIN, f"{RIGHT}\n")
        code, said, complained = ann.finish()
        assert (code, complained) == (0, ""), complained
        assert "ann, its first admin" in said
        assert RIGHT not in f"{said}{ann.shown}"
        serve = "crabhook serve --operators 0.0.0.0:7444 --listen 0.0.0.0:7443"
        assert said.index(serve) < said.index("crabhook team invite NAME")
        assert "team servers" not in said  # there is one server
    return home


@pytest.mark.parametrize("words", share(["team pull", "rules push", "team push", "rules pull"], 0))
def test_where_no_shared_store_is_named_nobody_is_led_to_found_a_second_team(
    tmp_path: Path, words: str
) -> None:
    done = subprocess.run(
        [CRABHOOK, *words.split()], env=environment(tmp_path), capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"no store that servers share is named here" in done.stderr
    assert b"settings.toml, [record] store = " in done.stderr
    assert b"team init" not in done.stderr
    assert (b"--store" in done.stderr) == words.startswith("rules")


# Ends itself by kill -9 in the place of its Nth rename, of those that it makes below a folder.
_MORTAL = """
import os, signal, sys
left, home = int(sys.argv[1]), sys.argv[2]
def hear(event, about):
    global left
    if event == "os.rename" and str(about[1]).startswith(home):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hear)
sys.argv = ["crabhook", *sys.argv[3:]]
from crabhook.cli import main
sys.exit(main())
"""
FILES = 14
"""What a founding writes: eight files of the team's, five keys, and the team's folder in its place."""


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(n, marks=() if n == FILES else pytest.mark.thorough)
        for n in range(1, FILES + 1)
    ],
)
def test_a_founding_killed_at_any_file_leaves_what_the_next_one_finishes(
    file: int, tmp_path: Path
) -> None:
    home = tmp_path / "here"
    mortal = [sys.executable, "-c", _MORTAL, str(file), str(home), "team", "init"]
    with Typist(mortal, environment(home)) as ann:
        ann.answer(NEW, f"{RIGHT}\n")
        ann.answer(AGAIN, f"{RIGHT}\n")
        assert ann.finish()[0] == -signal.SIGKILL
    founded_already = folder(home).exists
    assert founded_already is (file == FILES)  # the last file is written beside the team's folder
    assert not desk_folders(home / "config" / "crabhook")
    with Typist([CRABHOOK, "team", "init"], environment(home)) as ann:
        if not founded_already:
            ann.answer(NEW, f"{RIGHT}\n")
            ann.answer(AGAIN, f"{RIGHT}\n")
        code, said, complained = ann.finish()
    assert (code, complained) == (0, "")
    assert "ann, its first admin" in said
    (kept,) = desk_folders(home / "config" / "crabhook")
    team = team_in(folder(home))
    principal = team.identify(kept.opened(RIGHT).certificate, time.time())
    assert isinstance(principal, Principal)
    assert (principal.name, principal.role, principal.closing) == ("ann", Role.ADMIN, False)
    assert [one.name for one in folder(home).path.parent.iterdir()] == ["team"]


def ways() -> list[str]:
    return ["--host", "127.0.0.1", "--port", free_port()]


def revoke(home: Path, *words: str) -> None:
    with Typist([CRABHOOK, *words], environment(home)) as ann:
        ann.answer(OURS, f"{RIGHT}\n")
        assert ann.finish()[0] == 0


@pytest.mark.slow
def test_a_person_joins_by_one_line_and_is_revoked_by_another(here: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    invite = [CRABHOOK, "team", "invite", "bob", "--role", "decider", "--only-kind", "call"]
    servers = ["--server", "a.example:7444,b.example:7444"]
    with Typist([*invite, *ways(), *servers], environment(here)) as ann:
        join = [CRABHOOK, "team", "join", invited(ann), "--name", "laptop"]
        with Typist(join, environment(there)) as bob:
            bob.answer(NEW, f"{OTHER}\n")
            bob.answer(AGAIN, f"{OTHER}\n")
            ann.answer("[y/N] ", "y\n")
            code, said, complained = bob.finish()
        assert (code, complained) == (0, ""), complained
        (words,) = re.findall(r"\n  ((?:[a-z]+ ){5}[a-z]+)\n", said)
        assert words in ann.shown
        assert "You are bob, decider" in said
        assert "Its server is a.example:7444 or b.example:7444." in said
        assert said.index("Read these six words to the person who invited you") < said.index(words)
        assert said.index(words) < said.index("Type nothing here: ")
        assert "Next: open your desk with `crabhook`" in said
        assert "bob has joined as decider, limited to kinds call" in ann.finish()[1]
    team = team_in(folder(here))
    roles = [(one.name, one.role) for one in team.members]
    assert roles == [("ann", Role.ADMIN), ("bob", Role.DECIDER)]
    (kept,) = desk_folders(there / "config" / "crabhook")
    opening, closing = kept.opened(OTHER), kept.closing()
    assert closing
    with pytest.raises(WrongPassphraseError):
        kept.opened(RIGHT)
    for credentials, only_closing in ((opening, False), (closing, True)):
        opened(credentials.key)
        principal = team.identify(credentials.certificate, time.time())
        assert isinstance(principal, Principal)
        assert (principal.name, principal.device_name, principal.closing) == (
            "bob",
            "laptop",
            only_closing,
        )
    assert b"BEGIN PRIVATE" not in (kept.path / "device.key").read_bytes()
    assert {file.stat().st_mode & 0o777 for file in kept.path.iterdir()} == {0o600}
    reader = TeamReader(folder(here))
    revoke(here, "team", "revoke", "bob", "--device", "laptop")
    after = reader.current()
    assert isinstance(after, Team)
    assert "was revoked" in str(after.identify(opening.certificate, time.time()))
    assert "was revoked" in str(after.identify(closing.certificate, time.time()))
    command = [CRABHOOK, "team", "list", "--json"]
    listed = subprocess.run(command, env=environment(here), capture_output=True, check=True)
    assert [one["name"] for one in json.loads(listed.stdout)["members"]] == ["ann", "bob"]


@pytest.mark.slow
def test_a_machines_hooks_are_installed_by_one_line_with_a_token_of_their_own(
    here: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    invite = [CRABHOOK, "team", "invite", "build1", "--machine"]
    servers = ["--server", "a.example:7443,127.0.0.1:7443"]
    with Typist([*invite, *ways(), *servers], environment(here)) as ann:
        install = [CRABHOOK, "install", "claude", "--join", invited(ann)]
        with Typist(install, environment(there)) as agent:
            ann.answer("[y/N] ", "y\n")
            code, said, _ = agent.finish()
        assert code == 0
        assert "Hooks ask the server at a.example:7443 or 127.0.0.1:7443" in said
        assert "to see that hooks reach the team's server" in said
        assert ann.finish()[0] == 0
    (token,) = (there / "config" / "crabhook" / "servers").glob("*/token")
    assert token.stat().st_mode & 0o777 == 0o600
    settings = (there / ".claude" / "settings.json").read_text()
    assert '"a.example:7443,127.0.0.1:7443"' in settings
    assert str(token) in settings
    assert str(token.with_name("authority.pem")) in settings
    reader = TeamReader(folder(here))
    assert reader.machine_of(token.read_text().strip()) == "build1"
    revoke(here, "team", "revoke", "build1", "--machine")
    assert reader.machine_of(token.read_text().strip()) is None


OPENING = {
    "init": ("team", "init"),
    "invite": ("team", "invite", "mallory", "--role", "admin"),
}


def test_who_founds_a_second_team_is_told_what_to_do_with_the_first(tmp_path: Path) -> None:
    founded(folder(tmp_path).path, 1_800_000_000.0)
    again = [CRABHOOK, "team", "init"]
    ended = subprocess.run(again, env=environment(tmp_path), capture_output=True, check=False)
    assert ended.returncode == 1
    assert b"there is a team already" in ended.stderr
    assert b"`crabhook team invite NAME`" in ended.stderr


@pytest.mark.parametrize("verb", ["init", "invite"])
def test_no_process_without_a_terminal_founds_or_changes_a_team(verb: str, tmp_path: Path) -> None:
    if verb != "init":
        founded(folder(tmp_path).path, 1_800_000_000.0)
    before = snapshot(tmp_path)
    ended = subprocess.run(
        [CRABHOOK, *OPENING[verb]],
        input=f"{RIGHT}\n" * 5,
        env=environment(tmp_path) | {"CRABHOOK_PASSPHRASE": RIGHT, "PASSPHRASE": RIGHT},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert "there is no terminal to ask on" in ended.stderr
    assert snapshot(tmp_path) == before


def snapshot(home: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in home.rglob("*") if one.is_file()}


@pytest.mark.skipif(shutil.which("script") is None, reason="there is no `script` here")
def test_a_terminal_of_ones_own_opens_nothing_without_the_passphrase(tmp_path: Path) -> None:
    founded(folder(tmp_path).path, 1_800_000_000.0)
    before = snapshot(tmp_path)
    command = shlex.join([CRABHOOK, *OPENING["invite"]])
    with subprocess.Popen(
        ["script", "-qec", command, "/dev/null"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(tmp_path) | {"SHELL": "/bin/sh"},
        start_new_session=True,
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        shown = b""
        for times in range(1, 4):
            while shown.count(OURS.encode()) < times:
                piece = os.read(agent.stdout.fileno(), 4096)
                assert piece, shown
                shown += piece
            agent.stdin.write(f"{WRONG}\n".encode())
            agent.stdin.flush()
        shown += agent.stdout.read()
        agent.stdin.close()
    assert agent.returncode == 1
    assert b"3 wrong passphrases: nothing was changed" in shown
    assert b"crab1" not in shown
    assert snapshot(tmp_path) == before


def test_a_passphrase_is_asked_for_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    import crabhook.cli.team.asking as module

    typed, prompts = iter([WRONG, WRONG, RIGHT, WRONG]), list[str]()

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return next(typed)

    def opens(one: str) -> str:
        if one != RIGHT:
            raise WrongPassphraseError
        return one

    monkeypatch.setattr(module, "ask", ask)
    assert with_passphrase(OURS, opens) == RIGHT
    assert prompts == [
        OURS,
        f"That is not it (2 more). {OURS}",
        f"That is not it (1 more). {OURS}",
    ]


def test_a_new_passphrase_that_will_not_do_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import crabhook.cli.team.asking as module

    typed, prompts = iter(["short", RIGHT, WRONG, RIGHT, RIGHT]), list[str]()

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return next(typed)

    monkeypatch.setattr(module, "ask", ask)
    assert new_passphrase() == RIGHT
    assert "8 characters or more" in prompts[0]  # said before anything is typed
    assert prompts == [
        module.NEW,
        f"A passphrase has 8 to 1024 characters (2 more). {module.NEW}",
        AGAIN,
        f"The two differ (1 more). {module.NEW}",
        AGAIN,
    ]
    typed = iter(["short"] * 3)
    with pytest.raises(module.PassphrasesError, match="nothing was changed"):
        new_passphrase()
