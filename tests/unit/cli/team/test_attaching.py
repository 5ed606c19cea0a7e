"""`crabhook desk`: a device of the team decides on another machine, once its passphrase was typed."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from pathlib import Path

import pytest

from crabhook import config
from crabhook.cli import main
from crabhook.cli.team import attaching
from crabhook.cli.team.attaching import AttachError, at_desk, look_for, place_of
from crabhook.config import Settings
from crabhook.model.actor import Role
from crabhook.model.decision import Decision, Verdict
from crabhook.safe_open import write_own
from crabhook.team.certificates import opened
from crabhook.team.desk_keys import Credentials, DeskKeys, keep
from crabhook.team.invitation import Joined
from tests.support.desk import PlayedDesk
from tests.support.port import short_folder
from tests.support.sitting import call
from tests.support.team import PASSPHRASE, founded, seal
from tests.support.team_port import TeamPort, team_port
from tests.support.typist import Typist

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))


def joined(port: TeamPort, home: Path, name: str) -> None:
    certificate, key = port.certificates[name]
    server = f"127.0.0.1:{port.address.port}"
    told = Joined(port.authority, certificate, b"", server, "ours", name, "decider")
    keep(home / "crabhook", DeskKeys(opened(key), None), told, "laptop", seal)


def sat(home: Path, typed: bytes, passphrase: str) -> tuple[int, str, str]:
    """Open the desk as a person at a terminal does; return how it ended and what it printed."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    command = (CRABHOOK, "desk", "--plain")
    with Typist(command, environment | {"LANG": "C.UTF-8"}, stdin=typed) as typist:
        typist.answer("Your passphrase for the team ours", f"{passphrase}\n")
        return typist.finish()


@pytest.mark.process
async def test_a_line_typed_at_the_last_moment_is_done_all_the_same(tmp_path: Path) -> None:
    server = PlayedDesk()
    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER) as port:
        joined(port, tmp_path / "home", "ann")
        code, printed, wrong = await asyncio.to_thread(
            sat, tmp_path / "home", b"1 allow fine\nquit\n", PASSPHRASE
        )
    assert (code, wrong) == (0, "")
    assert "#1 ALLOWED fine" in printed
    assert server.decided == [(1, Decision(Verdict.ALLOW, note="fine"))]


def test_a_server_that_is_not_there_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        there = f"127.0.0.1:{line.getsockname()[1]}"
        look_for(there)
    with short_folder() as folder:
        monkeypatch.setenv("CRABHOOK_SERVER", f"unix:{folder}/s")
        with pytest.raises(AttachError, match="no server runs here: start it with `crabhook up`"):
            look_for(there)
        with socket.socket(socket.AF_UNIX) as own:  # a server with a desk of its own alone
            own.bind(f"{folder}/s")
            own.listen()
            with pytest.raises(AttachError, match=r"takes no desks.* then give `crabhook up`"):
                look_for(there)


@pytest.mark.parametrize(
    ("team", "there", "done"),
    [
        (None, "", ["serve"]),
        ("here", "", ["serve"]),
        ("elsewhere", "", ["attach"]),
        ("here", "127.0.0.1:7444 for desks", ["attach"]),
        (None, "unix:/s", []),
    ],
)
def test_alone_crabhook_opens_the_desk_that_is_there_or_starts_a_server(
    team: str | None, there: str, done: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(attaching, "takes_a_person", lambda: True)
    monkeypatch.setattr(attaching, "attach", lambda _: happened.append("attach"))
    monkeypatch.setattr("crabhook.cli.serve.run", lambda _: happened.append("serve") or 0)
    if team:
        place = config.team_folder() if team == "here" else tmp_path / "theirs"
        founded(place, time.time()).seat(config.config_folder(), "ann", "127.0.0.1:7444")
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as own:
        monkeypatch.setenv("CRABHOOK_SERVER", f"unix:{folder}/s")
        if there:
            own.bind(f"{folder}/s")
            own.listen()
            status = {"pid": os.getpid(), "listening": [there]}
            write_own(folder / "s.status", json.dumps(status).encode())
        assert main([]) == (0 if done else 7)
    assert happened == done


def test_beside_a_server_without_a_team_the_command_that_founds_one_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as own:
        monkeypatch.setenv("CRABHOOK_SERVER", f"unix:{folder}/s")
        with pytest.raises(AttachError, match="found one with `crabhook up`"):
            attaching.chosen_team(None)
        own.bind(f"{folder}/s")
        own.listen()
        with pytest.raises(AttachError, match="`crabhook team init`, and restart the server"):
            attaching.chosen_team(None)


OWN = "a server of this machine"


@pytest.mark.parametrize(
    ("listening", "of", "found"),
    [
        (["unix:/s", "127.0.0.1:{port} for desks"], OWN, "127.0.0.1:{port}"),
        (["0.0.0.0:{port} for desks"], OWN, "127.0.0.1:{port}"),
        (["[::]:{port} for desks"], OWN, "[::1]:{port}"),
        (["192.0.2.1:{port} for desks"], OWN, "{before}"),  # which is no address of ours
        (["127.0.0.1:{port}"], OWN, "{before}"),  # where hooks ask
        (["nonsense for desks"], OWN, "{before}"),
        (["127.0.0.1:{port} for desks"], "a server that was killed", "{before}"),
        (["127.0.0.1:{port} for desks"], "another team's server", "{before}"),
        (7, OWN, "{before}"),
    ],
)
def test_a_desk_finds_the_server_of_its_own_machine_wherever_that_listens_by_now(
    listening: list[str] | int,
    of: str,
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    team = founded(config.team_folder(), time.time())
    theirs = founded(tmp_path / "theirs", time.time())
    with short_folder() as folder, socket.create_server(("127.0.0.1", 0)) as line:
        ports = {"before": f"127.0.0.1:{line.getsockname()[1]}", "port": 7999}
        whose = theirs if of == "another team's server" else team
        desk = whose.seat(tmp_path / "desks", "ann", ports["before"])
        monkeypatch.setenv("CRABHOOK_SERVER", f"unix:{folder}/s")
        with socket.socket(socket.AF_UNIX) as own:
            own.bind(f"{folder}/s")
            own.listen()
            pid = os.getpid() + (of == "a server that was killed")
            shown = listening
            if isinstance(listening, list):
                shown = [one.format(**ports) for one in listening]
            write_own(folder / "s.status", json.dumps({"pid": pid, "listening": shown}).encode())
            assert place_of(desk) == found.format(**ports)


def test_of_a_list_of_servers_one_that_is_there_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        there = f"127.0.0.1:{line.getsockname()[1]}"
        look_for(f"127.0.0.2:1,{there}")
    with pytest.raises(
        AttachError, match=r"at 127\.0\.0\.2:1; no server takes desks at 127\.0\.0\.3:1"
    ):
        look_for("127.0.0.2:1,127.0.0.3:1")


def test_a_device_is_told_the_servers_of_its_team(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    team = founded(tmp_path / "team", time.time())
    certificate, key = team.let_in("ann", Role.DECIDER, None)
    told = Joined(team.folder.authority.read_bytes(), certificate, b"", "a:1", "ours", "ann", "")
    folder = keep(tmp_path / "crabhook", DeskKeys(opened(key), None), told, "laptop", seal)
    assert main(["team", "servers", "a.example:7444, b.example:7444"]) == 0
    assert "a.example:7444 or b.example:7444" in capsys.readouterr().out
    assert folder.facts().server == "a.example:7444,b.example:7444"
    assert main(["team", "servers", "unix:/run/s"]) == 1
    assert folder.facts().server == "a.example:7444,b.example:7444"


async def test_where_no_server_is_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabhook.cli.team.attaching.FIRST_WITHIN", 0.5)
    with pytest.raises(AttachError, match=r"no desk at 127\.0\.0\.1:1: "):
        await at_desk("127.0.0.1:1", Credentials(b"", b"", b""), Settings(plain=True))
