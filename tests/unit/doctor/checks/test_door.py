"""Whether the server takes the hooks that are sent to it, and what mends it where it does not."""

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest
import trustme

from crabhook.doctor.checks import installed, server
from crabhook.doctor.checks.server import takes
from crabhook.doctor.examination import program_runs
from crabhook.doctor.finding import Finding, Status
from tests.unit.doctor.home import Home, is_well
from tests.unit.server.http.standing import TOKEN, standing


@pytest.fixture(autouse=True)
def no_token(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRABHOOK_TOKEN", raising=False)


def install(home: Home, url: str = "http://127.0.0.1:9", *options: str) -> None:
    home.install("--gate", "--transport", "http", "--url", url, *options)


async def found(home: Home, *options: str) -> tuple[Finding, ...]:
    """What is found while a server listens."""
    async with standing() as door:
        install(home, str(door.where), *options)
        return await asyncio.to_thread(lambda: tuple(takes(home.case())))


async def test_a_server_that_takes_the_token_is_well(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABHOOK_TOKEN", TOKEN)
    (finding,) = await found(home)
    assert is_well(finding)


async def test_the_settings_may_hold_it(home: Home) -> None:
    home.write(home.settings, {"env": {"CRABHOOK_TOKEN": TOKEN}})
    (finding,) = await found(home)
    assert is_well(finding)


@pytest.mark.process
async def test_no_token_here_is_a_warning_and_the_servers_own_is_tried(home: Home) -> None:
    kept = home.write(home.state / "token", f"{TOKEN}\n")
    warning, fits = await found(home)
    assert (warning.status, fits.status) == (Status.WARNING, Status.OK)
    said = await asyncio.to_thread(
        subprocess.run,
        ["/bin/sh", "-c", f'{warning.mend}; printf %s "$CRABHOOK_TOKEN"'],
        capture_output=True,
        text=True,
        check=True,
        env=home.environment,
    )
    assert said.stdout == kept.read_text("ascii").strip()


@pytest.mark.parametrize(
    ("options", "means"),
    [((), "by its own rules alone"), (("--fail-closed",), "is denied")],
)
async def test_a_wrong_token_is_a_fault(
    home: Home, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], means: str
) -> None:
    monkeypatch.setenv("CRABHOOK_TOKEN", "another")
    (finding,) = await found(home, *options)
    assert (finding.status, means in finding.means) == (Status.FAULT, True)
    assert finding.mend.startswith("export CRABHOOK_TOKEN=")


def test_no_server_is_a_fault_and_starting_one_mends_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABHOOK_TOKEN", TOKEN)
    install(home)
    finding = home.look(takes)
    assert finding.status is Status.FAULT
    assert finding.mend == "crabhook serve --http 127.0.0.1:9"
    assert "begun without --http" in finding.advice


def test_one_server_is_enough_for_hooks_that_go_both_ways(home: Home) -> None:
    install(home)
    (finding,) = server.answers(home.case())
    assert finding.mend == f"crabhook serve --listen {home.address} --http 127.0.0.1:9"


async def test_a_certificate_that_nobody_vouches_for_is_told_from_silence(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABHOOK_TOKEN", TOKEN)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(trust)
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=trust) as door:
        install(home, f"https://127.0.0.1:{door.sockets[0].getsockname()[1]}")
        finding = await asyncio.to_thread(home.look, takes)
    assert "NODE_EXTRA_CA_CERTS" in finding.advice


async def test_another_program_at_the_port_does_not_lead_to_a_server_that_cannot_have_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABHOOK_TOKEN", TOKEN)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        install(home, f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}")
        finding = await asyncio.to_thread(home.look, takes)
    assert (finding.status, finding.mend) == (Status.FAULT, "")
    assert finding.advice == "another program has that port"


def test_a_projects_url_is_not_shown_the_token(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRABHOOK_TOKEN", TOKEN)
    install(home, "http://127.0.0.1:9", "--scope", "project")
    finding = home.look(takes)
    assert (finding.status, "was not asked" in finding.what) == (Status.WARNING, True)
    assert home.look(takes, trusting=True).status is Status.FAULT


@pytest.mark.process
def test_the_other_checks_see_an_installation_like_any_other(home: Home) -> None:
    install(home, "http://127.0.0.1:9", "--fail-closed", "--wait", "100")
    case = home.case()
    assert is_well(home.look(installed.current))
    assert "32 events, gate, fail-closed" in home.look(installed.installed).what
    assert is_well(home.look(installed.patient))
    assert is_well(home.look(program_runs))
    assert len(case.servers) == len(case.programs) == len(case.doors) == 1
    assert [finding.id for finding in server.answers(case)] == ["server.answers"]


@pytest.mark.process
def test_what_mends_an_older_entry_keeps_it_sent(home: Home) -> None:
    install(home, "http://127.0.0.1:9", "--wait", "100")
    home.change(lambda settings: settings["hooks"]["Stop"][0]["hooks"][0].update(timeout=1))
    finding = home.look(installed.current)
    assert finding.status is not Status.OK
    home.mend(finding)
    assert is_well(home.look(installed.current))
    (entry,) = home.handlers("Stop")
    assert (entry["type"], entry["headers"]["X-Crabhook-Wait"]) == ("http", "130")


def test_where_nothing_is_sent_there_is_nothing_to_find(home: Home, tmp_path: Path) -> None:
    home.install("--gate")
    assert not list(takes(home.case()))
