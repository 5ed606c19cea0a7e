"""The real Claude Code with strict hooks: a call runs once a person has signed it, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Role
from tests.e2e.test_claude_code import install
from tests.e2e.test_quorum import at_a_terminal
from tests.integration.test_verbs import Machine
from tests.support.browser import browsing, phone_of
from tests.support.turns import Text, bash
from tests.support.web_house import WebHouse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
RULES = '[[rule]]\nverdict = "allow"\nmatch = "Bash(touch unsigned)"\n'


async def test_what_people_signed_runs_and_what_the_server_allows_by_itself_does_not(
    claude: MakeClaude, tmp_path: Path
) -> None:
    calls = [(bash(f"touch {name}"),) for name in ("made", "tapped", "unsigned")]
    agent = claude(*calls, (Text("That is all."),))
    with WebHouse() as house:
        rules = house.home / ".config" / "crabhook" / "rules.toml"
        rules.parent.mkdir(parents=True, exist_ok=True)
        rules.write_text(RULES)
        person = tmp_path / "bob"
        house.team.seat(person / ".config" / "crabhook", "bob", house.desks, Role.DECIDER)
        strict = ("--strict", "--team", str(house.team.folder.team), "--when-unsigned", "deny")
        install(agent, house.service.address, gate=True, options=strict)
        terminal = agent.terminal("make two files")
        (card,) = Machine(person).pending()
        code, told = at_a_terminal(person, "allow", str(card["number"]))
        assert code == 0, told
        async with browsing() as browser:
            phone = await phone_of(house, browser)
            await phone.holds_key()
            await phone.sign_in()
            tapped = await phone.card("touch tapped")
            await tapped.get_by_text("only signatures count here").wait_for()
            await phone.tap(tapped, "allow")
            terminal.wait_for("That is all.")
            assert phone.faults == []
    assert (agent.project / "made").exists()
    assert (agent.project / "tapped").exists()
    assert not (agent.project / "unsigned").exists()
