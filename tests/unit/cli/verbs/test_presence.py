"""`crabhook orders`, its away, here, hold-all and release: the passphrase opens, the open key closes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from crabhook.cli import main
from crabhook.cli.commands import DONE, FAILED, NO_SERVER, NOT_ALLOWED
from crabhook.model.actor import Role
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.port import short_folder
from tests.support.rows import every_row
from tests.support.team import RIGHT, WRONG, founded
from tests.support.typist import Typist

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.process
ASKED = "Your passphrase for the team ours: "


class Person:
    """A server with a desk of its own, and its team: who sits there, in other terminals."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.server = f"127.0.0.1:{free.getsockname()[1]}"
        self.desk = PlainDesk("--operators", self.server)
        self.team = founded(
            self.desk.folder / ".local" / "state" / "crabhook" / "team", time.time()
        )
        self.team.seat(self.desk.folder / ".config" / "crabhook", "ann", self.server)

    def environment(self, home: Path) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home)}

    def run(self, *words: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command without any terminal."""
        return subprocess.run(
            [CRABHOOK, *words],
            input=f"{RIGHT}\n" * 3,
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment(home or self.desk.folder) | {"PASSPHRASE": RIGHT},
            start_new_session=True,
            check=False,
        )

    def typed(self, *words: str, home: Path | None = None, passphrase: str = RIGHT) -> Typist:
        """Run a command at a terminal, where the passphrase is typed."""
        environment = self.environment(home or self.desk.folder)
        person = Typist([CRABHOOK, *words], environment, stdin=f"{WRONG}\n".encode())
        person.answer(ASKED, f"{passphrase}\n")
        return person


@pytest.fixture
def person() -> Iterator[Person]:
    one = Person()
    with one.desk:
        yield one


def test_away_takes_the_passphrase_and_here_the_key_that_lies_open(person: Person) -> None:
    desk = person.desk
    client = Client(desk.address, sample("PreToolUse-Bash"))
    number = desk.card("Bash")
    refused = person.run("orders", "away")
    assert (refused.returncode, refused.stdout) == (FAILED, "")
    assert "no terminal to ask on" in refused.stderr
    with person.typed("orders", "away", "--for", "1h30m") as typist:
        code, said, complaint = typist.finish()
        assert (code, complaint) == (DONE, "")
        assert "(1:30:00): 1 waiting request was let go" in said
        assert RIGHT not in typist.shown + said
    desk.wait_for(r"^· desk: away \(by ann, at laptop\)$")
    desk.wait_for(rf"^#{number} WITHDRAWN the operator is away")
    assert client.finish().silent

    done = person.run("orders", "here")
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout == "You are here: requests wait for you again.\n"
    desk.wait_for("^· desk: ended: away")
    waiting = Client(desk.address, sample("PreToolUse-Bash"))
    desk.say(f"{desk.card('Bash')} allow")
    assert not waiting.finish().silent
    assert person.run("orders", "here").stdout == "You were not away: nothing was changed.\n"


@pytest.mark.thorough
def test_the_open_key_holds_a_session_and_ends_what_lets_it_pass_and_opens_nothing(
    person: Person,
) -> None:
    desk = person.desk
    hook = Client(desk.address, sample("PreToolUse-Bash", session_id="abcdef"))
    desk.say(f"{desk.card('Bash')} allow")
    assert not hook.finish().silent
    desk.say("allow-all abcdef 10m")
    desk.wait_for("^· desk: .*allow everything of session=abcdef")
    done = person.run("orders", "release", "allow-all")
    assert (done.returncode, done.stdout) == (DONE, "1 order was ended.\n")
    assert person.run("orders", "release", "allow-all").stdout.startswith("No such order stands")
    done = person.run("orders", "hold-all", "abcdef", "10m")
    assert (done.returncode, done.stderr) == (DONE, ""), done.stdout
    desk.wait_for(r"^· desk: .*hold everything of session=abcdef.*\(by ann, at laptop\)")
    refused = person.run("orders", "release", "hold-all")
    assert refused.returncode == FAILED
    assert "no terminal to ask on" in refused.stderr
    with person.typed("orders", "release", "hold-all") as typist:
        assert typist.finish()[:2] == (DONE, "1 order was ended.\n")


def test_who_may_not_give_orders_is_told_so(person: Person) -> None:
    with short_folder() as home:
        person.team.seat(home / ".config" / "crabhook", "bob", person.server, Role.DECIDER)
        with person.typed("orders", "away", home=home) as typist:
            code, said, _ = typist.finish()
    assert code == NOT_ALLOWED
    assert "only an admin can" in said
    person.desk.say("orders")
    person.desk.wait_for("^· no order stands$")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty home of a person whose commands are run in this process."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    with short_folder() as folder:
        monkeypatch.setenv("HOME", str(folder))
        yield folder


@pytest.mark.usefixtures("home")
@every_row("words", [("here",), ("away",), ("hold-all", "s", "1m"), ("release", "all")])
def test_who_is_in_no_team_is_told_how_to_found_one(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main(["orders", *words]) == NO_SERVER
    assert "found one with `crabhook up`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("pending",), ("allow", "1"), ("deny", "1", "no"), ("orders", "away")]
)
def test_where_no_server_runs_it_is_said_before_any_passphrase(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        team = founded(home / "team", time.time())
        team.seat(home / ".config" / "crabhook", "ann", f"127.0.0.1:{free.getsockname()[1]}")
    assert main(list(words)) == NO_SERVER
    said = f"crabhook {words[0]}: no server runs here: start it with `crabhook up`\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.usefixtures("home")
@every_row("length", ["101h", ""])
def test_a_length_nobody_can_be_away_is_refused(
    capsys: pytest.CaptureFixture[str], length: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["orders", "away", "--for", length])
    assert "length of time" in capsys.readouterr().err


@pytest.mark.thorough
def test_the_list_of_operators_says_who_is_attached_and_from_where(person: Person) -> None:
    watch = subprocess.Popen(
        [CRABHOOK, "watch", "--json"],
        env=person.environment(person.desk.folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert watch.stdout is not None
        assert watch.stdout.readline()
        (ann,) = json.loads(person.run("team", "list", "--json").stdout)["members"]
        (desk,) = ann["attached"]
        assert {**desk, "since": ""} == {
            "device": "laptop",
            "address": "127.0.0.1",
            "role": "admin",
            "since": "",
            "closing": True,
        }
        listed = person.run("team", "list").stdout
        assert "attached: laptop at 127.0.0.1, since 2" in listed
        assert "Z, by its open key" in listed
    finally:
        watch.kill()
        watch.communicate(timeout=60)
    assert "attached" not in person.run("team", "list").stdout
