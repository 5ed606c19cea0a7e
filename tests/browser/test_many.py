"""Sixty cards on a phone: one tap each, and no wait that no law asks for."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from tests.support.browser import DESKTOP

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from tests.browser.conftest import MakePhone
    from tests.support.browser import Phone
    from tests.support.web_house import WebHouse

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]

CARDS = 60
SWIPE = 460  # px, which leaves what was half in view in view
ROW = "#queue-list > [data-card]:not([data-is-gone])"

REACHED = """
() => {
  const boxes = (selector) => [...document.querySelectorAll(selector)].map((n) => n.getBoundingClientRect());
  const [bar] = boxes(".top");
  const covers = boxes(".tabs, .held li").filter((box) => box.height);
  const bottom = Math.min(...covers.map((box) => box.top));
  const buttons = document.querySelectorAll(
    "#queue-list > :not([data-is-gone]) button[data-act=deny]");
  const reached = [...buttons].find((node) => {
    const box = node.getBoundingClientRect();
    const isTapped = node.closest("li").querySelector(".outcome").textContent;
    return box.top >= bar.bottom && box.bottom <= bottom && !isTapped;
  });
  return reached?.closest("li").id;
}
"""
"""The first row whose denial a thumb reaches: whole between the bars, and not tapped yet."""


class Thumb:
    """A thumb that denies what it sees; its taps and swipes are counted."""

    def __init__(self, device: Phone) -> None:
        self.device, self.taps, self.swipes = device, 0, 0

    async def swipe(self) -> None:
        self.swipes += 1
        cdp = await self.device.cdp()

        async def touch(kind: str, *heights: float) -> None:
            points = [{"x": 180, "y": height} for height in heights]
            await cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        await touch("touchStart", 600)
        for step in range(1, 9):
            await touch("touchMove", 600 - SWIPE * step / 8)
        await asyncio.sleep(0.1)  # a thumb that rests before it lets go throws nothing
        await touch("touchMove", 600 - SWIPE)
        await touch("touchEnd")

    async def tap(self, button: Locator) -> None:
        self.taps += 1
        box = await button.bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await self.device.page.touchscreen.tap(x, y)


async def test_sixty_cards_are_denied_by_a_tap_each(
    house: WebHouse, phone: MakePhone, capsys: pytest.CaptureFixture[str]
) -> None:
    device = await phone()
    hooks = [house.runs(f"npm run part-{number:02}") for number in range(CARDS)]
    await expect(device.at(ROW)).to_have_count(CARDS, timeout=60_000)
    thumb, began = Thumb(device), time.perf_counter()
    async with asyncio.timeout(120):
        while thumb.taps < CARDS:
            row = await device.page.evaluate(REACHED)
            if not row:
                await thumb.swipe()
                continue
            button = device.at(f"#{row} button[data-act=deny]")
            await expect(button).to_be_enabled()
            await thumb.tap(button)
            await expect(device.at(f"#{row} .outcome")).to_contain_text("Denied")
        tapped = time.perf_counter() - began
        for hook in hooks:
            await asyncio.to_thread(hook.wait)
    taken = time.perf_counter() - began
    with capsys.disabled():
        print(
            f"\n{CARDS} cards: {thumb.taps} taps, {thumb.swipes} swipes, the last tap after "
            f"{tapped:.1f} s, the last hook ended after {taken:.1f} s"
        )
    assert thumb.taps == CARDS
    assert thumb.swipes <= CARDS
    for hook in hooks:
        assert hook.finish().output["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_a_row_that_went_disarms_nothing_below_it(house: WebHouse, phone: MakePhone) -> None:
    device = await phone(viewport={"width": 360, "height": 1100})
    for number in range(3):
        house.runs(f"npm run part-{number}")
    rows = device.at(ROW)
    await expect(rows).to_have_count(3)
    first, second, _ = [await row.get_attribute("id") for row in await rows.all()]
    await device.tap(device.at(f"#{first}"), "deny")
    await expect(device.at(f"#{first}")).to_have_attribute("data-is-gone", "")
    button = device.at(f"#{second} button[data-act=deny]")
    await expect(button).to_be_enabled()
    before = await button.bounding_box()
    await Thumb(device).tap(button)
    await expect(device.at(f"#{second} .outcome")).to_have_text("Denied.")
    after = await button.bounding_box()
    assert before
    assert after
    assert before["y"] == after["y"]
    await device.page.touchscreen.tap(180, 30)
    await expect(device.at(f"#{first}")).to_have_count(0)


async def test_the_first_of_many_held_answers_can_be_taken_back(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone(viewport={"width": 360, "height": 3200})
    for number in range(8):
        house.runs(f"npm run part-{number}")
    rows = device.at(ROW)
    await expect(rows).to_have_count(8)
    await expect(device.at(f"{ROW} button[data-act=deny][aria-disabled=false]")).to_have_count(8)
    # Held for long, so that a slow machine is no matter.
    await device.page.evaluate(
        "document.querySelectorAll('button[data-act=deny]').forEach((n) => { n.dataset.hold = 10; })"
    )
    thumb = Thumb(device)
    for row in await rows.all():
        await thumb.tap(row.locator("button[data-act=deny]"))
    await expect(device.at("#held li:visible")).to_have_count(1)
    await expect(device.at("#held li:visible")).to_contain_text("and 7 more")
    for _ in range(8):
        await device.button("Take back").tap()
    await expect(device.at("#held li")).to_have_count(0)
    await expect(rows).to_have_count(8)
    for row in await rows.all():
        await expect(row.locator(".outcome")).to_have_text("Taken back: nothing was decided.")


async def test_what_is_held_disarms_nothing_in_another_column(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone(**DESKTOP)
    for number in range(3):
        house.runs(f"npm run part-{number}")
    rows = device.at(ROW)
    await expect(rows).to_have_count(3)
    buttons = device.at(f"{ROW} button[data-act=deny]")
    await buttons.first.evaluate("node => { node.dataset.hold = 10; }")
    await expect(buttons.first).to_be_enabled()
    await buttons.first.click()
    held = await device.at("#held li").bounding_box()
    assert held
    column = device.at("#queue-list").locator("xpath=ancestor::*[contains(@class, 'view')]")
    await column.evaluate("node => node.scrollTo(0, node.scrollHeight)")
    await expect(buttons.last).to_be_enabled()
    box = await buttons.last.bounding_box()
    assert box
    assert box["y"] + box["height"] > held["y"]  # as low as what is held
    await device.button("Take back").click()
