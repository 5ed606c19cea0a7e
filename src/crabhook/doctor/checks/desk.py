"""Whether this device can be a desk elsewhere: its keys, its clock, the way, both certificates.

gRPC only says "unavailable", so each step is checked alone, down to TLS. Last, the open key asks
the server about this device.
"""

import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import grpc

from crabhook.doctor.checks.untrusted import untrusted_case
from crabhook.doctor.finding import Finding, Status, crabhook_command, make_finding
from crabhook.hook.failover import listed
from crabhook.install.strict import signing_team
from crabhook.model.errors import CrabhookError, InstallError
from crabhook.platforms.installation import StrictHooks
from crabhook.remote.servers import leads, why_lost
from crabhook.server.address import Address, AddressError, TcpAddress, parse_address
from crabhook.team.call_signature import public_half
from crabhook.team.certificates import DAY, begins, device_in, until
from crabhook.team.decision_signatures import DESK
from crabhook.team.desk_keys import (
    Credentials,
    DeskFacts,
    DeskFolder,
    desk_folders,
    half_made_folders,
)
from crabhook.team.folder import private
from crabhook.team.membership import fingerprint_of
from crabhook.v1 import operator_pb2 as pb
from crabhook.v1.operator_pb2_grpc import OperatorServiceStub

WITHIN = 5.0  # seconds
_SOON = 30 * DAY
_CLOSING = ("closing.pem", "closing.key")


def examine_desks(config_folder: Path, strict: Sequence[StrictHooks] = ()) -> Iterator[Finding]:
    """Look at each team that this device is in; yield each finding as it is made.

    `strict`: what the strict hooks on this machine check by.
    """
    folders = list(desk_folders(config_folder))
    if not folders:
        yield make_finding("desk.keys", "half" if half_made_folders(config_folder) else "none")
    for folder in folders:
        try:
            facts = folder.facts()
            for name in ("authority.pem", "device.key"):
                private(folder.path / name)
            folder.closing()
            certificate = private(folder.path / "device.pem")
            ends, starts = until(certificate), begins(certificate)
        except CrabhookError as error:
            yield make_finding("desk.keys", "unusable", error=error)
            continue
        yield make_finding("desk.keys", "fine", folder=folder.path, facts=facts)
        yield _certificate_dates(ends, starts)
        yield from _signing(folder, facts, certificate, strict)
        servers = listed(facts.server)
        results = [_server(folder, server) for server in servers]
        yield from (
            (result.finding for result in results) if len(results) == 1 else of_several(results)
        )


def _certificate_dates(ends: int, starts: int) -> Finding:
    now, day = time.time(), time.strftime("%Y-%m-%d", time.gmtime(ends))
    if now < starts:
        here = time.strftime("%Y-%m-%d %H:%M", time.gmtime(now))
        return make_finding("desk.certificate", "early", here=here)
    if now >= ends:
        return make_finding("desk.certificate", "ended", day=day)
    return make_finding("desk.certificate", "soon" if now > ends - _SOON else "fine", day=day)


def _signing(
    folder: DeskFolder, facts: DeskFacts, certificate: bytes, strict: Sequence[StrictHooks]
) -> Iterator[Finding]:
    """Yield whether this device signs what the strict hooks of its team ask for."""
    key, mend = folder.signing_key(), crabhook_command("team", "keys", "use", "--none")
    if key is not None and public_half(key) is None:
        yield make_finding("desk.signing", "gone", mend, key=key)
    team = fingerprint_of(private(folder.path / "authority.pem"))
    operator, device, _ = device_in(certificate)
    for hooks in strict:
        if not hooks.authority.startswith(team):
            continue
        with suppress(InstallError):  # `hook.signed` says what is wrong with the file
            members = signing_team(hooks.team, hooks.authority, hooks.version)
            why = members.key_trouble(DESK, operator, device)
            fillings = {"path": hooks.team, "why": why, "name": facts.operator}
            yield make_finding("desk.signing", "keyless" if why else "fine", **fillings)


class ProbeResult(NamedTuple):
    """The result of going to a server, with its answer about this device."""

    server: str
    finding: Finding
    hello: pb.Hello | None = None

    @property
    def leads(self) -> bool:
        """Whether it takes commands."""
        return self.hello is not None and leads(self.hello)


def of_several(results: Sequence[ProbeResult]) -> Iterator[Finding]:
    """Yield how each server of a list is: one leads, and all have one record."""
    lead = " and ".join(result.server for result in results if result.leads)
    for server, finding, hello in results:
        if hello is not None and not leads(hello):
            yield make_finding("desk.server", "stands-by", server=server)
        elif lead and finding.status is Status.FAULT:
            beside = {"what": finding.what, "advice": finding.advice}
            yield make_finding("desk.server", "beside", lead=lead, **beside)
        else:
            yield finding
    if not lead and any(result.hello is not None for result in results):
        yield make_finding(
            "desk.server", "none-leads", servers=", ".join(result.server for result in results)
        )
    if sum(result.leads for result in results) > 1:
        yield make_finding("desk.server", "apart", servers=lead)


def _server(folder: DeskFolder, server: str) -> ProbeResult:
    """Go to a server as a desk does, until something fails."""
    reached = _reached(folder, server)
    return reached if isinstance(reached, ProbeResult) else ProbeResult(server, reached)


def _reached(folder: DeskFolder, server: str) -> Finding | ProbeResult:
    address: Address | None
    try:
        address = parse_address(server)
    except AddressError:
        address = None
    if not isinstance(address, TcpAddress):
        return make_finding("desk.server", "nowhere", server=server)
    try:
        line = socket.create_connection((address.host, address.port), WITHIN)
    except (socket.gaierror, UnicodeError):
        return make_finding("desk.server", "unnamed", server=server, host=address.host)
    except TimeoutError:
        return make_finding("desk.server", "silent", server=server, port=address.port)
    except OSError as error:
        return make_finding("desk.server", "closed", server=server, why=error.strerror)
    with line:
        return _secured(line, address, folder, server)


def _secured(
    line: socket.socket, address: TcpAddress, folder: DeskFolder, server: str
) -> Finding | ProbeResult:
    context = ssl.create_default_context(cafile=str(folder.path / "authority.pem"))
    context.set_alpn_protocols(["h2"])
    shown = (folder.path / _CLOSING[0]).exists()
    if shown:  # the other key is encrypted
        certificate, key = (folder.path / name for name in _CLOSING)
        context.load_cert_chain(certificate, key)
    try:
        with context.wrap_socket(line, server_hostname=address.host) as secured:
            heard = secured.recv(1)  # a server that takes our certificate begins to speak
    except ssl.SSLCertVerificationError as error:
        case = untrusted_case(error)
        return make_finding(
            "desk.server", case, server=server, host=address.host, why=error.verify_message
        )
    except TimeoutError:
        return make_finding("desk.server", "other", server=server, why="it says nothing")
    except (ssl.SSLError, OSError) as error:
        why = getattr(error, "reason", None) or error.strerror or "it hung up"
        if "CERTIFICATE" not in why and "UNKNOWN_CA" not in why:
            return make_finding("desk.server", "other", server=server, why=why)
        return make_finding(
            "desk.server", "refused" if shown else "unshown", server=server, why=why
        )
    if not heard:
        return make_finding(
            "desk.server", "refused" if shown else "unshown", server=server, why="no word"
        )
    keys = folder.closing()
    return (
        _welcomed(folder, keys, server)
        if keys
        else make_finding("desk.server", "fine", server=server)
    )


def _welcomed(folder: DeskFolder, keys: Credentials, server: str) -> Finding | ProbeResult:
    """Ask the server for news as a desk does; return its answer about this device."""
    shown = grpc.ssl_channel_credentials(keys.authority, keys.key, keys.certificate)
    try:
        with grpc.secure_channel(server, shown, options=_OPTIONS) as channel:
            call: Any = OperatorServiceStub(channel).Watch(pb.WatchRequest(), timeout=WITHIN)
            hello = next(iter(call)).hello
            call.cancel()
    except (grpc.RpcError, StopIteration) as error:
        code, why = _Code.UNKNOWN, "it hung up"
        if isinstance(error, grpc.Call):
            code = error.code()
            why = why_lost(error.details(), code)
        if code is _Code.UNIMPLEMENTED:
            return make_finding("desk.server", "elsewhere", server=server)
        denied = code is _Code.PERMISSION_DENIED
        return make_finding("desk.server", "denied" if denied else "other", server=server, why=why)
    if not hello.challenge and folder.signing_key() is not None:
        return make_finding("desk.server", "older", server=server)
    return ProbeResult(server, make_finding("desk.server", "fine", server=server), hello)


_Code = grpc.StatusCode
_OPTIONS = (("grpc.use_local_subchannel_pool", 1),)
