"""`python -m tests.browser.figures`: print what the page costs, beside the terminal; nothing is judged.

An answer is not held here, so that a tap goes at once, as a line at the plain terminal does.
"""

from __future__ import annotations

import asyncio
import time
from statistics import median
from typing import TYPE_CHECKING

from tests.support.browser import browsing, phone_of
from tests.support.client import Client, sample
from tests.support.plain_desk import PlainDesk
from tests.support.web_house import WebHouse

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.support.browser import Phone

ROUNDS = 20
PAGES = 12  # a device watches 16 times at most


async def tapped(phone: Phone, act: str) -> float:
    """Return how many ms passed from a tap until the hook ended."""
    hook = phone.house.runs(f"npm run {time.monotonic_ns()}")
    button = phone.at(f"#queue-list button.act[data-act={act}]:visible:not([aria-disabled=true])")
    await button.wait_for()
    await button.evaluate("node => { node.dataset.hold = 0; }")
    box = await button.bounding_box()
    assert box
    began = time.perf_counter()
    await phone.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await asyncio.to_thread(hook.wait)
    taken = time.perf_counter() - began
    while await phone.at("#queue-list > li").count():
        await phone.page.touchscreen.tap(180, 30)
    return 1000 * taken


def typed(desk: PlainDesk, number: int) -> float:
    """Return how many ms passed from a line at the terminal until the hook ended."""
    asked = sample("PreToolUse-Bash", tool_use_id=f"t{number}", session_id=f"s{number}")
    hook = Client(desk.address, asked)
    card = desk.card("Bash")
    began = time.perf_counter()
    desk.say(f"{card} allow")
    hook.wait()
    taken = time.perf_counter() - began
    hook.communicate()
    return 1000 * taken


async def memory(house: WebHouse, browser: Browser, phone: Phone) -> float:
    """Return how many KiB of the server an open page takes."""
    cookies, before = await phone.context.storage_state(), house.memory()
    for _ in range(PAGES):  # each in a browser of its own: one opens six connections at most
        page = await phone_of(house, browser, storage_state=cookies)
        await page.open()
        await page.is_live()
    return (house.memory() - before) / PAGES


async def first_load(browser: Browser, house: WebHouse) -> float:
    """Return how many KiB come over the wire at a first visit."""
    stranger = await phone_of(house, browser)
    sizes: list[float] = []
    cdp = await stranger.cdp()
    await cdp.send("Network.enable")
    cdp.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))
    await stranger.open()
    await stranger.button("Sign in").wait_for()
    await stranger.context.close()
    return sum(sizes) / 1024


def starts() -> tuple[float, float]:
    """Return how many ms of a processor a start takes, without a page and with one, by turns."""
    with WebHouse() as house:
        house.stop()
        pairs = [[house.start_of(web=web) for web in (False, True)] for _ in range(ROUNDS)]
        house.start()
    without, with_page = (1000 * median(times) for times in zip(*pairs, strict=True))
    return without, with_page


async def main() -> None:
    without, with_page = starts()
    print(f"start of a server: {without:.0f} ms of a processor, with a page {with_page:.0f} ms")
    with WebHouse() as house:
        async with browsing() as browser:
            print(f"first load: {await first_load(browser, house):.1f} KiB")
            phone = await phone_of(house, browser)
            await phone.holds_key()
            await phone.sign_in()
            taps = {
                act: [await tapped(phone, act) for _ in range(ROUNDS)] for act in ("allow", "deny")
            }
            print(f"tap, passkey, hook ended: {median(taps['allow']):.0f} ms")
            print(f"tap on deny, hook ended: {median(taps['deny']):.0f} ms")
            print(f"an open page in the server: {await memory(house, browser, phone):.0f} KiB")
    with PlainDesk() as desk:
        lines = [typed(desk, number) for number in range(ROUNDS)]
        print(f"a line at the terminal, hook ended: {median(lines):.0f} ms")


if __name__ == "__main__":
    asyncio.run(main())
