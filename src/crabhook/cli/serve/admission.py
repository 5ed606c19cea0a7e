"""Who may come in beyond the Unix socket, and what TLS they are shown: tokens, and a team."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crabhook import config
from crabhook.config import Settings
from crabhook.model.errors import CrabhookError
from crabhook.server.address import Address, PortError, TcpAddress, Tls, Tokens, parse_address
from crabhook.server.core.runner import Runner
from crabhook.team.folder import Folder
from crabhook.team.invitation import DESK_PORT

if TYPE_CHECKING:
    from crabhook.team.team_file import TeamReader


_LOG = logging.getLogger(__name__)

OWN_DESKS = f"127.0.0.1:{DESK_PORT}"


class Admitted(NamedTuple):
    """Who may come in beyond the Unix socket, and what TLS they are shown."""

    tokens: Tokens
    team: "TeamReader | None"
    tls: Tls | None


def team_here() -> "TeamReader | None":
    """Return the team, if there is one; raises TeamError for one that cannot be used."""
    folder = Folder(config.team_folder())
    if not folder.exists:
        return None
    from crabhook.team.team_file import TeamReader  # noqa: PLC0415 - most have no team

    return TeamReader(folder)


def team_of(settings: Settings, *, needed: bool) -> "TeamReader | None":
    """Return the team, where desks or machines of one may come in; raises TeamError.

    Where nobody asked for that, a team that cannot be used does not keep agents from being served.
    """
    if not (needed or settings.operators) and settings.headless:
        return None
    try:
        return team_here()
    except CrabhookError as error:
        if needed or settings.operators:
            raise
        _LOG.error("no desk can attach: %s", error)
        return None


@asynccontextmanager
async def open_to_desks(
    runner: Runner, settings: Settings, team: "TeamReader | None"
) -> AsyncIterator[Sequence[str]]:
    """Serve desks of the team; yields where, in words.

    Where there is a team, they can attach on this machine without being asked for: so that its
    people can say that they are away, or decide, in any terminal.  If that place is taken, it is
    said, and agents are served all the same.  Raises PortError for a place that was asked for.
    """
    if team is None and settings.operators:
        raise PortError("--operators is for desks of a team: `crabhook team init` founds one")
    if team is None or (settings.headless and not settings.operators):
        yield ()
        return
    from crabhook.server.operators.listener import open_operators  # noqa: PLC0415 - few have one

    where = parse_address(settings.operators or OWN_DESKS)
    if not isinstance(where, TcpAddress):
        raise PortError(f"--operators {where}: desks come to HOST:PORT alone")
    async with AsyncExitStack() as opened:
        own = (team.server_pair(), team.authority, team.current)
        try:
            at = await opened.enter_async_context(open_operators(runner, where, *own))
        except PortError as error:
            if settings.operators:
                raise
            runner.warn(f"no desk can attach: {error}", alarm=False)
            yield ()
        else:
            yield (f"{at} for desks",)


@asynccontextmanager
async def watched(team: "TeamReader | None", runner: Runner) -> AsyncIterator[None]:
    """Have the desk told, and recorded, who comes into the team and goes, and what spoils it."""
    if team is None:
        yield
        return
    team.spoilt, team.refused = runner.warn, runner.warn
    team.changed = partial(runner.warn, alarm=False)
    runner.faults.append(lambda: team.trouble)
    looking = asyncio.ensure_future(team.keep())
    try:
        yield
    finally:
        looking.cancel()


def tls_of(settings: Settings, places: Sequence[Address]) -> Tls | None:
    """Return what TLS is to show; where it is needed and not said, the team's own certificate.

    `places` are where hooks come to, those of a service manager's sockets among them.
    """
    if settings.tls_cert is None and settings.tls_key is None:
        here = [*places, *([parse_address(settings.http)] if settings.http else [])]
        beyond = [one for one in here if isinstance(one, TcpAddress)]
        own = Tls(config.team_folder() / "server.pem", config.team_folder() / "server.key")
        return own if own.key.exists() and not all(one.loopback for one in beyond) else None
    if settings.tls_cert is None or settings.tls_key is None:
        raise PortError("TLS needs both --tls-cert and --tls-key")
    return Tls(settings.tls_cert, settings.tls_key)
