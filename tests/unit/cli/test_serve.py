"""`crabhook serve`: how it starts, and why it does not."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.port import short_folder
from tests.support.rows import every_row
from tests.support.unserved import why_unserved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = pytest.mark.process


def serve(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command with an empty home and a runtime folder of its own; its lines end at once."""
    with TemporaryDirectory(prefix="crabhook-run-", dir="/tmp") as runtime:  # of a short name
        return subprocess.run(
            [CRABHOOK, "serve", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": runtime},
            check=False,
        )


@pytest.fixture(scope="module")
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


def test_the_default_address_is_where_the_client_asks_without_being_told(tmp_path: Path) -> None:
    with short_folder() as folder:
        runtime = {"XDG_RUNTIME_DIR": str(folder), "HOME": str(tmp_path)}
        server = subprocess.Popen(
            [CRABHOOK, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **runtime},
        )
        assert server.stdout is not None
        assert server.stdin is not None
        assert "listening" in server.stdout.readline()
        client = subprocess.Popen(
            [CRABHOOK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **runtime},
        )
        assert client.stdin is not None
        client.stdin.write(sample("PreToolUse-Bash"))
        client.stdin.close()
        client.stdin = None
        while not server.stdout.readline().startswith("#1 PreToolUse Bash"):
            pass
        server.stdin.write("allow\n")
        server.stdin.flush()
        assert b'"allow"' in client.communicate(timeout=60)[0]
        server.communicate(timeout=60)
        assert os.stat(folder / "crabhook").st_mode & 0o777 == 0o700  # noqa: PTH116


@every_row(
    "options, complaint",
    [
        (["--listen", "nowhere"], "write unix:PATH or HOST:PORT"),
        (["--listen", "0.0.0.0:0"], "needs TLS, as a team has it: `crabhook team init` founds one"),
        (
            ["--listen", "0.0.0.0:0", "--store", "postgresql://nobody@127.0.0.1:1/none"],
            "`crabhook team pull` brings the team on record here. Where there is none yet, `crabh",
        ),
        (["--listen", "127.0.0.1:0", "--tls-cert", "c"], "both --tls-cert and --tls-key"),
        (["--listen", "127.0.0.1:0", "--ndjson", "127.0.0.1:0"], "listens on unix:PATH alone"),
        (["--otherwise", "ask"], "--otherwise says what --headless and --no-desk do"),
        (["--headless", "--no-desk"], "not both"),
        (["--http-name", "desk.example"], "--http-name is a name of the HTTP door"),
        (["--operators", "127.0.0.1:0"], "crabhook team init"),
        (["--wait", "0"], "--wait must be"),
        (["--arming-ms", "-1"], "--arming-ms must be"),
        (["--settings", "/nowhere/at/all"], "there is no settings file"),
    ],
)
def test_what_cannot_be_served_is_said_and_nothing_is_opened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: Sequence[str],
    complaint: str,
) -> None:
    assert complaint in why_unserved(tmp_path, monkeypatch, capfd, *options)
    assert not list(tmp_path.glob("*.sock"))


def test_a_wrong_setting_is_named_with_its_line(tmp_path: Path) -> None:
    settings = tmp_path / ".config" / "crabhook" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[server]\n\nwait = 'long'\n", encoding="utf-8")
    done = serve(tmp_path)
    assert done.returncode == 2
    assert "settings.toml, line 3: wait must be a number" in done.stderr


def test_tcp_wants_the_token_made_at_the_first_start(tmp_path: Path) -> None:
    token = tmp_path / "token"
    with PlainDesk("--listen", "127.0.0.1:0", "--token-file", str(token)) as desk:
        where = desk.wait_for(r"listening on .*127\.0\.0\.1:(\d+)", again=True)
        address = f"127.0.0.1:{where[1]}"
        assert token.stat().st_mode & 0o777 == 0o600
        refused = Client(address, sample("PreToolUse-Bash")).finish()
        assert refused.silent
        assert "token" in refused.stderr
        client = Client(address, sample("PreToolUse-Bash"), "--token-file", str(token))
        desk.say(f"{desk.card('Bash')} allow")
        assert client.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"


def test_hooks_that_name_no_server_are_heard_beside_a_tcp_address(tmp_path: Path) -> None:
    with PlainDesk("--token-file", str(tmp_path / "token"), listen="127.0.0.1:0") as desk:
        usual = f"unix:{desk.folder}/crabhook/crabhook.sock"
        desk.wait_for(rf"listening on {usual}, 127\.0\.0\.1:\d+", again=True)
        hook = Client(usual, sample("PreToolUse-Bash"))
        desk.say(f"{desk.card('Bash')} deny heard")
        assert "heard" in hook.finish().stdout.decode()


def test_a_second_server_on_the_same_socket_is_refused(desk: PlainDesk, tmp_path: Path) -> None:
    done = serve(tmp_path, "--listen", desk.address)
    assert done.returncode == 2
    assert f"process {desk.process.pid}" in done.stderr
    client = Client(desk.address, sample("PreToolUse-Bash"))
    desk.say(f"{desk.card('Bash')} allow")
    assert not client.finish().silent


def test_the_harness_bridge_does_not_take_the_ports_own_socket(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with short_folder() as home:
        place = f"unix:{home}/own"
        said = why_unserved(home, monkeypatch, capfd, "--listen", place, "--ndjson", place)
    assert "already listens" in said


def test_the_help_names_every_option_the_page_names() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "settings.md").read_text(
        encoding="utf-8"
    )
    text = subprocess.run(
        [CRABHOOK, "serve", "--help"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    section = page.split("## The server")[1].split("\n## ")[0]
    options = re.compile(r"--[a-z][a-z-]+")
    assert set(options.findall(section)) == set(options.findall(text)) - {"--help"}


def test_whoever_quits_is_told_how_each_request_that_waited_ended() -> None:
    with PlainDesk() as desk:
        clients = [Client(desk.address, sample(f"PreToolUse-{tool}")) for tool in ("Bash", "Read")]
        numbers = {int(desk.wait_for(r"^#(\d+) PreToolUse")[1]) for _ in clients}
        desk.say("quit")
        why = "WITHDRAWN the operator closed the desk"
        assert {int(desk.wait_for(rf"^#(\d+) {why}$")[1]) for _ in clients} == numbers
        assert all(client.finish().silent for client in clients)
        assert desk.process.wait(60) == 0
