"""`crabhook demo`: see the main job done, on this machine, with nothing installed anywhere.

A scripted agent starts the true hook client with inputs that a real agent sends; without a terminal
a scripted operator types a line for each card.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from crabhook.cli.commands import declaring, need_passkeys, reporting
from crabhook.demo.script import WAIT, ScriptedAgent, beside, stage, typed_lines
from crabhook.demo.sessions import CLAUDE, NOTHING, PLAYED, DemoSession, Read, own_agent, session
from crabhook.desk.updates import Desk
from crabhook.model.actor import OWNER
from crabhook.server.address import Tokens, UnixAddress
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.ui.console import say, takes_a_screen
from crabhook.ui.day_counts import DayCounts
from crabhook.ui.options import DeskOptions
from crabhook.ui.plain import desk as plain
from crabhook.ui.terminal import standard_writer
from crabhook.ui.text.style import Theme

add_arguments = declaring("demo", {"agents": PLAYED, "CLAUDE": CLAUDE})


def run(arguments: argparse.Namespace) -> int:
    """Play the demo; with no terminal it plays the operator too and prints the transcript."""
    script = session(arguments.agent)
    if arguments.web:
        need_passkeys()
        from crabhook.cli.team import web_demo  # as for a team

        return reporting("demo", lambda _: web_demo.play(script), arguments)
    if arguments.team:
        from crabhook.cli.team import demo  # most people are alone

        demo.play(script)
        return 0
    full_screen = takes_a_screen()
    answers_read = list[Read]()
    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        tally, waiting = asyncio.run(_demo(script, answers_read, full_screen=full_screen))
        if full_screen:
            _end(tally.summary(waiting), script.agent, answers_read)
    return 0


def _end(summary: Iterator[str], agent: str, answers_read: list[Read]) -> None:
    """Print the decisions and what to do next; on request what the agent read."""
    for line in (*summary, *(line.format(own_agent(agent)) for line in GO_ON)):
        say(line)
    sys.stdout.write(ASK)
    sys.stdout.flush()
    if sys.stdin.readline().strip() == "j":
        for read in answers_read:
            say("")
            for line in (f"{read.tool}:", *read.pretty().split("\n")):
                say(line)


GO_ON = (
    "",
    "On a page:            crabhook demo --web",
    "With your own agent:  {}",
    "then, to decide:      crabhook",
    "",
)
TITLE = "demo: the agent is a script"
ALL = "that was all · H what happened · S sessions · q ends"
ASK = "What did the agent read? j and Enter shows it, Enter ends: "


async def _demo(
    script: DemoSession, answers_read: list[Read], *, full_screen: bool
) -> tuple[DayCounts, int]:
    """Play the demo; return its decisions' counts, and how many requests waited at its end."""
    async with stage() as (folder, runner, tally):

        async def tell(read: Read) -> None:
            answers_read.append(read)
            if full_screen:
                runner.observe(*read.told())
            else:
                line = f"agent reads for {read.tool}: {read.answer or NOTHING}\n"
                await standard_writer()(line)

        address = UnixAddress(folder / "crabhook.sock")
        async with open_port(PermissionPort(runner, wait=WAIT, tokens=Tokens()), [address]):
            agent = ScriptedAgent(script, str(address), folder / "transcript.jsonl", tell)
            return tally, await _played(runner, script, agent, full_screen=full_screen)


async def _played(
    runner: Runner, script: DemoSession, agent: ScriptedAgent, *, full_screen: bool
) -> int:
    over = asyncio.get_running_loop().create_future()
    desk = _desk(LocalDesk(runner, OWNER), script, over, full_screen=full_screen)

    async def play() -> None:
        """Let the agent play; a person then looks around for as long as they like."""
        await agent.play()
        over.set_result(ALL)
        if full_screen:
            await asyncio.Event().wait()

    try:
        async with beside(desk, play()) as tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            waiting = len(runner.broker.waiting())
    finally:
        runner.close()
    for task in tasks:
        if not task.cancelled() and (failure := task.exception()):
            raise failure
    return waiting


async def _desk(
    desk: Desk, script: DemoSession, over: "asyncio.Future[str]", *, full_screen: bool
) -> None:
    if full_screen:
        from crabhook.ui.full import app  # the plain desk needs none of these
        from crabhook.ui.text.style import draws_letters, theme_in

        theme, letters = theme_in(os.environ, Theme.AUTO), draws_letters(sys.stdout, os.environ)
        options = DeskOptions(theme=theme, ascii=not letters)
        await app.run(desk, options=options, title=TITLE, last_word=over)
        return
    write = standard_writer()
    await plain.run(desk, typed_lines(desk, write, script.typed()), write)
