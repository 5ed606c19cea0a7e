"""The door that every hook's request goes in by: what is judged is studied first."""

from dataclasses import replace

import pytest

from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.server.door import LONG, Door, no_study
from crabhook.server.runner import Runner
from tests.support.playbook import asking, bash


@pytest.mark.parametrize(
    ("event", "size", "studied"),
    [("PreToolUse", LONG + 1, [True]), ("PreToolUse", LONG, [False]), ("Stop", LONG + 1, [])],
)
async def test_what_is_judged_is_studied_before_it_is_taken_in(
    event: str, size: int, studied: list[bool]
) -> None:
    runner, seen = Runner(PLATFORMS), list[tuple[str, bool, int]]()

    async def study(one: Event, *, long: bool) -> None:
        seen.append((one.name, long, len(runner.waiting())))

    asked = bash("a", "ls") if event == "PreToolUse" else asking("a", event)
    place = await Door(runner, study).enter(replace(asked, size=size, wait_until=1e12))
    assert seen == [(event, long, 0) for long in studied]
    assert place.reply.done() == (event == "Stop")
    runner.close()


async def test_what_may_search_a_folder_is_studied_however_short_it_is() -> None:
    runner, seen = Runner(PLATFORMS), list[bool]()

    async def study(_: Event, *, long: bool) -> None:
        seen.append(long)

    for at, line in enumerate(("ls", "grep -r x .")):
        asked = replace(bash(str(at), line), size=1, wait_until=1e12)
        await Door(runner, study).enter(asked)
    assert seen == [False, True]
    runner.close()


async def test_without_rules_there_is_nothing_to_study() -> None:
    runner = Runner(PLATFORMS)
    await no_study(bash("a", "ls").event, long=True)
    place = await Door(runner).enter(replace(bash("a", "ls"), size=LONG + 1, wait_until=1e12))
    assert not place.reply.done()
    runner.close()
