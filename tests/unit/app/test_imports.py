"""What `crabhook serve` imports before it listens, and what it brings as soon as it does."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from tempfile import TemporaryDirectory

import pytest

NOT_YET = (
    "aiohttp",
    "crabhook.doctor",
    "crabhook.install",
    "crabhook.lint",
    "crabhook.policy.calls",
    "crabhook.policy.effects",
    "crabhook.policy.evaluate",
    "crabhook.policy.matcher",
    "crabhook.policy.propose",
    "crabhook.policy.protected",
    "crabhook.policy.rule_index",
    "crabhook.policy.rulefile",
    "crabhook.policy.shell",
    "crabhook.remote",
    "crabhook.rulebook.edit",
    "crabhook.secrets",
    "crabhook.server.core.offers",
    "crabhook.server.http",
    "crabhook.server.metrics.collector",
    "crabhook.server.ndjson",
    "crabhook.server.operators",
    "crabhook.supervisor",
    "crabhook.server.push",
    "crabhook.server.web",
    "crabhook.team.certificates",
    "crabhook.team.enrolling",
    "crabhook.team.membership",
    "crabhook.team.passkeys",
    "crabhook.team.team_file",
    "crabhook.team.web_enrolling",
    "crabhook.ui.full",
    "crabhook.ui.plain",
    "crabhook.ui.web",
    "cryptography",
    "fido2",
    "markdown_it",
    "pathspec",
    "prometheus_client",
    "prompt_toolkit",
    "pygments",
    "tomlkit",
    "tree_sitter",
)
"""What only some servers need, and what none needs before a call comes."""

_IMPORTED = re.compile(rb"import time: +-?\d+ \| +-?\d+ \| +(\S+)\n")


@pytest.fixture
def server() -> Iterator[Iterator[str]]:
    """Start a server; yields each module once it is imported, and "" where the server listens."""
    with (
        TemporaryDirectory(prefix="crabhook-", dir="/tmp") as home,  # short: a socket's path
        subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "crabhook", "serve", "--plain"],
            env={"HOME": home, "XDG_RUNTIME_DIR": home, "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as started,
    ):
        assert started.stdout is not None
        try:
            yield _told(started.stdout)
        finally:
            started.kill()


def _told(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        if found := _IMPORTED.fullmatch(line):
            yield found[1].decode()
        elif b"listening on" in line:
            yield ""


@pytest.mark.process
def test_no_server_begins_to_listen_later_for_what_it_may_not_need(server: Iterator[str]) -> None:
    before = set(takewhile(bool, server))
    assert "crabhook.server.core.runner" in before  # what is told can be read
    early = {one for one in before for name in NOT_YET if f"{one}.".startswith(f"{name}.")}
    assert early == set()


@pytest.mark.process
def test_what_judges_a_call_is_there_soon_after_without_any(server: Iterator[str]) -> None:
    assert "" in server
    assert "crabhook.policy.evaluate" in server
