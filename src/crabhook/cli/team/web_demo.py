"""`crabhook demo --web`: one server with a page, its person, and the scripted agent.

The team is thrown away at the end. Its one invitation waits for the browser of this machine, and
the demo itself compares the six words: nobody but this terminal has its link.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time

from crabhook.app.admission import Admitted, PeopleListening
from crabhook.app.web import open_pages
from crabhook.cli.team.inviting import change
from crabhook.config import Settings
from crabhook.demo.script import WAIT, ScriptedAgent, stage
from crabhook.demo.sessions import DemoSession, Read, own_agent
from crabhook.model.actor import Role
from crabhook.server.address import PageAddress, Tokens, UnixAddress
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.operators.service import OperatorService
from crabhook.team.certificates import Authority, sealed
from crabhook.team.edit_team import invitable, with_passkey
from crabhook.team.folder import Folder
from crabhook.team.membership import Member, Scope, Team
from crabhook.team.team_file import TeamReader, found_team, team_in
from crabhook.team.web_enrolling import CommandSide
from crabhook.ui.console import say, takes_a_person

NAME = "you"
LOOK_EVERY = 0.3  # seconds between two looks at what the browser did
GO_ON = (
    "",
    "With your own agent:  {}",
    "and your own page:    crabhook up --web         (docs/how-to/phone.md)",
)


def play(script: DemoSession) -> None:
    """Play the demo until the agent's script is over and the person leaves."""
    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_demo(script))
    for line in GO_ON:
        say(line.format(own_agent(script.agent)))


async def _demo(script: DemoSession) -> None:
    async with stage() as (folder, runner, _):
        team = Folder(folder / "team")
        seal = partial(sealed, passphrase=secrets.token_hex(16))
        authority = found_team(team, "demo", ("localhost",), seal, time())
        member = invitable(Team("", "", 0), NAME, Role.ADMIN, Scope())
        agents = UnixAddress(folder / "crabhook.sock")
        port = PermissionPort(runner, wait=WAIT, tokens=Tokens())
        async with open_port(port, [agents]), _page(runner, team, folder) as page:
            side = CommandSide(team, team_in(team), member, page.url, time())
            _lead(page.url, side.link)
            await _let_in(side, team, authority, member)
            await _until(lambda: runner.attendance.desks > 0)

            async def reads(read: Read) -> None:
                say(f"{read.tool}: {read.told()[1]}")

            await ScriptedAgent(script, str(agents), folder / "transcript.jsonl", reads).play()
            if takes_a_person():
                say("That was all. The page stays until you press Ctrl-C here.")
                await asyncio.Event().wait()


@asynccontextmanager
async def _page(runner: Runner, team: Folder, folder: Path) -> AsyncIterator[PageAddress]:
    """Serve the page at a free port."""
    reader = TeamReader(team)
    service = OperatorService(runner, reader.current)
    shared = PeopleListening(service, runner, [], None)
    settings, admitted = Settings(web="127.0.0.1:0"), Admitted(Tokens(), reader, None)
    try:
        async with open_pages(shared, settings, admitted, folder / "push") as page:
            yield page
    finally:
        service.close()


def _lead(page: str, link: str) -> None:
    """Say where to go, on this machine or from elsewhere."""
    port = page.rpartition(":")[2]
    say("Open this in the browser of this machine, and make a passkey there:")
    say(f"  {link}")
    say(f"From elsewhere first, with this machine as HOST: `ssh -L {port}:127.0.0.1:{port} HOST`")


async def _let_in(side: CommandSide, folder: Folder, authority: Authority, member: Member) -> None:
    """Take the browser's passkey into the team; raises CrabhookError where nobody came."""
    offered = side.look(time())
    while offered is None:
        await asyncio.sleep(LOOK_EVERY)
        offered = side.look(time())
    say(f"The page shows {offered.words}. It is the same here, so it is let in.")
    # The agent is a script, so no program of an agent uses the passkey of this machine.
    passkey = replace(side.passkey(offered, time(), agents_machine=False), confirmed=True)
    change(folder, authority, partial(with_passkey, member=member, passkey=passkey))
    side.admitted(passkey.name)
    say("Sign in there by the passkey. Then the agent begins.")
    say("The browser keeps this passkey for crabhook.localhost: remove it there afterwards.")


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - a browser makes it true
        await asyncio.sleep(LOOK_EVERY)
