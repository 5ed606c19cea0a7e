"""A server that restarts under an open page: what was typed stays, and no tap is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import MakePhone
    from tests.support.web_house import WebHouse

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]


async def test_a_server_that_restarts_takes_no_tap_and_no_typed_text(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone(signed_in=False)
    await device.sign_in()
    hook = house.runs("npm test")
    card = await device.card("npm test")
    reason = card.get_by_label("A reason or a note")
    await reason.fill("not before lunch")
    house.stop()
    await expect(device.at("html")).to_have_class("unheard")
    sent = device.sends("/do")
    await card.locator("button.act[data-act=deny]").tap(force=True)
    await expect(card.locator(".outcome")).to_contain_text("not heard")
    assert sent == []
    house.start()
    await device.button("Sign in").tap()
    await device.is_live()
    await expect(reason).to_have_value("not before lunch")
    await device.tap(card, "deny")
    told = hook.finish().output["hookSpecificOutput"]
    assert "not before lunch" in told["permissionDecisionReason"]
