"""A session played: our server and its operator in this process, the real agent beside it."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.model.card import Card, Origin, Stance
from crabhook.model.decision import Decision, Reply, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.model.order import Order, OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held, Phase
from crabhook.server.address import Tokens, UnixAddress
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.pending_call import PendingCall
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.http.listener import Opening, open_http
from tests.conformance.sessions.agents import ANSWERED_THERE, KINDS, install, made
from tests.conformance.sessions.cells import CHANGED, Cell, Session
from tests.support.launcher import OUT_OF_TIME
from tests.support.passage import outside
from tests.support.runners import bare_runner
from tests.support.seat import decide, hears, seat
from tests.support.terminal import Terminal
from tests.support.turns import Script, Text, Turn

if TYPE_CHECKING:
    from crabhook.desk.updates import News
    from tests.support.agent import Installed

WAIT = 60  # seconds a card may stand
PATIENCE = 150  # seconds a session may take
CLOSING = "All said."
STANDS = 2.0  # seconds after which a dialog is the agent's own question, and no companion's beside
LAST_LOOKS = 10  # tenths of a second in which a word about the turn's end may come up
TOKEN = "a-token-of-the-tests-alone"


@dataclass(frozen=True)
class Answered:
    """An event as our port took it in, and what its hook was given to print."""

    event: Event
    stdout: bytes
    stderr: str
    exit_code: int

    @property
    def printed(self) -> str:
        """All that the hook printed; empty where it was silent."""
        if self.exit_code:
            return f"exit code {self.exit_code}, standard error: {self.stderr.strip()}"
        return self.stdout.decode().strip()


@dataclass
class Log:
    """What was heard of a session while it ran: events with their replies, and own dialogs.

    `may_run`: the cells of whose verdict the card said that the call may run without a question.
    """

    heard: list[Answered] = field(default_factory=list)
    dialogs: set[str] = field(default_factory=set)
    reached: list[Cell] = field(default_factory=list)
    may_run: set[str] = field(default_factory=set)
    refused: str = ""

    def many(self, event: str) -> int:
        """How often an event was answered so far."""
        return sum(answered.event.name == event for answered in self.heard)


@dataclass(frozen=True)
class Outcome:
    """What came of a session: for each cell what our hook printed, and what was seen."""

    session: Session
    edition: str
    written: Mapping[Cell, str]
    seen: Mapping[Cell, tuple[str, ...]]
    trouble: str
    screen: str
    seconds: float


class SessionPort(PermissionPort):
    """Our own port, noting each event and the reply that its hook was given."""

    def __init__(self, runner: Runner, log: Log) -> None:
        super().__init__(runner, wait=WAIT, tokens=Tokens())
        self._log = log

    async def RequestPermission(self, request: Any, context: Any) -> Any:  # noqa: N802 - the wire's name
        response = await super().RequestPermission(request, context)
        event, reply = PLATFORMS[request.platform].read(request.payload), response.reply
        self._log.heard.append(
            Answered(event, reply.stdout, reply.stderr.decode(), reply.exit_code)
        )
        return response


class SessionIntake(AnonymousIntake):
    """The intake of our HTTP door, noting the same."""

    def __init__(self, runner: Runner, log: Log) -> None:
        super().__init__(runner, wait=WAIT, named="HTTP")
        self._log = log

    async def enter(
        self,
        event: Event,
        origin: Origin,
        size: int,
        *,
        stance: Stance = Stance.GATE,
        theirs: float = 0.0,
    ) -> PendingCall:
        pending = await super().enter(event, origin, size, stance=stance, theirs=theirs)
        whole = pending.wait

        async def wait() -> Reply:
            reply = await whole()
            self._log.heard.append(Answered(event, reply.stdout, reply.stderr, reply.exit_code))
            return reply

        object.__setattr__(pending, "wait", wait)
        return pending


class Operator:
    """Decides each cell's card as the cell says, and lets all others through."""

    def __init__(self, runner: Runner, session: Session, log: Log) -> None:
        self._runner, self._log = runner, log
        self._left = list(session.cells)
        self._known: set[int] = set()
        hears(runner, self._hears)

    def _hears(self, news: News) -> None:
        if isinstance(news, Card) and not news.outcome and news.number not in self._known:
            self._known.add(news.number)
            # Not within the broker's own news: the answer comes after it.
            asyncio.get_running_loop().call_soon(self._answer, news)

    def _answer(self, card: Card) -> None:
        cell = next((cell for cell in self._left if is_about(cell, card)), None)
        can = PLATFORMS[card.event.platform].events[card.event.name].verdicts
        decision = Decision(Verdict.ALLOW if Verdict.ALLOW in can else Verdict.PASS)
        try:
            if cell is not None:
                self._left.remove(cell)
                self._log.reached.append(cell)
                decision = cell.decision(card.event)
                if decision.verdict in PLATFORMS[card.event.platform].choices(card.event).runs:
                    self._log.may_run.add(cell.name)
            decide(self._runner, card.number, decision)
        except (CrabhookError, AssertionError, LookupError) as error:
            self._log.refused += f"{card.event.name}: {error}\n"
            decide(self._runner, card.number, Decision(Verdict.PASS))


def is_about(cell: Cell, card: Card) -> bool:
    """Whether a card is the one that a cell decides."""
    names = {leg.event.name for leg in card.requests}
    return cell.event in names and (not cell.call or names_cell(card.event, cell))


def names_cell(event: Event, cell: Cell) -> bool:
    """Whether an event is about the call of a cell."""
    return event.tool is not None and cell.name in json.dumps(event.tool.input)


@asynccontextmanager
async def door(
    session: Session, runner: Runner, log: Log, folder: Path
) -> AsyncIterator[tuple[str, ...]]:
    """Open what the agent's hooks come by; yields the options with which they are installed."""
    if session.agent != "opencode":
        async with open_port(SessionPort(runner, log), [UnixAddress(folder / "s")]):
            yield ("--server", f"unix:{folder / 's'}")
        return
    token = folder / "token"
    token.write_text(TOKEN, encoding="ascii")
    token.chmod(0o600)
    opening = Opening("127.0.0.1:0", Tokens(own=TOKEN, file=str(token)))
    async with open_http(opening, runner, SessionIntake(runner, log)) as address:
        yield ("--url", str(address), "--token-file", str(token))


async def play(session: Session, edition: str) -> Outcome:
    """Run one version of the real agent through a session; its folder is gone afterwards."""
    kind, log, began = KINDS[session.agent], Log(), time.monotonic()
    with ExitStack() as ending:
        folder = Path(tempfile.mkdtemp(prefix="crab-", dir="/tmp"))
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        runner = bare_runner()
        async with door(session, runner, log, folder) as options:
            events = PLATFORMS[session.agent].events
            for event in dict.fromkeys(cell.event for cell in session.cells):
                if events[event].held is not Held.ALWAYS:
                    seat(runner).order(Order(OrderKind.HOLD, name=event))
            Operator(runner, session, log)
            script = Script(turns(session), closing=(Text(CLOSING),))
            agent = kind.make(folder / "a", script, PATIENCE, edition=edition)
            ending.callback(agent.close)
            try:
                run = await asyncio.to_thread(_run, session, agent, options, log, ending)
            finally:
                runner.close()
        return replay(session, agent, log, run, time.monotonic() - began)


def turns(session: Session) -> tuple[Turn, ...]:
    """Return what the model says: one turn for each call."""
    calls = KINDS[session.agent].calls
    return tuple((calls[cell.call](cell.name),) for cell in session.cells if cell.call)


@dataclass(frozen=True)
class Ended:
    """How a session ended: all that its user could read, and what went wrong with the driving."""

    read: str
    trouble: str = ""


def _run(
    session: Session, agent: Any, options: Sequence[str], log: Log, ending: ExitStack
) -> Ended:
    if session.agent == "opencode":
        port = int(options[1].rpartition(":")[2])
        agent.doors = {port: ending.enter_context(outside(port, agent.folder / "door"))}
    install(session.agent, agent, session.stance, *options)
    try:
        run = KINDS[session.agent].ways[session.mode](agent)
        if isinstance(run, Terminal):
            return _watched(session, run, agent, log)
    except (AssertionError, subprocess.SubprocessError) as error:
        return Ended("", f"{type(error).__name__}: {error}")
    late = "the session did not end" if run.exit_code == OUT_OF_TIME else ""
    return Ended(run.stdout + run.stderr, late)


def _watched(session: Session, terminal: Terminal, agent: Installed, log: Log) -> Ended:
    """Watch a terminal until the session is through, saying yes to each of its own dialogs."""
    kind, end, screens = KINDS[session.agent], time.monotonic() + PATIENCE, [""]
    goes_on, through = sum(cell.decided == "keep going" for cell in session.cells), 0
    stands = 0.0
    while time.monotonic() < end:
        screen = " ".join(terminal.screen().split())
        if screen != screens[-1]:
            screens.append(screen)
        asked = next((text for text in kind.dialogs if text in screen), "")
        stands = (stands or time.monotonic()) if asked else 0.0
        if stands and time.monotonic() > stands + STANDS:
            about = [cell for cell in log.reached if cell.call][-1:]
            log.dialogs.update(cell.name for cell in about if cell.name not in made(agent))
            terminal.key(kind.dialogs[asked])
            stands = 0.0
        if through or (log.many(kind.over) > goes_on and CLOSING in screen):
            through += 1
            if through > LAST_LOOKS:
                return Ended("\n".join(screens))
        time.sleep(0.1)
    return Ended("\n".join(screens[-3:]), "the session did not end")


def replay(session: Session, agent: Any, log: Log, run: Ended, seconds: float) -> Outcome:
    """Return what a session came to, cell by cell."""
    heard = {
        cell: [
            answered
            for answered in log.heard
            if answered.event.name == cell.event
            and (not cell.call or names_cell(answered.event, cell))
        ]
        for cell in session.cells
    }
    look = Look(
        bodies=[json.dumps(request.body) for request in agent.requests()],
        files=made(agent),
        dialogs=log.dialogs,
        read=" ".join(run.read.split()),
        calls=[cell.name for cell in session.cells if cell.call],
    )
    seen = {
        cell: (look.words(cell) or (NOTHING,)) if came else (NOT_COME,)
        for cell, came in heard.items()
    }
    unsaid = [
        f"{cell.title}: it ran, and the card did not say that it may"
        for cell in log.reached
        if cell.decided in ("pass", "ask", "deny")
        and "it ran" in seen[cell]
        and "its own dialog came up" not in seen[cell]
        and not session.mode.endswith(ANSWERED_THERE)
        and not is_over(session, cell)
        and cell.name not in log.may_run
    ]
    silent = [] if log.heard else ["no hook was started"]
    trouble = "\n".join(filter(None, [run.trouble, log.refused, *unsaid, *silent]))
    written = {cell: came[0].printed if came else "" for cell, came in heard.items()}
    return Outcome(session, agent.edition, written, seen, trouble, run.read, seconds)


def is_over(session: Session, cell: Cell) -> bool:
    """Whether a cell is about a call that has run already."""
    return PLATFORMS[session.agent].events[cell.event].phase is Phase.RAN


@dataclass(frozen=True)
class Look:
    """What is left of a session to look at: requests to the model, files, what its user read.

    `calls`: the cells with a call, in the order of the model's turns.
    """

    bodies: Sequence[str]
    files: frozenset[str]
    dialogs: AbstractSet[str]
    read: str
    calls: Sequence[str]

    def model_read(self, text: str) -> bool:
        """Whether a text stood in a request to the model."""
        return any(text in body for body in self.bodies)

    def words(self, cell: Cell) -> tuple[str, ...]:
        """All that is seen of a cell whose event came."""
        return tuple(words for words, holds in LOOKS if holds(cell, self))

    @property
    def last(self) -> str:
        """The cell after whose call the model was not asked again; empty where there is none."""
        many = len(self.bodies)
        return self.calls[many - 1] if 0 < many <= len(self.calls) else ""


RUNS = frozenset({"shell", "beyond", "failing", "script"})
"""The kinds of calls that leave a file."""

NOT_COME, NOTHING = "the event did not come", "the agent went on as if nobody had been asked"

LOOKS: Sequence[tuple[str, Callable[[Cell, Look], bool]]] = (
    ("the changed call ran", lambda cell, look: cell.name + CHANGED in look.files),
    ("it ran", lambda cell, look: cell.name in look.files),
    ("it did not run", lambda cell, look: cell.call in RUNS and cell.name not in look.files),
    ("its own dialog came up", lambda cell, look: cell.name in look.dialogs),
    *(
        (
            f"the model read the {part}",
            lambda cell, look, part=part: look.model_read(cell.text(part)),
        )
        for part in ("reason", "note", "output", "instruction")
    ),
    (
        "the model read the answer",
        lambda cell, look: cell.decided == "answer" and look.model_read("Blue"),
    ),
    *(
        (f"its user read the {part}", lambda cell, look, part=part: cell.text(part) in look.read)
        for part in ("reason", "message", "halt")
    ),
    ("the turn ended", lambda cell, look: cell.name == look.last),
    ("the model was not asked", lambda _, look: not look.bodies),
)
"""All that can be seen of a cell, in the words of the tables."""
