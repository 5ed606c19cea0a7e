"""Answers that wait a moment before they are given, so that a tap can be taken back.

The server holds them, not the page: a phone that is locked meanwhile loses no tap.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TypeAlias

from crabhook.datatypes import Bounded, frozen
from crabhook.server.operators.refusals import DeskRefusal
from crabhook.server.operators.service import CommandReply

Given: TypeAlias = CommandReply | DeskRefusal
LONGEST = 10.0  # seconds
AT_ONCE = 64  # answers that are held for one person
_KEPT = 4096  # answers, as long as their pages may ask for their outcomes


class TakenBack:
    """The end of an answer that was never given."""


@frozen
class AnswerToHold:
    """An answer for later: `give` gives it; other desks see it in the context `claimed`."""

    seconds: float
    give: Callable[[], Awaitable[Given]]
    claimed: Callable[[], AbstractAsyncContextManager[object]]


class _HeldAnswer:
    def __init__(self, answer: AnswerToHold) -> None:
        self._take_back, self._begun = asyncio.Event(), False
        self.task = asyncio.ensure_future(self._run(answer))

    async def _run(self, answer: AnswerToHold) -> Given | TakenBack:
        async with answer.claimed():
            with suppress(TimeoutError):
                async with asyncio.timeout(answer.seconds):
                    await self._take_back.wait()
            if self._take_back.is_set():
                return TakenBack()
            self._begun = True
            return await answer.give()

    def take_back(self) -> bool:
        if not self._begun:
            self._take_back.set()
        return not self._begun


class HeldAnswers:
    """The held answers by the person and the id of the command."""

    def __init__(self) -> None:
        self._of: Bounded[tuple[str, str], _HeldAnswer] = Bounded(_KEPT)
        self._now = Counter[str]()

    def begin(self, whose: str, id_: str, answer: AnswerToHold) -> bool:
        """Hold an answer for at most LONGEST seconds, then give it; False where too many are held.

        The same id again changes nothing. The answer is given also where nobody asks what became
        of it.
        """
        if (whose, id_) in self._of:
            return True
        if self._now[whose] >= AT_ONCE:
            return False
        self._now[whose] += 1
        held = self._of[whose, id_] = _HeldAnswer(answer)
        held.task.add_done_callback(lambda _: self._end(whose))
        return True

    def _end(self, whose: str) -> None:
        self._now[whose] -= 1
        if not self._now[whose]:
            del self._now[whose]

    async def outcome(self, whose: str, id_: str) -> Given | TakenBack | None:
        """Wait for what became of an answer; None where there is none."""
        held = self._of.get((whose, id_))
        return None if held is None else await asyncio.shield(held.task)

    def take_back(self, whose: str, id_: str) -> bool | None:
        """Take an answer back; False where it was given already, None where there is none."""
        held = self._of.get((whose, id_))
        return None if held is None else held.take_back()
