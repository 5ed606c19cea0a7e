"""A web desk that calls the devices of its only person, without a browser and its push service."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crabhook.app.web import WebFace
from crabhook.model.actor import Role
from crabhook.server.operators.service import OperatorService
from crabhook.server.push.endpoints import Services
from crabhook.server.push.push import Push
from crabhook.server.web.listener import WebOpening, WebParts, open_web
from crabhook.team.folder import Folder
from crabhook.team.membership import Member, Team
from crabhook.team.web_enrolling import PageSide
from tests.support.authenticator import Authenticator
from tests.support.playbook import bash
from tests.support.runners import bare_runner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from crabhook.server.core.runner import Runner

HOST = "crabhook.localhost"
AFTER = 0.5  # seconds for which a card waits before it calls anybody


@dataclass
class PushHouse:
    """The server, and the passkey of its only person, ann."""

    runner: Runner
    push: Push
    key: Authenticator

    def ask(self, ticket: str) -> None:
        self.runner.enter(bash(ticket, "ls", ticket, wait=self.runner.now() + 600), None)

    def shown(self) -> bool:
        """Whether a device has reported that it showed a notice."""
        return any(phone.shown for phone in self.push.phones("o-ann"))


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - of what has no event
            await asyncio.sleep(0.05)


@asynccontextmanager
async def push_house(folder: Path, service: str) -> AsyncIterator[PushHouse]:
    """Open a web desk whose devices are called through the push service at this address."""
    key = Authenticator(rp=HOST)
    member = Member("o-ann", "ann", Role.DECIDER, passkeys=(key.passkey("ann"),))
    team = Team("t", "ours", 1, (member,))
    runner = bare_runner()
    operators = OperatorService(runner, lambda: team)
    push = Push(folder / "push", Services([service]), lambda: team, AFTER)
    push.follow(runner)
    keeping = asyncio.ensure_future(push.keep())
    parts = WebParts(WebFace(), push, PageSide(Folder(folder / "team")))
    opening = WebOpening("127.0.0.1:0", (HOST,))
    try:
        async with open_web(opening, operators, lambda: team, parts) as at:
            key.origin = f"http://{HOST}:{at.address.port}"
            yield PushHouse(runner, push, key)
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        operators.close()
        runner.close()
