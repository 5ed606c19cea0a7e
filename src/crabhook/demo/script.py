"""The stage of a demo: a temporary server, an agent that is a script, an operator who types.

The agent starts the true hook client with inputs from a real Claude Code.
"""

import asyncio
import json
import re
import sys
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from importlib import resources
from pathlib import Path
from signal import SIGHUP, SIGTERM
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from crabhook import hook
from crabhook.app.wiring import wire
from crabhook.datatypes import frozen
from crabhook.desk.updates import Desk, Update
from crabhook.model.card import Card, State
from crabhook.model.event import Event
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


def calls() -> Iterator[dict[str, Any]]:
    """Yield the recorded inputs in their order: a command, an edit, questions, a plan."""
    folder = resources.files("crabhook.demo") / "inputs"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        yield json.loads(file.read_bytes())


NOTHING = "nothing: no opinion, so the agent asks its own user"
_TASK = "Uploads fail now and then. Make them retry, and clean up first."
# Tool -> what the agent says before it calls it.
_WORDS = {
    "Bash": "The tests fail since the lockfile changed, so I start clean.",
    "Edit": "Now the retry itself.",
    "AskUserQuestion": "Three things I cannot know.",
    "ExitPlanMode": "Here is how I would do it.",
}


_VERDICTS = {"allow": "allowed", "deny": "denied", "ask": "its own user decides"}


@frozen
class Read:
    """What the agent read of one decision: the hook's output, empty for no opinion."""

    tool: str
    answer: str
    cwd: str = ""

    def told(self) -> tuple[Event, str]:
        """Return the screen's lines about it; the whole follows at the end, on request."""
        words = f"the agent was told {NOTHING}"
        if decision := self._decision:
            verdict, reason = str(decision.get("permissionDecision")), self.denied
            words = f"the agent was told: {_VERDICTS.get(verdict, verdict)}"
            words += f", {reason}" if reason else ""
        return Event("claude", "Agent", cwd=self.cwd), words

    def pretty(self) -> str:
        """Return it to be read by people."""
        return json.dumps(json.loads(self.answer), indent=2) if self.answer else NOTHING

    @property
    def denied(self) -> str:
        """The reason of a denial, else empty."""
        decision = self._decision
        denied = decision.get("permissionDecision") == "deny"
        return str(decision.get("permissionDecisionReason") or "no reason") if denied else ""

    @property
    def _decision(self) -> Mapping[str, Any]:
        return json.loads(self.answer).get("hookSpecificOutput", {}) if self.answer else {}


def changed_by(call: dict[str, Any], reason: str) -> dict[str, Any] | None:
    """Return the call that the agent makes after a denial; None if it makes none."""
    tool_input = call["tool_input"]
    match call["tool_name"]:
        case "Bash" if "rm " in tool_input["command"]:
            about = f"You said: {reason}. So without deleting anything"
            changed = {"command": "npm ci 2>&1 | tail -n 3", "description": about}
        case "ExitPlanMode" if call["tool_use_id"].count(_AGAIN) < MOST_PLANS:
            changed = {**tool_input, "plan": revised(tool_input["plan"], reason)}
        case _:
            return None
    return {**call, "tool_input": changed, "tool_use_id": f"{call['tool_use_id']}{_AGAIN}"}


_AGAIN, MOST_PLANS = "_again", 3
_NOTE = re.compile(
    r"^Line (\d+):\n> [^\n]*\n(.*?)(?=\n\n(?:Line \d+|On the whole plan):|\Z)",
    re.MULTILINE | re.DOTALL,
)
_ON_ALL = re.compile(r"^On the whole plan:\n(.*)\Z", re.MULTILINE | re.DOTALL)


def revised(plan: str, reason: str) -> str:
    """Return a plan changed as its notes say: each below its line, any other word at the end."""
    lines = plan.rstrip("\n").split("\n")
    notes = _NOTE.findall(reason)
    for number, note in reversed(notes):
        at = min(int(number), len(lines))
        lines[at:at] = [f"   Changed: {line}" for line in note.split("\n")]
    on_all = _ON_ALL.findall(reason) or ([] if notes else [reason])
    return "\n".join((*lines, *(f"\nChanged as you said: {line}" for line in on_all), ""))


def turns(say: Callable[[str, str], object]) -> Generator[dict[str, Any], Read, None]:
    """Yield the agent's calls, each sent what was read of it; `say` gets a transcript's lines."""
    say("user", _TASK)
    heard = ""  # of the last denial, to be said with the next call
    for call in calls():
        asked: dict[str, Any] | None = call
        while asked is not None:
            say("assistant", f"{heard}{_WORDS[call['tool_name']]}")
            read = yield asked
            reason, heard = read.denied, ""
            if reason:
                heard = f"You denied my {call['tool_name']}: {reason}. I do as you say. "
            asked = changed_by(asked, reason) if reason else None


class ScriptedAgent:
    """Makes the script's calls with the real hook client; `tell` gets what the agent reads."""

    def __init__(
        self, server: str, transcript: Path, tell: Callable[[Read], Awaitable[None]]
    ) -> None:
        self._client = [sys.executable, "-I", "-S", f"{hook.__path__[0]}/run.py"]
        self._client += ["--server", server]
        self._transcript, self._tell = transcript, tell

    async def play(self) -> None:
        """Make each call, and where one is denied that which takes its place."""
        script = turns(self._say)
        asked = next(script)
        with suppress(StopIteration):
            while True:
                whole = {**asked, "transcript_path": str(self._transcript)}
                asked = script.send(await self._ask(whole))
        await asyncio.sleep(SESSION_PAUSE)

    def _say(self, who: str, text: str) -> None:
        content = [{"type": "text", "text": text}]
        line = {"type": who, "message": {"role": who, "content": content}}
        with self._transcript.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line)}\n")

    async def _ask(self, call: dict[str, Any]) -> Read:
        await asyncio.sleep(SESSION_PAUSE)
        client = await asyncio.create_subprocess_exec(
            *self._client, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        try:
            stdout, _ = await client.communicate(json.dumps(call).encode())
        except asyncio.CancelledError:
            client.kill()
            await client.wait()
            raise
        read = Read(call["tool_name"], stdout.decode().strip(), call["cwd"])
        await self._tell(read)
        return read


# Tool -> what a person might type about it, after the card's number.
LINES = {
    "Bash": "allow only this once",
    "Edit": "deny retry in client.put instead, other callers need it too",
    "AskUserQuestion": 'answer 1=2 1.note="keep it small" 2=1,3 3="upload of %s failed, try %d"',
    "ExitPlanMode": "allow",
}


async def typed_lines(
    desk: Desk, write: Callable[[str], Awaitable[None]], lines: Mapping[str, str] = LINES
) -> AsyncIterator[str]:
    """Yield a line for each new card, shown as it is typed: the next row of its tool's."""
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
            line = next(left.get(card.event.tool.name if card.event.tool else "", iter(())), "")
            if line:
                await asyncio.sleep(0.2)  # the card is read before it is decided
                await write(f"> {card.number} {line}")
                yield f"{card.number} {line}"
    finally:
        stop()
