"""A page at a server that stands by shows the leader's cards, and goes on when that server leads."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from crabhook.model.actor import Role
from tests.integration.test_shared_record import (
    ALLOW,
    asks,
    cluster,
    free_port,
    said,
    served,
    stands_by,
    url,
)
from tests.support.authenticator import Authenticator
from tests.support.team import founded
from tests.support.web_page import WebPage, client

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crabhook.team.membership import Passkey, Team
    from tests.support.service import Service

__all__ = ["cluster", "url"]
pytestmark = [pytest.mark.process, pytest.mark.thorough, pytest.mark.timeout(240)]
WAITS = 60.0  # seconds, for what is there at once where nothing else runs
HOST = "crabhook.localhost"


class TwoPages:
    """Two servers of one team with a page each; ann has one passkey, since both have one name."""

    def __init__(self, url: str) -> None:
        self.ports = [free_port(), free_port()]
        self.servers: list[Service] = []
        for port in self.ports:
            web = ("--web", f"127.0.0.1:{port}", "--web-name", f"{HOST}:{port}")
            web = (*web, "--operators", f"127.0.0.1:{free_port()}")
            self.servers.append(served(url, "--no-desk", "--alone", "60", *web, waits=False))
        self.key = Authenticator(rp=HOST)
        first, second = (one.folder / ".local/state/crabhook/team" for one in self.servers)
        team = founded(first, time.time())
        team.let_in("ann", Role.ADMIN)
        passkey = replace(self.key.passkey("phone"), confirmed=True)
        team.change(lambda now: with_passkey(now, passkey))
        shutil.copytree(first, second)

    def start(self) -> None:
        """Start both; the first leads."""
        self.servers[0].__enter__()
        self.servers[0].listens()
        self.servers[1].__enter__()
        stands_by(self.servers[1])

    def end(self) -> None:
        for server in self.servers:
            server.__exit__()

    def page(self, http: aiohttp.ClientSession, number: int) -> WebPage:
        origin = f"http://{HOST}:{self.ports[number]}"
        self.key.origin = origin
        return WebPage(http, origin, self.key)


def with_passkey(team: Team, passkey: Passkey) -> Team:
    (ann,) = team.members
    return replace(team, members=(replace(ann, passkeys=(passkey,)),))


@pytest.fixture
def two(url: str) -> Iterator[TwoPages]:
    made = TwoPages(url)
    try:
        made.start()
        yield made
    finally:
        made.end()


class Shown:
    """What a page shows, by its stream, which it opens again after each break."""

    def __init__(self, page: WebPage) -> None:
        self.page = page
        self.put: dict[str, str] = {}
        self.opened = 0
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        while True:
            try:
                async with self.page.stream() as events:
                    self.opened += 1
                    async for event in events:
                        self.take(event.name, event.value)
            except (aiohttp.ClientError, AssertionError):
                pass
            await asyncio.sleep(0.1)

    def take(self, name: str, value: Any) -> None:
        if name == "all":
            self.put.clear()
        for key, html in value.get("put", ()) if name in ("all", "some") else ():
            self.put[key] = html
            if not html:
                del self.put[key]

    @property
    def rows(self) -> Sequence[str]:
        return [html for key, html in self.put.items() if key.startswith("row-")]

    async def until(self, holds: Any) -> None:
        async with asyncio.timeout(WAITS):
            while not holds():
                assert not self._task.done()
                await asyncio.sleep(0.05)

    def end(self) -> None:
        self._task.cancel()


def allowing(row: str) -> dict[str, Any]:
    """Return the call that allows the card of a row."""

    def of(name: str) -> str:
        return re.findall(rf'data-{name}="([0-9a-f]+)"', row)[0]

    card, seen = int(of("card")), int(of("seen"))
    return {"act": "allow", "card": card, "seen": seen, "seen_sha256": of("sha")}


async def test_a_page_at_a_standby_shows_all_and_decides_once_its_server_leads(
    two: TwoPages,
) -> None:
    leader, standby = two.servers
    hook = asks(leader, "make", server=f"{leader.address},{standby.address}")
    async with client() as http:
        there = two.page(http, 0)
        assert (await there.sign_in()).status == 200
        page = two.page(http, 1)
        page.cookie = there.cookie  # of one name, so that browsers send it to both
        assert (await page.ask("GET", "/session")).status == 401
        assert (await page.sign_in()).status == 200
        shown = Shown(page)
        try:
            await shown.until(lambda: len(shown.rows) == 1)
            assert page.hello["part"] == "standby"
            assert page.hello["page_at"] == f"http://{HOST}:{two.ports[0]}"
            assert "stands by" in shown.put["desk"]
            refused = await page.call(allowing(shown.rows[0]), sign=True)
            assert (refused.status, "another server leads" in refused.why) == (421, True)
            assert hook.poll() is None
            leader.process.kill()
            await shown.until(lambda: page.hello["part"] == "leader")
            await shown.until(lambda: len(shown.rows) == 1 and "stands by" not in shown.put["desk"])
            assert shown.opened > 1
            given = await page.call(allowing(shown.rows[0]), sign=True)
            assert (given.status, given.value) == (200, {"done": True})
            assert await asyncio.to_thread(said, hook) == ALLOW
            await shown.until(lambda: not shown.rows)
        finally:
            shown.end()
    assert "as they were written" in standby.audit("verify")
