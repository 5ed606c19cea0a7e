"""The doors of a server: the port, and the bridge and the HTTP door beside it where they are wanted."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from crabhook.cli.serve.admission import Admitted
from crabhook.cli.serve.command import _doors
from crabhook.config import Settings
from crabhook.platforms import PLATFORMS
from crabhook.server.address import Address, PortError, TcpAddress, UnixAddress
from crabhook.server.core.runner import Runner
from crabhook.server.metrics.collector import Metrics
from crabhook.server.token import Tokens
from tests.support.port import short_folder

HERE = TcpAddress("127.0.0.1", 7)
WITH_TOKEN = Admitted(Tokens("t"), None)


@asynccontextmanager
async def port(closed: list[str]) -> AsyncIterator[Sequence[Address]]:
    yield (HERE,)
    closed.append("port")


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_without_other_addresses_there_is_the_port_alone() -> None:
    async with _doors(port([]), Runner(PLATFORMS), None, WITH_TOKEN, Settings()) as bound:
        assert tuple(bound) == (HERE,)


async def test_the_bridge_and_the_http_door_stand_beside_the_port_and_close_before_it() -> None:
    closed: list[str] = []
    with short_folder() as folder:
        socket = Path(folder, "s")
        settings = Settings(ndjson=f"unix:{socket}", http="localhost:0")
        async with _doors(
            port(closed), Runner(PLATFORMS), Metrics(), WITH_TOKEN, settings
        ) as bound:
            there, bridge, http = bound
            assert (there, bridge) == (HERE, UnixAddress(socket))
            assert str(http).startswith("http://127.0.0.1:")
        assert closed == ["port"]
        assert files_in(folder) == []


async def test_where_a_door_cannot_be_opened_the_others_are_closed_again() -> None:
    with short_folder() as folder:
        settings = Settings(ndjson=f"unix:{folder}/s", http="0.0.0.0:0")
        with pytest.raises(PortError):
            async with _doors(port([]), Runner(PLATFORMS), Metrics(), WITH_TOKEN, settings):
                pytest.fail("it stands open in the clear")
        assert files_in(folder) == []
