"""A machine in the team asks a true server through the true client, until it is let out."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook.team.edit_team import with_machine, without_machine
from crabhook.team.membership import Machine, digest_of
from tests.support.client import Client, sample
from tests.support.service import CRABHOOK, Service
from tests.support.team import Founded, founded

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "a-token-of-build1-alone"


@pytest.fixture
def team() -> Iterator[Founded]:
    """A team in a home that is short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="crabhook-team-", dir="/tmp") as home:
        made = founded(Path(home, ".local/state/crabhook/team"), time.time())
        machine = Machine("build1", digest_of(TOKEN), int(made.now))
        made.change(lambda before: with_machine(before, machine))
        yield made


def home_of(team: Founded) -> Path:
    return team.folder.path.parents[3]


def test_hooks_of_a_machine_are_answered_over_the_teams_tls_until_it_is_revoked(
    team: Founded,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        port = line.getsockname()[1]
    place, beyond = f"127.0.0.1:{port}", f"0.0.0.0:{port}"
    token = home_of(team) / "token-here"
    token.write_text(TOKEN)
    token.chmod(0o600)
    shown = ("--token-file", str(token), "--tls-ca", str(team.folder.authority))
    strict = ("--headless", "--otherwise", "deny", "--log-format", "json", "--listen", beyond)
    with Service(*strict, folder=home_of(team)) as server:
        asked = sample("PreToolUse-Bash")
        answer = Client(place, asked, *shown).finish()
        assert answer.output["hookSpecificOutput"]["permissionDecision"] == "deny"
        team.change(lambda before: without_machine(before, "build1", int(team.now)))
        refused = Client(place, asked, *shown).finish()
        assert refused.silent
        assert "no token, or a wrong token" in refused.stderr
        server.wait_for(lambda line: "the machine build1 was revoked" in line)


@pytest.mark.thorough
def test_no_machine_is_invited_to_a_place_that_is_served_without_tls(team: Founded) -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        port = line.getsockname()[1]
    place = f"127.0.0.1:{port}"
    headless = ("--headless", "--log-format", "json", "--listen")
    with Service(*headless, place, folder=home_of(team)):
        assert "has no TLS at" in invited_to(place, home_of(team))
    with Service(*headless, f"0.0.0.0:{port}", folder=home_of(team)):
        assert "no terminal to ask on" in invited_to(place, home_of(team))  # for the passphrase
    assert "no terminal to ask on" in invited_to(place, home_of(team))
    settings = home_of(team) / ".config/crabhook/settings.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'[server]\nlisten = ["{place}"]\n')
    refusal = invited_to(f"a.example:7443,{place}", home_of(team))
    assert f"the server has no TLS at {place}" in refusal
    assert f"--listen 0.0.0.0:{port}" in refusal


def invited_to(place: str, home: Path) -> str:
    """Invite a machine without a terminal; return why nobody was invited."""
    invite = [CRABHOOK, "team", "invite", "build2", "--machine", "--server", place]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(
        invite, env=environment, capture_output=True, check=False, text=True, start_new_session=True
    )
    assert done.returncode == 1, done.stdout
    return done.stderr


def test_a_server_does_not_begin_beside_a_team_file_that_somebody_changed(team: Founded) -> None:
    content = team.folder.team.read_bytes()
    team.folder.team.write_bytes(content.replace(b'"build1"', b'"build2"'))
    ways = ("--headless", "--log-format", "json", "--listen", "127.0.0.1:0")
    with Service(*ways, folder=home_of(team), waits=False) as server:
        assert server.process.wait(60) == 2
        assert server.wait_for(lambda line: "without the team's passphrase" in line)


def test_what_a_machine_joins_with_is_the_standard_library_alone() -> None:
    read = (
        "import sys, crabhook.cli.install, crabhook.cli.team.attaching; "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    ended = subprocess.run([sys.executable, "-c", read], capture_output=True, check=True, text=True)
    assert not {"cryptography", "grpc", "google", "aiohttp"} & set(ended.stdout.split())
