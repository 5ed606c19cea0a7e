"""The desk as plain lines: for pipes, screen readers and small terminals."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from time import monotonic

from crabhook.desk.interface import Desk
from crabhook.desk.replica import Replica
from crabhook.desk.updates import News, Snapshot, Update
from crabhook.model.card import Card, FeedEntry
from crabhook.ui.cards.summary import brief
from crabhook.ui.commands.orders import order_line
from crabhook.ui.plain.interpreter import Interpreter
from crabhook.ui.plain.output import OutputQueue, Write, outcome_line
from crabhook.ui.secrets import covered

FAREWELL = 1.0  # seconds; an operator who has not read the last lines by then has left


async def run(
    desk: Desk,
    lines: AsyncIterator[str],
    write: Write,
    *,
    take_back_ms: int = 0,
    clock: Callable[[], float] = monotonic,
) -> None:
    """Let an operator decide by lines, until `quit`, the end of the lines, or of the reader.

    What still waits then is the caller's to release.  With `take_back_ms` an allow is held so long,
    and `undo` takes it back; what is held when the operator leaves was never given.  `clock` is
    this process's own.
    """
    replica = Replica(desk, clock)
    output = OutputQueue(replica)
    interpreter = Interpreter(replica, output, take_back_ms / 1000)
    greeted = False

    def hear(news: News) -> None:
        nonlocal greeted
        if isinstance(news, Snapshot):
            if not greeted:
                _greet(output, news)
            greeted = True
            for card in news.waiting:
                output.hear(card)
            interpreter.begin()
        elif isinstance(news, Card | FeedEntry):
            output.hear(news)
            interpreter.hear(news)

    unsubscribe = replica.follow(hear)
    writing = asyncio.ensure_future(output.write_to(write))
    reading = asyncio.ensure_future(interpreter.follow(lines))
    reading.add_done_callback(lambda _: output.close())
    try:
        await writing
        await reading
    except OSError:
        pass  # nobody reads what we write: the operator has gone
    finally:
        unsubscribe()
        interpreter.leave()
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


def _greet(output: OutputQueue, all_of_it: Snapshot) -> None:
    waiting = len(all_of_it.waiting)
    output.say(f"· crabhook, plain desk: {waiting} waiting; help lists the words")
    for wrong in all_of_it.troubles:
        output.say(f"! {brief(wrong, covered)}")
    for order in all_of_it.orders:
        output.say(order_line(order, all_of_it.now))


async def farewell(desk: Desk, release: Callable[[], None], write: Write) -> None:
    """Have `release` let go what still waits, and print how each of those cards ended."""
    ended: list[Card] = []

    def hear(update: Update) -> None:
        if isinstance(update.news, Card) and update.news.outcome:
            ended.append(update.news)

    unsubscribe = desk.subscribe(hear)
    try:
        release()
    finally:
        unsubscribe()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FAREWELL):
            for card in ended:
                await write(outcome_line(card))
