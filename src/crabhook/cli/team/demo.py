"""`crabhook demo --team`: one server, two people at desks of their own, and the scripted agent.

In a terminal with tmux both desks are full screens, each a `crabhook desk`; otherwise both are
played as desks of lines.
"""

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from time import time
from typing import Any, NamedTuple

from crabhook.cli.team.attaching import connected
from crabhook.cli.team.inviting import let_in
from crabhook.demo.script import WAIT, ScriptedAgent, beside, stage, typed_lines
from crabhook.demo.sessions import DemoSession, Read, name_of
from crabhook.install.program import own_command
from crabhook.model.actor import Operator, Role
from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.server.address import TcpAddress, Tokens, UnixAddress
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.operators.listener import open_operators
from crabhook.server.operators.service import OperatorService
from crabhook.team.certificates import Authority, sealed
from crabhook.team.desk_keys import DeskFolder, DeskKeys, keep
from crabhook.team.edit_team import invitable
from crabhook.team.folder import Folder
from crabhook.team.invitation import Joining, Joins
from crabhook.team.membership import Scope, Team
from crabhook.team.team_file import TeamReader, found_team
from crabhook.ui.console import say, takes_a_screen
from crabhook.ui.plain import desk as plain
from crabhook.ui.terminal import standard_writer

BESIDE = 160  # columns for two desks side by side
ATTACH_WITHIN = 20.0  # seconds for both desks to be there, before the agent begins
LOOK_EVERY = 0.1  # seconds
LAST_LOOK = 2.0  # seconds for which the desks stay when the agent has ended
_AT = ("localhost", "127.0.0.1")

# The people at the desks, the calls that each types a line about, and what is typed about the
# first, which both decide at once. After a denial the agent makes another call.
PEOPLE: Mapping[str, tuple[Role, Sequence[int], str]] = {
    "ann": (Role.ADMIN, (0, 2), "{}\nallow"),
    "bob": (Role.DECIDER, (0, 1, 3), "deny without deleting anything"),
}


def _typed(script: DemoSession, name: str) -> Mapping[str, str]:
    """Return what a person types, by the call's name."""
    _, places, of_first = PEOPLE[name]
    lines = script.typed(*places)
    first = next(iter(lines))
    return {**lines, first: of_first.format(lines[first])}


GO_ON = (
    "",
    "With your own team, where the others reach this machine as HOST, here:",
    "  crabhook team init --host HOST           (after `crabhook up`, which founds a team too:",
    "                                            crabhook down, then crabhook team names HOST)",
    "  crabhook up --operators 0.0.0.0:7444",
    "  crabhook team invite NAME                and on the other machine:",
    "  crabhook team join LINE, then crabhook   (docs/tutorial/second-desk.md)",
)


class Seat(NamedTuple):
    """One of the people: the folder of their device, and what opens it."""

    name: str
    home: Path
    keys: DeskFolder
    passphrase: str


def play(script: DemoSession) -> None:
    """Play the demo until the agent's script or both people are at their end."""
    decisions: list[str] = []
    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_demo(script, decisions))
    for line in (*decisions, *GO_ON):
        say(line)


async def _demo(script: DemoSession, decisions: list[str]) -> None:
    """Play it; `told` gets who decided what."""

    def decided(event: Event, made: Decided) -> None:
        tool, by = name_of(event), made.by
        if isinstance(by, Operator):
            who = f"{by.name} at {by.desk} ({by.address})"
            decisions.append(f"{tool}: {made.decision.verdict.value} by {who}")

    async with (
        stage(decided) as (folder, runner, _),
        _served(runner, folder) as (server, seats),
    ):
        if takes_a_screen() and shutil.which("tmux"):
            await _on_screens(script, runner, server, seats, folder)
        else:
            await _played(script, server, seats, folder)


@asynccontextmanager
async def _served(runner: Runner, folder: Path) -> AsyncIterator[tuple[str, Sequence[Seat]]]:
    """Found a team, and serve its desks and the agent; yields the agent's address."""
    team, agents = Folder(folder / "team"), UnixAddress(folder / "crabhook.sock")
    authority = found_team(
        team, "demo", _AT, partial(sealed, passphrase=secrets.token_hex(16)), time()
    )
    reader = TeamReader(team)
    port = PermissionPort(runner, wait=WAIT, tokens=Tokens())
    service = OperatorService(runner, reader.current)
    own = (reader.server_pair(), reader.authority)
    async with (
        open_port(port, [agents]),
        open_operators(service, TcpAddress("127.0.0.1", 0), *own) as desks,
    ):
        yield str(agents), [_seat(folder, authority, team, str(desks), name) for name in PEOPLE]


def _seat(folder: Path, authority: Authority, team: Folder, server: str, name: str) -> Seat:
    """Admit a person with a device in the demo's folder."""
    member = invitable(Team("", "", 0), name, PEOPLE[name][0], Scope())
    keys, home, passphrase = DeskKeys.new(closing=False), folder / name, secrets.token_hex(16)
    who = Joining(Joins.DESK, *keys.requests(), f"{name}'s laptop")
    joined = let_in(team, authority, member, server, who)
    kept = keep(home / "crabhook", keys, joined, who.name, partial(sealed, passphrase=passphrase))
    return Seat(name, home, kept, passphrase)


# Without a terminal: lines.


async def _played(script: DemoSession, server: str, seats: Sequence[Seat], folder: Path) -> None:
    """Play both people at desks of lines; each line names its person."""
    write, one_at_a_time = standard_writer(), asyncio.Lock()

    async def tell(text: str, whose: str = "agent") -> None:
        shown = "\n".join(f"{whose:>5} │ {line}" for line in text.split("\n"))
        async with one_at_a_time:
            await write(shown)

    async def reads(read: Read) -> None:
        await tell(f"reads for {read.tool}: {read.answer or 'nothing'}")

    async def sit(seat: Seat) -> None:
        keys, facts = seat.keys.opened(seat.passphrase), seat.keys.facts()
        printed, typed = partial(tell, whose=seat.name), _typed(script, seat.name)
        async with connected(facts.server, keys) as desk:
            attached.release()
            await plain.run(desk, typed_lines(desk, printed, typed), printed)

    attached = asyncio.Semaphore(0)
    try:
        async with beside(*map(sit, seats)) as people:
            async with asyncio.timeout(ATTACH_WITHIN):
                for _ in people:
                    await attached.acquire()
            agent = ScriptedAgent(script, server, folder / "transcript.jsonl", reads)
            await _until_one_ends(agent.play(), *people)
    finally:
        write.close()


# In a terminal: two panes.


async def _on_screens(
    script: DemoSession, runner: Runner, server: str, seats: Sequence[Seat], folder: Path
) -> None:
    """Open both desks in our own tmux, until both have left or the agent has ended."""

    async def reads(read: Read) -> None:
        runner.observe(*read.told())

    async with _tmux(folder, seats) as (tmux, panes):
        for seat, pane in panes.items():
            await _until(partial(tmux.asks, pane))
            await tmux.run("send-keys", "-t", pane, "-l", seat.passphrase)
            await tmux.run("send-keys", "-t", pane, "Enter")
        shown = await tmux.start("-N", "attach-session")  # on this terminal
        agent = ScriptedAgent(script, server, folder / "transcript.jsonl", reads)
        await _until_one_ends(shown.wait(), _acted(runner, agent))


async def _acted(runner: Runner, agent: ScriptedAgent) -> None:

    async def attached() -> bool:
        return runner.attendance.desks == len(PEOPLE)

    await _until(attached)
    await agent.play()
    await asyncio.sleep(LAST_LOOK)


class Tmux:
    """A tmux server that is a child of ours, and ends with us."""

    def __init__(self, place: Path) -> None:
        self._words = ("tmux", "-S", str(place), "-f", os.devnull)

    async def start(self, *words: str, **streams: Any) -> asyncio.subprocess.Process:  # noqa: ANN401 - as asyncio takes them
        """Start tmux without its own variable, so that ours can run inside another."""
        environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
        command = (*self._words, *words)
        return await asyncio.create_subprocess_exec(*command, env=environment, **streams)

    async def run(self, *words: str) -> str:
        """Give the server a command; return what it prints."""
        command = await self.start("-N", *words, stdout=asyncio.subprocess.PIPE)
        printed, _ = await command.communicate()
        return printed.decode().rstrip("\n")

    async def asks(self, pane: str) -> bool:
        """Whether the desk in a pane asks for the passphrase."""
        return "Your passphrase" in await self.run("capture-pane", "-p", "-t", pane)


# The look of the panes; F2 or the mouse changes between them.
_LOOKS = (
    ("set-option", "-g", "mouse", "on"),
    ("set-option", "-g", "pane-border-status", "top"),
    ("set-option", "-g", "pane-border-format", " #{@who} "),
    ("set-option", "-g", "escape-time", "10"),
    ("set-option", "-g", "status-left", ""),
    ("set-option", "-g", "window-status-current-format", ""),
    ("set-option", "-g", "status-right-length", "100"),
    ("set-option", "-g", "status-right", "F2, or the mouse: the other desk · q leaves a desk "),
    ("bind-key", "-n", "F2", "select-pane", "-t", ":.+"),
)


@asynccontextmanager
async def _tmux(
    folder: Path, seats: Sequence[Seat]
) -> AsyncIterator[tuple[Tmux, Mapping[Seat, str]]]:
    tmux, null = Tmux(folder / "tmux"), asyncio.subprocess.DEVNULL
    # It shows nothing on a terminal that it has open itself.
    server = await tmux.start("-D", stdin=null, stdout=null, stderr=null)
    await _until(lambda: asyncio.to_thread((folder / "tmux").exists))  # it takes commands
    try:
        columns, rows = os.get_terminal_size()
        direction = "-h" if columns >= BESIDE else "-v"
        size = ("-d", "-x", str(columns), "-y", str(rows))
        panes: dict[Seat, str] = {}
        for seat in seats:
            new = ("split-window", direction) if panes else ("new-session", *size)
            home = {"XDG_CONFIG_HOME": str(seat.home), "HOME": str(seat.home)}
            variables = (f"{name}={value}" for name, value in home.items())
            command = ("env", *variables, *own_command("desk"))
            panes[seat] = await tmux.run(*new, "-P", "-F", "#{pane_id}", "--", *command)
            who = f"{seat.name}, {PEOPLE[seat.name][0]}, at {seat.name}'s laptop"
            await tmux.run("set-option", "-p", "-t", panes[seat], "@who", who)
        for words in (*_LOOKS, ("select-pane", "-t", panes[seats[0]])):
            await tmux.run(*words)
        yield tmux, panes
    finally:
        await tmux.run("kill-server")
        await server.wait()


async def _until(true: Callable[[], Awaitable[bool]]) -> None:
    """Wait until other processes make something true, or give up after a while."""
    with suppress(TimeoutError):
        async with asyncio.timeout(ATTACH_WITHIN):
            while not await true():  # noqa: ASYNC110 - no event tells of another process
                await asyncio.sleep(LOOK_EVERY)


async def _until_one_ends(*work: Awaitable[object]) -> None:
    """Wait until one of several has ended; cancel the others."""
    async with beside(*work) as tasks:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
