"""The real Claude Code, answered from the page in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_claude_code import QUESTIONS, install
from tests.support.browser import browsing, phone_of
from tests.support.turns import PLAN_FILE, Text, ToolUse, bash
from tests.support.web_house import WebHouse

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


async def test_commands_questions_and_a_plan_are_answered_from_a_phone(claude: MakeClaude) -> None:
    agent = claude(
        (bash("touch made"),),
        (bash("touch first"),),
        (ToolUse("AskUserQuestion", QUESTIONS),),
        (Text("Thank you."),),
    )
    with WebHouse() as house:
        install(agent, house.service.address, gate=True)
        async with browsing() as browser:
            phone = await phone_of(house, browser)
            await phone.holds_key()
            await phone.sign_in()
            terminal = agent.terminal("make a file")
            await phone.tap(phone.row("touch made"), "allow")
            card = await phone.card("touch first")
            await card.get_by_text("Other answers").tap()
            await card.get_by_label("edit the command").fill("touch second")
            await card.locator(".block[data-block=change]").wait_for()
            await phone.tap(card, "edit")
            card = await phone.card("Answer these 2 questions")
            await card.get_by_text("Blue", exact=True).tap()
            await card.locator('[data-name="q2-words"]').fill("Scuttle, the 2nd")
            await phone.reads(card)
            await phone.tap(card, "answer")
            terminal.wait_for("Thank you.")
            assert phone.faults == []
    assert (agent.project / "made").exists()
    assert (agent.project / "second").exists()
    assert not (agent.project / "first").exists()
    told = "\n".join(agent.requests()[-1].tool_results())
    assert '"Which colours shall it have?"="Blue"' in told.replace("\\", "")
    assert '"What is it called?"="Scuttle, the 2nd"' in told


async def test_a_plan_is_sent_back_with_a_note_on_a_line_and_then_approved(
    claude: MakeClaude,
) -> None:
    agent = claude(
        (ToolUse("Write", {"file_path": PLAN_FILE, "content": "# First plan\n\n1. Delete all"}),),
        (ToolUse("ExitPlanMode", {}),),
        (ToolUse("Write", {"file_path": PLAN_FILE, "content": "# Second plan\n\n1. Add a test"}),),
        (ToolUse("ExitPlanMode", {}),),
        (Text("I begin."),),
    )
    with WebHouse(agent.home) as house:
        install(agent, house.service.address, gate=True)
        async with browsing() as browser:
            phone = await phone_of(house, browser)
            await phone.holds_key()
            await phone.sign_in()
            terminal = agent.terminal("plan it", mode="plan")
            card = await phone.card("Start with this plan?")
            await card.get_by_role("button", name="note on line 3").tap()
            await card.get_by_role("textbox", name="Note on line 3").fill("add a test instead")
            await phone.tap(card, "deny")
            await phone.at("a.next").wait_for()
            card = await phone.card("Start with this plan?")
            await card.locator(".asked").get_by_text("1. Add a test").wait_for()
            await phone.tap(card, "allow")
            terminal.wait_for("I begin.")
            assert phone.faults == []
    told = "\n".join(text for request in agent.requests() for text in request.tool_results())
    assert "1. Delete all" in told
    assert "add a test instead" in told
