"""A cell played: our server and its operator in this process, the real Claude Code beside it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.install.entries import with_hooks
from crabhook.install.program import compile_hook, interpreter, stub
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import CrabhookError, DecisionError
from crabhook.model.jsontext import compact
from crabhook.model.order import Order, OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.event_table import Held
from crabhook.platforms.installation import Installation
from crabhook.server.address import Tokens, UnixAddress
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from tests.conformance.outcome import Heard, Outcome
from tests.support.claude import Claude
from tests.support.runners import bare_runner
from tests.support.scripted_model import MAIN
from tests.support.seat import decide, hears, seat
from tests.support.turns import Script

if TYPE_CHECKING:
    from crabhook.desk.updates import News
    from tests.conformance.cell import Cell
    from tests.support.claude import Run
    from tests.support.terminal import Terminal

WAIT = 60  # seconds a card may stand
PLAN_FILE = re.compile(r'/[^\s"\\]+/plans/[\w-]+\.md')


class RecordingPort(PermissionPort):
    """Our own port, noting each event and the reply that its hook was given.

    Where the cell has words of its own, the first hook of its event is given those.
    """

    def __init__(self, runner: Runner, cell: Cell) -> None:
        super().__init__(runner, wait=WAIT, tokens=Tokens())
        self.heard: list[Heard] = []
        self._cell, self._words = cell, cell.words

    async def RequestPermission(self, request: Any, context: Any) -> Any:  # noqa: N802 - the wire's name
        response = await super().RequestPermission(request, context)
        reply, event = response.reply, json.loads(request.payload)
        if self._words and event["hook_event_name"] == self._cell.event:
            reply.stdout, self._words = compact(self._words).encode(), None
        self.heard.append(Heard(event, reply.stdout, reply.stderr.decode(), reply.exit_code))
        return response


@dataclass
class Scene:
    """The agent of one cell, with what is done to it; a terminal where it has one."""

    cell: Cell
    agent: Claude
    terminal: Terminal | None = None
    log: list[Heard] = field(default_factory=list)
    left: int = 0
    refused: str = ""

    @property
    def screen(self) -> Terminal:
        """The agent's terminal, of a cell that has one."""
        assert self.terminal is not None
        return self.terminal

    def heard(self, event: str) -> int:
        """How many hook calls of an event were answered so far."""
        return sum(one.name == event for one in self.log)

    def transcripts(self) -> str:
        """What the agent keeps of its conversations, by now."""
        return "\n".join(_files(self.agent.home / ".claude" / "projects").values())

    def file(self, name: str) -> str:
        """What a file of the project holds by now; nothing where there is none."""
        return _files(self.agent.project).get(name, "")

    def write_plan(self, text: str) -> None:
        """Write the plan into the file that plan mode has named to the model."""
        asked = [one for one in self.agent.requests() if one.conversation == MAIN]
        found = PLAN_FILE.search(json.dumps(asked[-1].body)) if asked else None
        assert found, "plan mode named no file"
        path = Path(found.group())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def is_about(self, card: Card) -> bool:
        """Whether a card is the one that the cell decides."""
        event, cell = card.event, self.cell
        names = {leg.event.name for leg in card.requests}
        tool = event.tool.name if event.tool else ""
        return cell.event in names and cell.about in ("", tool)

    def decide(self, card: Card) -> Decision:
        """The decision for a card: the cell's, or to let it through."""
        cell = self.cell
        if self.left and cell.decision is not None and self.is_about(card):
            self.left -= 1
            decision = cell.complete(card.event, cell.decision)
            if cell.words is None:
                return decision
            self.must_refuse(card, decision)
        if cell.drive.meanwhile and card.event.name == "PostToolUse":
            cell.drive.meanwhile(self)
        if card.event.name in cell.passed:
            return Decision(Verdict.PASS)
        can = EVENTS[card.event.name].verdicts
        return Decision(Verdict.ALLOW if Verdict.ALLOW in can else Verdict.PASS)

    def must_refuse(self, card: Card, decision: Decision) -> None:
        """See that we do not send what the cell sends by hand."""
        with suppress(DecisionError):
            PLATFORMS["claude"].check(card.event, decision)
            raise AssertionError(f"{decision} would have been sent")


class Operator:
    """Answers each card as soon as it is there; those a cell wants together, the last one first."""

    def __init__(self, runner: Runner, scene: Scene) -> None:
        self._runner, self._scene = runner, scene
        self._known: set[int] = set()
        self._gathered: list[Card] = []
        hears(runner, self._hears)

    def _hears(self, news: News) -> None:
        if not isinstance(news, Card) or news.outcome or news.number in self._known:
            return
        self._known.add(news.number)
        cards = [news]
        if self._scene.is_about(news) and len(self._known) <= self._scene.cell.together:
            self._gathered.append(news)
            cards = self._gathered[::-1] if len(self._gathered) == self._scene.cell.together else []
        for card in cards:
            # Not within the broker's own news: the answer comes after it.
            asyncio.get_running_loop().call_soon(self._answer, card)

    def _answer(self, card: Card) -> None:
        try:
            decide(self._runner, card.number, self._scene.decide(card))
        except (CrabhookError, AssertionError, LookupError, OSError) as error:
            self._scene.refused = f"{card.event.name}: {error}"
            decide(self._runner, card.number, Decision(Verdict.PASS))


async def play(cell: Cell) -> Outcome:
    """Run the real program for one cell; the folder is gone when it returns."""
    with ExitStack() as ending:
        folder = Path(tempfile.mkdtemp(prefix="crab-", dir="/tmp"))
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        runner = bare_runner()
        port = RecordingPort(runner, cell)
        async with open_port(port, [UnixAddress(folder / "s")]):
            if cell.decision is not None and EVENTS[cell.event].held is Held.ON_REQUEST:
                seat(runner).order(Order(OrderKind.HOLD, name=cell.event))
            if cell.drive.meanwhile:
                seat(runner).order(Order(OrderKind.HOLD, name="PostToolUse"))
            scene = Scene(cell, _agent(cell, folder), log=port.heard, left=cell.times)
            ending.callback(scene.agent.close)
            Operator(runner, scene)
            try:
                return await asyncio.to_thread(_drive, scene)
            finally:
                runner.close()


def _agent(cell: Cell, folder: Path) -> Claude:
    """An agent whose home has our hooks and the cell's files."""
    drive = cell.drive
    hooks = Installation(
        interpreter(), stub(), cell.stance, wait=WAIT, server=f"unix:{folder / 's'}"
    )
    compile_hook()
    text = with_hooks(json.dumps(drive.settings), groups(hooks))
    script = Script(drive.turns, drive.subagents)
    agent = Claude(
        folder, script=script, settings=json.loads(text), environment=dict(drive.environment)
    )
    for name, content in drive.files.items():
        path = agent.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content.replace("{python}", sys.executable), encoding="utf-8")
    return agent


def _drive(scene: Scene) -> Outcome:
    """Bring the agent to its event and wait until it is through."""
    drive, agent = scene.cell.drive, scene.agent
    run: Run | None = None
    screen = trouble = ""
    try:
        if drive.steps:
            scene.terminal = agent.terminal(
                drive.prompt, mode=drive.mode, extra_args=drive.arguments
            )
            for step in drive.steps:
                step(scene)
            screen = scene.terminal.screen()
        else:
            run = agent.headless(drive.prompt or "", mode=drive.mode, extra_args=drive.arguments)
    except (AssertionError, subprocess.SubprocessError) as error:
        trouble = str(error)
        screen = scene.terminal.screen() if scene.terminal else ""
    agent.close()
    decided = [one for one in scene.log if _is_decided(scene.cell, one)]
    return Outcome(
        heard=tuple(scene.log),
        decided=decided[: max(scene.cell.times, len(scene.cell.legs))],
        requests=tuple(agent.requests()),
        files=_files(agent.project),
        transcripts=_files(agent.home / ".claude" / "projects"),
        stdout=run.stdout if run else "",
        exit_code=run.exit_code if run else None,
        screen=screen,
        trouble=trouble or scene.refused,
    )


def _is_decided(cell: Cell, heard: Heard) -> bool:
    return heard.name in (cell.legs or (cell.event,)) and cell.about in ("", heard.tool)


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace")
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
