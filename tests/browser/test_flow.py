"""From the invitation to the revocation: what a person does with a phone, in a real browser."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.browser.conftest import MakePhone
    from tests.support.client import Client
    from tests.support.web_house import WebHouse

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLAN = "# Plan\n\n1. Look at the shop\n2. Change the price\n3. Test"


def told(hook: Client) -> Mapping[str, Any]:
    """Wait for a hook's end; return what it tells its agent."""
    answer: Mapping[str, Any] = hook.finish().output["hookSpecificOutput"]
    return answer


async def test_a_passkey_is_enrolled_signs_in_and_is_revoked(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone(signed_in=False, enrolled=False)
    side = house.invite()
    await device.page.goto(side.link)
    await device.button("Make a passkey").tap()
    shown = device.at("#enrol-words li")
    await expect(shown).to_have_count(6)
    offered = side.look(time.time())
    assert offered
    assert offered.words.split() == await shown.all_inner_texts()
    made = side.passkey(offered, time.time(), agents_machine=False)
    house.let_in(replace(made, confirmed=True, name="new"))
    side.admitted("new")
    await device.button("Sign in").tap()
    await device.is_live()
    house.revoke("new")
    # Within a second; what more there is here is for a busy machine.
    await expect(device.at("body")).to_have_attribute("data-view", "sign-in", timeout=3_000)
    await expect(device.at("#sign-in-said")).not_to_be_empty()


async def test_a_command_is_denied_by_the_cookie_and_another_is_allowed_by_the_passkey(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    hook = house.runs("npm test")
    await device.finger(knows=False)
    await device.tap(device.row("npm test"), "deny")
    assert told(hook)["permissionDecision"] == "deny"
    await device.finger(knows=True)
    hook = house.runs("npm run build")
    await device.tap(await device.card("npm run build"), "allow")
    assert told(hook)["permissionDecision"] == "allow"


async def test_a_yes_that_needs_others_too_is_said_to_count_and_to_decide_nothing(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    hook = house.runs("terraform apply")
    card = await device.card("terraform apply")
    await expect(card).to_contain_text("0 of 2 said yes")
    await device.tap(card, "allow")
    outcome = card.locator("output.outcome").last
    await expect(outcome).to_contain_text("Your yes counts. 1 of 2 said yes: ann.")
    await expect(card.locator(".votes")).to_contain_text("1 of 2 said yes: ann.")
    await expect(outcome).to_contain_text("Your yes counts.")
    assert hook.poll() is None


@pytest.mark.thorough
async def test_questions_are_answered_one_by_its_option_and_one_by_own_words(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    hook = house.asks("PreToolUse-AskUserQuestion")
    card = await device.card("Answer these 2 questions")
    await card.get_by_text("pydantic").tap()
    await card.locator('[data-name="q2-words"]').fill("neither")
    await device.reads(card)
    await device.tap(card, "answer")
    answers = {"Which library?": "pydantic", "Which features?": "neither"}
    assert told(hook)["updatedInput"]["answers"] == answers


@pytest.mark.thorough
async def test_a_plan_is_sent_back_with_a_note_on_its_line_and_the_next_is_approved(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    hook = house.asks("PreToolUse-ExitPlanMode", tool_input={"plan": PLAN})
    card = await device.card("Start with this plan?")
    await card.get_by_role("button", name="note on line 4").tap()
    await card.get_by_role("textbox", name="Note on line 4").fill("not the price")
    await device.tap(card, "deny")
    answer = told(hook)
    assert answer["permissionDecision"] == "deny"
    assert "2. Change the price" in answer["permissionDecisionReason"]
    assert "not the price" in answer["permissionDecisionReason"]
    hook = house.asks(
        "PreToolUse-ExitPlanMode", tool_input={"plan": PLAN.replace("2. Change the price\n", "")}
    )
    await device.tap(await device.card("Start with this plan?"), "allow")
    assert told(hook)["permissionDecision"] == "allow"


@pytest.mark.thorough
async def test_a_command_is_allowed_as_it_was_edited(house: WebHouse, phone: MakePhone) -> None:
    device = await phone()
    hook = house.runs("npm test")
    card = await device.card("npm test")
    await card.get_by_text("Other answers").tap()
    await card.get_by_label("edit the command").fill("npm test -- --bail")
    await expect(card.locator(".block[data-block=change]")).to_be_visible()
    await device.tap(card, "edit")
    answer = told(hook)
    assert answer["permissionDecision"] == "allow"
    assert answer["updatedInput"]["command"] == "npm test -- --bail"
