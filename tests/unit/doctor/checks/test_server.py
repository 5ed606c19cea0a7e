"""Whether the server answers the hooks, and is its owner's alone."""

import asyncio
import os
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

import grpc
import pytest
import trustme

from crabhook.doctor.checks.server import answers, private_socket, private_token
from crabhook.doctor.finding import Finding, Status
from crabhook.platforms import CLIENTS
from crabhook.server.address import Address, TcpAddress, parse_address
from crabhook.server.grpc import permission
from crabhook.v1 import permission_pb2 as pb
from tests.support.port import opened
from tests.unit.doctor.home import Home, is_well
from tests.unit.hook.peers import Answer, Operator, serving


async def found(home: Home, *addresses: Address, token: str | None = None) -> tuple[Finding, ...]:
    """What is found while a server listens."""
    async with opened(*addresses, token=token):
        return await asyncio.to_thread(lambda: tuple(answers(home.case())))


async def test_a_server_that_is_there_is_well(home: Home) -> None:
    home.install("--gate")
    (finding,) = await found(home, parse_address(home.address))
    assert is_well(finding)
    assert float(finding.figures["answer_ms"]) > 0


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "means"),
    [((), "by its own rules alone"), (("--fail-closed",), "is denied")],
)
def test_no_server_is_a_fault_and_starting_one_mends_it(
    home: Home, options: tuple[str, ...], means: str
) -> None:
    home.install("--gate", *options)
    finding = home.look(answers)
    assert (finding.status, means in finding.means) == (Status.FAULT, True)
    assert finding.mend == f"crabhook serve --listen {home.address}"
    with subprocess.Popen(
        ["/bin/sh", "-c", f"exec {finding.mend} --headless"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=home.environment,
    ) as server:
        try:
            assert server.stderr is not None
            assert b"listening" in server.stderr.readline()
            assert is_well(home.look(answers))
            assert is_well(home.look(private_socket))
        finally:
            server.terminate()


def test_a_folder_that_others_can_write_to_is_mended_before_any_server_can_begin(
    home: Home,
) -> None:
    home.install("--gate")
    folder = Path(home.address.removeprefix("unix:")).parent
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    finding = home.look(answers)
    assert finding.status is Status.FAULT
    assert finding.mend == f"chmod 700 {folder}"


def test_the_usual_socket_needs_no_address(home: Home) -> None:
    home.install("--gate", server=f"unix:{home.folder}/run/crabhook/crabhook.sock")
    assert home.look(answers).mend == "crabhook serve"


@pytest.mark.process
async def test_a_server_at_another_address_of_the_settings_is_found_and_asked(home: Home) -> None:
    home.install("--gate", "--wait", "60")
    elsewhere = f"unix:{home.folder}/run/else"
    home.write(home.config / "settings.toml", f'[server]\nlisten = ["{elsewhere}"]\n')
    async with opened(parse_address(elsewhere)):
        finding = await asyncio.to_thread(home.look, answers)
        assert (finding.status, elsewhere in finding.mend) == (Status.FAULT, True)
        await asyncio.to_thread(home.mend, finding)
        assert is_well(await asyncio.to_thread(home.look, answers))


@pytest.mark.process
async def test_a_wrong_token_is_a_fault_and_the_servers_own_mends_it(home: Home) -> None:
    wrong = home.write(home.folder / "wrong", "wrong\n")
    wrong.chmod(0o600)
    home.write(home.state / "token", "hush\n").chmod(0o600)
    async with opened(TcpAddress("127.0.0.1", 0), token="hush") as port:
        home.install("--gate", "--token-file", str(wrong), server=str(port.bound[0]))
        finding = await asyncio.to_thread(home.look, answers)
        assert (finding.status, "token" in finding.what) == (Status.FAULT, True)
        await asyncio.to_thread(home.mend, finding)
        assert is_well(await asyncio.to_thread(home.look, answers))


async def test_installing_again_is_not_advised_where_it_would_change_nothing(home: Home) -> None:
    token = home.write(home.state / "token", "newer\n")
    token.chmod(0o600)
    async with opened(TcpAddress("127.0.0.1", 0), token="hush") as port:
        home.install("--gate", "--token-file", str(token), server=str(port.bound[0]))
        finding = await asyncio.to_thread(home.look, answers)
    assert (finding.status, finding.mend) == (Status.FAULT, "")
    assert "restart it" in finding.advice


async def test_a_machine_that_was_revoked_is_to_be_invited_again(home: Home) -> None:
    token = home.write(home.config / "servers" / "abc" / "token", "gone\n")
    token.chmod(0o600)
    async with opened(TcpAddress("127.0.0.1", 0), token="hush") as port:
        home.install("--gate", "--token-file", str(token), server=str(port.bound[0]))
        finding = await asyncio.to_thread(home.look, answers)
    assert (finding.status, finding.mend) == (Status.FAULT, "")
    assert "`crabhook team invite NAME --machine`" in finding.advice


async def test_an_untrusted_certificate_leads_to_the_right_one_and_not_to_another_server(
    home: Home,
) -> None:
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.set_alpn_protocols(["h2"])
    trustme.CA().issue_cert("127.0.0.1").configure_cert(trust)
    trustme.CA().cert_pem.write_to_path(str(home.folder / "other.pem"))
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=trust) as door:
        server = f"127.0.0.1:{door.sockets[0].getsockname()[1]}"
        home.install("--gate", "--tls-ca", str(home.folder / "other.pem"), server=server)
        finding = await asyncio.to_thread(home.look, answers)
    assert (finding.status, finding.mend) == (Status.FAULT, "")
    assert "--tls-ca" in finding.advice


def test_a_token_that_is_not_there_is_a_fault(home: Home) -> None:
    home.install("--gate", "--token-file", f"{home.folder}/none", server="127.0.0.1:1")
    refused = home.look(answers)
    assert "cannot read the token file" in refused.what
    assert (refused.mend, "copy the server's token" in refused.advice) == ("", True)
    assert home.look(private_token).status is Status.FAULT


@pytest.mark.process
def test_a_token_that_others_can_read_is_a_fault_since_the_hook_refuses_it(home: Home) -> None:
    token = home.write(home.folder / "token", "hush\n")
    home.install("--gate", "--token-file", str(token), server="127.0.0.1:1")
    token.chmod(0o644)
    finding = home.look(private_token)
    assert finding.status is Status.FAULT
    refused = home.look(answers)
    assert "others can read or write" in refused.what
    assert refused.mend == finding.mend == f"chmod 600 {token}"
    home.mend(finding)
    assert is_well(home.look(private_token))


async def test_an_older_server_that_does_not_know_the_agent_is_a_fault(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.install(agent="codex")
    async with opened(parse_address(home.address)):
        known = {name: one for name, one in CLIENTS.items() if name != "codex"}
        monkeypatch.setattr(permission, "CLIENTS", known)
        (finding,) = await asyncio.to_thread(lambda: tuple(answers(home.case("codex"))))
    assert (
        finding.status,
        "knows acp, claude, copilot, gemini, opencode, qwen alone" in finding.what,
    ) == (
        Status.FAULT,
        True,
    )


def test_a_project_s_server_is_not_shown_a_token(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        server = f"localhost:{listening.getsockname()[1]}"
        home.install("--scope", "project", "--token-file", "/etc/hostname", server=server)
        line, _ = listening.accept()  # `install` looks whether a server listens, and says nothing
        with line:
            assert line.recv(1) == b""
        finding = home.look(answers)
        with pytest.raises(TimeoutError):
            listening.accept()
    assert (finding.status, "not asked" in finding.what) == (Status.WARNING, True)
    assert "--trust-project" in finding.mend


class TestTheSocket:
    """It and its folder are its owner's alone."""

    @pytest.fixture
    def path(self, home: Home) -> Path:
        home.install("--gate")
        path = home.folder / "run" / "s"
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
        path.chmod(0o600)
        return path

    @pytest.mark.usefixtures("path")
    def test_as_the_server_makes_it_it_is_well(self, home: Home) -> None:
        assert is_well(home.look(private_socket))

    @pytest.mark.process
    @pytest.mark.parametrize(
        ("spoil", "status"),
        [
            (lambda path: path.parent.chmod(0o777), Status.FAULT),
            (lambda path: path.parent.chmod(0o720), Status.FAULT),
            (lambda path: path.chmod(0o666), Status.WARNING),
        ],
    )
    def test_wrong_modes_are_found_and_set_right(
        self, home: Home, path: Path, spoil: Callable[[Path], None], status: Status
    ) -> None:
        spoil(path)
        finding = home.look(private_socket)
        assert finding.status is status
        home.mend(finding)
        assert is_well(home.look(private_socket))

    @pytest.mark.process
    def test_a_socket_that_others_reach_is_worse(self, home: Home, path: Path) -> None:
        path.parent.chmod(0o711)
        path.chmod(0o666)
        finding = home.look(private_socket)
        assert finding.status is Status.FAULT
        home.mend(finding)
        assert is_well(home.look(private_socket))

    @pytest.mark.process
    def test_something_else_in_its_place_is_moved_away(self, home: Home, path: Path) -> None:
        path.unlink()
        path.write_text("precious")
        finding = home.look(private_socket)
        assert (finding.status, "no socket" in finding.what) == (Status.FAULT, True)
        home.mend(finding)
        assert Path(f"{path}.moved-away").read_text() == "precious"
        assert list(private_socket(home.case())) == []

    @pytest.mark.process
    def test_a_folder_that_is_shared_is_left_for_the_usual_one(
        self, home: Home, path: Path
    ) -> None:
        path.parent.chmod(0o1777)
        finding = home.look(private_socket)
        assert (finding.status, "is shared" in finding.what) == (Status.FAULT, True)
        home.mend(finding)
        usual = f"unix:{home.folder}/run/crabhook/crabhook.sock"
        assert home.case().servers[0].options.server == usual
        assert list(private_socket(home.case())) == []

    def test_another_user_s_is_a_fault(
        self, home: Home, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = path.lstat().st_uid + 1
        monkeypatch.setattr(os, "getuid", lambda: other)
        folder, socket = private_socket(home.case())
        assert (folder.status, "another user's" in folder.what) == (Status.FAULT, True)
        assert (socket.status, "of another user" in socket.what) == (Status.FAULT, True)


# Several servers of one record.


@contextmanager
def listed(*answering: Answer) -> Iterator[list[str]]:
    """Servers that answer so, by their addresses."""
    with ExitStack() as stack:
        ports = [stack.enter_context(serving(Operator(one), "127.0.0.1:0"))[1] for one in answering]
        yield [f"127.0.0.1:{port}" for port in ports]


def leader(_: pb.PermissionRequest, context: grpc.ServicerContext) -> NoReturn:
    words = f"platform 'crabhook-doctor' is not known here, but known: {', '.join(sorted(CLIENTS))}"
    context.abort(grpc.StatusCode.INVALID_ARGUMENT, words)
    raise AssertionError


def standby(_: pb.PermissionRequest, context: grpc.ServicerContext) -> NoReturn:
    context.abort(grpc.StatusCode.UNAVAILABLE, "this server stands by")
    raise AssertionError


def looked_at(home: Home, *servers: str) -> list[tuple[Status, str]]:
    home.install("--gate", server=",".join(servers))
    return [(one.status, one.what) for one in answers(home.case())]


def test_of_several_servers_one_leads_and_the_others_stand_by(home: Home) -> None:
    with listed(standby, leader) as (one, other):
        (first, what), (second, leads) = looked_at(home, one, other)
    assert (first, second) == (Status.OK, Status.OK)
    assert what.startswith(f"{one} is there, and leaves hooks to")
    assert leads.startswith(f"{other} leads")


def test_one_of_several_that_is_not_there_is_warned_of(home: Home) -> None:
    with listed(leader) as (one,):
        (_, _), (status, what) = looked_at(home, one, "127.0.0.1:1")
    assert (status, "127.0.0.1:1: Connection refused" in what) == (Status.WARNING, True)


def test_several_of_which_none_leads_are_a_fault(home: Home) -> None:
    with listed(standby, standby) as servers:
        *_, (status, what) = looked_at(home, *servers)
    assert (status, what) == (Status.FAULT, f"of {', '.join(servers)} none leads")


def test_several_that_all_lead_have_not_one_record(home: Home) -> None:
    with listed(leader, leader) as servers:
        *_, (status, what) = looked_at(home, *servers)
    assert status is Status.FAULT
    assert "they have not one record" in what


def test_several_that_are_all_gone_are_a_fault_each(home: Home) -> None:
    assert [status for status, _ in looked_at(home, "127.0.0.1:1", "127.0.0.1:2")] == [
        Status.FAULT,
        Status.FAULT,
    ]
