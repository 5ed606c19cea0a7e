"""The operator of a demo without a terminal: types one line for each card that comes up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk, News
from crabhook.broker.states import State

# Tool -> what a person might type about it, after the card's number.
LINES = {
    "Bash": "allow only this once",
    "Edit": "deny retry in client.put instead, other callers need it too",
    "AskUserQuestion": 'answer 1=2 1.note="keep it small" 2=1,3 3="upload of %s failed, try %d"',
    "ExitPlanMode": "allow",
}


async def typed_lines(desk: Desk, write: Callable[[str], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield a line for each new card, shown as it is typed; ends with the last of `LINES`."""
    cards: asyncio.Queue[Card] = asyncio.Queue()

    def hear(news: News) -> None:
        if isinstance(news, Card) and news.state is State.WAITING:
            cards.put_nowait(news)

    stop = desk.subscribe(hear)
    try:
        for _ in LINES:
            card = await cards.get()
            await asyncio.sleep(0.2)  # the card is read before it is decided
            tool = card.event.tool
            line = f"{card.number} {LINES[tool.name] if tool else 'pass'}"
            await write(f"> {line}")
            yield line
        await asyncio.Event().wait()  # the operator stays until the demo is over
    finally:
        stop()
