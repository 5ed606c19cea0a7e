"""What is wrong with a desk elsewhere, in words: keys, clock, name, port, certificates."""

import asyncio
import socket
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import grpc
import pytest

from crabhook.doctor.checks import desk
from crabhook.doctor.checks.desk import examine_desks
from crabhook.doctor.finding import Finding, Status, make_finding
from crabhook.install.strict import strict_hooks
from crabhook.model.actor import Role
from crabhook.model.ballot import Terms
from crabhook.platforms.installation import StrictHooks
from crabhook.team.certificates import plain
from crabhook.team.desk_keys import DeskFolder, DeskKeys, desk_folders, keep
from crabhook.team.invitation import Joined
from crabhook.team.membership import Device, Member, Scope, fingerprint_of
from crabhook.team.team_file import serve_as
from crabhook.v1 import operator_pb2 as pb
from tests.support.desk import PlayedDesk
from tests.support.team import Founded, founded, seal
from tests.support.team_port import team_port

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


def checked_by(team: Founded) -> StrictHooks:
    """What strict hooks are installed with that check by this team's file."""
    return strict_hooks("claude", team.folder.team, str(team.folder.authority), Terms(), "deny")


@pytest.mark.parametrize("signs", [True, False])
def test_a_desk_that_cannot_sign_what_strict_hooks_here_ask_for_is_warned_of(
    signs: bool, here: Place, tmp_path: Path
) -> None:
    here.team.seat(here.config, "ann", "127.0.0.1:1")
    here.team.let_in("bob")
    theirs = founded(tmp_path / "theirs", NOW)
    theirs.let_in("eve")
    if not signs:
        here.team.forget_signing("ann")
    strict = [checked_by(here.team), checked_by(theirs)]
    (found,) = [one for one in examine_desks(here.config, strict) if one.id == "desk.signing"]
    assert found.status is (Status.OK if signs else Status.WARNING)
    assert signs or "joined before desks signed" in found.what
    assert signs or "crabhook team invite ann" in found.advice


def test_a_desk_whose_person_is_not_in_the_team_file_of_strict_hooks_is_warned_of(
    here: Place,
) -> None:
    here.team.let_in("bob")
    strict = checked_by(here.team)
    here.joined("127.0.0.1:1")
    (found,) = [one for one in examine_desks(here.config, [strict]) if one.id == "desk.signing"]
    assert (found.status, "not in the team file" in found.what) == (Status.WARNING, True)


def test_a_team_file_that_does_not_count_is_left_to_the_look_at_the_hooks(here: Place) -> None:
    here.team.let_in("bob")
    strict = checked_by(here.team)
    here.joined("127.0.0.1:1")
    here.team.folder.team.write_bytes(b"{}")
    assert "desk.signing" not in {one.id for one in examine_desks(here.config, [strict])}


def test_a_key_that_signs_commands_and_whose_public_half_is_gone_is_warned_of(
    here: Place, tmp_path: Path
) -> None:
    folder, key = here.joined("127.0.0.1:1"), tmp_path / "id_ed25519"
    folder.sign_with(key)
    found = here.findings()["desk.signing"]
    assert (found.status, str(key) in found.what) == (Status.WARNING, True)
    assert found.mend.endswith("team keys use --none")
    public = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(32)
    key.with_suffix(".pub").write_text(f"ssh-ed25519 {b64encode(public).decode()} ann\n")
    assert "desk.signing" not in here.findings()


def status(here: Place) -> tuple[Status, str]:
    found = here.findings()["desk.server"]
    return found.status, found.what


@asynccontextmanager
async def sat_down(here: Place, tmp_path: Path) -> AsyncIterator[str]:
    """A real server of the team, and this device among those that it knows."""
    async with team_port(PlayedDesk().runner, tmp_path, here.team) as port:
        server = f"127.0.0.1:{port.address.port}"
        known(here, here.joined(server))
        yield server


def known(here: Place, kept: DeskFolder, **other: int) -> None:
    """Write a device into the team, as whoever let it in has done."""
    opening, closing = (
        fingerprint_of((kept.path / name).read_bytes()) for name in ("device.pem", "closing.pem")
    )
    device = Device("d", "laptop", opening, int(NOW) - 300, int(NOW) + YEAR, closing)
    member = Member("o", "ann", Role.DECIDER, Scope(), (replace(device, **other),))
    here.team.change(lambda team: replace(team, members=(member,)))


async def test_all_is_well_where_the_server_takes_the_certificate(
    here: Place, tmp_path: Path
) -> None:
    async with sat_down(here, tmp_path) as server:
        found = await asyncio.to_thread(here.findings)
        assert {one.status for one in found.values()} == {Status.OK}
        assert "takes this device's certificate" in found["desk.server"].what
        here.joined(server, closing=False)
        assert (await asyncio.to_thread(status, here))[0] is Status.UNKNOWN


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ({"revoked": int(NOW)}, "laptop of ann was revoked on"),
        ({"until": int(NOW) - 5}, "the certificate of laptop ended on"),
        ({"since": int(NOW) + 5_000}, "begins on"),
    ],
    ids=["revoked", "ended", "not begun"],
)
async def test_what_the_server_says_of_this_device_is_said(
    here: Place, tmp_path: Path, trouble: dict[str, int], words: str
) -> None:
    async with sat_down(here, tmp_path):
        (kept,) = desk_folders(here.config)
        known(here, kept, **trouble)
        found, what = await asyncio.to_thread(status, here)
        assert found is Status.FAULT
        assert words in what


async def test_a_device_that_was_taken_out_of_the_team_is_said(here: Place, tmp_path: Path) -> None:
    async with sat_down(here, tmp_path):
        here.team.change(lambda team: replace(team, members=()))
        assert "of no device in the team" in (await asyncio.to_thread(status, here))[1]


def test_a_port_of_the_team_that_takes_no_desks_is_said(here: Place) -> None:
    """As the agents' own, or that of a server of before."""
    with serving(here.team) as server:
        here.joined(server)
        assert status(here) == (Status.FAULT, f"{server} is the team's, but takes no desks there")


async def test_a_server_of_before_keys_signed_is_said_where_one_signs_here(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "crabhook.server.operators.authentication.secrets.token_bytes", lambda _: b""
    )
    async with sat_down(here, tmp_path) as server:
        assert (await asyncio.to_thread(status, here))[0] is Status.OK
        (kept,) = desk_folders(here.config)
        kept.sign_with(Path("/k.pub"))
        found, what = await asyncio.to_thread(status, here)
        assert (found, what.partition(":")[0]) == (Status.WARNING, server.partition(":")[0])
        assert "older than this crabhook" in what


def test_a_founding_or_a_joining_that_was_broken_off_is_said(here: Place) -> None:
    kept = here.joined("127.0.0.1:1")
    (kept.path / "desk.json").unlink()
    (found,) = here.findings().values()
    assert "was broken off" in found.what
    assert "crabhook team init" in found.advice


def test_a_device_in_no_team_is_told_how_to_come_into_one(here: Place) -> None:
    (found,) = examine_desks(here.config)
    assert found.status is Status.FAULT
    assert "crabhook team invite" in found.advice


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


async def test_of_two_servers_one_that_is_gone_is_warned_of(here: Place, tmp_path: Path) -> None:
    async with sat_down(here, tmp_path) as server:
        known(here, here.joined(f"127.0.0.1:1,{server}"))
        looked = await asyncio.to_thread(lambda: list(examine_desks(here.config)))
    gone, there = (one for one in looked if one.id == "desk.server")
    assert (gone.status, gone.what) == (Status.WARNING, "127.0.0.1:1: Connection refused")
    assert gone.means == f"the desk goes to {server} alone"
    assert there.status is Status.OK


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (("leader", "standby"), ["is the team's, and", "stands by"]),
        (("standby", "standby"), ["stands by", "stands by", "of s0, s1 none leads"]),
        (("leader", "alone"), ["and takes", "and takes", "s0 and s1 have not one record"]),
    ],
)
def test_of_two_servers_one_has_to_lead(parts: Sequence[str], found: Sequence[str]) -> None:
    results = [
        desk.ProbeResult(
            f"s{number}",
            make_finding("desk.server", "fine", server=f"s{number}"),
            pb.Hello(part=one),
        )
        for number, one in enumerate(parts)
    ]
    said = list(desk.of_several(results))
    assert len(said) == len(found)
    assert all(words in one.what for one, words in zip(said, found, strict=True))
