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


class _HeldAnswer:
    def __init__(self, seconds: float, give: Callable[[], Awaitable[Given]]) -> None:
        self._take_back, self._begun = asyncio.Event(), False
        self.task = asyncio.ensure_future(self._run(seconds, give))

    async def _run(self, seconds: float, give: Callable[[], Awaitable[Given]]) -> Given | TakenBack:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._take_back.wait()
        if self._take_back.is_set():
            return TakenBack()
        self._begun = True
        return await give()

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
        """Hold an answer for at most LONGEST seconds, then give it.

        The same id again waits for the same outcome. The answer is given also where nobody waits
        for the outcome any more.
        """
        if (held := self._of.get((whose, id_))) is None:
            held = self._of[whose, id_] = _HeldAnswer(seconds, give)
        return await asyncio.shield(held.task)

    def take_back(self, whose: str, id_: str) -> bool | None:
        """Take an answer back; False where it was given already, None where there is none."""
        held = self._of.get((whose, id_))
        return None if held is None else held.take_back()
