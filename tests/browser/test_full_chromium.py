"""The whole Chromium: a tab hides the desk for real, and its worker shows what our server sends."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from tests.support.chromium import Tab, chromium
from tests.support.push_house import AFTER, PushHouse, push_house, until
from tests.support.push_service import push_service
from tests.support.web_page import WebPage, client

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.push_service import Browser

pytestmark = [pytest.mark.process, pytest.mark.thorough]

LIVE = "return document.querySelector('#heard')?.textContent == 'Live'"
HIDDEN = "return document.hidden"
NOTICES = """
const registration = await navigator.serviceWorker.getRegistration();
const notices = await registration.getNotifications();
return notices.map(({ title, tag, actions }) => [title, tag, actions.map(({ action }) => action)]);
"""


async def desk_in(tab: Tab, house: PushHouse, device: Browser) -> None:
    """Sign in beside the browser, which gets the cookie, and subscribe a device of ours for it."""
    async with client() as http:
        page = WebPage(http, house.key.origin, house.key)
        assert (await page.sign_in()).status == 200
        posted = await page.ask("POST", "/push", {"subscription": device.subscription})
        assert posted.status == 200, posted.value
    await tab.browser.permit(house.key.origin, "notifications")
    await tab.open(house.key.origin, page.cookie)
    await tab.until(LIVE)


async def test_a_desk_behind_another_tab_is_called_and_chromium_shows_and_reports_the_notice(
    tmp_path: Path,
) -> None:
    async with (
        push_service() as service,
        push_house(tmp_path, service.address) as house,
        chromium(tmp_path / "chromium") as browser,
    ):
        device, desk = service.browser(), await browser.tab()
        await desk_in(desk, house, device)
        assert await desk.run(HIDDEN) is False
        await (await browser.tab()).front()
        await desk.until(HIDDEN)
        house.ask("a")
        await until(lambda: device.messages)
        await desk.deliver(house.key.origin, json.dumps(device.messages[-1].content))
        await until(house.shown)
        assert await desk.run(NOTICES) == [["1 call waits in p", "waits", ["deny", "later"]]]

        await desk.front()
        await desk.until(LIVE)
        await desk.until("return document.querySelector('#queue-list [data-card=\"1\"]') !== null")
        house.ask("b")
        await desk.until("return document.querySelector('#queue-list [data-card=\"2\"]') !== null")
        await asyncio.sleep(AFTER * 4)
        assert len(device.messages) == 1, "who looks at the page is not called"
