"""The desk in the server's own process: what an operator changes is judged beside the loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import OWNER, Operator
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.ruling import Ruling
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.intake import Intake
from crabhook.server.core.law import Law
from crabhook.server.core.runner import Runner
from tests.support.playbook import ALLOW, bash
from tests.support.ruled import NO_RM
from tests.support.seat import seat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crabhook.server.core.local_desk import LocalDesk

CHANGED = Decision(Verdict.ALLOW, updated_input={"command": "rm -rf /" * 50_000})
DENIED = Ruling(RuleVerdict.DENY, None, "not that")


class Slow:
    """Rules that deny what is changed, and take until they are told to speak."""

    def __init__(self) -> None:
        self.asked, self.enough = 0, asyncio.Event()

    async def __call__(self, event: Event, *, long: bool) -> Ruling | None:
        if event.tool is None or event.tool.input == {"command": "ls"}:
            return None
        self.asked += 1
        assert long, "off the loop"
        await self.enough.wait()
        return DENIED


async def test_while_an_operators_change_is_judged_no_hook_waits_and_nothing_is_sent() -> None:
    rules = Slow()
    runner = Runner(PLATFORMS, judge=rules)
    desk, soon = seat(runner), runner.now() + 60
    place = await Intake(runner).enter(bash("a", "ls", "t1", wait=soon))
    assert desk.objections(1, CHANGED) is None
    with pytest.raises(DecisionError, match="the rules were not asked"):
        desk.answer(1, CHANGED)
    await asyncio.wait_for(Intake(runner).enter(bash("b", "ls", "t2", wait=soon)), 5)
    assert desk.objections(1, CHANGED) is None
    rules.enough.set()
    async with asyncio.timeout(5):
        while (said := desk.objections(1, CHANGED)) is None:  # noqa: ASYNC110 - as a screen asks
            await asyncio.sleep(0)
    assert (said, rules.asked) == (("not that",), 1)
    with pytest.raises(DecisionError, match="the rules are against"):
        desk.answer(1, CHANGED)
    assert not place.reply.done()
    runner.close()


async def test_what_was_judged_is_no_ruling_on_another_change() -> None:
    rules = Slow()
    rules.enough.set()
    runner = Runner(PLATFORMS, judge=rules)
    desk = seat(runner)
    await Intake(runner).enter(bash("a", "ls", wait=runner.now() + 60))
    desk.objections(1, CHANGED)
    await asyncio.sleep(0.01)
    other = Decision(Verdict.ALLOW, updated_input={"command": "rm -rf ."}, despite=("not that",))
    with pytest.raises(DecisionError, match="the rules were not asked"):
        desk.answer(1, other)
    runner.close()


async def test_a_yes_to_what_an_older_edition_of_the_rules_said_is_judged_again(
    tmp_path: Path,
) -> None:
    files = RuleFiles(tmp_path)
    law = Law(files)
    runner = Runner(PLATFORMS, judge=law.judge)
    runner.edition = law.edition
    desk = seat(runner)
    ask = bash("a", "ls", wait=runner.now() + 60)
    place = await Intake(runner).enter(ask)
    changed = Decision(Verdict.ALLOW, updated_input={"command": "rm -rf build"})
    assert await objections(desk, changed) == ()
    files.user.write_text(NO_RM, encoding="utf-8")
    law.look_again()  # as a rule that is written at another card
    with pytest.raises(DecisionError, match="the rules may have changed"):
        desk.answer(1, changed)
    assert not place.reply.done()
    (said,) = await objections(desk, changed)
    assert "deny Bash(rm *)" in said
    with pytest.raises(DecisionError, match="the rules are against"):
        desk.answer(1, changed)
    desk.answer(1, replace(changed, despite=(said,)))
    assert place.reply.done()
    runner.close()


async def objections(desk: LocalDesk, decision: Decision) -> Sequence[str]:
    async with asyncio.timeout(5):
        while (said := desk.objections(1, decision)) is None:  # noqa: ASYNC110 - as a screen asks
            await asyncio.sleep(0.01)
    return said


async def test_rules_that_cannot_be_asked_about_a_change_are_against_it_and_nobody_waits_in_vain() -> (
    None
):
    async def faulty(event: Event, *, long: bool) -> Ruling | None:
        raise OSError("the folder cannot be looked at")

    runner = Runner(PLATFORMS, judge=faulty)
    desk = seat(runner)
    runner.enter(bash("a", "ls", wait=runner.now() + 60), None)
    assert await objections(desk, CHANGED) == ("the rules could not be asked: a fault",)
    with pytest.raises(DecisionError, match="the rules are against"):
        desk.answer(1, CHANGED)
    runner.close()


async def test_a_decision_is_made_by_who_sits_at_the_desk() -> None:
    runner, ann = Runner(PLATFORMS), Operator("a1", "ann", "laptop")
    for ticket, by in (("a", OWNER), ("b", ann)):
        runner.enter(bash(ticket, "ls", ticket, wait=runner.now() + 60), None)
        (card,) = runner.waiting()
        card = seat(runner, by).answer(card.number, ALLOW)
        assert card.decided is not None
        assert card.decided.by == by
    runner.close()
