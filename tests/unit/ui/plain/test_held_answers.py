"""While an allow is held, its card obeys `undo` and a stricter line alone, on the plain desk too."""

from __future__ import annotations

import pytest

from crabhook.model.decision import Verdict
from tests.support.plain_sitting import bash, sitting

HELD = 2_000  # milliseconds


@pytest.mark.parametrize(
    "line", ["1 allow", "1 allow a note", "1 edit ls -a", "1 snooze 5m", "1 extend 5m", "1 quiet"]
)
async def test_a_line_that_is_not_stricter_says_so_and_changes_nothing(line: str) -> None:
    async with sitting(take_back_ms=HELD) as sits:
        sits.desk.ask(bash("ls"))
        await sits.type("1 allow")
        told = await sits.type(line)
        assert any("#1 is being allowed: 1 undo takes it back first" in one for one in told), told
        assert not sits.desk.decided


async def test_a_stricter_line_takes_the_place_of_a_held_allow() -> None:
    async with sitting(take_back_ms=HELD) as sits:
        sits.desk.ask(bash("ls"))
        await sits.type("1 allow", "1 deny no")
        assert [decision.verdict for _, decision in sits.desk.decided] == [Verdict.DENY]


async def test_a_line_without_a_number_means_the_next_card_that_is_not_answered() -> None:
    async with sitting(take_back_ms=HELD) as sits:
        sits.desk.ask(bash("ls"))
        sits.desk.ask(bash("make", session="s2"))
        await sits.type("1 allow")
        await sits.type("deny no")
        assert [number for number, _ in sits.desk.decided] == [2]
