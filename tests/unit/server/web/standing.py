"""A web desk that stands for a test, with a face that shows numbers alone."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import aiohttp

from crabhook.desk.commands import BARE_DENIAL, AskContext, Command, Decide, Steer
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.server.push.endpoints import Services
from crabhook.server.push.push import Push
from crabhook.server.web.face import Asset, Fragments, Seen
from crabhook.server.web.listener import WebOpening, WebParts, open_web
from crabhook.team.folder import Folder
from crabhook.team.web_enrolling import PageSide
from tests.support.authenticator import Authenticator
from tests.support.desk import PlayedDesk
from tests.support.passkey_people import PasskeyHouse
from tests.support.web_page import WebPage, client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from crabhook.desk.replica import Replica
    from crabhook.desk.updates import News

HOST = "crabhook.localhost"


class Numbers:
    """A face that shows the numbers of the cards, and takes verdicts."""

    def __init__(self) -> None:
        self.desks: list[Replica] = []

    assets: Mapping[str, Asset] = {"desk.js": Asset(b"//" * 600, "text/javascript")}

    def document(self, name: str) -> str:
        return f"<!doctype html><title>{name}</title>"

    def everything(self, desk: Replica, _seen: Seen) -> Fragments:
        self.desks.append(desk)
        return [(f"row-{card.number}", "waits") for card in desk.waiting()]

    def changed(self, news: News, desk: Replica, _seen: Seen) -> Fragments:
        if not isinstance(news, Card):
            return []
        assert desk.card(news.number) is news
        return [(f"row-{news.number}", news.state.value)]

    def card(self, card: Card, desk: Replica, seen: Seen, *, covers: bool = True) -> str:
        around = desk.around(card.number)
        secret = "" if covers else " and a secret"
        return f"{card.number} {card.revision} {seen(card).hex()} {around is not None}{secret}"

    def command(self, told: Mapping[str, Any], card: Card | None, _desk: Replica) -> Command:
        if "ask" in told:
            assert card is not None
            return AskContext(card.number)
        if told["act"] == "note":
            return Steer("s", told["words"], id=told["id"])
        if told["act"] not in ("allow", "deny"):
            raise CrabhookError("there is no such act")
        assert card is not None
        decision = Decision(Verdict(told["act"]), BARE_DENIAL if told["act"] == "deny" else "")
        return Decide(card.number, told["seen"], decision, id=told["id"])


@dataclass
class Standing:
    """The desk, its server, and its people, each with a passkey."""

    server: PlayedDesk
    port: int
    http: aiohttp.ClientSession
    keys: Mapping[str, Authenticator]
    notices: list[str]
    house: PasskeyHouse
    folder: Folder
    push: Push
    faces: list[Replica]

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    def page(self, who: str = "dee") -> WebPage:
        return WebPage(self.http, self.origin, self.keys[who])

    async def signed_in(self, who: str = "dee") -> WebPage:
        page = self.page(who)
        assert (await page.sign_in()).status == 200
        return page

    def told(self, number: int = 1, act: str = "allow", **other: Any) -> dict[str, Any]:
        card = self.server.card(number)
        assert card is not None
        seen = self.house.service.inputs.seen(card).hex()
        return {
            "act": act,
            "card": number,
            "seen": card.revision,
            "seen_sha256": seen,
            **other,
        }


@asynccontextmanager
async def standing(*names: str) -> AsyncIterator[Standing]:
    """Open a web desk on a free port; one call waits there."""
    house, notices = PasskeyHouse(rp=HOST), list[str]()
    opening = WebOpening("127.0.0.1:0", names, complain=notices.append)
    with TemporaryDirectory(prefix="crabhook-web-") as folder:
        push = Push(Path(folder), Services(), lambda: house.team, 5.0)
        face = Numbers()
        parts = WebParts(face, push, PageSide(Folder(Path(folder))))
        async with open_web(opening, house.service, lambda: house.team, parts) as at:
            port = at.address.port
            for key in house.keys.values():
                key.origin = f"http://{HOST}:{port}"
            async with client() as http:
                yield Standing(
                    house.server,
                    port,
                    http,
                    house.keys,
                    notices,
                    house,
                    Folder(Path(folder)),
                    push,
                    face.desks,
                )
