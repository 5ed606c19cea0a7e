"""Each decision is told once, whoever made it, with all that the agent sent."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crabhook.broker.messages import Fact, RuleAdded
from crabhook.cli import main
from crabhook.desk.commands import (
    Command,
    Decide,
    Done,
    EndOrders,
    Extend,
    GiveOrder,
    Steer,
    StopSession,
    TakeBackNote,
    TooLate,
)
from crabhook.model.actor import Operator, OrderKind, RuleActor
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.order import Order
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core.local_desk import LocalDesk
from crabhook.store.opening import open_writer
from crabhook.store.recorder import Recorder
from tests.support.playbook import asking
from tests.support.runners import bare_runner
from tests.support.seat import Seat, seat

ALLOW = Decision(Verdict.ALLOW)
LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}


class Told:
    """A runner, and what it has told of decisions."""

    def __init__(self, ruling: Ruling | None = None) -> None:
        self.decisions: list[tuple[Event, Decided]] = []
        self.runner = bare_runner(decided=[lambda *told: self.decisions.append(told)])
        self.ruling = ruling

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
    assert decided.by == RuleActor("")


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


ANN = Operator("o-ann", "ann", "laptop", "192.0.2.7", "decider")
DID: dict[str, Command | Fact] = {
    "decided": Decide(1, 1, ALLOW),
    "gave #2 more time": Extend(2, 60.0),
    "ordered: hold everything of": GiveOrder(Order(OrderKind.HOLD_ALL, session="s")),
    "ended: hold everything of": EndOrders(frozenset({1})),
    "note.* waits for": Steer("s", "mind the tests"),
    "note.* was taken back": TakeBackNote(1),
    "ordered: halt": StopSession("s", "enough"),
    "added a rule": RuleAdded("#2", "allow Bash", ANN, 0.0),
}


async def test_all_that_an_operator_does_is_recorded_with_person_device_address_and_role(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the record, and so in what `crabhook log export` prints."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    recorder = Recorder(lambda: open_writer(tmp_path / "crabhook"))
    runner = bare_runner(recorder)
    now = runner.now()
    for ticket in ("a", "b"):
        call = LS | {"tool_use_id": ticket}
        request = asking(ticket, "PreToolUse", wait=now + 60, session="s", **call)
        runner.enter(replace(request, gives_up_at=now + 600), None)
    ann = Seat(LocalDesk(runner, ANN), runner)
    for what, did in DID.items():
        if isinstance(did, Command):
            assert ann.outcome(did) == Done(), what
        else:
            runner.handle(did)
    runner.close()
    recorder.close()
    assert main(["log", "export"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {
        str(one["body"].get("what", one["kind"])): one["body"]["actor"]
        for one in records
        if one["kind"] == "operator" or (one["kind"], one["card"]) == ("decided", 1)
    }
    who = {"kind": "operator", "id": "o-ann", "name": "ann", "desk": "laptop"}
    for what in DID:
        told = [actor for said, actor in found.items() if re.match(what, said)]
        assert told == [who | {"address": "192.0.2.7", "role": "decider"}], (what, found)
