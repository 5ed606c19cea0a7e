"""A real operators' port with a team of its own, and clients that show certificates to it."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc

from crabhook.cli.team.asking import signer_of
from crabhook.model.actor import Role
from crabhook.remote.desk import RemoteDesk
from crabhook.remote.servers import OPTIONS, Servers
from crabhook.server.address import TcpAddress
from crabhook.server.operators.listener import open_operators
from crabhook.server.operators.service import OperatorService
from crabhook.team.desk_keys import Credentials
from crabhook.team.membership import Scope
from crabhook.v1.operator_pb2_grpc import OperatorServiceStub
from tests.support.team import Founded, founded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from crabhook.server.core.runner import Runner

SOON = 60.0  # seconds after which a test gives up on what should happen at once


@dataclass
class TeamPort:
    """The port, open, and the team behind it."""

    address: TcpAddress
    team: Founded
    certificates: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)

    @property
    def authority(self) -> bytes:
        return self.team.folder.authority.read_bytes()

    def let_in(self, name: str, role: Role = Role.ADMIN, scope: Scope | None = None) -> None:
        """Let a person in, with one device."""
        self.certificates[name] = self.team.let_in(name, role, scope)

    def credentials(self, name: str) -> grpc.ChannelCredentials:
        certificate, key = self.certificates[name]
        return grpc.ssl_channel_credentials(self.authority, key, certificate)

    @asynccontextmanager
    async def calls(self, name: str) -> AsyncIterator[Any]:
        """The service as generated clients call it, for a person."""
        options = [("grpc.use_local_subchannel_pool", 1)]
        where = f"127.0.0.1:{self.address.port}"
        async with grpc.aio.secure_channel(
            where, self.credentials(name), options=options
        ) as channel:
            yield OperatorServiceStub(channel)

    @asynccontextmanager
    async def desk(
        self, name: str, port: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> AsyncIterator[RemoteDesk]:
        """A desk elsewhere, attached, at which a person sits; by another `port` if one is given."""
        where, credentials = f"127.0.0.1:{port or self.address.port}", self.credentials(name)
        async with grpc.aio.secure_channel(where, credentials, options=OPTIONS) as channel:
            certificate, key = self.certificates[name]
            signer = signer_of(Credentials(self.authority, key, certificate))
            desk = RemoteDesk(Servers({where: channel}), clock, signer=signer)
            running = asyncio.ensure_future(desk.run())
            try:
                await asyncio.wait_for(desk.attached.wait(), SOON)
                yield desk
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


@asynccontextmanager
async def team_port(
    core: Runner, folder: Path, team: Founded | None = None, **people: Role
) -> AsyncIterator[TeamPort]:
    """Open a port on a core; the people are in the team, which is new unless one is given."""
    team = team or founded(folder / "team", time.time())
    reader = team.reader()
    place, pair = TcpAddress("127.0.0.1", 0), reader.server_pair()
    async with open_operators(
        OperatorService(core, reader.current), place, pair, reader.authority
    ) as bound:
        port = TeamPort(bound, team)
        for name, role in people.items():
            port.let_in(name, role)
        yield port
