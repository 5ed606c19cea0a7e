"""The desk as plain lines: for pipes, screen readers and small terminals."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from crabhook.desk.interface import Desk, News
from crabhook.model.card import Card
from crabhook.ui.cards.summary import brief
from crabhook.ui.commands.orders import order_line
from crabhook.ui.plain.interpreter import Interpreter
from crabhook.ui.plain.output import OutputQueue, Write, outcome_line
from crabhook.ui.secrets import covered

FAREWELL = 1.0  # seconds; an operator who has not read the last lines by then has left


async def run(
    desk: Desk, lines: AsyncIterator[str], write: Write, *, take_back_ms: int = 0
) -> None:
    """Let an operator decide by lines, until `quit`, the end of the lines, or of the reader.

    What still waits then is the caller's to release.  With `take_back_ms` an allow is held so long,
    and `undo` takes it back; what is held when the operator leaves was never given.
    """
    output = OutputQueue(desk)
    interpreter = Interpreter(desk, output, take_back_ms / 1000)

    output.say(f"· crabhook, plain desk: {len(desk.waiting())} waiting; help lists the words")
    for wrong in desk.troubles():
        output.say(f"! {brief(wrong, covered)}")
    for order in desk.orders():
        output.say(order_line(order, desk.now()))
    for card in desk.waiting():
        output.hear(card)
    listening = [desk.subscribe(hear) for hear in (output.hear, interpreter.hear)]
    writing = asyncio.ensure_future(output.write_to(write))
    reading = asyncio.ensure_future(interpreter.follow(lines))
    reading.add_done_callback(lambda _: output.close())
    try:
        await writing
        await reading
    except OSError:
        pass  # nobody reads what we write: the operator has gone
    finally:
        for unsubscribe in listening:
            unsubscribe()
        interpreter.leave()
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


async def farewell(desk: Desk, release: Callable[[], None], write: Write) -> None:
    """Have `release` let go what still waits, and print how each of those cards ended."""
    ended: list[Card] = []

    def hear(news: News) -> None:
        if isinstance(news, Card) and news.outcome:
            ended.append(news)

    unsubscribe = desk.subscribe(hear)
    try:
        release()
    finally:
        unsubscribe()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FAREWELL):
            for card in ended:
                await write(outcome_line(card))
