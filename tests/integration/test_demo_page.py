"""The demo with a page: a browser is let in by the demo itself, and decides the agent's call."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook.team.passkeys import from_text, to_text
from crabhook.team.web_enrolling import shown_of
from tests.support.authenticator import Authenticator
from tests.support.web_page import SOON, WebPage, client, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.process


@pytest.fixture
def home() -> Iterator[Path]:
    """Return a folder with a short name: a socket's path has to be short."""
    with tempfile.TemporaryDirectory(prefix="crabhook-", dir="/tmp") as folder:
        yield Path(folder)
        assert not list(Path(folder).iterdir())  # its team, record and keys are thrown away


@asynccontextmanager
async def demo(home: Path) -> AsyncIterator[asyncio.StreamReader]:
    """Play the demo; gives what it prints."""
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR")
    environment = dict(os.environ, PYTHONUNBUFFERED="1") | dict.fromkeys(homes, str(home))
    command = [sys.executable, "-m", "crabhook", "demo", "--web"]
    played = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert played.stdout is not None
    try:
        yield played.stdout
    finally:
        played.terminate()
        await played.wait()


async def line_with(printed: asyncio.StreamReader, pattern: str) -> str:
    async with asyncio.timeout(SOON):
        async for line in printed:
            if match := re.search(pattern, line.decode()):
                return match[1]
    raise AssertionError(f"the demo ended without {pattern}")


async def test_a_browser_is_let_in_and_denies_what_the_agent_asks(home: Path) -> None:
    async with demo(home) as printed, client() as http:
        link = await line_with(printed, r"  (http://crabhook\.localhost:\d+/enrol#\S+)")
        origin, _, secret = link.partition("/enrol#")
        page = WebPage(http, origin, Authenticator(rp="crabhook.localhost", origin=origin))
        shown = to_text(shown_of(secret))
        begun = await page.ask("POST", "/enrol", {"step": "begin", "shown": shown})
        made = page.key.register(from_text(begun.value["options"]["challenge"])).json
        offer = {"step": "offer", "shown": shown, "registration": made, "device": "here"}
        words = (await page.ask("POST", "/enrol", offer)).value["words"]
        assert await line_with(printed, r"The page shows ([a-z ]+)\.") == words
        await line_with(printed, "(Sign in there)")
        assert (await page.sign_in()).status == 200
        async with page.stream() as events:
            row = ""
            while 'data-card="1"' not in row:
                row = str((await until(events, "some")).value["put"])
            call = {
                "act": "deny",
                "card": 1,
                "seen": int(re.findall(r'data-seen="(\d+)"', row)[0]),
                "seen_sha256": re.findall(r'data-sha="([0-9a-f]+)"', row)[0],
            }
            assert (await page.call({**call, "value": "keep it"}, sign=True)).status == 200
            assert "keep it" in await line_with(printed, r"Bash: (.*)")
