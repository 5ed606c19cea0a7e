"""A call that comes through for real: our server, a push service, and Firefox that shows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from crabhook.app.web import WebFace
from crabhook.desk.commands import BARE_DENIAL
from crabhook.model.actor import Operator, Role
from crabhook.model.decision import Decision, Verdict
from crabhook.server.operators.service import OperatorService
from crabhook.server.push.endpoints import Services
from crabhook.server.push.push import Push
from crabhook.server.push.server_key import ServerKey
from crabhook.server.web.listener import WebOpening, WebParts, open_web
from crabhook.team.folder import Folder
from crabhook.team.membership import Member, Team
from crabhook.team.web_enrolling import PageSide
from tests.support.authenticator import Authenticator
from tests.support.autopush import Autopush, autopush
from tests.support.firefox import Firefox, firefox
from tests.support.playbook import DENY, bash
from tests.support.runners import bare_runner
from tests.support.seat import seat
from tests.support.service import CRABHOOK
from tests.support.web_house import WebHouse
from tests.support.web_page import WebPage, client

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.server.core.runner import Runner

pytestmark = [pytest.mark.process, pytest.mark.thorough]

HOST = "crabhook.localhost"
AFTER = 0.5
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

    runner: Runner
    push: Push
    service: Autopush
    phone: Phone

    def ask(self, ticket: str) -> None:
        self.runner.enter(bash(ticket, "ls", ticket, wait=self.runner.now() + 600), None)

    def shown(self) -> bool:
        return any(phone.shown for phone in self.push.phones("o-ann"))


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - of what has no event
            await asyncio.sleep(0.05)


@asynccontextmanager
async def called(folder: Path) -> AsyncIterator[Called]:
    key = Authenticator(rp=HOST)
    member = Member("o-ann", "ann", Role.DECIDER, passkeys=(key.passkey("ann"),))
    team = Team("t", "ours", 1, (member,))
    runner = bare_runner()
    operators = OperatorService(runner, lambda: team)
    async with autopush() as service:
        push = Push(folder / "push", Services([service.address]), lambda: team, AFTER)
        push.follow(runner)
        keeping = asyncio.ensure_future(push.keep())
        parts = WebParts(WebFace(), push, PageSide(Folder(folder / "team")))
        opening = WebOpening("127.0.0.1:0", (HOST,))
        try:
            async with (
                open_web(opening, operators, lambda: team, parts) as at,
                firefox(folder / "firefox", service.settings) as browser,
            ):
                key.origin = f"http://{HOST}:{at.address.port}"
                phone = Phone(browser, key.origin)
                await phone.sign_in(key)
                await phone.subscribe()
                yield Called(runner, push, service, phone)
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping
            operators.close()
            runner.close()


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
            push._key = ServerKey.in_file(tmp_path / "other" / "key.pem")
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
