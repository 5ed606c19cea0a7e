"""Stock Firefox, driven by its own protocol (Marionette): no driver is installed for it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from tests.support.requirements import leave_out

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

STARTS_WITHIN = 90.0  # seconds; the first start on a machine is slow

QUIET: Mapping[str, object] = {
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 0,
    "services.settings.server": "http://127.0.0.1:9/",
    "toolkit.telemetry.enabled": False,
}
"""Settings by which it asks nobody anything."""


class FirefoxError(Exception):
    """What Firefox answered in place of a result."""


def program() -> str:
    """The program; skips the test where it is missing, and fails it where browsers are required."""
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        leave_out("Firefox is missing: apt-get install firefox-esr")
    return path


@dataclass
class Firefox:
    """A running Firefox with a session; `tell` sends a command of WebDriver by Marionette's name."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    _numbers: count[int]

    async def tell(self, command: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        text = json.dumps([0, number, command, parameters])
        self.writer.write(f"{len(text.encode())}:{text}".encode())
        _, answered, error, result = await self._message()
        assert answered == number
        if error:
            raise FirefoxError(f"{command}: {error['error']}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    async def _message(self) -> Any:
        length = await self.reader.readuntil(b":")
        return json.loads(await self.reader.readexactly(int(length[:-1])))

    async def open(self, url: str) -> None:
        await self.tell("WebDriver:Navigate", url=url)

    async def run(self, script: str, *arguments: Any) -> Any:
        """Run a script's body in the page, outside its policy; a promise is waited for."""
        waits = f"return (async (...arguments) => {{{script}}})(...arguments)"
        return await self.tell(
            "WebDriver:ExecuteScript", script=waits, args=list(arguments), sandbox="default"
        )

    async def until(self, script: str, *arguments: Any, within: float = 60.0) -> Any:
        """Run a script until it returns something true; return that."""
        async with asyncio.timeout(within):
            while not (value := await self.run(script, *arguments)):  # noqa: ASYNC110 - of the page
                await asyncio.sleep(0.1)
        return value

    async def chrome(self, script: str, *arguments: Any) -> Any:
        """Run a script's body in the browser itself."""
        await self.tell("Marionette:SetContext", value="chrome")
        try:
            return await self.run(script, *arguments)
        finally:
            await self.tell("Marionette:SetContext", value="content")

    async def click(self, selector: str) -> None:
        element = await self.tell("WebDriver:FindElement", using="css selector", value=selector)
        await self.tell("WebDriver:ElementClick", id=next(iter(element.values())))

    async def add_cookie(self, cookie: str) -> None:
        """Add a cookie as our server sets it, to the page that is open."""
        name, _, value = cookie.partition("=")
        await self.tell(
            "WebDriver:AddCookie",
            cookie={
                "name": name,
                "value": value,
                "path": "/",
                "secure": True,
                "httpOnly": True,
                "sameSite": "Strict",
            },
        )


def _write_settings(profile: Path, settings: Mapping[str, object]) -> None:
    profile.mkdir(parents=True, exist_ok=True)
    lines = (
        f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in settings.items()
    )
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")


@asynccontextmanager
async def firefox(folder: Path, settings: Mapping[str, object]) -> AsyncIterator[Firefox]:
    """Run Firefox without a window; its profile and home are in `folder`."""
    profile = folder / "profile"
    _write_settings(profile, {**QUIET, **settings})
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    process = await asyncio.create_subprocess_exec(
        *(
            program(),
            "--headless",
            "--no-remote",
            "--profile",
            str(profile),
            "--marionette",
            "-remote-allow-system-access",
        ),
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        browser = await _connected(profile / "MarionetteActivePort")
        try:
            yield browser
        finally:
            browser.writer.close()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _connected(port: Path) -> Firefox:
    async with asyncio.timeout(STARTS_WITHIN):
        while not await asyncio.to_thread(port.exists):  # noqa: ASYNC110 - of a file
            await asyncio.sleep(0.1)
        number = int(await asyncio.to_thread(port.read_text))
        reader, writer = await asyncio.open_connection("127.0.0.1", number)
        browser = Firefox(reader, writer, count(1))
        await browser._message()  # its greeting
        await browser.tell("WebDriver:NewSession", capabilities={})
    return browser
