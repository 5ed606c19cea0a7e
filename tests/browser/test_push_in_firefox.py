"""A call that comes through for real: our server, a push service, and Firefox that shows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from crabhook.desk.commands import BARE_DENIAL
from crabhook.model.actor import Operator
from crabhook.model.decision import Decision, Verdict
from crabhook.server.push.phone_book import PhoneBook
from crabhook.server.push.server_key import ServerKey
from tests.support.autopush import autopush
from tests.support.firefox import firefox
from tests.support.playbook import DENY
from tests.support.push_house import AFTER, PushHouse, push_house, until
from tests.support.seat import seat
from tests.support.service import CRABHOOK
from tests.support.web_house import WebHouse
from tests.support.web_page import WebPage, client

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.server.core.runner import Runner
    from crabhook.server.push.push import Push
    from tests.support.authenticator import Authenticator
    from tests.support.autopush import Autopush
    from tests.support.firefox import Firefox

pytestmark = [pytest.mark.process, pytest.mark.thorough]

DELIVERED = 100  # the code of Firefox's acknowledgement: its worker has the message

CLICK = """
const alert = Services.wm.getMostRecentWindow("alert:alert");
const QueryInterface = ChromeUtils.generateQI(["nsIAlertAction"]);
const action = { QueryInterface, action: arguments[0], title: "", iconURL: "" };
alert.gAlertListener.observe(action, "alertclickcallback", alert.gAlertCookie);
"""
"""Clicks an action, of which Firefox's own alert without a desktop shows none."""


@dataclass
class Phone:
    """Firefox as somebody's phone, at the pages of a server."""

    browser: Firefox
    origin: str

    async def sign_in(self, key: Authenticator) -> None:
        """Sign in beside the browser, which gets the cookie: passkeys are another test's matter."""
        async with client() as http:
            page = WebPage(http, self.origin, key)
            assert (await page.sign_in()).status == 200
        await self.browser.open(self.origin)
        await self.browser.add_cookie(page.cookie)
        await self.browser.tell("WebDriver:Refresh")
        await self.browser.until("return document.querySelector('#heard').textContent == 'Live'")

    async def subscribe(self) -> None:
        await self.browser.open(f"{self.origin}/#you")
        await self.browser.until(
            "return document.querySelector('#push-on')?.getClientRects().length"
        )
        await self.browser.click("#push-on")
        await self.browser.until("return !document.querySelector('#push-off').hidden")

    async def look_away(self) -> None:
        await self.browser.open("about:blank")

    async def notifications(self) -> list[dict[str, object]]:
        """What Firefox shows, as it tells a page of our origin that is no desk."""
        await self.browser.open(f"{self.origin}/style.css")
        shown: list[dict[str, object]] = await self.browser.run(
            """const registration = await navigator.serviceWorker.getRegistration();
            const notices = await registration.getNotifications();
            return notices.map(({title, tag, data}) => ({title, tag, cards: data.cards}));"""
        )
        return shown


@dataclass
class Called:
    """A server whose only person has Firefox for a phone."""

    house: PushHouse
    service: Autopush
    phone: Phone

    @property
    def runner(self) -> Runner:
        return self.house.runner

    @property
    def push(self) -> Push:
        return self.house.push

    def ask(self, ticket: str) -> None:
        self.house.ask(ticket)

    def shown(self) -> bool:
        return self.house.shown()


@asynccontextmanager
async def called(folder: Path) -> AsyncIterator[Called]:
    async with (
        autopush() as service,
        push_house(folder, service.address) as house,
        firefox(folder / "firefox", service.settings) as browser,
    ):
        phone = Phone(browser, house.key.origin)
        await phone.sign_in(house.key)
        await phone.subscribe()
        yield Called(house, service, phone)


async def test_a_card_calls_firefox_which_shows_it_and_reports_that(tmp_path: Path) -> None:
    async with called(tmp_path) as there:
        there.ask("a")
        await asyncio.sleep(AFTER * 4)
        assert there.service.headers == [], "who looks at the page is not called"

        await there.phone.look_away()
        await until(there.shown)
        assert there.service.refused == []
        assert there.service.acknowledged == [DELIVERED]
        assert there.service.headers[0]["Urgency"] == "high"
        waits = {"title": "1 call waits in p", "tag": "waits", "cards": [1]}
        assert await there.phone.notifications() == [waits]

        seat(there.runner).answer(1, DENY)
        await until(lambda: len(there.service.acknowledged) == 2)
        assert there.service.headers[1]["Urgency"] == "normal"
        over = {"title": "Nothing waits any more", "tag": "waits", "cards": []}
        assert await there.phone.notifications() == [over]


async def test_a_denial_on_the_notification_denies_the_card_without_words(tmp_path: Path) -> None:
    async with called(tmp_path) as there:
        await there.phone.look_away()
        there.ask("a")
        await until(there.shown)
        await there.phone.browser.chrome(CLICK, "deny")
        await until(there.runner.broker.ended)
        (card,) = there.runner.broker.ended()
        assert card.decided is not None
        assert card.decided.decision == Decision(Verdict.DENY, BARE_DENIAL)
        by = card.decided.by
        assert isinstance(by, Operator)
        assert (by.name, by.shown) == ("ann", "open-key")
        await asyncio.sleep(AFTER * 4)
        assert await there.phone.notifications() == []
        assert len(there.service.headers) == 1, "what its person put away is not replaced"


@pytest.mark.parametrize("same_key", [True, False])
async def test_a_server_that_does_not_call_a_device_says_so_and_can_be_told_to(
    tmp_path: Path, same_key: bool
) -> None:
    async with called(tmp_path) as there:
        browser, push = there.phone.browser, there.push
        (before,) = push.phones("o-ann")
        # As another server of the same name is: it has not this subscription, or another key.
        push.forget("o-ann", before.url)
        if not same_key:
            other = ServerKey.in_file(tmp_path / "other" / "key.pem")
            push._kept.replace(PhoneBook(keys=(other,)))
        await browser.tell("WebDriver:Refresh")
        await browser.until(
            "return document.querySelector('#push-said').textContent.includes('does not call')"
        )
        await there.phone.subscribe()
        (after,) = push.phones("o-ann")
        assert (after.url == before.url) is same_key
        if same_key:
            await there.phone.look_away()
            there.ask("a")
            await until(there.shown)


async def test_a_trial_of_a_true_server_says_that_the_phone_showed_it(tmp_path: Path) -> None:
    async with autopush() as service:
        settings = f'[push]\nafter = {AFTER}\nservices = ["{service.address}"]\n'
        with WebHouse(settings=settings) as house:
            async with firefox(tmp_path, service.settings) as browser:
                phone = Phone(browser, house.origin)
                await phone.sign_in(house.key)
                await phone.subscribe()
                assert "the phone showed it" in await said(house, "push", "test", "ann")
                house.runs("ls")
                await asyncio.sleep(AFTER * 4)
                assert len(service.headers) == 1, "who looks at the page is not called"
                await phone.look_away()
                await until(lambda: len(service.acknowledged) == 2)
                titles = [notice["title"] for notice in await phone.notifications()]
                assert [title for title in titles if str(title).startswith("1 call waits in ")]
                assert "never reported" not in await said(house, "push", "list")


async def said(house: WebHouse, *words: str) -> str:
    """What a command says on the server's machine."""
    command = await asyncio.create_subprocess_exec(
        CRABHOOK, *words, env=house.service.environment, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await command.communicate()
    assert command.returncode == 0
    return out.decode()
