"""Nobody sits at this desk: every card has its answer before anybody could have given one."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from crabhook.desk.commands import Command, Decide, Refused
from crabhook.desk.updates import AttachedDesk, Settled
from crabhook.model.actor import OWNER
from crabhook.model.card import Because, Brought, Card
from crabhook.model.decision import Choices, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.platforms.claude.events import EVENTS
from crabhook.server.core.attendance import Attendance
from crabhook.ui.headless import answer_to, run, stand_in
from tests.support.desk import PlayedDesk

OTHERWISE = (Verdict.PASS, Verdict.ASK, Verdict.DENY)

DESK = AttachedDesk(OWNER)


def call(n: int = 1, name: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{n}"}
    return {"hook_event_name": name, "session_id": "s", "cwd": "/p", **tool, **more}


def card(**more: Any) -> Card:
    desk = PlayedDesk()
    desk.ask(call())
    return replace(desk.waiting()[0], **more)


@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_it_never_allows_whatever_an_event_can_be_told(otherwise: Verdict) -> None:
    for name in EVENTS:
        event = PLATFORMS["claude"].read(b'{"hook_event_name": "%s"}' % name.encode())
        offered = PLATFORMS["claude"].choices(event)
        told = answer_to(card(choices=offered), otherwise)
        assert told.verdict in (Verdict.PASS, Verdict.ASK, Verdict.DENY, Verdict.DECLINE)
        assert told.verdict in offered.verdicts


@pytest.mark.parametrize(
    ("otherwise", "can", "verdict"),
    [
        (Verdict.DENY, Verdict.DENY, Verdict.DENY),
        (Verdict.DENY, Verdict.DECLINE, Verdict.DECLINE),
        (Verdict.DENY, Verdict.KEEP_GOING, Verdict.PASS),
        (Verdict.DENY, Verdict.ASK, Verdict.PASS),
        (Verdict.ASK, Verdict.ASK, Verdict.ASK),
        (Verdict.ASK, Verdict.DENY, Verdict.PASS),
        (Verdict.PASS, Verdict.DENY, Verdict.PASS),
    ],
)
def test_what_cannot_be_told_is_no_opinion(
    otherwise: Verdict, can: Verdict, verdict: Verdict
) -> None:
    offered = Choices(frozenset({can, Verdict.ALLOW, Verdict.PASS}))
    assert answer_to(card(choices=offered), otherwise).verdict is verdict


def test_the_reason_says_that_nobody_was_there_and_who_was_wanted() -> None:
    plain = answer_to(card(), Verdict.DENY).reason
    assert plain == (
        "no person is at the desk: crabhook serve --headless denies what no rule allows"
    )
    asked = answer_to(card(reason=Because(Brought.RULE, "a rule says so")), Verdict.DENY).reason
    assert asked == f"{plain} (a person was to decide: a rule says so)"


async def served(desk: PlayedDesk, otherwise: Verdict) -> "asyncio.Task[None]":
    serving = asyncio.ensure_future(run(desk, otherwise))
    await asyncio.sleep(0)
    return serving


async def test_what_waits_already_and_what_comes_is_answered_within_a_turn_of_the_loop() -> None:
    desk = PlayedDesk()
    first = desk.ask(call(1))
    serving = await served(desk, Verdict.DENY)
    assert first in desk.replies
    later = [desk.ask(call(n)) for n in range(2, 30)]
    await asyncio.sleep(0)
    assert set(later) <= set(desk.replies)
    assert not desk.waiting()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert not desk.watched


async def test_a_hook_that_left_meanwhile_is_nobodys_fault() -> None:
    desk = PlayedDesk()
    serving = await served(desk, Verdict.DENY)
    desk.leave(desk.ask(call(1)))
    after = desk.ask(call(2))
    await asyncio.sleep(0)
    assert after in desk.replies
    assert not serving.done()
    serving.cancel()


class Picky(PlayedDesk):
    """A desk of some agent that takes no denial after all."""

    def submit(self, command: Command) -> None:
        if isinstance(command, Decide) and command.decision.verdict is Verdict.DENY:
            self._publish(Settled(command.id, Refused("not like this")))
        else:
            super().submit(command)


async def test_whatever_is_refused_nothing_waits() -> None:
    desk = Picky()
    serving = await served(desk, Verdict.DENY)
    asked = desk.ask(call())
    await asyncio.sleep(0)
    assert desk.replies[asked].stdout == b""
    assert not serving.done()
    serving.cancel()


async def stood_in(desk: PlayedDesk, after: float) -> tuple[Attendance, "asyncio.Task[None]"]:
    attendance = Attendance()
    return attendance, asyncio.ensure_future(stand_in(desk, Verdict.DENY, after, attendance))


async def until_answered(desk: PlayedDesk, asked: str) -> None:
    async with asyncio.timeout(60):
        while asked not in desk.replies:  # noqa: ASYNC110 - the played desk has no event for it
            await asyncio.sleep(0.01)


async def test_with_nobody_at_any_desk_what_waits_is_answered_after_the_time_set() -> None:
    desk = PlayedDesk()
    before = desk.ask(call(1))
    attendance, standing = await stood_in(desk, 0.05)
    await until_answered(desk, before)
    with attendance.attending(DESK), attendance.attending(DESK):
        waiting = desk.ask(call(2))
        await asyncio.sleep(0.2)
        assert waiting not in desk.replies
    assert attendance.alone_since is not None
    await asyncio.sleep(0)
    assert waiting not in desk.replies  # the time begins when the last one has left
    await until_answered(desk, waiting)
    assert "nobody has been at a desk for 0.05 s" in str(desk.replies[waiting].stdout)
    standing.cancel()
    await asyncio.gather(standing, return_exceptions=True)
    assert not desk.watched


class Asked(Attendance):
    """Counts how often it is asked since when nobody is there."""

    asked = 0

    @property
    def alone_since(self) -> float | None:
        self.asked += 1
        return super().alone_since


async def test_a_stand_in_looks_at_what_waits_where_a_card_changes_not_where_something_goes_by() -> (
    None
):
    desk, presence = PlayedDesk(), Asked()
    standing = asyncio.ensure_future(stand_in(desk, Verdict.DENY, 60.0, presence))
    looked = []
    for name in ("PreToolUse", "SessionStart"):
        for _ in range(3):
            await asyncio.sleep(0)
        looked.append(presence.asked)
        desk.ask(call(name=name))
    for _ in range(3):
        await asyncio.sleep(0)
    assert [*looked, presence.asked] == [1, 2, 2]
    standing.cancel()
    await asyncio.gather(standing, return_exceptions=True)


async def test_a_stand_in_that_is_refused_has_no_opinion() -> None:
    desk = Picky()
    asked = desk.ask(call())
    _, standing = await stood_in(desk, 0.01)
    await until_answered(desk, asked)
    assert desk.replies[asked].stdout == b""
    standing.cancel()
