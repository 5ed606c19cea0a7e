"""`crabhook demo`: see the main job done, on this machine, with nothing installed anywhere.

A scripted agent starts the true hook client with inputs recorded from a real Claude
Code; without a terminal a scripted operator types a line for each card.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from crabhook import hook
from crabhook.cli.terminal import takes_a_screen
from crabhook.desk.interface import Desk
from crabhook.desk.updates import Update
from crabhook.model.actor import OWNER
from crabhook.model.card import Card, State
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.server.address import UnixAddress
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.ui.options import DeskOptions
from crabhook.ui.plain import desk as plain
from crabhook.ui.terminal import standard_writer
from crabhook.ui.text.style import Theme

WAIT = 600.0  # seconds; nobody looks at a demo longer


def add_arguments(_: argparse.ArgumentParser) -> None:
    """Declare nothing: a demo has no options."""


def run(_: argparse.Namespace) -> int:
    """Play the demo; with no terminal it plays the operator too and prints the transcript."""
    full_screen = takes_a_screen()
    told = asyncio.run(_demo(full_screen=full_screen))
    if full_screen:
        print("What the agent read of your decisions:\n", *told, sep="\n")  # noqa: T201
    return 0


async def _demo(*, full_screen: bool) -> list[str]:
    runner, told = Runner(PLATFORMS), list[str]()
    service = PermissionPort(runner, wait=WAIT, token=None)

    async def tell(line: str) -> None:
        told.append(line)
        if full_screen:
            runner.observe(Event("claude", "Demo", session="demo"), line)
        else:
            await standard_writer()(f"{line}\n")

    with TemporaryDirectory(prefix="crabhook-demo-") as folder:
        address = UnixAddress(Path(folder, "crabhook.sock"))
        async with open_port(service, [address]):
            desk = asyncio.ensure_future(_desk(runner.desk(OWNER), full_screen=full_screen))
            agent = asyncio.ensure_future(play(str(address), tell))
            try:
                await asyncio.wait([desk, agent], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (desk, agent):
                    task.cancel()
                failures = await asyncio.gather(desk, agent, return_exceptions=True)
                runner.close()
    for failure in failures:
        if isinstance(failure, Exception):
            raise failure
    return told


async def _desk(desk: Desk, *, full_screen: bool) -> None:
    if full_screen:
        from crabhook.ui.full import app  # noqa: PLC0415 - the plain desk needs none of these
        from crabhook.ui.full.background import draws_letters, theme_in  # noqa: PLC0415

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


async def play(server: str, tell: Callable[[str], Awaitable[None]]) -> None:
    """Make each call in turn, as an agent does; `tell` hears what the agent would read.

    A client is started as the installed hook is, with the server's address.
    """
    command = [sys.executable, "-I", "-S", f"{hook.__path__[0]}/run.py", "--server", server]
    for call in calls():
        await asyncio.sleep(SESSION_PAUSE)
        client = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        try:
            stdout, _ = await client.communicate(call.payload)
        except asyncio.CancelledError:
            client.kill()
            await client.wait()
            raise
        answer = stdout.decode().strip() or "nothing: no opinion, so the agent asks its own user"
        await tell(f"agent reads for {call.tool}: {answer}")
    await asyncio.sleep(SESSION_PAUSE)


# Tool -> what a person might type about it, after the card's number.
LINES = {
    "Bash": "allow only this once",
    "Edit": "deny retry in client.put instead, other callers need it too",
    "AskUserQuestion": 'answer 1=2 1.note="keep it small" 2=1,3 3="upload of %s failed, try %d"',
    "ExitPlanMode": "allow",
}


async def typed_lines(desk: Desk, write: Callable[[str], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield a line for each new card, shown as it is typed; ends with the last of `LINES`."""
    cards: asyncio.Queue[Card] = asyncio.Queue()

    def hear(update: Update) -> None:
        if isinstance(update.news, Card) and update.news.state is State.WAITING:
            cards.put_nowait(update.news)

    stop = desk.subscribe(hear)
    try:
        for _ in LINES:
            card = await cards.get()
            await asyncio.sleep(0.2)  # the card is read before it is decided
            tool = card.event.tool
            line = f"{card.number} {LINES[tool.name] if tool else 'pass'}"
            await write(f"> {line}")
            yield line
        await asyncio.Event().wait()  # the operator stays until the demo is over
    finally:
        stop()
