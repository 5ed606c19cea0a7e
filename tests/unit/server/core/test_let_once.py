"""A call that may run once, at servers that are killed: one use, whenever the kill comes."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from crabhook.broker.messages import Refusal
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import LET_ONCE_FOR, OrderKind
from crabhook.server.core import runner as module
from crabhook.server.core.pending_call import RefusedError
from crabhook.store.opening import open_history
from crabhook.store.recorder import RETRY_AT_MOST
from tests.support.seat import seat
from tests.unit.broker.test_let_once import again, refused
from tests.unit.server.core.test_restart import begun, killed

if TYPE_CHECKING:
    from collections.abc import Iterator
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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have another program hold the record."""
    with closing(sqlite3.connect(folder / "record.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def turned_away(runner: Runner, ticket: str) -> bool:
    """Whether the call is turned away, since the use of the yes cannot be recorded."""
    with pytest.raises(RefusedError) as away:
        await allowed(runner, ticket)
    return away.value.refusal is Refusal.UNSPENT


def recovers(runner: Runner) -> None:
    """Let the server find that its record can be written again."""
    assert runner.recorder is not None
    runner.recorder.time_passed(runner.now() + RETRY_AT_MOST)
    assert not runner.recorder.trouble


@pytest.mark.parametrize("back", ["a", "c"], ids=["the hook itself", "another hook"])
async def test_where_its_use_cannot_be_recorded_it_stands_for_the_next_such_call(
    tmp_path: Path, back: str
) -> None:
    runner = await given(tmp_path)
    before = runner.broker.orders(), runner.broker.notes()
    with locked(tmp_path):
        assert await turned_away(runner, "a")
        assert await turned_away(runner, "a")  # its reply was not kept for it
        assert await turned_away(runner, "b")
        assert (runner.broker.orders(), runner.broker.notes()) == before
    recovers(runner)
    assert await allowed(runner, back)
    assert not await allowed(runner, "d")
    killed(runner)
    assert decided_in(tmp_path) == [("retry", "d"), ("allow", back)]


async def test_a_kill_while_its_use_cannot_be_recorded_leaves_it_for_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = await given(tmp_path)
    with locked(tmp_path):
        assert await turned_away(runner, "a")
    monkeypatch.setattr(runner.recorder, "_try_again", lambda: None)  # what waits is lost
    killed(runner)
    second = await begun(tmp_path)
    assert await allowed(second, "a")
    assert not await allowed(second, "c")
    killed(second)
    assert decided_in(tmp_path) == [("retry", "d"), ("allow", "a")]


async def test_the_feed_and_the_record_tell_that_the_use_could_not_be_recorded(
    tmp_path: Path,
) -> None:
    runner = await given(tmp_path)
    with locked(tmp_path):
        assert await turned_away(runner, "a")
        texts = [entry.text for entry in runner.broker.feed()]
    recovers(runner)
    killed(runner)
    assert f"turned away: {Refusal.UNSPENT}" in texts
    assert not any("ALLOWED" in text for text in texts)
    with open_history(tmp_path) as history:
        ends = [(one.request_id, one.data().get("why")) for one in history.find()]
    assert ("a", f"turned away: {Refusal.UNSPENT}") in ends


def decided_in(folder: Path) -> list[tuple[str, str]]:
    """What the record says was decided, and for which request."""
    with open_history(folder) as history:
        return [(one.verdict, one.request_id) for one in history.find() if one.kind == "decided"]


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
