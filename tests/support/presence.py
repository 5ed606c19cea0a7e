"""A server's socket on which the operator says to be here or away, and who says so there."""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.platforms import PLATFORMS
from crabhook.server.address import Address, UnixAddress
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.grpc.presence import Passphrase, PresencePort, keep
from crabhook.server.token import Tokens
from crabhook.v1 import desk_pb2 as pb
from crabhook.v1.desk_pb2_grpc import DeskServiceStub
from tests.support.port import SOON, Opened, short_folder
from tests.support.seat import hears

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import grpc

RIGHT, WRONG = "correct horse", "battery staple"


class Door(Opened):
    """A port that is open, with the service that lets the operator be away.

    `kept` is the file with the passphrase, `presence` the service itself.
    """

    kept: Path
    presence: PresencePort

    def told(self) -> list[str]:
        """What the desk was told in lines of the house's own."""
        entries = [news for news in self.news if not hasattr(news, "requests")]
        return [entry.text for entry in entries if entry.event.name == "Desk"]  # type: ignore[union-attr]


@asynccontextmanager
async def door(
    *addresses: Address, passphrase: str | None = RIGHT, token: str | None = None
) -> AsyncIterator[Door]:
    """Open a server on a socket of its own, or on the addresses; nothing waits at the end."""
    with ExitStack() as own:
        folder = own.enter_context(short_folder())
        kept = folder / "passphrase"
        if passphrase is not None:
            keep(kept, Passphrase.of(passphrase))
        runner = Runner(PLATFORMS)
        service = PermissionPort(runner, wait=60.0, tokens=Tokens(token))
        presence = PresencePort(runner, kept)
        places = addresses or (UnixAddress(folder / "s"),)
        async with open_port(service, places, presence=presence) as bound:
            opened = Door(runner, bound)
            opened.kept, opened.presence = kept, presence
            stop = hears(runner, opened.hears)
            try:
                yield opened
            finally:
                stop()
                runner.close()


def away(typed: str = "", **fields: Any) -> pb.SetPresenceRequest:
    """To be away, with what was typed."""
    return pb.SetPresenceRequest(presence=pb.PRESENCE_AWAY, passphrase=typed, **fields)


def here() -> pb.SetPresenceRequest:
    """To be here again."""
    return pb.SetPresenceRequest(presence=pb.PRESENCE_HERE)


async def say(
    channel: grpc.aio.Channel, said: pb.SetPresenceRequest, **how: Any
) -> pb.SetPresenceResponse:
    """Say it as the generated client does."""
    stub: Any = DeskServiceStub(channel)
    response = await stub.SetPresence(said, timeout=SOON, **how)
    assert isinstance(response, pb.SetPresenceResponse)
    return response
