"""The real Claude Code, whose call two people allow: one on a phone, one at a terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from crabhook.model.actor import Role
from tests.e2e.test_claude_code import install
from tests.support.browser import browsing, phone_of
from tests.support.plain_desk import CRABHOOK
from tests.support.team import PASSPHRASE
from tests.support.turns import Text, bash
from tests.support.typist import Typist
from tests.support.web_house import WebHouse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
RULES = '[[rule]]\nverdict = "ask-operator"\nmatch = "Bash(touch made)"\nneed = 2\n'


def at_a_terminal(home: Path, *words: str) -> tuple[int, str]:
    """Run a verb of a person who types the passphrase."""
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home)}
    with Typist((CRABHOOK, *words), environment) as typist:
        typist.answer(": ", f"{PASSPHRASE}\n")
        code, told, wrong = typist.finish()
    return code, told + wrong


async def test_two_people_allow_a_call_from_a_phone_and_a_terminal(
    claude: MakeClaude, tmp_path: Path
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    with WebHouse() as house:
        rules = house.home / ".config" / "crabhook" / "rules.toml"
        rules.parent.mkdir(parents=True, exist_ok=True)
        rules.write_text(RULES)
        house.team.seat(tmp_path / "bob" / ".config" / "crabhook", "bob", house.desks, Role.DECIDER)
        install(agent, house.service.address, gate=True)
        async with browsing() as browser:
            phone = await phone_of(house, browser)
            await phone.holds_key()
            await phone.sign_in()
            terminal = agent.terminal("make a file")
            card = await phone.card("touch made")
            await card.get_by_text("0 of 2 said yes. It waits for ann and bob.").wait_for()
            await phone.tap(card, "allow")
            votes = card.locator(".votes")
            await expect(votes).to_have_text("1 of 2 said yes: ann. It waits for bob.")
            assert not (agent.project / "made").exists()
            code, told = at_a_terminal(tmp_path / "bob", "allow", "1")
            assert code == 0, told
            terminal.wait_for("It is made.")
            assert phone.faults == []
    assert (agent.project / "made").exists()
