"""One browser for all, a server for each module, a device of its own for each test."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest
import pytest_asyncio

from tests.support.browser import Phone, browsing, phone_of, require
from tests.support.web_house import WebHouse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from playwright.async_api import Browser


NEEDS_TWO = '[[rule]]\nverdict = "ask-operator"\nmatch = "Bash(terraform *)"\nneed = 2\n'


class MakePhone(Protocol):
    """Makes a device on which ann is signed in, or which only holds her passkey."""

    async def __call__(
        self, *, signed_in: bool = True, enrolled: bool = True, **look: Any
    ) -> Phone:
        """`look` is as playwright's contexts have it: `color_scheme`, `viewport`."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as made:
        yield made


@pytest.fixture(scope="module")
def house() -> Iterator[WebHouse]:
    require()
    with WebHouse(rules=NEEDS_TWO) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def cookies(house: WebHouse, browser: Browser) -> Any:
    """The cookie of one sign-in: an address may not sign in often."""
    phone = await phone_of(house, browser)
    await phone.holds_key()
    await phone.sign_in()
    kept = await phone.context.storage_state()
    await phone.context.close()
    return kept


@pytest_asyncio.fixture(loop_scope="session")
async def phone(house: WebHouse, browser: Browser, cookies: Any) -> AsyncIterator[MakePhone]:
    """Make devices; at the end no page of them had a fault, and all that waited is gone."""
    made: list[Phone] = []
    async with AsyncExitStack() as closing:

        async def make(*, signed_in: bool = True, enrolled: bool = True, **look: Any) -> Phone:
            device = await phone_of(
                house, browser, storage_state=cookies if signed_in else None, **look
            )
            closing.push_async_callback(device.context.close)
            made.append(device)
            await device.holds_key(enrolled=enrolled)
            if signed_in:
                await device.open()
                await device.is_live()
            return device

        closing.callback(house.end_hooks)
        yield make
        assert [fault for each in made for fault in each.faults] == []
