"""An operator at a plain desk without a terminal: lines are typed, what is printed is read."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.remote.messages import NEWS
from crabhook.ui.plain.desk import PlainOptions, run
from crabhook.ui.plain.person import DetailLevel
from tests.support.desk import PlayedDesk
from tests.support.team_port import TeamPort, team_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from crabhook.desk.updates import Desk, News

STILL = 3.0  # seconds after which what has not come over a connection is not on its way
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


BY_ANN = " (by ann, at ann's)"
"""What an order says that was given at a desk elsewhere, where these tests are played too."""


class Elsewhere:
    """The team of a desk elsewhere, and who is in it; where there is none, it is the server's."""

    team: TeamPort | None = None


class Sitting:
    """An operator at a plain desk: what was typed, and what was printed since last looked.

    `sees` is the desk that the operator sees; `heard` says whether it has heard all there is.
    """

    def __init__(self, desk: PlayedDesk) -> None:
        self.desk = desk
        self.sees: Desk = desk
        self.heard: Callable[[], bool] = lambda: True
        self.printed: list[str] = []
        self.everything: list[str] = []
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self._typed.get()) is not None:
            yield line

    async def write(self, text: str) -> None:
        text = text.replace(BY_ANN, "")
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
        await self._stand_still()
        while not self.heard():
            with suppress(TimeoutError):
                async with asyncio.timeout(STILL):  # what is being read stays so
                    while not self.heard():  # noqa: ASYNC110 - a network has no event
                        await asyncio.sleep(0.001)
                    await self._stand_still()
                    continue
            break
        printed, self.printed = self.printed, []
        if self.sees is not self.desk and len(printed) > 1:  # where nothing is read at once
            printed = [line for line in printed if ": trying rules on what was" not in line]
        return printed

    async def _stand_still(self) -> None:
        for _ in range(60):
            await asyncio.sleep(0)


@asynccontextmanager
async def _seen(sits: Sitting) -> AsyncIterator[None]:
    """Let the operator see the desk where it is: here, or over a real connection."""
    known, core, news = Elsewhere.team, sits.desk.runner, 0
    if known is None:
        yield
        return

    def on_news(one: News) -> None:
        nonlocal news
        news += type(one) in NEWS

    async with team_port(core, Path(), known.team) as port:
        port.certificates = known.certificates
        leave = core.listen(on_news)
        async with port.desk("ann", clock=sits.desk.now) as desk:
            begins = desk.cursor.seq - news
            sits.sees = desk
            sits.heard = lambda: desk.cursor.seq == begins + news and not desk._tasks
            yield
        leave()


@asynccontextmanager
async def sitting(
    desk: PlayedDesk | None = None,
    *,
    take_back_ms: int = 0,
    detail: DetailLevel | None = None,
    from_start: bool = False,
) -> AsyncIterator[Sitting]:
    sits = Sitting(desk or PlayedDesk())
    async with _seen(sits):
        running = asyncio.create_task(
            run(
                sits.sees,
                sits.lines(),
                sits.write,
                options=PlainOptions(take_back_ms, detail, from_start),
                clock=sits.desk.now,
            )
        )
        await sits.look()
        yield sits
        await sits.type("quit")
        await asyncio.wait_for(running, 60)
        assert not sits.desk.watched


def said(desk: PlayedDesk, request: str) -> Any:
    output = desk.replies[request].output
    return output and output["hookSpecificOutput"]
