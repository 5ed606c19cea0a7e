"""Phones that subscribed at one server of a record are called by the next that leads."""

from __future__ import annotations

import asyncio
import json
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.server.push.endpoints import Services
from crabhook.server.push.push import Push
from crabhook.team.folder import Folder
from crabhook.team.team_file import team_in
from tests.integration.test_page_fail_over import TwoPages
from tests.integration.test_shared_record import asks, cluster, crabhook, stands_by, url
from tests.support.push_service import Browser, PushService, push_service
from tests.support.web_page import WebPage, client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from tests.support.cluster import Cluster
    from tests.support.service import Service

__all__ = ["cluster", "url"]
pytestmark = [pytest.mark.process, pytest.mark.thorough, pytest.mark.timeout(240)]
WITHIN = 60.0  # seconds, for what takes one or two where nothing else runs


class TwoCallers(TwoPages):
    """Two servers of one team that call phones by one push service."""

    def __init__(self, url: str, service: PushService) -> None:
        super().__init__(url)
        self.service = service
        for server in self.servers:
            settings = server.folder / ".config/crabhook/settings.toml"
            with settings.open("a") as file:
                file.write(f'[push]\nafter = 0.5\nservices = ["{service.address}"]\n')

    @staticmethod
    def push_folder(server: Service) -> Path:
        return server.folder / ".local/state/crabhook/push"

    async def fail_over(self) -> None:
        """Kill the first server; the second leads then."""
        self.servers[0].process.kill()
        await asyncio.to_thread(self.servers[1].listens)

    async def come_back(self) -> None:
        """Start the first server again, which stands by, and kill the second."""
        first, second = self.servers
        await asyncio.to_thread(first.start_again)
        await asyncio.to_thread(stands_by, first)
        second.process.kill()
        await asyncio.to_thread(first.listens)


@asynccontextmanager
async def two_callers(url: str) -> AsyncIterator[TwoCallers]:
    async with push_service() as service:
        two = TwoCallers(url, service)
        try:
            yield two
        finally:
            two.end()


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(WITHIN):
        while not holds():  # noqa: ASYNC110 - of what has no event
            await asyncio.sleep(0.05)


async def subscribed(page: WebPage, service: PushService) -> Browser:
    browser = service.browser()
    answer = await page.ask("POST", "/push", {"subscription": browser.subscription})
    assert answer.status == 200, answer.value
    return browser


async def phones(page: WebPage) -> tuple[Sequence[Any], Sequence[Any]]:
    """The phones of the page's person that are called, and those that are gone."""
    shown = (await page.ask("GET", "/push")).value
    return shown["phones"], shown["gone"]


def ended(hook: subprocess.Popen[str]) -> None:
    """End a hook that nobody answers."""
    hook.kill()
    hook.communicate()


def sealed(cluster: Cluster) -> str:
    (row,) = cluster.sql("SELECT text FROM crabhook.document WHERE name = 'phones'")
    return str(row["text"])


async def test_the_next_leader_calls_who_subscribed_at_the_server_that_is_dead_and_nobody_else(
    cluster: Cluster, url: str
) -> None:
    async with two_callers(url) as two, client() as http:
        await asyncio.to_thread(two.start)
        first = two.page(http, 0)
        await first.sign_in()
        kept, dropped, lost = [await subscribed(first, two.service) for _ in range(3)]
        off = await first.ask("DELETE", "/push", {"endpoint": dropped.endpoint})
        assert off.status == 200
        second = two.page(http, 1)
        await second.sign_in()
        refused = await second.ask("POST", "/push", {"subscription": Browser("x").subscription})
        assert refused.status == 421
        assert refused.why.endswith(f":{two.ports[0]}")
        for secret in (kept.endpoint.rpartition("/")[2], "PRIVATE KEY", "subscriptions"):
            assert secret not in sealed(cluster)
        await two.fail_over()
        del two.service.browsers[lost.endpoint]
        hook = asks(two.servers[1], "make")
        await until(lambda: kept.messages)
        assert kept.messages[0].notification["title"] == "1 call waits in tmp"
        assert dropped.messages == []
        assert two.service.refused == []
        async with asyncio.timeout(WITHIN):
            while [len(each) for each in await phones(second)] != [1, 1]:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
        await two.come_back()
        first = two.page(http, 0)
        await first.sign_in()
        assert [len(each) for each in await phones(first)] == [1, 1]
        assert "as they were written" in two.servers[0].audit("verify")
        ended(hook)


def own_phone(two: TwoCallers, server: Service) -> tuple[Browser, str]:
    """Have a server keep a phone of its own key, as one does that shares nothing yet."""
    browser, folder = two.service.browser(), two.push_folder(server)
    team = team_in(Folder(server.folder / ".local/state/crabhook/team"))
    push = Push(folder, Services([two.service.address]), lambda: team, 5.0)
    (ann,) = team.members
    push.subscribe(ann.id, ann.passkeys[0].id, browser.subscription, "https://x.example")
    push._kept.write(push._kept.content())
    assert "keys" not in json.loads((folder / "subscriptions.json").read_text())
    return browser, push.public_key


async def test_what_two_servers_had_for_themselves_is_called_by_either(url: str) -> None:
    async with two_callers(url) as two:
        own = [own_phone(two, server) for server in two.servers]
        await asyncio.to_thread(two.start)
        for times, lead in enumerate((two.fail_over, two.come_back), 1):
            await lead()
            hook = asks(two.servers[times % 2], "make", times)
            for browser, key in own:
                await until(lambda: len(browser.messages) >= times)  # noqa: B023
                assert browser.messages[-1].headers["Authorization"].endswith(f"k={key}")
            ended(hook)
        assert two.service.refused == []
        for server in two.servers:
            assert crabhook(server, "push", "list").stdout.count("never reported") == 2
