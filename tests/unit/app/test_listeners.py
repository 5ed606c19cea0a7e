"""A server's listeners: the gRPC port, and beside it the bridge and the HTTP door where they are wanted."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from socket import create_server
from time import time

import pytest

from crabhook.app import listeners
from crabhook.app.admission import Admitted
from crabhook.app.listeners import Listeners, open_to_people, team_of
from crabhook.config import Settings
from crabhook.model.errors import CrabhookError
from crabhook.server.address import Address, PortError, TcpAddress, Tokens, UnixAddress
from crabhook.server.metrics.collector import Metrics
from crabhook.server.watch import ListenerWatch
from tests.support.port import short_folder
from tests.support.runners import bare_runner
from tests.support.team import founded

HERE = TcpAddress("127.0.0.1", 7)
WITH_TOKEN = Admitted(Tokens("t"), None, None)


@asynccontextmanager
async def port(closed: list[str]) -> AsyncIterator[Sequence[Address]]:
    yield (HERE,)
    closed.append("port")


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_without_other_addresses_there_is_the_port_alone() -> None:
    listeners = Listeners(bare_runner(), None, WITH_TOKEN, Settings(), ListenerWatch())
    async with listeners.opened(port([])) as bound:
        assert tuple(bound) == (HERE,)


async def test_the_bridge_and_the_http_door_stand_beside_the_port_and_close_before_it() -> None:
    closed: list[str] = []
    with short_folder() as folder:
        socket = Path(folder, "s")
        settings = Settings(ndjson=f"unix:{socket}", http="localhost:0")
        listeners = Listeners(bare_runner(), Metrics(), WITH_TOKEN, settings, ListenerWatch())
        async with listeners.opened(port(closed)) as bound:
            there, bridge, http = bound
            assert (there, bridge) == (HERE, UnixAddress(socket))
            assert str(http).startswith("http://127.0.0.1:")
        assert closed == ["port"]
        assert files_in(folder) == []


async def test_every_listener_is_watched(tmp_path: Path) -> None:
    admitted = Admitted(Tokens("t"), founded(tmp_path / "team", time()).reader(), None)
    with short_folder() as folder:
        settings = Settings(ndjson=f"unix:{folder}/b", http="localhost:0", operators="127.0.0.1:0")
        listeners = Listeners(bare_runner(), Metrics(), admitted, settings, ListenerWatch())
        opened = listeners.port([UnixAddress(folder / "s"), TcpAddress("127.0.0.1", 0)])
        async with listeners.opened(opened) as bound:
            names = "; ".join(one.name for one in listeners.watch._listeners)
            for address in bound:
                assert str(address).removeprefix("http://").removesuffix(" for desks") in names


async def test_where_a_listener_cannot_be_opened_the_others_are_closed_again() -> None:
    with short_folder() as folder:
        settings = Settings(ndjson=f"unix:{folder}/s", http="0.0.0.0:0")
        listeners = Listeners(bare_runner(), Metrics(), WITH_TOKEN, settings, ListenerWatch())
        with pytest.raises(PortError):
            async with listeners.opened(port([])):
                pytest.fail("it stands open in the clear")
        assert files_in(folder) == []


async def test_where_there_is_a_team_its_desks_can_attach_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "OWN_DESKS", "127.0.0.1:0")
    admitted = Admitted(Tokens("t"), founded(tmp_path / "team", time()).reader(), None)
    async with open_to_people(bare_runner(), Settings(), admitted, []) as where:
        assert [str(place).endswith(" for desks") for place in where] == [True]
    async with open_to_people(bare_runner(), Settings(headless=True), admitted, []) as where:
        assert not where
    async with open_to_people(bare_runner(), Settings(), WITH_TOKEN, []) as where:
        assert not where


async def test_a_place_for_desks_that_is_taken_ends_only_the_server_that_was_told_to_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admitted = Admitted(Tokens("t"), founded(tmp_path / "team", time()).reader(), None)
    with create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setattr(listeners, "OWN_DESKS", place)
        runner = bare_runner()
        async with open_to_people(runner, Settings(), admitted, []) as where:
            assert len(where) == 1
            assert not str(where[0]).startswith(place)
        monkeypatch.setattr(listeners, "_ANY_PORT", place)  # as where no port is free
        async with open_to_people(runner, Settings(), admitted, []) as where:
            assert not where
        (told,) = runner.broker.feed()
        assert told.text.startswith(f"no desk can attach: cannot listen for desks on {place}: ")
        with pytest.raises(
            PortError, match=r"cannot listen for desks.* another port with --operators$"
        ):
            async with open_to_people(runner, Settings(operators=place), admitted, []):
                pytest.fail("two servers have one place")


async def test_a_team_has_a_page_for_its_browsers_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "OWN_DESKS", "127.0.0.1:0")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    admitted = Admitted(Tokens("t"), founded(tmp_path / "team", time()).reader(), None)
    settings = Settings(web="127.0.0.1:0")
    async with open_to_people(bare_runner(), settings, admitted, []) as where:
        desks, page = where
        assert str(desks).endswith(" for desks")
        assert re.fullmatch(r"http://crabhook\.localhost:[0-9]+ for browsers", str(page))
    settings = replace(settings, web_name=("desk.example",))
    async with open_to_people(bare_runner(), settings, admitted, []) as where:
        assert str(where[1]) == "https://desk.example for browsers"
    with pytest.raises(PortError, match=r"^--web is for people of a team: .*crabhook team init"):
        async with open_to_people(bare_runner(), settings, WITH_TOKEN, []):
            pytest.fail("there is no team")


def test_a_team_that_cannot_be_used_keeps_no_agent_from_being_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    team = founded(tmp_path / "crabhook" / "team", time()).folder
    team.team.write_text("anybody's")
    assert team_of(Settings(), needed=False) is None
    with pytest.raises(CrabhookError):
        team_of(Settings(operators="127.0.0.1:0"), needed=False)
