"""`crabhook here` and `crabhook away`: the commands, at a terminal of their own."""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook.cli.presence import PresenceError, away, here, socket_of
from crabhook.server.address import default_address
from crabhook.server.grpc.presence import NAME, TRIES, Passphrase, keep
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.port import opened, short_folder
from tests.support.presence import RIGHT, WRONG
from tests.support.typist import Typist

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process

ASKED = "Passphrase: "


@pytest.fixture
def desk() -> Iterator[PlainDesk]:
    """A server that knows a passphrase."""
    server = PlainDesk()
    keep(server.folder / ".local" / "state" / "crabhook" / NAME, Passphrase.of(RIGHT))
    with server:
        yield server


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": "/nowhere", **more}


def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command without any terminal."""
    return subprocess.run(
        [CRABHOOK, *words],
        input=f"{RIGHT}\n" * 3,
        capture_output=True,
        text=True,
        timeout=20,
        env=environment(**more),
        start_new_session=True,
        check=False,
    )


def typing(*words: str, **more: str) -> Typist:
    """Run a command at a terminal; what it finds on standard input is wrong."""
    return Typist([CRABHOOK, *words], environment(**more), stdin=f"{WRONG}\n".encode())


def test_away_lets_go_and_here_holds_again(desk: PlainDesk) -> None:
    client = Client(desk.address, sample("PreToolUse-Bash"))
    number = desk.card("Bash")
    with typing("away", "--for", "1h30m", "--server", desk.address) as person:
        person.answer(ASKED, f"{RIGHT}\n")
        code, said, complaint = person.finish()
        assert (code, complaint) == (0, "")
        assert "(1:30:00): 1 waiting request was let go" in said
        assert RIGHT not in person.shown + said
    desk.wait_for("^· desk: crabhook away: the right passphrase$")
    desk.wait_for(r"^· desk: away \(said in another terminal\)$")
    desk.wait_for(rf"^#{number} WITHDRAWN the operator is away")
    assert client.finish().silent
    desk.say("orders")
    desk.wait_for(r"^· away: .* · 1:2\d:\d\d left$")
    assert Client(desk.address, sample("PreToolUse-Bash")).finish().silent

    done = run("here", CRABHOOK_SERVER=desk.address)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "You are here: requests wait for you again.\n"
    desk.wait_for("^· desk: ended: away")
    waiting = Client(desk.address, sample("PreToolUse-Bash"))
    desk.say(f"{desk.card('Bash')} allow")
    assert not waiting.finish().silent

    done = run("here", "--server", desk.address)
    assert (done.returncode, done.stdout) == (0, "You were not away: nothing was changed.\n")


def test_away_without_a_length_lasts_until_here(desk: PlainDesk) -> None:
    with typing("away", CRABHOOK_SERVER=desk.address) as person:
        person.answer(ASKED, f"{RIGHT}\n")
        code, said, _ = person.finish()
    assert code == 0
    assert said.startswith("You are away until `crabhook here`: 0 waiting requests were let go")
    desk.say("orders")
    desk.wait_for("^· away: what agents ask goes to their own users; here ends it$")
    desk.say("here")
    desk.wait_for("^· desk: ended: away")


def test_a_passphrase_is_read_from_the_terminal_and_from_nowhere_else(desk: PlainDesk) -> None:
    done = run("away", "--server", desk.address, PASSPHRASE=RIGHT, CRABHOOK_PASSPHRASE=RIGHT)
    assert done.returncode == 1
    assert "no terminal to ask on" in done.stderr
    assert run("away", RIGHT, "--server", desk.address).returncode == 2
    desk.say("orders")
    desk.wait_for("^· no order stands$")


def test_wrong_ones_are_refused_and_then_none_is_asked_for(desk: PlainDesk) -> None:
    for many in range(1, TRIES + 1):
        with typing("away", "--server", desk.address) as person:
            person.answer(ASKED, f"{WRONG}\n")
            code, said, complaint = person.finish()
        assert (code, said) == (1, "")
        assert complaint.startswith(f"crabhook away: wrong passphrase ({many} in a row)")
        desk.wait_for(rf"^· desk: crabhook away: wrong passphrase \({many} in a row\)")
    with typing("away", "--server", desk.address) as person:
        code, _, complaint = person.finish()
        assert code == 1
        assert "none is looked at for" in complaint
        assert ASKED not in person.shown


def test_a_server_that_knows_no_passphrase_says_what_to_do_before_anybody_types() -> None:
    with PlainDesk() as desk:
        done = run("away", "--server", desk.address)
        assert done.returncode == 1
        assert "no passphrase was set when the server started" in done.stderr
        assert "`crabhook passphrase`" in done.stderr
        assert "b on the full screen" in done.stderr
        assert run("here", "--server", desk.address).returncode == 0


@pytest.mark.parametrize("command", ["here", "away"])
def test_without_a_server_it_is_said_where_one_was_looked_for(command: str) -> None:
    with short_folder() as folder:
        done = run(command, XDG_RUNTIME_DIR=str(folder))
        assert done.returncode == 1
        assert f"no server listens on unix:{folder}/crabhook/crabhook.sock" in done.stderr
        assert "crabhook serve" in done.stderr


@pytest.mark.parametrize("command", ["here", "away"])
async def test_a_server_without_a_desk_that_could_be_left_says_so(command: str) -> None:
    async with opened() as port:
        done = await asyncio.to_thread(run, command, "--server", str(port.bound[0]))
        assert done.returncode == 1
        assert "headless, or older" in done.stderr


@pytest.mark.parametrize("command", ["here", "away"])
def test_no_word_goes_over_tcp(command: str) -> None:
    done = run(command, "--server", "127.0.0.1:1")
    assert done.returncode == 1
    assert "Unix socket alone" in done.stderr


@pytest.mark.parametrize("length", ["0s", "soon", "101h", ""])
def test_a_length_nobody_can_be_away_is_refused(length: str) -> None:
    done = run("away", "--for", length)
    assert done.returncode == 2
    assert "length of time" in done.stderr


def test_a_socket_where_others_could_have_put_theirs_is_told_nothing() -> None:
    with short_folder() as folder:
        assert socket_of(f"unix:{folder}/s").path == folder / "s"
        for mode in (0o770, 0o707, 0o1777):
            folder.chmod(mode)
            with pytest.raises(PresenceError, match="this user alone"):
                socket_of(f"unix:{folder}/s")


def test_the_server_is_looked_for_where_a_hook_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        monkeypatch.delenv("CRABHOOK_SERVER", raising=False)
        assert socket_of(None) == default_address()
        monkeypatch.setenv("CRABHOOK_SERVER", f"unix:{folder}/named")
        assert socket_of(None).path == folder / "named"
        assert socket_of(f"unix:{folder}/given").path == folder / "given"


@pytest.mark.parametrize("command", [here, away], ids=["here", "away"])
def test_no_option_takes_a_passphrase(command: object) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)  # type: ignore[attr-defined]
    assert {one for action in parser._actions for one in action.option_strings} <= {
        "-h",
        "--help",
        "--server",
        "--for",
    }


def test_ctrl_c_leaves_a_terminal_that_shows_what_is_typed(desk: PlainDesk) -> None:
    script = f"{CRABHOOK} away --server {desk.address}; echo ended $? > /dev/tty; cat < /dev/tty"
    with Typist(["sh", "-c", f"trap : INT; {script}"], environment()) as person:
        person.answer(ASKED, "half of it\x03")
        person.answer("ended 130", "shown again\n")
        person.answer("shown again", "\x04")
        assert "half of it" not in person.shown


def test_the_state_folder_is_not_read_by_who_is_away(desk: PlainDesk, tmp_path: Path) -> None:
    keep(tmp_path / ".local" / "state" / "crabhook" / NAME, Passphrase.of(WRONG))
    with typing("away", "--server", desk.address, HOME=str(tmp_path)) as person:
        person.answer(ASKED, f"{WRONG}\n")
        assert person.finish()[0] == 1
