"""A call that may run once, at servers that are killed: one use, whenever the kill comes."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crabhook.broker.messages import Refusal
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import LET_ONCE_FOR, OrderKind
from crabhook.server.core import runner as module
from crabhook.server.core.pending_call import RefusedError
from crabhook.store.opening import open_history
from tests.support.seat import seat
from tests.unit.broker.test_let_once import again, refused
from tests.unit.server.core.test_restart import begun, killed

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.server.core.runner import Runner

RETRY = Decision(Verdict.RETRY)


async def given(folder: Path) -> Runner:
    """A server whose operator let a refused call run once."""
    runner = await begun(folder)
    assert (await runner.enter(refused("d", wait=runner.now() + 60), None).wait()).stdout == b""
    seat(runner).answer(1, RETRY)
    return runner


async def allowed(runner: Runner, ticket: str) -> bool:
    """Whether the call is allowed, asked about under this ticket."""
    call = runner.enter(again(ticket, use_id=f"id of {ticket}", wait=runner.now() + 60), None)
    return b'"allow"' in (await call.wait()).stdout


@pytest.mark.parametrize("kills", range(3))
async def test_it_is_used_once_however_often_the_server_was_killed(
    tmp_path: Path, kills: int
) -> None:
    runner = await given(tmp_path)
    for _ in range(kills):
        killed(runner)
        runner = await begun(tmp_path)
    assert await allowed(runner, "a")
    for ticket in "bc":
        killed(runner)
        runner = await begun(tmp_path)
        assert not await allowed(runner, ticket)
    killed(runner)


async def test_a_note_of_a_killed_server_does_not_have_the_call_made_twice(tmp_path: Path) -> None:
    killed(await given(tmp_path))
    runner = await begun(tmp_path)
    assert len(runner.broker.notes()) == 1
    call = runner.enter(again("a", wait=runner.now() + 60), None)
    assert b"may run once" not in (await call.wait()).stdout
    assert not runner.broker.notes()
    killed(runner)


async def test_a_hook_that_lost_its_allow_gets_it_again_and_no_other_does(tmp_path: Path) -> None:
    first = await given(tmp_path)
    assert await allowed(first, "a")
    killed(first)  # before the hook has printed it
    second = await begun(tmp_path)
    assert await allowed(second, "a")
    assert not await allowed(second, "b")
    killed(second)


async def test_a_card_outlives_the_server_though_no_hook_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await begun(tmp_path)
    first.enter(refused("d", wait=first.now() + 60), None)
    killed(first)
    second = await begun(tmp_path)
    monkeypatch.setattr(second, "now", lambda: time.monotonic() + 300)
    second._wake()
    assert [card.number for card in second.broker.waiting()] == [1]
    seat(second).answer(1, RETRY)
    assert await allowed(second, "a")
    killed(second)
    third = await begun(tmp_path)
    assert not third.broker.waiting()
    killed(third)


@pytest.mark.parametrize("hours", [-5, 0, 5])
async def test_a_clock_that_is_set_makes_it_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    killed(await given(tmp_path))
    monkeypatch.setattr(module, "wall", lambda: time.time() + hours * 3600)
    runner = await begun(tmp_path)
    left = [
        order.until - runner.now()
        for order in runner.broker.orders()
        if order.kind is OrderKind.LET_ONCE and order.until is not None
    ]
    assert all(0 < each <= LET_ONCE_FOR for each in left)
    assert len(left) == (hours <= 0)
    killed(runner)


async def test_where_its_use_cannot_be_recorded_the_call_is_not_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = await given(tmp_path)
    with closing(sqlite3.connect(tmp_path / "record.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RefusedError) as turned_away:
            await allowed(runner, "a")
        assert turned_away.value.refusal is Refusal.UNRECORDED
        assert not await allowed(runner, "b")
        other.execute("ROLLBACK")
    monkeypatch.setattr(runner.recorder, "_try_again", lambda: None)  # what waits is lost
    killed(runner)
    second = await begun(tmp_path)
    assert await allowed(second, "c")
    assert not await allowed(second, "d")
    killed(second)


async def test_the_record_tells_who_gave_it_that_it_stands_and_its_use(tmp_path: Path) -> None:
    runner = await given(tmp_path)
    assert await allowed(runner, "a")
    killed(runner)
    with open_history(tmp_path) as history:
        entries = [(entry.kind, entry.verdict, entry.data()) for entry in history.find()]
    decided = [(verdict, data["by"]) for kind, verdict, data in entries if kind == "decided"]
    assert decided == [("retry", "operator"), ("allow", "operator")]
    stood = [data.get("may_run_once") for kind, _, data in entries if kind == "stops"]
    assert stood == [[{"session": "s", "why": "#1", "tool": "Bash"}], None]
