"""An operator at a plain desk without a terminal: lines are typed, what is printed is read."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.ui.plain.desk import PlainOptions, run
from crabhook.ui.plain.person import Detail
from tests.support.desk import PlayedDesk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SAMPLES = Path("tests/samples/claude")


def sample(name: str, **changes: Any) -> dict[str, Any]:
    return {**json.loads((SAMPLES / f"{name}.json").read_text()), **changes}


def bash(command: str = "ls", session: str = "s1") -> dict[str, Any]:
    return sample(
        "PreToolUse-Bash",
        session_id=session,
        cwd="/home/dev/project",
        tool_input={"command": command},
        tool_use_id=command,
    )


QUESTIONS = sample("PreToolUse-AskUserQuestion")
PLAN = sample("PreToolUse-ExitPlanMode")


class Sitting:
    """An operator at a plain desk: what was typed, and what was printed since last looked."""

    def __init__(self, desk: PlayedDesk) -> None:
        self.desk = desk
        self.printed: list[str] = []
        self.everything: list[str] = []
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self._typed.get()) is not None:
            yield line

    async def write(self, text: str) -> None:
        self.printed += text.split("\n")
        self.everything += text.split("\n")

    async def type(self, *lines: str | None) -> list[str]:
        """Type lines (None ends them); return what they make the desk print."""
        await self.look()
        for line in lines:
            self._typed.put_nowait(line)
        return await self.look()

    async def look(self) -> list[str]:
        """Return what was printed since the last time."""
        for _ in range(60):
            await asyncio.sleep(0)
        printed, self.printed = self.printed, []
        return printed


@asynccontextmanager
async def sitting(
    desk: PlayedDesk | None = None, *, take_back_ms: int = 0, detail: Detail | None = None
) -> AsyncIterator[Sitting]:
    sits = Sitting(desk or PlayedDesk())
    running = asyncio.create_task(
        run(
            sits.desk,
            sits.lines(),
            sits.write,
            options=PlainOptions(take_back_ms, detail),
            clock=sits.desk.now,
        )
    )
    await sits.look()
    yield sits
    await sits.type("quit")
    await asyncio.wait_for(running, 5)
    assert not sits.desk.watched


def said(desk: PlayedDesk, request: str) -> Any:
    output = desk.replies[request].output
    return output and output["hookSpecificOutput"]
