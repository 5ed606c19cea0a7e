"""Pages and a terminal that decide at once, and streams that are cut: one outcome, no gap."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import TypeVar

import pytest

from crabhook.desk.commands import BARE_DENIAL, Decide, Done, Outcome, TooLate
from crabhook.desk.updates import News, Settled
from crabhook.model.actor import OWNER
from crabhook.model.decision import Decision, Verdict
from crabhook.server.core.local_desk import LocalDesk
from tests.support.sitting import call
from tests.support.web_page import SOON, WebPage, until
from tests.unit.server.web.standing import Standing, standing

T = TypeVar("T")
RACES, CUTS = 500, 100


async def opened(desk: Standing, who: str) -> WebPage:
    page = await desk.signed_in(who)
    async with page.stream() as events:
        await until(events, "all")
    return page


async def later(seconds: float, racer: Coroutine[object, object, T]) -> T:
    await asyncio.sleep(seconds)
    return await racer


async def at_terminal(desk: Standing, number: int, seen: int) -> Outcome:
    """Deny a card at the server's own terminal."""
    denial = Decide(number, seen, Decision(Verdict.DENY, BARE_DENIAL))
    terminal = LocalDesk(desk.server.runner, OWNER)
    settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    def hears(news: News) -> None:
        if isinstance(news, Settled) and news.command == denial.id:
            settled.set_result(news.outcome)

    stop = terminal.listen(hears)
    terminal.submit(denial)
    try:
        return await asyncio.wait_for(settled, SOON)
    finally:
        stop()


@pytest.mark.slow
@pytest.mark.thorough
async def test_of_two_pages_and_a_terminal_that_decide_at_once_one_decides() -> None:
    draw = random.Random(32)
    async with standing() as desk:
        ann, dee = await opened(desk, "ann"), await opened(desk, "dee")
        won = {"ann": 0, "dee": 0, "terminal": 0}
        for number in range(2, RACES + 2):
            desk.server.ask(call(number, cwd="/shop"))
            told = desk.told(number)

            first, second, terminal = await asyncio.gather(
                later(draw.random() / 100, ann.call(told, sign=True)),
                later(draw.random() / 100, dee.call({**told, "act": "deny"})),
                later(draw.random() / 100, at_terminal(desk, number, told["seen"])),
            )
            outcomes = {
                "ann": first.value.get("done", False),
                "dee": second.value.get("done", False),
                "terminal": isinstance(terminal, Done),
            }
            assert sum(outcomes.values()) == 1, (number, outcomes)
            winner = next(name for name, done in outcomes.items() if done)
            won[winner] += 1
            card = desk.server.card(number)
            assert card is not None
            assert card.decision is not None
            wanted = Verdict.ALLOW if winner == "ann" else Verdict.DENY
            assert card.decision.verdict is wanted
            # Who was late is told who decided.
            by = "operator" if winner == "terminal" else winner
            for name, answer in (("ann", first), ("dee", second)):
                if name != winner:
                    assert (answer.status, answer.value["by"]) == (409, by)
            assert winner == "terminal" or isinstance(terminal, TooLate)
        assert all(won.values()), won


@pytest.mark.slow
async def test_a_stream_that_is_cut_a_hundred_times_has_no_gap_and_no_double() -> None:
    draw = random.Random(33)
    async with standing() as desk:
        page = await desk.signed_in("dee")
        shown: list[str] = []
        number = 1
        async with page.stream() as events:
            await until(events, "all")
        for _ in range(CUTS):
            async with page.stream() as events:
                for _ in range(draw.randrange(4)):
                    number += 1
                    desk.server.ask(call(number, cwd="/shop"))
                # Some of what is sent is read, and the stream is cut in the midst of it.
                for _ in range(draw.randrange(3)):
                    if len(shown) < number - 1:
                        told = await until(events, "some")
                        shown += [row for row, _ in told.value["put"]]
        async with page.stream() as events:
            while len(shown) < number - 1:
                told = await until(events, "some")
                shown += [row for row, _ in told.value["put"]]
        assert shown == [f"row-{each}" for each in range(2, number + 1)]
