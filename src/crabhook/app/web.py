"""Opens the web desk: its port asks what to show, and the screens' floor draws it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook import config
from crabhook.app.admission import Admitted, PeopleListening
from crabhook.app.page_words import has_tls, named_page
from crabhook.config import Settings
from crabhook.desk.commands import Command
from crabhook.desk.replica import Replica
from crabhook.desk.updates import News
from crabhook.model.card import Card
from crabhook.server.address import AddressError, PageAddress, TcpAddress, Tls, parse_address
from crabhook.server.core.runner import Runner
from crabhook.server.push.endpoints import Services
from crabhook.server.push.push import Push
from crabhook.server.push.sharing import SealedRecord
from crabhook.server.web.face import Asset, ChangedCard, Fragments, Seen
from crabhook.server.web.guard import OWN_NAME
from crabhook.server.web.listener import WebOpening, WebParts, open_web
from crabhook.team.folder import Folder
from crabhook.team.passkeys import need_library
from crabhook.team.server_seal import seal_of
from crabhook.team.web_enrolling import PageSide
from crabhook.ui.web import acts, card, document, page

if TYPE_CHECKING:
    from crabhook.team.team_file import TeamReader


class WebFace:
    """Draws the web desk's page: `server.web.face.Face` by the modules of `ui.web`."""

    def __init__(self) -> None:
        self.assets: Mapping[str, Asset] = {
            name: Asset(*file) for name, file in document.assets().items()
        }

    def document(self, name: str) -> str:
        """Return a whole document."""
        return document.document(name)

    def everything(self, desk: Replica, seen: Seen) -> Fragments:
        """Return all that the desk shows."""
        return page.everything(desk, seen)

    def changed(self, news: News, desk: Replica, seen: Seen) -> Fragments:
        """Return what a piece of news changes on the page."""
        return page.changed(news, desk, seen)

    def card(self, shown: Card, desk: Replica, seen: Seen, *, covers: bool = True) -> str:
        """Return a whole card as HTML; `covers`: without its secrets."""
        return card.card(shown, desk, seen(shown), covers=covers)

    def command(self, call: Mapping[str, Any], about: Card | None, desk: Replica) -> Command:
        """Return the command that a posted call gives; raises CrabhookError with words."""
        try:
            return acts.command_of(call, about, desk)
        except acts.ChangedCardError as error:
            raise ChangedCard(str(error)) from error


@asynccontextmanager
async def open_pages(
    shared: PeopleListening,
    settings: Settings,
    admitted: Admitted,
    push_folder: Path | None = None,
) -> AsyncIterator[PageAddress]:
    """Serve browsers at the settings' address; yields that page's address.

    The subscriptions of phones are kept in `push_folder`, without one in the server's own folder.

    Raises PortError, and CrabhookError where a package is missing.
    """
    need_library()
    assert settings.web  # noqa: S101 - as the caller looked
    assert admitted.team  # noqa: S101 - likewise
    team = admitted.team
    tls = _tls(settings, admitted, team.folder)
    services = Services(settings.push_services)
    kept = push_folder or config.push_folder()
    share = _sealed_record(team, shared.runner)
    push = Push(kept, services, team.current, settings.push_after, share)
    push.follow(shared.runner)
    shared.switches.append(push.follow)
    parts = WebParts(WebFace(), push, PageSide(team.folder))
    names = tuple(name.partition(":")[0] for name in settings.web_name)
    opening = WebOpening(settings.web, names, tls, shared.runner.warn)
    calling = asyncio.ensure_future(push.keep())
    try:
        async with open_web(opening, shared.service, team.current, parts, shared.watch) as at:
            yield PageAddress(page_of(settings, at.address, tls=tls))
    finally:
        calling.cancel()
        with suppress(asyncio.CancelledError):
            await calling


def _sealed_record(team: "TeamReader", runner: Runner) -> SealedRecord | None:
    """Return where servers share their phones; None for a record of this server alone."""
    if not team.shared:
        return None
    if (seal := seal_of(team.folder)) is None:
        runner.warn(
            "phones that subscribe here are called by this server alone: run `crabhook team pull` "
            "and start it again, so that the record's other servers call them too",
            alarm=False,
        )
        return None
    return SealedRecord(team.shared, seal)


def page_of(settings: Settings, at: TcpAddress, tls: object) -> str:
    """Return where a person opens the page: by the first of its names, if it has one."""
    if settings.web_name:
        return named_page(settings.web_name[0], at.port, tls=bool(tls))
    host = OWN_NAME if at.loopback and not tls else at.host
    return f"{'https' if tls else 'http'}://{TcpAddress(host, at.port)}"


def _tls(settings: Settings, admitted: Admitted, team: Folder) -> Tls | None:
    """Return the web desk's TLS: the settings', without these the team's own; None for none."""
    place = parse_address(settings.web or "")
    if not isinstance(place, TcpAddress):
        raise AddressError(f"--web {place}: browsers come to HOST:PORT alone")
    if not has_tls(settings, place):
        return None
    return admitted.tls if settings.tls_cert is not None else Tls(team.server, team.server_key)
