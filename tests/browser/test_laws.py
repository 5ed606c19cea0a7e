"""The laws of the page: a tap counts for what a person saw, and for nothing else."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Locator, Request, Route

    from tests.browser.conftest import MakePhone
    from tests.support.browser import Phone
    from tests.support.client import Client
    from tests.support.web_house import WebHouse

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]

LONG = "\n".join(f"echo {line}" for line in range(60))


def verdict(hook: Client) -> str:
    """Wait for a hook's end; return what it decides."""
    told: str = hook.finish().output["hookSpecificOutput"]["permissionDecision"]
    return told


async def pressed(holder: Locator, act: str) -> None:
    """Tap a button whether or not it acts yet."""
    await holder.locator(f"button.act[data-act={act}]:visible").first.tap(force=True)


async def top_of(place: Locator) -> float:
    box = await place.bounding_box()
    assert box
    return box["y"]


async def turned(device: Phone, *, hidden: bool) -> None:
    """Tell the page that it is hidden, or seen again: this browser itself hides none."""
    told = f"{{configurable: true, get: () => {str(hidden).lower()}}}"
    changed = "document.dispatchEvent(new Event('visibilitychange'))"
    await device.page.evaluate(f"Object.defineProperty(document, 'hidden', {told}); {changed}")


async def elsewhere(device: Phone) -> None:
    """Touch where nothing is."""
    await device.page.touchscreen.tap(180, 30)


async def test_a_button_does_nothing_before_it_was_in_view_for_a_while(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    await device.page.evaluate("document.body.dataset.arming = 3000")
    hook = house.runs("npm test")
    row = device.row("npm test")
    await pressed(row, "deny")
    await expect(row.locator(".outcome, #told").first).to_have_text(
        "It has just come into view: look first."
    )
    assert hook.poll() is None
    await device.tap(row, "deny")
    assert verdict(hook) == "deny"


async def test_what_is_said_of_a_tap_holds_no_longer_than_it_is_true(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    await device.page.evaluate("document.body.dataset.arming = 2000")
    house.runs(LONG)
    card = await device.card("Run this command?")
    outcome = card.locator(".outcome")
    await pressed(card, "deny")
    await expect(outcome).to_have_text("It has just come into view: look first.")
    await expect(outcome).to_have_text("")
    await device.page.evaluate("document.body.dataset.arming = 2001")
    await pressed(card, "allow")
    await expect(outcome).to_have_text(re.compile(r"Read on first: \d+ more lines\."))
    await device.reads(card)
    await expect(outcome).to_have_text("")


async def test_what_was_not_wholly_in_view_is_not_allowed(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    hook = house.runs(LONG)
    await expect(device.row("Run this command?").locator("button.act")).to_have_count(0)
    card = await device.card("Run this command?")
    await expect(card.locator(".unread")).to_have_text(re.compile(r"\d\d more lines to read"))
    sent = device.sends("/do")
    async with asyncio.timeout(20):
        while "Read on first" not in await card.inner_text():
            await pressed(card, "allow")
    await device.reads(card)
    assert sent == []
    await device.tap(card, "allow")
    assert verdict(hook) == "allow"


async def test_what_is_dangerous_wants_a_second_yes_to_its_effect(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    hook = house.runs("git push --force")
    row, second = device.row("git push --force"), device.at("#second")
    sent = device.sends("/do")
    await device.tap(row, "allow")
    await expect(second.locator(".effect")).to_contain_text("yes allows it")
    await second.get_by_role("button", name="No, go back").tap()
    await expect(row.locator(".outcome")).to_have_text("Nothing was sent.")
    await device.tap(row, "allow")
    await second.get_by_role("button", name="all the same").tap(force=True)
    await expect(second).to_be_visible()  # the first tap came too soon
    assert sent == []
    await second.get_by_role("button", name="all the same").tap()
    assert verdict(hook) == "allow"


async def test_an_answer_is_taken_back_while_it_is_held(house: WebHouse, phone: MakePhone) -> None:
    device = await phone()
    hook = house.runs("npm test")
    row = device.row("npm test")
    await device.tap(row, "allow")
    await device.button("Take back").tap()
    await expect(row.locator(".outcome")).to_have_text("Taken back: nothing was decided.")
    assert hook.poll() is None
    await device.tap(row, "deny")
    assert verdict(hook) == "deny"


async def test_a_card_that_ends_leaves_its_place_until_the_next_touch(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    first, _ = house.runs("npm run first"), house.runs("npm run second")
    gone, stays = device.at("#queue-list > li", "npm run first"), device.row("npm run second")
    await stays.wait_for()
    before = await top_of(stays)
    first.kill()
    await expect(gone).to_have_attribute("data-is-gone", "")
    assert await top_of(stays) == before
    await expect(gone.locator("button:visible")).to_have_count(0)
    await elsewhere(device)
    await expect(gone).to_have_count(0)


@pytest.mark.parametrize("rows", [2, 12])
async def test_what_is_new_moves_nothing_in_view(
    house: WebHouse, phone: MakePhone, rows: int
) -> None:
    device = await phone()
    for number in range(rows):
        house.runs(f"npm run part-{number:02}")
    await expect(device.row("npm run part")).to_have_count(rows)
    middle = device.row(f"npm run part-{rows // 2:02}")
    await middle.scroll_into_view_if_needed()
    before = await top_of(middle)
    house.runs("git push --force")  # of the worst risk, so the first in the list
    await device.row("git push --force").wait_for()
    assert abs(await top_of(middle) - before) <= 1
    assert await device.sideways() == 0


async def test_a_card_that_changes_is_armed_anew_and_a_late_tap_is_shown_the_new_one(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    asked: dict[str, Any] = {"tool_input": {"command": "npm test"}, "call": "toolu_twice"}
    asked |= {"session_id": "s-twice", "cwd": "/home/dev/project"}
    house.asks("PreToolUse-Bash", **asked)
    row = device.row("npm test")
    seen = await row.get_attribute("data-seen")

    async def late(route: Route, _: Request) -> None:
        """Let the card change while the tap is on its way."""
        house.asks("PermissionRequest-Bash", **asked)
        await expect(row).not_to_have_attribute("data-seen", str(seen))
        await route.continue_()

    await device.page.route("**/do", late)
    await device.tap(row, "allow")
    await expect(row.locator(".outcome")).to_contain_text("Nothing was decided.")
    await expect(row).to_be_visible()


async def test_typed_text_and_focus_stay_through_news(house: WebHouse, phone: MakePhone) -> None:
    device = await phone()
    hook = house.runs("npm test")
    card = await device.card("npm test")
    reason = card.get_by_label("A reason or a note")
    await reason.fill("not before lunch")
    house.runs("git push --force")
    await expect(device.at(".back")).to_have_text("Waiting · 2")
    await expect(reason).to_be_focused()
    await expect(reason).to_have_value("not before lunch")
    await device.tap(card, "deny")
    told = hook.finish().output["hookSpecificOutput"]
    assert "not before lunch" in told["permissionDecisionReason"]


async def test_a_page_that_is_hidden_listens_no_more_and_comes_back(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    ended = asyncio.Event()
    device.page.on("requestfailed", lambda asked: "/news" in asked.url and ended.set())
    await turned(device, hidden=True)
    async with asyncio.timeout(20):
        await ended.wait()
    house.runs("npm test")
    await turned(device, hidden=False)
    await device.is_live()
    await device.row("npm test").wait_for()


async def test_without_a_known_finger_nothing_is_sent(house: WebHouse, phone: MakePhone) -> None:
    device = await phone()
    await device.finger(knows=False)
    hook = house.runs("npm test")
    sent = device.sends("/do")
    row = device.row("npm test")
    await device.tap(row, "allow")
    await expect(row.locator(".outcome")).to_contain_text("nothing was sent")
    assert sent == []
    assert hook.poll() is None


async def test_secrets_are_shown_to_the_passkey_and_covered_again(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    secret = "ghp_" + "a1B2" * 9
    house.runs(f"curl -H 'x: {secret}' example.org")
    card = await device.card("example.org")
    asked = card.locator(".asked")
    await device.finger(knows=False)
    await device.button("Show the secrets").tap()
    await expect(card.locator(".outcome")).to_contain_text("nothing was sent")
    assert secret not in await device.page.content()
    await device.finger(knows=True)
    await device.button("Show the secrets").tap()
    await expect(asked).to_contain_text(secret)
    await card.get_by_text("Other answers").tap()
    await expect(card.get_by_label("edit the command")).to_have_value(re.compile(secret))
    await device.button("Cover the secrets").tap()
    await expect(asked).not_to_contain_text(secret)
    assert secret not in await device.page.content()
