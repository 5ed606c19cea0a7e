"""docs/how-to/another-machine.md: its commands make a certificate, a server and hooks that reach it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from crabhook.doctor.checks.server import answers
from crabhook.doctor.facts import DoctorTask, case
from crabhook.doctor.finding import Status
from crabhook.platforms import PLATFORMS
from tests.support.plain_desk import CRABHOOK
from tests.support.port import short_folder

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "another-machine.md"
SECTION = PAGE.read_text(encoding="utf-8").split("## With a token and TLS")[1]
MAKE, SERVE, FETCH, INSTALL = (
    re.sub("^ {3}", "", block, flags=re.MULTILINE)
    for block in re.findall(r"^ {3}```sh\n(.*?)^ {3}```", SECTION, re.MULTILINE | re.DOTALL)
)


@pytest.mark.process
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_hooks_reach_a_server_that_was_begun_as_the_page_says() -> None:
    with short_folder() as home:
        environment = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "PATH": f"{Path(CRABHOOK).parent}:{os.environ['PATH']}",
        }

        def here(text: str) -> str:
            """The same where both machines are this one."""
            return text.replace("desk.example", "localhost").replace("0.0.0.0:7443", address)

        def run(text: str) -> None:
            subprocess.run(["sh", "-ec", text], env=environment, check=True, timeout=60)

        address = "127.0.0.1:0"
        run(here(MAKE))
        assert (home / ".config/crabhook/server.key").stat().st_mode & 0o077 == 0
        with subprocess.Popen(
            ["sh", "-ec", f"exec {here(SERVE).strip()} --headless"],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                assert server.stderr is not None
                told = re.search(r"127\.0\.0\.1:(\d+)", server.stderr.readline())
                assert told
                run(re.sub(r"^scp localhost:(\S+)", r"cp ~/\1", here(FETCH), flags=re.MULTILINE))
                run(here(INSTALL).replace("localhost:7443", f"localhost:{told[1]}"))
                wish = DoctorTask(home, "claude")
                (found,) = answers(case(PLATFORMS["claude"], wish, environment))
                assert found.status is Status.OK, found.what
            finally:
                server.terminate()
