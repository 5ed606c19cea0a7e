"""The way to a second desk: no line is printed that nobody could connect by."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import socket
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crabhook import config
from crabhook.app.running import note_socket, socket_of
from crabhook.cli.background import _not_listened_at
from crabhook.cli.team.demo import GO_ON
from crabhook.cli.team.inviting import DESKS, HOOKS, _listening_for, listening_here, reached_at
from crabhook.model.actor import Role
from crabhook.server.address import TcpAddress, default_address
from crabhook.server.operators.joining import InvitationAddress, open_invitation
from crabhook.server.unix_socket import status_file
from crabhook.team.edit_team import invitable
from crabhook.team.enrolling import Inviting, InvitingError
from crabhook.team.invitation import Joins
from crabhook.team.membership import Scope, Team
from tests.support.port import short_folder
from tests.support.team import founded

if TYPE_CHECKING:
    from collections.abc import Iterator

ELSEWHERE = "desk.example"


@contextmanager
def server(
    monkeypatch: pytest.MonkeyPatch, *listening: str, path: Path | None = None
) -> Iterator[Path]:
    """A server of this machine, as far as others see it: its socket, and its word of itself."""
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as sock:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.delenv("CRABHOOK_SERVER", raising=False)
        place = (path and folder / path) or default_address().path
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sock.bind(str(place))
        sock.listen()
        told = {"pid": os.getpid(), "listening": [f"unix:{place}", *listening]}
        status_file(place).write_text(json.dumps(told))
        yield place


@pytest.mark.parametrize("at", ["127.0.0.1:7444", "[::1]:7444", "localhost:7444"])
def test_nobody_is_invited_to_a_server_that_only_this_machine_reaches(
    at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(monkeypatch, f"{at} for desks", "0.0.0.0:7443"):
        with pytest.raises(InvitingError, match="nobody could connect") as refused:
            reached_at(ELSEWHERE, DESKS)
        words = str(refused.value)
        assert words.endswith(
            "`crabhook down && crabhook up --operators 0.0.0.0:7444 --listen 0.0.0.0:7443`"
        )
        assert reached_at(ELSEWHERE, HOOKS) == f"{ELSEWHERE}:7443"
        for host in ("127.0.0.1", "127.0.0.2", "localhost", "::1"):
            assert reached_at(host, DESKS) == at


def test_no_machine_is_invited_where_no_hook_from_elsewhere_is_listened_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        server(monkeypatch, "0.0.0.0:7446 for desks"),
        pytest.raises(InvitingError, match=r"takes no hooks .* --listen 0\.0\.0\.0:7443 --oper"),
    ):
        reached_at(ELSEWHERE, HOOKS)


def test_a_line_leads_to_the_port_that_the_server_has(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(monkeypatch, "0.0.0.0:7446 for desks"):
        assert reached_at(ELSEWHERE, DESKS) == f"{ELSEWHERE}:7446"
    with server(monkeypatch, "192.0.2.7:9 for desks", "192.0.2.7:7444 for desks"):
        assert reached_at(ELSEWHERE, DESKS) == f"{ELSEWHERE}:7444"


def test_where_no_server_runs_the_one_command_is_told_before_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with short_folder() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        monkeypatch.setenv("XDG_STATE_HOME", str(folder))
        assert listening_here() is None
        assert reached_at(ELSEWHERE, DESKS) == f"{ELSEWHERE}:7444"
    assert "crabhook up --operators 0.0.0.0:7444" in capsys.readouterr().out


def test_the_word_of_a_killed_server_is_believed_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(monkeypatch, "0.0.0.0:7444 for desks") as path:
        status_file(path).write_text(
            json.dumps({"pid": 1, "listening": ["0.0.0.0:7444 for desks"]})
        )
        assert listening_here() is None


def test_who_is_invited_without_a_role_decides() -> None:
    assert invitable(Team("", "", 0), "bob", None, Scope()).role is Role.DECIDER
    assert invitable(Team("", "", 0), "bob", Role.VIEWER, Scope()).role is Role.VIEWER


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_an_invitation_listens_where_its_line_leads(host: str, tmp_path: Path) -> None:
    async def invite() -> None:
        async def never(_words: str, _who: object) -> bool:
            return False

        inviting = Inviting(Joins.DESK, lambda _: None, never, lambda _: None, print)  # type: ignore[arg-type,return-value]
        place = InvitationAddress(host, 0, _listening_for(TcpAddress(host, 0)))
        certificate = founded(tmp_path / "team", time.time()).folder.authority.read_bytes()
        async with open_invitation(inviting, certificate, place, time.time()) as (line, _):
            assert f"@{TcpAddress(host, line.port)}" in str(line)
            _, writer = await asyncio.open_connection(host, line.port)
            writer.close()
            for other in {"127.0.0.1", "127.0.0.2", "127.0.0.3"} - {host}:
                if host.startswith("127."):
                    with pytest.raises(ConnectionRefusedError):
                        await asyncio.open_connection(other, line.port)

    asyncio.run(invite())


def told_commands() -> list[list[str]]:
    text = "\n".join(GO_ON)
    return [
        shlex.split(one) for one in re.findall(r"crabhook [^();\n]*?(?=\s{2,}|[;)\n]|,|$)", text)
    ]


def test_the_last_lines_of_the_demo_are_commands_that_lead_to_a_second_desk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands = [" ".join(one) for one in told_commands()]
    for needed in ("crabhook down", "crabhook team names HOST", "crabhook team init --host HOST"):
        assert needed in commands
    (up,) = (one for one in told_commands() if one[:2] == ["crabhook", "up"] and len(one) > 2)
    assert up[2] == "--operators"
    assert "crabhook team invite NAME" in commands
    with server(monkeypatch, f"{up[3]} for desks"):
        assert reached_at(ELSEWHERE, DESKS) == f"{ELSEWHERE}:7444"


def test_a_server_that_up_started_with_another_socket_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with server(monkeypatch, path=Path("other/s")) as path:
        assert socket_of(None) == default_address()

        note_socket(type(default_address())(path))
        assert socket_of(None).path == path
        with socket.socket(socket.AF_UNIX) as usual:
            usual_path = default_address().path
            usual_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            usual.bind(str(usual_path))
            usual.listen()
            assert socket_of(None) == default_address()
        usual_path.unlink()
        path.parent.chmod(0o777)
        assert socket_of(None) == default_address()


def test_up_says_where_a_running_server_does_not_listen_as_asked() -> None:
    runs = ["unix:/run/s", "127.0.0.1:7444 for desks", "0.0.0.0:7443"]
    asked = config.Settings(operators="0.0.0.0:7444", listen=("unix:/run/s", "0.0.0.0:7443"))
    assert _not_listened_at(runs, asked) == "0.0.0.0:7444 for desks"
    asked = config.Settings(operators="127.0.0.1:0", listen=("0.0.0.0:7443",))
    assert _not_listened_at(runs, asked) == ""


@pytest.mark.parametrize(
    ("page", "asked", "missing"),
    [
        ("", {"web": "127.0.0.1:7446"}, "127.0.0.1:7446 for browsers"),
        ("http://crabhook.localhost:7446", {"web": "127.0.0.1:7446"}, ""),
        ("http://crabhook.localhost:7446", {"web": "127.0.0.1:0"}, ""),
        ("http://crabhook.localhost:7446", {"web": "127.0.0.1:80"}, "127.0.0.1:80 for browsers"),
        ("https://desk.example", {"web": "127.0.0.1:80", "web_name": ("desk.example",)}, ""),
        (
            "https://desk.example",
            {"web": "127.0.0.1:80", "web_name": ("other.example", "desk.example")},
            "127.0.0.1:80 for browsers",
        ),
    ],
)
def test_a_page_that_is_asked_for_and_not_shown_is_missing(
    page: str, asked: dict[str, Any], missing: str
) -> None:
    runs = ["unix:/run/crabhook.sock", *([f"{page} for browsers"] if page else [])]
    assert _not_listened_at(runs, config.Settings(**asked)) == missing
