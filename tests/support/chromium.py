"""The whole Chromium, driven by its own protocol: its tabs hide each other, and it shows notices.

The driver of the other tests keeps every page in view, and the headless shell shows no notices.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.support.requirements import leave_out

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

STARTS_WITHIN = 90.0  # seconds; the first start on a machine is slow
QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)


def program() -> str:
    """The program; skips the test where it is missing, and fails it where browsers are required."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        leave_out("the whole Chromium is missing: apt-get install chromium")
    return path


@dataclass
class Chromium:
    """A running Chromium; `news` are the events of its protocol that came so far."""

    socket: aiohttp.ClientWebSocketResponse
    news: list[dict[str, Any]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    async def tell(self, method: str, session: str = "", **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        await self.socket.send_json(message | ({"sessionId": session} if session else {}))
        while True:
            answer = await self.socket.receive_json()
            if answer.get("id") != number:
                self.news.append(answer)
                continue
            assert "error" not in answer, f"{method}: {answer['error']}"
            return answer["result"]

    async def tab(self) -> Tab:
        """Open a tab in front of the others."""
        target = (await self.tell("Target.createTarget", url="about:blank"))["targetId"]
        attached = await self.tell("Target.attachToTarget", targetId=target, flatten=True)
        return Tab(self, target, attached["sessionId"])

    async def permit(self, origin: str, what: str) -> None:
        await self.tell("Browser.grantPermissions", origin=origin, permissions=[what])


@dataclass
class Tab:
    """A tab of the browser."""

    browser: Chromium
    target: str
    session: str

    async def tell(self, method: str, **parameters: Any) -> Any:
        return await self.browser.tell(method, self.session, **parameters)

    async def front(self) -> None:
        """Bring the tab before the others, which are hidden then."""
        await self.browser.tell("Target.activateTarget", targetId=self.target)

    async def open(self, url: str, cookie: str = "") -> None:
        """Open a page; `cookie` is set first, as our server sets it."""
        if cookie:
            name, _, value = cookie.partition("=")
            kept = {"secure": True, "httpOnly": True, "sameSite": "Strict", "path": "/"}
            await self.tell("Network.setCookie", url=url, name=name, value=value, **kept)
        await self.tell("Page.navigate", url=url)

    async def run(self, script: str) -> Any:
        """Run a script's body in the page; a promise is waited for."""
        answer = await self.tell(
            "Runtime.evaluate",
            expression=f"(async () => {{{script}}})()",
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, script: str) -> Any:
        """Run a script until it returns something true; return that."""
        async with asyncio.timeout(60):
            while not (value := await self.run(script)):  # noqa: ASYNC110 - of the page
                await asyncio.sleep(0.1)
        return value

    async def deliver(self, origin: str, message: str) -> None:
        """Give a message to the worker of an origin, as a push service does."""
        await self.tell("ServiceWorker.enable")
        async with asyncio.timeout(60):
            while not (ids := self._workers(origin)):
                await self.run("return 0")  # what came meanwhile is read with the answer
        await self.tell(
            "ServiceWorker.deliverPushMessage",
            origin=origin,
            registrationId=ids[-1],
            data=message,
        )

    def _workers(self, origin: str) -> list[str]:
        return [
            each["registrationId"]
            for event in self.browser.news
            if event.get("method") == "ServiceWorker.workerRegistrationUpdated"
            for each in event["params"]["registrations"]
            if each["scopeURL"].startswith(origin)
        ]


@asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Chromium]:
    """Run Chromium without a window; its profile and home are in `folder`."""
    process = await asyncio.create_subprocess_exec(
        program(),
        *QUIET,
        f"--user-data-dir={folder / 'profile'}",
        env={"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(STARTS_WITHIN):
            address = await _address(process)
        async with aiohttp.ClientSession() as http, http.ws_connect(address, max_msg_size=0) as ws:
            yield Chromium(ws)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()


async def _address(process: asyncio.subprocess.Process) -> str:
    """Return where the browser takes its protocol, which it says on its standard error."""
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if listens := re.search(rb"ws://\S+", line):
            return listens[0].decode()
    raise AssertionError("Chromium ended before it listened")
