"""What is wrong with a desk elsewhere, in words: keys, clock, name, port, certificates."""

import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc
import pytest

from crabhook.doctor.checks import desk
from crabhook.doctor.checks.desk import examine_desks
from crabhook.doctor.finding import Finding, Status
from crabhook.team.certificates import plain
from crabhook.team.desk_keys import DeskFolder, DeskKeys, keep
from crabhook.team.joining import Joined
from crabhook.team.team_file import serve_as
from tests.support.team import Founded, founded, seal

NOW = time.time()
YEAR = 365 * 86_400


@dataclass
class Place:
    """A device's settings folder, and the team that it is in."""

    config: Path
    team: Founded

    def joined(self, server: str, now: float = NOW, *, closing: bool = True) -> DeskFolder:
        keys = DeskKeys.new(closing=closing)
        issue = partial(self.team.authority.for_device, operator="o", device="d", now=now)
        opening, other = keys.requests()
        made = issue(opening), issue(other, closing=True) if other else b""
        root = self.team.authority.certificate
        joined = Joined(root, *made, server, "ours", "ann", "decider")
        return keep(self.config, keys, joined, "laptop", seal)

    def findings(self) -> dict[str, Finding]:
        return {one.id: one for one in examine_desks(self.config)}


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return Place(tmp_path / "config", founded(tmp_path / "team", NOW))


@contextmanager
def serving(team: Founded, root: bytes | None = None) -> Iterator[str]:
    """A server that wants a certificate of the team's, as the operators' port does."""
    server = grpc.server(ThreadPoolExecutor(1))
    pair = team.folder.server_key.read_bytes(), team.folder.server.read_bytes()
    root = root or team.authority.certificate
    demand = grpc.ssl_server_credentials([pair], root, require_client_auth=True)
    port = server.add_secure_port("127.0.0.1:0", demand)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()


def status(here: Place) -> tuple[Status, str]:
    found = here.findings()["desk.server"]
    return found.status, found.what


def test_all_is_well_where_the_server_takes_the_certificate(here: Place) -> None:
    with serving(here.team) as server:
        here.joined(server)
        assert {one.status for one in here.findings().values()} == {Status.OK}
        assert "takes this device's certificate" in status(here)[1]
        here.joined(server, closing=False)
        assert status(here)[0] is Status.UNKNOWN


def test_a_device_in_no_team_is_told_how_to_come_into_one(here: Place) -> None:
    (found,) = examine_desks(here.config)
    assert found.status is Status.FAULT
    assert "crabhook operators invite" in found.advice


def test_keys_that_others_can_reach_or_that_are_gone_are_said(here: Place) -> None:
    kept = here.joined("127.0.0.1:1")
    (kept.path / "device.key").chmod(0o644)
    assert "others can reach it" in here.findings()["desk.keys"].what
    (kept.path / "device.key").unlink()
    assert "there is no" in here.findings()["desk.keys"].what
    (kept.path / "desk.json").write_text("[]")
    assert "cannot be read" in here.findings()["desk.keys"].what


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (-YEAR - 60, "ended on"),
        (86_400, "has not begun: here it is"),
        (-YEAR + 86_400, "ends on"),
    ],
)
def test_a_certificates_time_is_said_as_this_machines_clock_has_it(
    made: int, words: str, here: Place
) -> None:
    here.joined("127.0.0.1:1", NOW + made)
    found = here.findings()["desk.certificate"]
    assert words in found.what
    assert found.status is (Status.WARNING if words == "ends on" else Status.FAULT)


def test_a_port_where_nobody_listens_and_a_name_that_nobody_knows_are_said(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        place = f"127.0.0.1:{line.getsockname()[1]}"
    here.joined(place)
    assert status(here) == (Status.FAULT, f"{place}: Connection refused")
    here.joined("no.such.name.invalid:7444")

    def unknown(*_: object) -> Sequence[object]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(desk.socket, "create_connection", unknown)
    assert "nobody knows the name no.such.name.invalid" in status(here)[1]


def test_a_program_that_speaks_no_tls_and_one_that_is_silent_are_said(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "WITHIN", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as line:
        here.joined(f"127.0.0.1:{line.getsockname()[1]}")
        assert "no TLS came about: it says nothing" in status(here)[1]


@pytest.mark.parametrize(
    ("names", "made", "words"),
    [
        (("desk.example",), 0, "not for the name 127.0.0.1"),
        (("127.0.0.1",), -4 * YEAR, "its certificate has ended"),
        (("127.0.0.1",), YEAR, "its certificate has not begun"),
    ],
)
def test_what_is_wrong_with_the_servers_certificate_is_said(
    names: tuple[str, ...], made: int, words: str, here: Place
) -> None:
    serve_as(here.team.folder, here.team.authority, names, NOW + made)
    with serving(here.team) as server:
        here.joined(server)
        assert words in status(here)[1]


def test_another_teams_server_and_a_server_that_knows_another_team_are_said(
    here: Place, tmp_path: Path
) -> None:
    theirs = founded(tmp_path / "theirs", NOW)
    with serving(theirs) as server:
        here.joined(server)
        assert "not of this team" in status(here)[1]
    with serving(here.team, theirs.authority.certificate) as server:
        here.joined(server)
        assert "it refuses this device's certificate" in status(here)[1]
    assert plain(theirs.authority.key) != plain(here.team.authority.key)


@pytest.mark.parametrize("server", ["", "unix:/s", "desk.example", "https://desk.example:1"])
def test_a_server_that_is_no_address_is_said(server: str, here: Place) -> None:
    here.joined(server)
    assert status(here) == (Status.FAULT, f"{server} is no HOST:PORT")
