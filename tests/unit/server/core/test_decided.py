"""Each decision is told once, whoever made it, with all that the agent sent."""

import asyncio
from typing import Any

from crabhook.desk.commands import TooLate
from crabhook.model.actor import Rule
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core.runner import Runner
from tests.support.playbook import asking
from tests.support.seat import seat

ALLOW = Decision(Verdict.ALLOW)
LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}


class Told:
    """A runner, and what it has told of decisions."""

    def __init__(self, ruling: Ruling | None = None) -> None:
        self.runner, self.ruling = Runner(PLATFORMS), ruling
        self.decisions: list[tuple[Event, Decided]] = []
        self.runner.decided.append(lambda event, made: self.decisions.append((event, made)))

    def asks(self, ticket: str, event: str = "PreToolUse", **fields: Any) -> None:
        now = asyncio.get_running_loop().time()
        self.runner.enter(asking(ticket, event, wait=now + 60, **{**LS, **fields}), self.ruling)

    @property
    def lines(self) -> list[str]:
        return [f"{event.name} {one.decision.verdict}" for event, one in self.decisions]


async def test_what_a_rule_decides_is_told_with_the_whole_input() -> None:
    told = Told(Ruling(RuleVerdict.DENY, None, "no"))
    told.asks("a")
    ((event, decided),) = told.decisions
    assert event.tool
    assert event.tool.input == LS["tool_input"]
    assert decided.by == Rule("")


async def test_an_answer_is_told_once_and_its_delivery_is_none() -> None:
    told = Told()
    told.asks("a")
    assert told.lines == []
    seat(told.runner).answer(1, ALLOW)
    told.runner.confirm("a", "secret of a")
    assert isinstance(seat(told.runner).decide(1, ALLOW), TooLate)
    assert told.lines == ["PreToolUse allow"]
    told.runner.close()


async def test_a_call_with_two_legs_is_decided_once_and_said_again_to_the_later() -> None:
    told = Told()
    told.asks("a")
    told.asks("b", "PermissionRequest", tool_use_id="")
    seat(told.runner).answer(1, ALLOW)
    assert told.lines == ["PreToolUse allow"]
    told.runner.close()


async def test_what_is_only_watched_or_let_go_was_decided_by_nobody() -> None:
    told = Told()
    told.asks("a", "Notification")
    told.asks("b")
    told.runner.close()
    assert told.lines == []


async def test_an_answer_given_again_to_who_lost_it_is_no_news() -> None:
    told = Told(Ruling(RuleVerdict.DENY, None, "no"))
    told.asks("a")
    told.asks("a")
    assert told.lines == ["PreToolUse deny"]
