"""A desk for the length of one verb: what it tells is awaited, and what became of a command."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

from crabhook.desk.commands import Command, Outcome
from crabhook.desk.interface import Desk
from crabhook.desk.replica import Replica
from crabhook.desk.updates import News, Snapshot
from crabhook.model.errors import CrabhookError

TOLD_WITHIN = 10.0  # seconds a server has to tell all there is, or what became of a command


class UnheardError(CrabhookError):
    """The server did not answer in time; whether a command was carried out is not known."""


class Attached:
    """A desk whose first snapshot has come; `changed` is set whenever it tells more.

    `patience` is for how many seconds longer a command may take, as where a key is touched first.
    """

    def __init__(self, desk: Desk, patience: float = 0.0) -> None:
        self._patience = patience
        self.replica = Replica(desk, monotonic)
        self.changed = asyncio.Event()
        self._begun = asyncio.Event()

    def _hear(self, news: News) -> None:
        if isinstance(news, Snapshot):
            self._begun.set()
        self.changed.set()

    async def begin(self) -> None:
        """Wait until the desk has told all there is; raises UnheardError."""
        self.replica.follow(self._hear)
        try:
            async with asyncio.timeout(TOLD_WITHIN):
                await self._begun.wait()
        except TimeoutError:
            raise UnheardError(f"the server told nothing within {TOLD_WITHIN:g} s") from None

    async def submit(self, command: Command) -> Outcome:
        """Return what became of a command; raises UnheardError."""
        settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def then(outcome: Outcome) -> None:
            if not settled.done():
                settled.set_result(outcome)

        self.replica.submit(command, then)
        try:
            async with asyncio.timeout(TOLD_WITHIN + self._patience):
                return await settled
        except TimeoutError:
            told = f"the server did not say what became of it within {TOLD_WITHIN:g} s"
            raise UnheardError(f"{told}; see: crabhook history") from None


@asynccontextmanager
async def attached(desk: Desk, patience: float = 0.0) -> AsyncIterator[Attached]:
    """Give a desk that has told all there is; raises UnheardError."""
    here = Attached(desk, patience)
    try:
        await here.begin()
        yield here
    finally:
        here.replica.leave()
