"""README's picture of a phone; run as a module it makes it.

The real `crabhook demo --web` is played, in the system's browser at the size of a phone. The
browser's own virtual authenticator makes the passkey, signs in, and opens the first card.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser import KEY, PHONE, browsing

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "phone.png"
LARGEST = 120_000  # bytes
_LINK = re.compile(r"  (http://crabhook\.localhost:\d+/enrol#\S+)")


@contextmanager
def demo() -> Iterator[str]:
    """Play the demo; gives its link."""
    with tempfile.TemporaryDirectory(prefix="crabhook-", dir="/tmp") as home:
        homes = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR")
        environment = dict(os.environ, PYTHONUNBUFFERED="1") | dict.fromkeys(homes, home)
        command = [sys.executable, "-m", "crabhook", "demo", "--web"]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, text=True
        ) as played:
            assert played.stdout is not None
            try:
                yield next(row[1] for line in played.stdout if (row := _LINK.match(line)))
            finally:
                played.terminate()


async def picture(link: str) -> bytes:
    """Return the first card as a phone shows it."""
    async with browsing() as browser:
        context = await browser.new_context(**PHONE, color_scheme="dark")
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        await cdp.send("WebAuthn.enable")
        await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
        await page.goto(link)
        await page.get_by_role("button", name="Make a passkey", exact=True).tap()
        await page.get_by_role("button", name="Sign in", exact=True).tap()
        await page.locator("#queue-list > [data-card] a.open").first.tap()
        await page.locator("article[data-card] .asked").first.wait_for()
        await page.wait_for_timeout(1500)  # the buttons are armed
        return await page.screenshot(type="png", scale="css")


def main() -> None:
    """Make the picture."""
    with demo() as link:
        made = asyncio.run(picture(link))
    if len(made) > LARGEST:
        raise SystemExit(f"{len(made)} bytes are too many for a picture of README.md")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(made)


if __name__ == "__main__":
    main()
