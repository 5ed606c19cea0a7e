"""`crabhook demo`: see the main job done, on this machine, with nothing installed anywhere."""

import argparse
import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from crabhook.demo.agent import play
from crabhook.demo.operator import typed_lines
from crabhook.model.actor import OWNER
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.server.address import UnixAddress
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.localdesk import LocalDesk
from crabhook.server.runner import Runner
from crabhook.ui.options import DeskOptions
from crabhook.ui.plain import desk as plain
from crabhook.ui.terminal import standard_writer

WAIT = 600.0  # seconds; nobody looks at a demo longer


def add_arguments(_: argparse.ArgumentParser) -> None:
    """Declare nothing: a demo has no options."""


def run(_: argparse.Namespace) -> int:
    """Play the demo; with no terminal it plays the operator too and prints the transcript."""
    full_screen = sys.stdin.isatty() and sys.stdout.isatty()
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
            desk = asyncio.ensure_future(_desk(LocalDesk(runner, OWNER), full_screen=full_screen))
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


async def _desk(desk: LocalDesk, *, full_screen: bool) -> None:
    if full_screen:
        from crabhook.ui.full import app  # noqa: PLC0415 - the plain desk needs none of it

        options = DeskOptions(colour="NO_COLOR" not in os.environ)
        await app.run(desk, options=options, title="demo: the agent is a script")
        return
    write = standard_writer()
    await plain.run(desk, typed_lines(desk, write), write)
