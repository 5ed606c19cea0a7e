"""Who may come in beyond the Unix socket, and what TLS they are shown: tokens, and a team."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crabhook import config
from crabhook.config import Settings
from crabhook.server.address import PortError, TcpAddress, Tls, parse_address
from crabhook.server.core.runner import Runner
from crabhook.server.token import Tokens

if TYPE_CHECKING:
    from crabhook.team.team_file import TeamReader


class Admitted(NamedTuple):
    """Who may come in beyond the Unix socket."""

    tokens: Tokens
    team: "TeamReader | None"


def team_here() -> "TeamReader | None":
    """Return the team, if there is one; raises TeamError for one that cannot be used."""
    if not config.team_folder().is_dir():
        return None
    from crabhook.team.team_file import Folder, TeamReader  # noqa: PLC0415 - most have no team

    return TeamReader(Folder(config.team_folder()))


@asynccontextmanager
async def watched(team: "TeamReader | None", runner: Runner) -> AsyncIterator[None]:
    """Have the desk told, and recorded, who comes into the team and goes, and what spoils it."""
    if team is None:
        yield
        return
    team.spoilt, team.changed = runner.warn, partial(runner.warn, alarm=False)
    runner.faults.append(lambda: team.trouble)
    looking = asyncio.ensure_future(team.keep())
    try:
        yield
    finally:
        looking.cancel()


def tls_of(settings: Settings) -> Tls | None:
    """Return what TLS is to show; where it is needed and not said, the team's own certificate."""
    if settings.tls_cert is None and settings.tls_key is None:
        here = [*settings.listen, *([settings.http] if settings.http else [])]
        beyond = [one for one in map(parse_address, here) if isinstance(one, TcpAddress)]
        own = Tls(config.team_folder() / "server.pem", config.team_folder() / "server.key")
        return own if own.key.exists() and not all(one.loopback for one in beyond) else None
    if settings.tls_cert is None or settings.tls_key is None:
        raise PortError("TLS needs both --tls-cert and --tls-key")
    return Tls(settings.tls_cert, settings.tls_key)
