"""A server's listeners, and the callers that they admit: token holders and a team."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from socket import gethostname
from typing import TYPE_CHECKING

from crabhook import config
from crabhook.app.admission import Admitted, PeopleListening, Switch
from crabhook.config import Settings
from crabhook.model.errors import CrabhookError
from crabhook.server.address import (
    OWN_PAIR,
    Address,
    PortError,
    TcpAddress,
    Tls,
    parse_address,
    require_tls,
)
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.parts import Faults
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health, HealthPort, open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.service.activation import open_behind
from crabhook.server.watch import ListenerWatch
from crabhook.store.postgres.leader import Leader
from crabhook.team.folder import Folder
from crabhook.team.invitation import OWN_DESKS

if TYPE_CHECKING:
    from crabhook.server.metrics.collector import Metrics
    from crabhook.team.team_file import TeamReader


_LOG = logging.getLogger(__name__)

_EVERYWHERE = ("0.0.0.0", "::")


def team_of(settings: Settings, *, needed: bool) -> "TeamReader | None":
    """Return the team, where its desks or machines may connect. Raises TeamError.

    Where the settings do not ask for a team, an unusable team is logged, and hooks are served.
    """
    asked_for = settings.operators or settings.web
    wanted, folder = needed or asked_for, Folder(config.team_folder())
    if not folder.exists or (settings.headless and not wanted):
        return None
    from crabhook.team.team_file import TeamReader  # most have no team

    try:
        team = TeamReader(folder)
    except CrabhookError as error:
        if wanted:
            raise
        _LOG.error("no desk can attach: %s", error)
        return None
    if settings.shared:
        team.shared = settings.store or ""
    return team


def advertised(settings: Settings, places: Sequence[Address], admitted: Admitted) -> Leader:
    """Return this server's name and addresses for clients of other servers, while it leads.

    Without a setting, an address is where it listens, unless that is 0.0.0.0 or ::.
    """
    hooks = [place for place in places if isinstance(place, TcpAddress)]
    desks = [parse_address(settings.operators or OWN_DESKS)] if admitted.team else []
    return Leader(
        f"{gethostname()}, process {os.getpid()}",
        hooks=settings.advertise or _reached(hooks),
        desks=settings.advertise_operators or _reached(desks),
        page=_page(settings),
    )


def _page(settings: Settings) -> str:
    """Return where browsers of other servers' pages find this server's page, by its name."""
    if not (settings.web and settings.web_name):
        return ""
    from crabhook.app.page_words import has_tls, named_page  # few have a page

    place = parse_address(settings.web)
    if not isinstance(place, TcpAddress):
        return ""  # such a page does not open
    return named_page(settings.web_name[0], place.port, tls=has_tls(settings, place))


def _reached(places: Sequence[Address]) -> str:
    with_port = (place for place in places if isinstance(place, TcpAddress) and place.port)
    return next((str(address) for address in with_port if address.host not in _EVERYWHERE), "")


_ANY_PORT = "127.0.0.1:0"


@asynccontextmanager
async def open_to_people(
    runner: Runner,
    settings: Settings,
    admitted: Admitted,
    switches: list[Switch],
    watch: ListenerWatch | None = None,
) -> AsyncIterator[Sequence[object]]:
    """Open the listeners for the team's desks and browsers; yields their addresses in words.

    `switches` gets the function that leads them to another runner. Raises PortError.
    """
    team = admitted.team
    for option, asked in (("--operators", settings.operators), ("--web", settings.web)):
        if team is None and asked:
            raise PortError(f"{option} is for people of a team: {_team_by(settings)}")
    if team is None or (settings.headless and not (settings.operators or settings.web)):
        yield ()
        return
    from crabhook.server.operators.service import OperatorService  # few have one

    service = OperatorService(runner, team.current)
    switches.append(service.switch_to)
    shared = PeopleListening(service, runner, switches, watch)
    async with AsyncExitStack() as opened:
        opened.callback(service.close)
        places: list[object] = []
        if settings.operators or not settings.headless:
            desks = _desks(shared, settings, team)
            places.append(await opened.enter_async_context(desks))
        if settings.web:
            from crabhook.app.web import open_pages  # aiohttp: slow

            pages = open_pages(shared, settings, admitted)
            places.append(await opened.enter_async_context(pages))
        yield tuple(place for place in places if place)


@asynccontextmanager
async def _desks(
    shared: PeopleListening, settings: Settings, team: "TeamReader"
) -> AsyncIterator[str]:
    """Open the listener for desks; yields its address in words, "" where there is none.

    A server with a team listens for desks on this machine without a setting. So its people can
    decide in any terminal. If another program has the usual port, a free port will do: desks and
    verbs of this machine read the server's status to find it.
    """
    from crabhook.server.operators.listener import open_operators  # few have one

    places, why = (settings.operators,) if settings.operators else (OWN_DESKS, _ANY_PORT), ""
    async with AsyncExitStack() as opened:
        for place in places:
            where = parse_address(place)
            if not isinstance(where, TcpAddress):
                raise PortError(f"--operators {where}: desks come to HOST:PORT alone")
            pair, service = team.server_pair(), shared.service
            listener = open_operators(service, where, pair, team.authority, shared.watch)
            try:
                at = await opened.enter_async_context(listener)
            except PortError as error:
                if settings.operators:
                    raise
                why = str(error)
                continue
            yield f"{at} for desks"
            return
        shared.runner.warn(f"no desk can attach: {why}", alarm=False)
        yield ""


@asynccontextmanager
async def watched(team: "TeamReader | None", runner: Runner, faults: Faults) -> AsyncIterator[None]:
    """Show and record each change of the team, and each fault of its file."""
    if team is None:
        yield
        return
    from crabhook.team.looking import LooksAgain  # most have no team

    team.warn = runner.warn
    again = LooksAgain(team.folder, team.current)
    looking: list[Coroutine[object, object, object]] = [team.keep(), again.keep()]
    if team.shared and runner.elsewhere:
        from crabhook.server.core.documents import follow  # few share a record

        looking.append(follow(team))
    with faults.reporting(lambda: team.trouble), faults.reporting(lambda: again.trouble):
        async with beside(*looking):
            yield


@asynccontextmanager
async def beside(*works: Coroutine[object, object, object]) -> AsyncIterator[None]:
    """Run the coroutines while the context lasts."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


def tls_of(settings: Settings, places: Sequence[Address]) -> Tls | None:
    """Return the server's TLS; without a setting, and where TLS is needed, the team's own.

    `places` are the addresses for hooks, also those of inherited sockets. Raises PortError.
    """
    if settings.tls_cert is None and settings.tls_key is None:
        here = [*places, *([parse_address(settings.http)] if settings.http else [])]
        beyond = [place for place in here if isinstance(place, TcpAddress)]
        team = Folder(config.team_folder())
        own = Tls(team.server, team.server_key)
        if own.key.exists():
            return None if all(address.loopback for address in beyond) else own
        for place in places:
            require_tls(place, None, f", as a team has it: {_team_by(settings)}, or {OWN_PAIR}")
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        raise PortError("TLS needs both --tls-cert and --tls-key")
    return Tls(settings.tls_cert, settings.tls_key)


def _team_by(settings: Settings) -> str:
    """Say which command gives this machine a team."""
    founds = "`crabhook team init` founds one"
    if not settings.shared:
        return founds
    return f"`crabhook team pull` brings the team on record here. Where there is none yet, {founds}"


class Listeners:
    """A server's listeners; they stay open while `switch_to` leads to another runner."""

    def __init__(
        self,
        runner: Runner,
        metrics: "Metrics | None",
        admitted: Admitted,
        settings: Settings,
        watch: ListenerWatch,
    ) -> None:
        self._metrics, self._admitted, self._settings = metrics, admitted, settings
        self.runner, self._health = runner, Health(runner)
        team = admitted.team
        self._permission = PermissionPort(
            runner,
            wait=settings.wait,
            tokens=admitted.tokens,
            team=(lambda: team.content) if team else lambda: b"",
        )
        self._switches: list[Switch] = [self._permission.switch_to, self._health.switch_to]
        self.watch = watch
        self.watch.warn = self.warn
        self.watch.opened_anew = lambda: self.runner.witness.opened_anew()  # noqa: PLW0108 - of its time

    def switch_to(self, runner: Runner) -> None:
        """Lead all listeners to this runner from now on."""
        self.runner = runner
        for switch in self._switches:
            switch(runner)

    def warn(self, text: str) -> None:
        """Show and record an incident of the server itself."""
        self.runner.warn(text)

    def port(
        self, places: Sequence[socket.socket] | Sequence[Address]
    ) -> AbstractAsyncContextManager[Sequence[Address]]:
        """Return the gRPC port, on our own addresses or behind inherited sockets."""
        tls = self._admitted.tls
        health = HealthPort(self._health, tokens=self._admitted.tokens)
        open_own = partial(open_port, self._permission, tls=tls, health=health, watch=self.watch)
        sockets = [place for place in places if isinstance(place, socket.socket)]
        addresses = [place for place in places if not isinstance(place, socket.socket)]
        return (
            open_behind(sockets, open_own, tls=tls is not None) if sockets else open_own(addresses)
        )

    @asynccontextmanager
    async def opened(
        self, port: AbstractAsyncContextManager[Sequence[Address]]
    ) -> AsyncIterator[Sequence[object]]:
        """Open the port, and the listeners that the settings ask for; yields their addresses."""
        settings, admitted, metrics = self._settings, self._admitted, self._metrics
        async with AsyncExitStack() as opened:
            bound: list[object] = [*await opened.enter_async_context(port)]
            if settings.ndjson is not None:
                from crabhook.server.ndjson import bridge  # few servers have one

                lines = AnonymousIntake(self.runner, wait=settings.wait, named=bridge.NAMED)
                self._switches.append(lines.switch_to)
                harness = bridge.open_bridge(lines, settings.ndjson, self.watch)
                bound.append(await opened.enter_async_context(harness))
            if settings.http is not None and metrics:
                from crabhook.server.http import listener  # aiohttp: slow

                intake = AnonymousIntake(self.runner, wait=settings.wait, named=listener.NAMED)
                self._switches.append(intake.switch_to)
                page = listener.Page(metrics.exposition, metrics.CONTENT_TYPE)
                opening = listener.Opening(
                    settings.http, admitted.tokens, settings.http_name, admitted.tls, page
                )
                http = listener.open_http(opening, self.runner, intake, self._health, self.watch)
                bound.append(await opened.enter_async_context(http))
                await opened.enter_async_context(metrics.keeping_time())
            people = open_to_people(self.runner, settings, admitted, self._switches, self.watch)
            bound += await opened.enter_async_context(people)
            yield bound
