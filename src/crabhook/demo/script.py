"""The stage of a demo: a temporary server, an agent that is a script, an operator who types.

The agent starts the true hook client with inputs that a real agent sends.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from signal import SIGHUP, SIGTERM
from tempfile import TemporaryDirectory
from typing import TypeVar

from crabhook import hook
from crabhook.app.wiring import wire
from crabhook.demo.sessions import DemoSession, Read, ScriptedInput, name_of, turns
from crabhook.desk.updates import Desk, Update
from crabhook.model.card import Card, Stance, State
from crabhook.platforms import PLATFORMS
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.parts import HearDecided, Parts
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.core.runner import Runner
from crabhook.store.opening import open_writer
from crabhook.store.recorder import Recorder
from crabhook.ui.day_counts import DayCounts

T = TypeVar("T")
WAIT = 600.0  # seconds; nobody watches a demo for longer


@asynccontextmanager
async def beside(*works: Awaitable[T]) -> AsyncIterator[Sequence["asyncio.Future[T]"]]:
    """Run work as tasks while the context lasts; at its end they are cancelled and awaited."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def stage(
    decided: HearDecided | None = None,
) -> AsyncIterator[tuple[Path, Runner, DayCounts]]:
    """Open a server in a folder of its own, both gone at the end; with its decisions' counts.

    `decided` hears of each decision too.

    A signal or a hang-up of the terminal cancels the task that plays on it, so that nothing is left
    behind then either.
    """
    this = asyncio.current_task()
    assert this is not None  # noqa: S101 - we are one
    for number in (SIGTERM, SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, this.cancel)
    with TemporaryDirectory(prefix="crabhook-demo-") as name:
        folder = Path(name)
        heard = (decided,) if decided else ()
        async with _own_runner(folder / "config", folder / "state", heard) as (runner, tally):
            yield folder, runner, tally


@asynccontextmanager
async def _own_runner(
    config: Path, state: Path, decided: Sequence[HearDecided]
) -> AsyncIterator[tuple[Runner, DayCounts]]:
    recorder = Recorder(lambda: open_writer(state))
    in_force = RulesInForce(RuleFiles(config, (str(state),)))
    wired = wire(in_force, state, Parts(PLATFORMS, recorder, decided=decided))
    runner, tally = wired.runner, await wired.day.begin(state)
    await runner.restore()
    try:
        async with beside(runner.keep_record(), in_force.watch()):
            yield runner, tally
    finally:
        recorder.close()


SESSION_PAUSE = 0.8  # seconds between two calls, so that a person sees each come


class ScriptedAgent:
    """Sends a session's inputs with the real hook client; `tell` gets what the agent reads."""

    def __init__(
        self,
        script: DemoSession,
        server: str,
        transcript: Path,
        tell: Callable[[Read], Awaitable[None]],
    ) -> None:
        self._client = [sys.executable, "-I", "-S", f"{hook.__path__[0]}/run.py"]
        self._client += ["--server", server, "--platform", script.agent]
        self._client += ["--companion"] if script.stance == Stance.COMPANION else []
        self._script, self._transcript, self._tell = script, transcript, tell

    async def play(self) -> None:
        """Make each call, and where one is denied that which takes its place."""
        script = turns(self._script, self._say)
        asked = next(script)
        with suppress(StopIteration):
            while True:
                asked = script.send(await self._ask(asked))
        await asyncio.sleep(SESSION_PAUSE)

    def _say(self, who: str, text: str) -> None:
        content = [{"type": "text", "text": text}]
        line = {"type": who, "message": {"role": who, "content": content}}
        with self._transcript.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line)}\n")

    async def _ask(self, asked: ScriptedInput) -> Read:
        await asyncio.sleep(SESSION_PAUSE)
        # Only the transcripts of an agent that names them here can be read.
        sent = {**asked.sends}
        sent |= {"transcript_path": str(self._transcript)} if "transcript_path" in sent else {}
        client = await asyncio.create_subprocess_exec(
            *self._client, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        try:
            stdout, _ = await client.communicate(json.dumps(sent).encode())
        except asyncio.CancelledError:
            client.kill()
            await client.wait()
            raise
        read = Read(self._script.event(sent), stdout.decode().strip())
        if asked.typed:
            await self._tell(read)
        return read


async def typed_lines(
    desk: Desk, write: Callable[[str], Awaitable[None]], lines: Mapping[str, str]
) -> AsyncIterator[str]:
    """Yield a line for each new card, shown as it is typed: the next row of its name's."""
    cards: asyncio.Queue[Card] = asyncio.Queue()
    seen = set[int]()
    left = {tool: iter(rows.split("\n")) for tool, rows in lines.items()}

    def on_update(update: Update) -> None:
        news = update.news
        if isinstance(news, Card) and news.state is State.WAITING and news.number not in seen:
            seen.add(news.number)
            cards.put_nowait(news)

    stop = desk.subscribe(on_update)
    try:
        while True:  # the operator stays until the demo is over
            card = await cards.get()
            line = next(left.get(name_of(card.event), iter(())), "")
            if line:
                await asyncio.sleep(0.2)  # the card is read before it is decided
                await write(f"> {card.number} {line}")
                yield f"{card.number} {line}"
    finally:
        stop()
