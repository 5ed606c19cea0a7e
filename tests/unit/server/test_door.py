"""The door that every hook's request goes in by: only what is long and judged is studied first."""

from dataclasses import replace

import pytest

from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.server.door import LONG, Door, no_study
from crabhook.server.runner import Runner
from tests.support.playbook import asking, bash


@pytest.mark.parametrize(
    ("event", "size", "studied"),
    [("PreToolUse", LONG + 1, True), ("PreToolUse", LONG, False), ("Stop", LONG + 1, False)],
)
async def test_what_is_held_and_long_is_studied_before_it_is_taken_in(
    event: str, size: int, studied: bool
) -> None:
    runner, seen = Runner(PLATFORMS), list[tuple[str, int]]()

    async def study(one: Event) -> None:
        seen.append((one.name, len(runner.waiting())))

    asked = bash("a", "ls") if event == "PreToolUse" else asking("a", event)
    place = await Door(runner, study).enter(replace(asked, size=size, wait_until=1e12))
    assert seen == ([(event, 0)] if studied else [])
    assert place.reply.done() == (event == "Stop")
    runner.close()


async def test_without_rules_there_is_nothing_to_study() -> None:
    runner = Runner(PLATFORMS)
    await no_study(bash("a", "ls").event)
    place = await Door(runner).enter(replace(bash("a", "ls"), size=LONG + 1, wait_until=1e12))
    assert not place.reply.done()
    runner.close()
