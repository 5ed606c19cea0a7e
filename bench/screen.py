"""What it costs to draw the full screen when a card comes, when it goes, when the cursor moves.

The real desk, `ui.full.app`, in a process of its own for each number of cards. All of them run at
once, and every round does every change at each once, in an order drawn anew. Processor time is
measured: pictures are apart by design, which says nothing of what they cost.

Run as a module with the number of cards that wait, it is that desk before a real broker; its
terminal is a pipe and a file that forgets. It says `ready`, then for each change named on standard
input `took SECONDS`, from the change until the desk is quiet again.
"""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from os import devnull
from pathlib import Path
from secrets import token_hex
from statistics import median
from time import process_time
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from bench.figures import (
    Goal,
    Measured,
    Series,
    Spread,
    ms,
    ms_quartiles,
    paired_ratios,
    spread,
    table,
)
from bench.inputs import DECIDED_EVENT, new_call, sized
from bench.process import Child, child, say
from crabhook.config import KINDS
from crabhook.model.actor import OWNER
from crabhook.model.card import Request
from crabhook.platforms import PLATFORMS
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.parts import Parts
from crabhook.server.core.runner import Runner
from crabhook.ui.full import app
from crabhook.ui.options import Attention, CardKind, DeskOptions

CARDS = sized((1, 5, 100, 1_000, 5_000), (1, 5))
FEW, MANY = sized((5, 5_000), (1, 5))
ROUNDS = sized(30, 2)
CHANGES = {"comes": "a card comes", "moves": "the cursor moves", "goes": "a card goes"}
AMONG_MANY = {
    name: Goal(f"{change} among 5000 cards / among 5", 1.25) for name, change in CHANGES.items()
}
GOALS = tuple(AMONG_MANY.values())

_QUIET = 0.045  # seconds without a picture, longer than the desk waits between two
_SIZE = Size(rows=40, columns=120)
_ALL_KINDS = frozenset(map(CardKind, KINDS))


@dataclass(slots=True)
class Screen:
    """A full screen with so many cards, and what each change cost there, in seconds."""

    cards: int
    process: Child
    costs: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in CHANGES})

    def change(self) -> None:
        """Make every change once."""
        for name, costs in self.costs.items():
            self.process.say(name)
            costs.append(float(self.process.line("took")[0]))


def measure() -> Measured:
    """Return what each change costs with few cards and with many."""
    with ExitStack() as stack:
        screens = [
            Screen(cards, stack.enter_context(child("bench.screen", str(cards)))) for cards in CARDS
        ]
        for screen in screens:
            screen.process.line("ready")
            screen.change()
            for costs in screen.costs.values():
                costs.clear()  # caches were cold
        for _ in range(ROUNDS):
            for screen in random.sample(screens, len(screens)):
                screen.change()
    by_cards = {screen.cards: screen.costs for screen in screens}
    ratios = {
        name: spread(paired_ratios(by_cards[MANY][name], by_cards[FEW][name])) for name in CHANGES
    }
    series = [
        Series(
            "cards on the screen",
            change,
            {cards: median(costs[name]) for cards, costs in by_cards.items()},
        )
        for name, change in CHANGES.items()
    ]
    figures = {goal: ratios[name].median for name, goal in AMONG_MANY.items()}
    return Measured(_text(screens, ratios), figures, series)


def _text(screens: Sequence[Screen], ratios: Mapping[str, Spread]) -> str:
    header = ("cards on the screen", *(f"{change}, CPU ms" for change in CHANGES.values()))
    rows = [
        (str(screen.cards), *(_quoted(costs) for costs in screen.costs.values()))
        for screen in screens
    ]
    judged = ", ".join(
        f"{CHANGES[name]} {ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"
        for name, ratio in ratios.items()
    )
    return f"{table(header, rows)}\n{MANY} cards / {FEW} cards, within each round: {judged}.\n"


def _quoted(costs: Sequence[float]) -> str:
    middle = spread(costs)
    return f"{ms(middle.median)} ({ms_quartiles(middle)})"


class _Terminal(Vt100_Output):
    """Turns pictures into the bytes a terminal gets, forgets them, and tells that there was any."""

    def __init__(self, forgetting: TextIO) -> None:
        super().__init__(forgetting, lambda: _SIZE, term="xterm-256color", enable_cpr=False)
        self.drawn = asyncio.Event()

    def flush(self) -> None:
        super().flush()
        self.drawn.set()


@dataclass(slots=True)
class _Desk:
    """A desk, and what is needed to change what is on it."""

    runner: Runner
    keys: PipeInput
    terminal: _Terminal
    leave: Callable[[], None] | None = None
    down: bool = False

    def comes(self) -> None:
        """Let a hook ask."""
        self.leave = self.runner.enter(_request(self.runner), None).leave

    def moves(self) -> None:
        """Go to the next card, or back."""
        self.down = not self.down
        self.keys.send_text("j" if self.down else "k")

    def goes(self) -> None:
        """Let the hook that came last be gone."""
        if self.leave is not None:
            self.leave()

    async def cost(self, change: str) -> float:
        """Make a change; return the processor time of all that follows from it."""
        started = process_time()
        self.terminal.drawn.clear()
        {"comes": self.comes, "moves": self.moves, "goes": self.goes}[change]()
        await self.terminal.drawn.wait()
        while self.terminal.drawn.is_set():
            self.terminal.drawn.clear()
            await asyncio.sleep(_QUIET)
        return process_time() - started


@asynccontextmanager
async def _desk(cards: int, forgetting: TextIO) -> AsyncIterator[_Desk]:
    """Run a desk at which so many cards wait; its pictures go to a file."""
    runner = Runner(Parts(PLATFORMS))
    for _ in range(cards):
        runner.enter(_request(runner), None)
    options = DeskOptions(0, 0, attention=Attention(bell=_ALL_KINDS, title=_ALL_KINDS))
    with create_pipe_input() as keys:
        terminal = _Terminal(forgetting)
        running = asyncio.ensure_future(
            app.run(
                LocalDesk(runner, OWNER),
                options=options,
                title="a bench",
                input=keys,
                output=terminal,
            )
        )
        try:
            await terminal.drawn.wait()
            await asyncio.sleep(_QUIET)
            yield _Desk(runner, keys, terminal)
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
    async with _desk(cards, forgetting) as desk:
        say("ready")
        async for line in reader:
            say("took", await desk.cost(line.decode().strip()))


if __name__ == "__main__":
    with Path(devnull).open("w", encoding="utf-8") as nowhere:
        asyncio.run(_follow(int(sys.argv[1]), nowhere))
