"""`crabhook demo`: see the main job done, on this machine, with nothing installed anywhere.

A scripted agent starts the true hook client with inputs recorded from a real Claude
Code; without a terminal a scripted operator types a line for each card.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crabhook import hook
from crabhook.cli.commands import declare, options_of
from crabhook.cli.terminal import say, takes_a_screen
from crabhook.desk.updates import Desk, Update
from crabhook.model.actor import OWNER
from crabhook.model.card import Card, State
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.rulebook.files import RuleFiles
from crabhook.server.address import UnixAddress
from crabhook.server.core.law import Law
from crabhook.server.core.readings import OfferedFrom
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.token import Tokens
from crabhook.store.opening import open_writer
from crabhook.store.recorder import Recorder
from crabhook.ui.options import DeskOptions
from crabhook.ui.plain import desk as plain
from crabhook.ui.tally import Tally
from crabhook.ui.terminal import standard_writer
from crabhook.ui.text.style import Theme

WAIT = 600.0  # seconds; nobody looks at a demo longer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the one option."""
    declare(options_of("demo"), {}, parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the demo; with no terminal it plays the operator too and prints the transcript."""
    if arguments.team:
        from crabhook.cli.team import demo  # noqa: PLC0415 - most people are alone

        demo.play()
        return 0
    full_screen = takes_a_screen()
    tally, told = Tally(), list[Read]()
    with suppress(KeyboardInterrupt):
        waiting = asyncio.run(_demo(tally, told, full_screen=full_screen))
        if full_screen:
            _end(tally.summary(waiting), told)
    return 0


def _end(summary: Iterator[str], told: list["Read"]) -> None:
    """Say what was decided and how to go on, and show what the agent read to who asks for it."""
    for line in (*summary, *GO_ON):
        say(line)
    sys.stdout.write(ASK)
    sys.stdout.flush()
    if sys.stdin.readline().strip() == "j":
        for one in told:
            say("")
            for line in (f"{one.tool}:", *one.pretty().split("\n")):
                say(line)


GO_ON = (
    "",
    "With your own agent:  crabhook install claude   (or codex, gemini)",
    "then, to decide:      crabhook serve",
    "",
)
ASK = "What did the agent read? j and Enter shows it, Enter ends: "


async def _demo(tally: Tally, told: list["Read"], *, full_screen: bool) -> int:
    """Play the demo; return how many requests still waited when it was left."""
    with TemporaryDirectory(prefix="crabhook-demo-") as name:
        folder = Path(name)
        async with own_runner(folder, tally) as runner:

            async def tell(read: Read) -> None:
                told.append(read)
                if full_screen:
                    runner.observe(*read.told())
                else:
                    line = f"agent reads for {read.tool}: {read.answer or _NOTHING}\n"
                    await standard_writer()(line)

            address = UnixAddress(folder / "crabhook.sock")
            async with open_port(PermissionPort(runner, wait=WAIT, tokens=Tokens()), [address]):
                agent = Agent(str(address), folder / "transcript.jsonl", tell)
                return await _played(runner, agent, full_screen=full_screen)


async def _played(runner: Runner, agent: "Agent", *, full_screen: bool) -> int:
    desk = asyncio.ensure_future(_desk(runner.desk(OWNER), full_screen=full_screen))
    tasks = (desk, asyncio.ensure_future(agent.play()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting = len(runner.broker.waiting())
        for task in tasks:
            task.cancel()
        failures = await asyncio.gather(*tasks, return_exceptions=True)
        runner.close()
    for failure in failures:
        if isinstance(failure, Exception):
            raise failure
    return waiting


@asynccontextmanager
async def own_runner(folder: Path, tally: Tally) -> AsyncIterator[Runner]:
    """Open a server whose rules and record are thrown away with it; `tally` counts decisions."""
    state = folder / "state"
    files = RuleFiles(folder / "config", (str(state),))
    recorder = Recorder(lambda: open_writer(state))
    law = Law(files)
    runner = Runner(PLATFORMS, recorder, law.judge, OfferedFrom(files, law, state))
    law.changed = runner.tell
    runner.warned, runner.readings.edition_of = law.warnings, law.edition
    runner.assess = runner.readings.assess = law.risk
    runner.faults.append(lambda: law.trouble)
    runner.parts.append(law.state)
    runner.decided.append(tally.count)
    runner.today, runner.alike = tally.today, tally.alike
    law.look()
    await runner.restore()
    beside = [asyncio.ensure_future(one) for one in (runner.keep_record(), law.watch())]
    try:
        yield runner
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        recorder.close()


async def _desk(desk: Desk, *, full_screen: bool) -> None:
    if full_screen:
        from crabhook.ui.full import app  # noqa: PLC0415 - the plain desk needs none of these
        from crabhook.ui.text.style import draws_letters, theme_in  # noqa: PLC0415

        theme, letters = theme_in(os.environ, Theme.AUTO), draws_letters(sys.stdout, os.environ)
        options = DeskOptions(theme=theme, ascii=not letters)
        await app.run(desk, options=options, title="demo: the agent is a script")
        return
    write = standard_writer()
    await plain.run(desk, typed_lines(desk, write), write)


SESSION_PAUSE = 0.8  # seconds between two calls, so that a person sees each come


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded hook input: the tool it asks about, and the bytes."""

    tool: str
    payload: bytes


def calls() -> Iterator[Call]:
    """Yield the recorded inputs in their order: a command, an edit, questions, a plan."""
    folder = resources.files("crabhook.demo") / "inputs"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        payload = file.read_bytes()
        yield Call(json.loads(payload)["tool_name"], payload)


_NOTHING = "nothing: no opinion, so the agent asks its own user"
_TASK = "Uploads fail now and then. Make them retry, and clean up first."
# Tool -> what the agent says before it calls it.
_WORDS = {
    "Bash": "The tests fail since the lockfile changed, so I start clean.",
    "Edit": "Now the retry itself.",
    "AskUserQuestion": "Three things I cannot know.",
    "ExitPlanMode": "Here is how I would do it.",
}


@dataclass(frozen=True, slots=True)
class Read:
    """What the agent read of one decision: the hook's output, empty for no opinion."""

    tool: str
    answer: str
    cwd: str = ""

    def told(self) -> tuple[Event, str]:
        """Return what the screen tells of it: the whole is shown at the end, to who asks for it."""
        return Event("claude", "Agent", cwd=self.cwd), self._words()

    def _words(self) -> str:
        told = json.loads(self.answer).get("hookSpecificOutput", {}) if self.answer else {}
        if not told:
            return f"reads {_NOTHING}"
        reason = told.get("permissionDecisionReason")
        words = f'reads "{told.get("permissionDecision")}" for its {self.tool}'
        return f"{words}: {reason}" if reason else words

    def pretty(self) -> str:
        """Return it to be read by people."""
        return json.dumps(json.loads(self.answer), indent=2) if self.answer else _NOTHING

    @property
    def denied(self) -> str:
        """The reason of a denial; empty where it is none."""
        told = json.loads(self.answer).get("hookSpecificOutput", {}) if self.answer else {}
        denied = told.get("permissionDecision") == "deny"
        return str(told.get("permissionDecisionReason") or "no reason") if denied else ""


def changed_by(call: dict[str, Any], reason: str) -> dict[str, Any] | None:
    """Return the call that the agent makes in the place of one denied; None where it makes none."""
    given = call["tool_input"]
    match call["tool_name"]:
        case "Bash" if "rm " in given["command"]:
            about = f"You said: {reason}. So without deleting anything"
            changed = {"command": "npm ci 2>&1 | tail -n 3", "description": about}
        case "ExitPlanMode" if given["plan"].count(_AS_YOU_SAID) < MOST_PLANS:
            said = "\n".join(f"> {line}" for line in reason.split("\n"))
            changed = {**given, "plan": f"{given['plan']}\n{_AS_YOU_SAID}\n\n{said}\n"}
        case _:
            return None
    return {**call, "tool_input": changed, "tool_use_id": f"{call['tool_use_id']}_again"}


_AS_YOU_SAID, MOST_PLANS = "## Changed as you said", 3


def turns(say: Callable[[str, str], object]) -> Generator[dict[str, Any], Read, None]:
    """Yield the agent's calls in turn; each is sent what the agent read of the decision.

    `say` is told who says what, as a transcript is.
    """
    say("user", _TASK)
    heard = ""  # of the last denial, to be said with the next call
    for call in calls():
        asked: dict[str, Any] | None = json.loads(call.payload)
        while asked is not None:
            say("assistant", f"{heard}{_WORDS[call.tool]}")
            read = yield asked
            reason, heard = read.denied, ""
            if reason:
                heard = f"You denied my {call.tool}: {reason}. I do as you say. "
            asked = changed_by(asked, reason) if reason else None


class Agent:
    """Makes the calls of the script with the real hook client, and keeps its transcript.

    A client is started as the installed hook is, with the server's address.  `tell` hears what
    it reads.
    """

    def __init__(
        self, server: str, transcript: Path, tell: Callable[[Read], Awaitable[None]]
    ) -> None:
        self._client = [sys.executable, "-I", "-S", f"{hook.__path__[0]}/run.py"]
        self._client += ["--server", server]
        self._transcript, self._tell = transcript, tell

    def __repr__(self) -> str:
        return f"<Agent {self._client[-1]}>"

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

    def hear(update: Update) -> None:
        news = update.news
        if isinstance(news, Card) and news.state is State.WAITING and news.number not in seen:
            seen.add(news.number)
            cards.put_nowait(news)

    stop = desk.subscribe(hear)
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
