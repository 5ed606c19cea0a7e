"""Answers that wait a moment before they are given, so that a tap can be taken back.

The server holds them, not the page: a phone that is locked meanwhile loses no tap.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

from crabhook.datatypes import Bounded
from crabhook.server.operators.refusals import DeskRefusal
from crabhook.server.operators.service import CommandReply

Given: TypeAlias = CommandReply | DeskRefusal
LONGEST = 10.0  # seconds
_KEPT = 4096  # answers, as long as their pages may ask again


class TakenBack:
    """The end of an answer that was never given."""


TAKEN_BACK = TakenBack()


class _HeldAnswer:
    def __init__(self, give: Callable[[], Awaitable[Given]]) -> None:
        self._give, self._take_back = give, asyncio.Event()
        self._begun = False
        self.task: asyncio.Task[Given | TakenBack] | None = None

    async def run(self, seconds: float) -> Given | TakenBack:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._take_back.wait()
        if self._take_back.is_set():
            return TAKEN_BACK
        self._begun = True
        return await self._give()

    def take_back(self) -> bool:
        if not self._begun:
            self._take_back.set()
        return not self._begun


class HeldAnswers:
    """The held answers by the person and the id of the command."""

    def __init__(self) -> None:
        self._of: Bounded[tuple[str, str], _HeldAnswer] = Bounded(_KEPT)

    async def give(
        self, whose: str, id_: str, seconds: float, give: Callable[[], Awaitable[Given]]
    ) -> Given | TakenBack:
        """Hold an answer, then give it; the same id again waits for the same outcome.

        The answer is given also where nobody waits for the outcome any more.
        """
        held = self._of.get((whose, id_))
        if held is None or held.task is None:
            held = self._of[whose, id_] = _HeldAnswer(give)
            held.task = asyncio.ensure_future(held.run(min(seconds, LONGEST)))
        return await asyncio.shield(held.task)

    def take_back(self, whose: str, id_: str) -> bool | None:
        """Take an answer back; False where it was given already, None where there is none."""
        held = self._of.get((whose, id_))
        return None if held is None else held.take_back()
