"""Debian's Chromium as the tests drive it: a page of the web desk in the hands of a person."""

from __future__ import annotations

import functools
import re
import shutil
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.async_api import TimeoutError as Overdue
from playwright.async_api import async_playwright, expect

from tests.support.requirements import leave_out

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from playwright.async_api import Browser, BrowserContext, CDPSession, Locator, Page, Request

    from tests.support.web_house import WebHouse

FOLDER = Path(__file__).resolve().parents[1] / "browser"
AT_ONCE = """
still = new CSSStyleSheet();
still.replaceSync("*, *::before { transition: none !important }");
document.adoptedStyleSheets = [still];
"""
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome-stable", "google-chrome")
PHONE: Mapping[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}
DESKTOP: Mapping[str, Any] = {"viewport": {"width": 1280, "height": 800}}
SOON = 20_000  # ms after which a test gives up on what happens at once
KEY = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
_FAULTS = re.compile(r"Content.Security.Policy|Trusted|violates", re.IGNORECASE)


@functools.cache
def program() -> str | None:
    """The browser of this machine; None where there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def require() -> str:
    """Return the browser, or skip the test; fail it in CI."""
    lacks = [] if program() else ["a browser (Debian's package chromium-headless-shell)"]
    lacks += [] if AXE.exists() else ["axe-core; run tests/browser/install"]
    if lacks:
        reason = "the page cannot be tried in a browser here; missing: " + "; ".join(lacks)
        leave_out(reason)
    return str(program())


@asynccontextmanager
async def browsing(*options: str) -> AsyncIterator[Browser]:
    """A browser for as long as the block lasts."""
    where = require()

    expect.set_options(timeout=SOON)
    async with async_playwright() as playwright:
        launch = playwright.chromium.launch
        browser = await launch(executable_path=where, args=["--no-sandbox", *options])
        try:
            yield browser
        finally:
            await browser.close()


class Phone:
    """A page of the desk, and the authenticator of who holds it; its faults are kept."""

    def __init__(self, house: WebHouse, context: BrowserContext, page: Page) -> None:
        self.house, self.context, self.page = house, context, page
        self.faults: list[str] = []
        self._cdp: CDPSession | None = None
        self._key = ""
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self._note(said.text))

    def _note(self, words: str) -> None:
        if _FAULTS.search(words):
            self.faults.append(words)

    async def cdp(self) -> CDPSession:
        """Return what speaks to the browser itself about this page."""
        if self._cdp is None:
            self._cdp = await self.context.new_cdp_session(self.page)
        return self._cdp

    async def holds_key(self, *, enrolled: bool = True) -> None:
        """Give the device an authenticator, which holds ann's passkey if it is enrolled."""
        cdp = await self.cdp()
        await cdp.send("WebAuthn.enable")
        made = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
        self._key = made["authenticatorId"]
        if enrolled:
            credential = {"authenticatorId": self._key, "credential": self.house.credential}
            await cdp.send("WebAuthn.addCredential", credential)

    async def finger(self, *, knows: bool) -> None:
        """Say whether the authenticator knows the finger that touches it."""
        told = {"authenticatorId": self._key, "isUserVerified": knows}
        await (await self.cdp()).send("WebAuthn.setUserVerified", told)

    # The page.

    async def open(self, place: str = "") -> None:
        """Open the desk, whose cookie may be there."""
        await self.page.goto(f"{self.house.origin}/{place}")

    async def sign_in(self) -> None:
        await self.open()
        await self.button("Sign in").click()
        await self.is_live()

    async def is_live(self) -> None:
        await expect(self.page.locator("#heard")).to_have_text("Live")

    def at(self, selector: str, words: str | None = None) -> Locator:
        return self.page.locator(selector, has_text=words)

    def sends(self, path: str) -> list[str]:
        """Return a list that has what is posted to a path from now on."""
        posted: list[str] = []

        def note(asked: Request) -> None:
            if asked.method == "POST" and asked.url.endswith(path):
                posted.append(asked.post_data or "")

        self.page.on("request", note)
        return posted

    def button(self, words: str) -> Locator:
        return self.page.get_by_role("button", name=words, exact=True)

    def row(self, words: str) -> Locator:
        """The row of the card that asks with these words."""
        return self.at("#queue-list > [data-card]:not([data-is-gone])").filter(has_text=words)

    async def card(self, words: str) -> Locator:
        """Open the card of a row, and return it."""
        row = self.row(words)
        number = await row.get_attribute("data-card")
        await self.page.evaluate(f"location.hash = '#card-{number}'")
        card = self.at(f"article#card-{number}")
        await card.wait_for()
        return card

    async def tap(self, holder: Locator, act: str) -> None:
        """Tap the button of an act once it acts."""
        button = holder.locator(f"button.act[data-act={act}]:visible").first
        # A button below the fold is never armed. What came meanwhile may have moved it.
        centre = "node => node.scrollIntoView({block: 'center', behavior: 'instant'})"
        await button.evaluate(centre)
        await expect(button).to_be_enabled(timeout=60_000)
        await button.evaluate(centre)
        await button.tap()

    async def reads(self, card: Locator) -> None:
        """Go through a whole request, by the button that leads on."""
        first, more = card.locator(".first"), card.locator(".first .unread")
        while await first.get_attribute("data-is-unread") is not None:
            # It goes once the page has scrolled as far as it leads.
            with suppress(Overdue):
                await more.tap(timeout=1_000)

    async def judged(self) -> Sequence[str]:
        """Return what axe finds wrong with the page, whose buttons change their colours at once.

        Half-way from one colour to the next, axe would find too little contrast.
        """
        cdp = await self.cdp()
        await cdp.send("Runtime.evaluate", {"expression": AT_ONCE})
        await cdp.send("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
        asked = {
            "expression": "axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>"
            " violations.map(({id, nodes}) => id + ': ' + nodes.map((n) => n.html).join('\\n')))",
            "awaitPromise": True,
            "returnByValue": True,
        }
        told = await cdp.send("Runtime.evaluate", asked)
        assert "value" in told["result"], told
        found: list[str] = told["result"]["value"]
        return found

    async def sideways(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        pixels: int = await self.page.evaluate(wider)
        return pixels


async def phone_of(house: WebHouse, browser: Browser, **look: Any) -> Phone:
    """Return a page of a device that nobody signed in on."""
    context = await browser.new_context(**{**PHONE, **look})
    context.set_default_timeout(SOON)
    return Phone(house, context, await context.new_page())
