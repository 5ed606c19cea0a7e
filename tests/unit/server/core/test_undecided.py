"""A call that nobody decided in time, at servers that are killed between any two facts."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import OWNER, Ended, OrderKind
from crabhook.model.card import State
from crabhook.model.order import Order, Standing
from crabhook.server.core.persisted_orders import Steering, kept, taken_up
from crabhook.store.opening import open_history
from crabhook.store.verify import verify
from tests.support.playbook import ALLOW, DENY, asking, prompt
from tests.support.seat import seat
from tests.unit.broker.test_undecided import gate
from tests.unit.server.core.test_restart import begun, killed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crabhook.model.decision import Decision
    from crabhook.server.core.pending_call import PendingCall
    from crabhook.server.core.runner import Runner

WAIT = 60.0


class Lives:
    """One server after another over one record, on one clock that a test moves."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ahead = folder, 0.0
        self.runner: Runner

    async def begin(self) -> None:
        self.runner = await begun(self.folder)
        self.runner.now = lambda: time.monotonic() + self.ahead  # type: ignore[method-assign]

    async def kill(self) -> None:
        killed(self.runner)
        await self.begin()

    def ask(self, ticket: str, **how: str) -> PendingCall:
        wait = self.runner.now() + WAIT
        return self.runner.enter(gate(ticket, use_id=f"id of {ticket}", wait=wait, **how), None)

    async def hears(self, ticket: str) -> bytes:
        return (await self.ask(ticket).wait()).stdout

    def pass_time(self, seconds: float = WAIT) -> None:
        self.ahead += seconds
        self.runner._wake()


KILLS = list(chain.from_iterable(combinations(range(4), many) for many in range(3)))


async def story(folder: Path, kills: Iterable[int], ruling: Decision) -> None:
    """Ask, let time pass, rule, ask again: with a kill after each of these steps."""
    lives = Lives(folder)
    await lives.begin()
    call = lives.ask("a")
    if 0 in kills:
        await lives.kill()
        call = lives.ask("a")  # its hook comes back
    lives.pass_time()
    first = (await call.wait()).stdout
    assert b"Not decided" in first
    if 1 in kills:
        await lives.kill()
    (card,) = lives.runner.broker.waiting()
    assert card.went_on
    assert await lives.hears("a") == first
    seat(lives.runner).answer(1, ruling)
    if 2 in kills:
        await lives.kill()
    assert await lives.hears("a") == first
    again = await lives.hears("b")
    assert (b'"allow"' in again) is (ruling is ALLOW)
    assert (b"not here" in again) is (ruling is DENY)
    if 3 in kills:
        await lives.kill()
    assert await lives.hears("b") == again
    third = lives.ask("c")
    assert third.over is (ruling is DENY)
    killed(lives.runner)
    assert faults(folder) == []


def faults(folder: Path) -> list[str]:
    """What is wrong with a record, by its own chain and its tables."""
    with open_history(folder) as history:
        return [fault.what for fault in verify(history, []).faults]


@pytest.mark.parametrize("ruling", [ALLOW, DENY], ids=["yes", "no"])
async def test_a_ruling_counts_alike_wherever_the_servers_were_killed(
    tmp_path: Path, ruling: Decision
) -> None:
    for place, kills in enumerate(KILLS):
        await story(tmp_path / str(place), kills, ruling)


async def test_an_open_card_keeps_its_count_its_time_and_its_place(tmp_path: Path) -> None:
    lives = Lives(tmp_path)
    await lives.begin()
    for ticket in "ab":
        lives.ask(ticket)
        lives.pass_time()
        await lives.kill()
    (card,) = lives.runner.broker.waiting()
    assert (card.number, card.asked.times, card.went_on) == (1, 2, True)
    assert 28_000 < card.wait_until - lives.runner.now() <= 28_800
    lives.ask("c")
    await lives.kill()  # while its hook waits again, which does not come back
    (card,) = lives.runner.broker.waiting()
    assert (card.asked.times, card.went_on) == (3, False)
    killed(lives.runner)


async def test_what_a_hook_was_told_is_witnessed_though_its_card_is_another(tmp_path: Path) -> None:
    lives = Lives(tmp_path)
    await lives.begin()
    calls = [lives.ask(ticket) for ticket in "ab"]
    lives.pass_time()
    told = [(await call.wait()).stdout for call in calls]
    lives.ask("c")  # the same call again
    await lives.kill()
    assert [await lives.hears(ticket) for ticket in "ab"] == told
    killed(lives.runner)
    assert faults(tmp_path) == []
    with closing(sqlite3.connect(tmp_path / "record.db")) as record:
        record.execute("UPDATE answer SET stdout = 'allow' WHERE request_id = 'b'")
        record.commit()
    assert faults(tmp_path) == ["the answer to request b is not what was decided here"]


async def test_a_server_that_is_told_to_end_leaves_an_open_card_to_the_next(tmp_path: Path) -> None:
    lives = Lives(tmp_path)
    await lives.begin()
    lives.ask("a")
    lives.pass_time()
    lives.runner.close(stopped=True)
    await lives.kill()
    assert [card.went_on for card in lives.runner.broker.waiting()] == [True]
    killed(lives.runner)


async def test_the_record_tells_it_with_clear_words(tmp_path: Path) -> None:
    lives = Lives(tmp_path)
    await lives.begin()
    lives.ask("a")
    lives.pass_time()
    seat(lives.runner).answer(1, ALLOW)
    lives.ask("b", command="make")
    lives.pass_time()
    lives.runner.enter(asking("e", "SessionEnd", wait=lives.runner.now() + WAIT), None)
    card = lives.runner.broker.card(2)
    assert card is not None
    assert (card.state, card.end) == (State.WITHDRAWN, Ended.SESSION_OVER)
    assert [order.kind for order in lives.runner.broker.orders()] == [OrderKind.LET_ONCE]
    killed(lives.runner)
    with open_history(tmp_path) as history:
        entries = [(entry.kind, entry.card, entry.data()) for entry in history.find()]
    assert [card for kind, card, _ in entries if kind == "undecided"] == [1, 2]
    (ruled,) = (data for kind, _, data in entries if kind == "decided")
    assert "went_on" in ruled
    (ended,) = (data for kind, _, data in entries if kind == "withdrawn")
    assert ended["why"] == "its agent had gone on, and ended before anybody ruled"


async def test_each_hook_of_an_open_call_is_recorded_as_one_whose_time_was_up(
    tmp_path: Path,
) -> None:
    lives = Lives(tmp_path)
    await lives.begin()
    first = lives.ask("a")
    later = lives.runner.now() + 2 * WAIT
    second = replace(prompt("b", "touch made", wait=later), when_lost="deny")
    other = lives.runner.enter(second, None)
    lives.pass_time()
    assert b"Not decided" in (await first.wait()).stdout
    assert b"Not decided" in (await other.wait()).stdout
    killed(lives.runner)
    with open_history(tmp_path) as history:
        (left,) = [entry.data()["why"] for entry in history.find() if entry.kind == "left"]
    assert left == "its time was up"


def test_a_ruling_keeps_which_question_it_answers() -> None:
    event = gate("a").event
    rulings = (
        Order.letting_run(event, 100.0, 1, "law"),
        Order.denying(event, 100.0, 1, "law", "no"),
    )
    standing = tuple(Standing.of(order, place, OWNER) for place, order in enumerate(rulings))
    taken = taken_up(kept(Steering(standing), 0.0, 1e9), 0.0, 1e9).lasting
    assert [order.law for order in taken] == ["law", "law"]
    assert [(order.kind, order.words, order.times) for order in taken] == [
        (order.kind, order.words, order.times) for order in standing
    ]
