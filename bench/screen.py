"""A full screen in this process, before a real broker, told which change to make and timed.

Started with the number of cards that wait.  Says `ready`, then for each change
named on standard input `took SECONDS`: processor time, from the change until
the desk is quiet again.  Its terminal is a pipe and a file that forgets.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from os import devnull
from pathlib import Path
from secrets import token_hex
from time import process_time
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from bench.events import DECIDED_EVENT, new_call
from crabhook.config import KINDS
from crabhook.model.actor import OWNER
from crabhook.model.card import Request
from crabhook.platforms import PLATFORMS
from crabhook.server.core.parts import Parts
from crabhook.server.core.runner import Runner
from crabhook.ui.full import app
from crabhook.ui.options import Attention, CardKind, DeskOptions

_QUIET = 0.045  # seconds without a picture, longer than the desk waits between two
_SIZE = Size(rows=40, columns=120)
_ALL_KINDS = frozenset(map(CardKind, KINDS))


class _Terminal(Vt100_Output):
    """Turns pictures into the bytes a terminal gets, forgets them, and tells that there was one."""

    def __init__(self, forgetting: TextIO) -> None:
        super().__init__(forgetting, lambda: _SIZE, term="xterm-256color", enable_cpr=False)
        self.drawn = asyncio.Event()

    def flush(self) -> None:
        super().flush()
        self.drawn.set()


@dataclass(slots=True)
class Sitting:
    """A desk, and what is needed to change what is on it."""

    runner: Runner
    keys: PipeInput
    terminal: _Terminal
    leave: Callable[[], None] | None = None
    down: bool = False

    def come(self) -> None:
        """Let a hook ask."""
        self.leave = self.runner.enter(_request(self.runner), None).leave

    def move(self) -> None:
        """Go to the next card, or back."""
        self.down = not self.down
        self.keys.send_text("j" if self.down else "k")

    def go(self) -> None:
        """Let the hook that came last be gone."""
        if self.leave is not None:
            self.leave()

    async def cost(self, change: str) -> float:
        """Make a change; return the processor time of all that follows from it."""
        started = process_time()
        self.terminal.drawn.clear()
        CHANGES[change](self)
        await self.terminal.drawn.wait()
        while self.terminal.drawn.is_set():
            self.terminal.drawn.clear()
            await asyncio.sleep(_QUIET)
        return process_time() - started


CHANGES: Mapping[str, Callable[[Sitting], None]] = {
    "comes": Sitting.come,
    "moves": Sitting.move,
    "goes": Sitting.go,
}


@asynccontextmanager
async def sitting(cards: int, forgetting: TextIO) -> AsyncIterator[Sitting]:
    """Run a desk at which so many cards wait; its pictures go to a file."""
    runner = Runner(Parts(PLATFORMS))
    for _ in range(cards):
        runner.enter(_request(runner), None)
    options = DeskOptions(0, 0, attention=Attention(bell=_ALL_KINDS, title=_ALL_KINDS))
    with create_pipe_input() as keys:
        terminal = _Terminal(forgetting)
        running = asyncio.ensure_future(
            app.run(
                runner.desk(OWNER),
                options=options,
                title="a bench",
                input=keys,
                output=terminal,
            )
        )
        try:
            await terminal.drawn.wait()
            await asyncio.sleep(_QUIET)
            yield Sitting(runner, keys, terminal)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            runner.close()


def _request(runner: Runner) -> Request:
    now = runner.now()
    event = PLATFORMS["claude"].read(new_call(DECIDED_EVENT))
    until = now + 3600.0
    return Request(token_hex(16), event, until, gives_up_at=until, secret=token_hex(16))


async def _follow(cards: int, forgetting: TextIO) -> None:
    """Make every change that standard input names, until its end."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    async with sitting(cards, forgetting) as desk:
        _say("ready")
        async for line in reader:
            _say(f"took {await desk.cost(line.decode().strip())}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with Path(devnull).open("w", encoding="utf-8") as nowhere:
        asyncio.run(_follow(int(sys.argv[1]), nowhere))
