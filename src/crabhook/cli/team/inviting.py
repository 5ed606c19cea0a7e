"""Founding a team and inviting: `crabhook team init` and `team invite`.

One line admits one person or one machine, after the six words.
"""

import argparse
import asyncio
import socket
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from getpass import getuser
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from crabhook import config
from crabhook.cli.arguments import SharedDocuments, team_on_record
from crabhook.cli.team.asking import new_passphrase, with_passphrase, yours
from crabhook.cli.terminal import UnseenError, agrees
from crabhook.hook.failover import listed
from crabhook.hook.tcp import connect
from crabhook.hook.tls import NO_TLS
from crabhook.model.actor import Role
from crabhook.model.card import number_of
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import safe
from crabhook.server.address import Address, TcpAddress, default_address, parse_address
from crabhook.server.operators.joining import InvitationAddress, open_invitation
from crabhook.server.unix_socket import read_status
from crabhook.team import edit_team
from crabhook.team.certificates import SKEW, Authority, names_in, sealed, signing_in, until
from crabhook.team.desk_keys import DeskFacts, DeskFolder, DeskKeys, desk_of, keep_keys
from crabhook.team.enrolling import Inviting, InvitingError, outcome
from crabhook.team.folder import TEAM, Folder, founding, private
from crabhook.team.invitation import DESK_PORT, HOOK_PORT, VALID, Joined, Joining, Joins
from crabhook.team.membership import (
    Device,
    Machine,
    Member,
    Scope,
    Team,
    TeamRefusal,
    fingerprint_of,
)
from crabhook.team.team_file import authority_of, found_team, take, team_in
from crabhook.team.team_file import change as changed
from crabhook.ui.console import say

if TYPE_CHECKING:
    from crabhook.cli.team.signing_in import SigningIn

NOTED = 10  # attempts, of one invitation
LOOK_WITHIN = 2.0  # seconds, for a server on this machine


def team_folder() -> Folder:
    """Return where the team lies, on the server's machine."""
    return Folder(config.team_folder())


def team_now(folder: Folder) -> Team:
    """Return the team as it is now, on record where servers share one; raises CrabhookError."""
    if there := _shared_by(folder):
        take(folder, there.read(TEAM).encode())
    return team_in(folder)


def change(folder: Folder, authority: Authority, with_change: Callable[[Team], Team]) -> Team:
    """Change the team, on record too where servers share one; raises CrabhookError."""
    if (there := _shared_by(folder)) is None:
        return changed(folder, authority, with_change)
    take(folder, there.read(TEAM).encode())
    put = partial(there.put, TEAM, sign=authority.sign)
    return changed(folder, authority, with_change, lambda content: put(content.decode()))


def _shared_by(folder: Folder) -> SharedDocuments | None:
    """Return the documents of a team that servers share; None while one is being founded."""
    own = folder.path == config.team_folder()
    return team_on_record() if own and folder.exists else None


Enters: TypeAlias = Callable[[Team, Member, Device], Team]
"""Returns a team with a person's new device."""


def let_in(  # noqa: PLR0913 - a team, a person and a device
    folder: Folder,
    authority: Authority,
    member: Member,
    server: str,
    who: Joining,
    *,
    enters: Enters = edit_team.with_device,
) -> Joined:
    """Make a device's certificates, and write it into the team."""
    device, now = edit_team.new_id("d"), time.time()
    made = authority.for_device(who.key, member.id, device, now)
    closing = b""
    if who.closing_key:
        closing = authority.for_device(who.closing_key, member.id, device, now, closing=True)
    admitted = Device(
        device,
        who.name,
        fingerprint_of(made),
        int(now) - SKEW,
        until(made),
        fingerprint_of(closing),
        signing=signing_in(who.key),
    )
    team = change(folder, authority, lambda team: enters(team, member, admitted))
    return Joined(authority.certificate, made, closing, server, team.name, member.name, member.role)


LOOPBACK = ("localhost", "127.0.0.1", "::1")


def found_here(
    names: Iterable[str], server: str, operator: str | None = None, team: str | None = None
) -> DeskFolder:
    """Found a team whose passphrase a person types; return its first admin's keys.

    `server`: where that admin's desk connects here; `names`: the machine's names for others. Raises
    CrabhookError.
    """
    if not team_folder().exists and team_on_record():
        raise CrabhookError("the record has a team already: `crabhook team pull` brings it here")
    now, hosts = time.time(), tuple(dict.fromkeys((*names, *LOOPBACK)))
    admin = edit_team.invitable(Team("", "", 0), operator or getuser(), Role.ADMIN, Scope())
    with founding(team_folder()) as new:
        say("The passphrase opens your desk, and lets people and machines in: make it long.")
        seal = partial(sealed, passphrase=new_passphrase())
        authority = found_team(new, team or socket.gethostname(), hosts, seal, now)
        keys = DeskKeys.new(closing=True)
        who = Joining(Joins.DESK, *keys.requests(), socket.gethostname()[:64])
        joined = let_in(new, authority, admin, server, who)
        kept = keep_keys(config.config_folder(), keys, joined, seal)
    facts = DeskFacts(joined.server, joined.team, joined.name, joined.role, who.name)
    return kept.enter(facts)


def finished_here(server: str) -> DeskFolder | None:
    """Finish an interrupted founding of a team that exists; None if there is none."""
    if not team_folder().exists:
        return None
    team = team_in(team_folder())
    kept = desk_of(config.config_folder(), team.id)
    if not kept.half_made:
        return None
    seat = team.identify(private(kept.path / "device.pem"), time.time())
    if isinstance(seat, TeamRefusal):
        return None
    return kept.enter(DeskFacts(server, team.name, seat.name, seat.role, seat.device_name))


def invite_operator(arguments: argparse.Namespace) -> None:
    """Print a line that lets a person in, and wait until somebody has come by it."""
    folder = team_folder()
    team = team_now(folder)
    member = invited_person(arguments, team)
    place = _place(arguments)
    server = arguments.server or reached_at(place.host, DESKS)
    signing_in = _signing_in(folder, team, member) if arguments.oidc else None
    authority = with_passphrase(yours(team.name), partial(authority_of, folder))

    def grant(who: Joining) -> Joined:
        if signing_in is None:
            return let_in(folder, authority, member, server, who)
        grown, enters = signing_in.member, signing_in.enters(folder)
        joined = let_in(folder, authority, grown, server, who, enters=enters)
        signing_in.keep(folder)
        return joined

    def check(who: Joining) -> None:
        for key in (who.key, who.closing_key):
            if key or key is who.key:
                authority.for_device(key, member.id, "device", time.time())

    tell = Noting(folder, authority, f"the invitation for {member.name}")
    compare = partial(_compare, member.name)
    inviting = Inviting(Joins.DESK, check, compare, grant, tell)
    if signing_in is not None:
        inviting = replace(
            inviting, compare=partial(signing_in.compare, compare), sign_in=signing_in.begin
        )
    joined = asyncio.run(_invited(inviting, tell, authority, place, "crabhook team join"))
    say(f"{joined.name} has joined as {joined.role}{member.scope.limits}.")


def _signing_in(folder: Folder, team: Team, member: Member) -> "SigningIn":
    from crabhook.cli.team.signing_in import SigningIn  # few teams ask a provider

    signing_in = SigningIn(folder, team, member)
    asyncio.run(signing_in.reach())  # before a line is printed by which nobody could come
    return signing_in


def invited_person(arguments: argparse.Namespace, team: Team) -> Member:
    """Return the person whom the options name; raises ChangeError."""
    scope = Scope(
        tuple(map(str, arguments.only_project)),
        tuple(arguments.only_machine),
        tuple(arguments.only_kind),
    )
    role = Role(arguments.role) if arguments.role else None
    return edit_team.invitable(team, arguments.name, role, scope)


def invite_machine(arguments: argparse.Namespace) -> None:
    """Print a line that lets a machine in, and wait until it has come."""
    folder = team_folder()
    team = team_now(folder)
    edit_team.with_machine(team, Machine(arguments.name, ""))
    place = _place(arguments)
    server = arguments.server or reached_at(place.host, HOOKS)
    _need_tls(server, folder)
    authority = with_passphrase(yours(team.name), partial(authority_of, folder))

    def grant(who: Joining) -> Joined:
        machine = Machine(arguments.name, who.key.hex(), int(time.time()))
        after = change(folder, authority, lambda team: edit_team.with_machine(team, machine))
        return Joined(authority.certificate, b"", b"", server, after.name, machine.name, "")

    def check(who: Joining) -> None:
        if len(who.key) != 32 or who.closing_key:
            raise InvitingError("a machine joins with the SHA-256 of its token")

    tell = Noting(folder, authority, f"the invitation for the machine {arguments.name}")
    inviting = Inviting(Joins.MACHINE, check, partial(_compare, arguments.name), grant, tell)
    joined = asyncio.run(
        _invited(inviting, tell, authority, place, "crabhook install claude --join")
    )
    say(f"The machine {joined.name} has joined: its hooks go to {joined.server}.")


def _need_tls(server: str, folder: Folder) -> None:
    """Raise CrabhookError for a place on loopback that this machine's server serves without TLS.

    Hooks of a machine that joins use TLS, so none of them would reach a server there. Beyond
    loopback a server has TLS always.
    """
    from crabhook.app.listeners import tls_of  # gRPC: for this alone

    settings = config.load(None)
    listening = [parse_address(text) for text in settings.listen]
    for text in listed(server):
        place = parse_address(text)
        if not (isinstance(place, TcpAddress) and place.loopback):
            continue
        try:
            connect(text, str(folder.authority), time.monotonic() + LOOK_WITHIN).close()
        except ConnectionRefusedError:  # no server runs: the settings say how it will listen
            plain = place in listening and tls_of(settings, listening) is None
        except OSError as error:
            plain = NO_TLS in str(error)
        else:
            plain = False
        if plain:
            raise CrabhookError(
                f"the server has no TLS at {text}, and a machine that joins needs it. Start "
                f"it with --listen 0.0.0.0:{place.port}, or with --tls-cert and --tls-key. "
                "Agents of your own user on this machine need no invitation: `crabhook install "
                "claude` is enough"
            )


def _place(arguments: argparse.Namespace) -> InvitationAddress:
    names = names_in(private(team_folder().server))  # of this server; others have their own
    host = arguments.host or names[0]
    if host not in names:
        raise edit_team.ChangeError(
            f"the server's certificate is not for {host}: it is for {', '.join(names)}. Give the "
            f"server a new certificate with `crabhook team names {host}`, and restart it"
        )
    place = TcpAddress(host, arguments.port)
    if "." not in host and number_of(host) is None and not place.loopback:
        say(
            f"The line leads to {host}: the other end has to know this machine by that name. "
            "`crabhook team names NAME` gives it another"
        )
    return InvitationAddress(host, arguments.port, _listening_for(place))


def _listening_for(place: TcpAddress) -> str:
    """Return where to listen so that a line that leads to `place` arrives."""
    if not place.loopback:
        return "[::]"
    number = "127.0.0.1" if number_of(place.host) is None else place.host
    return f"[{number}]" if ":" in number else number


class Reached(NamedTuple):
    """Who comes in by a line: what its other end does then, and how a server listens for it."""

    who: str
    option: str
    port: int
    mark: str


DESKS = Reached("desks", "--operators", DESK_PORT, " for desks")
HOOKS = Reached("hooks of other machines", "--listen", HOOK_PORT, "")


def reached_at(host: str, wanted: Reached) -> str:
    """Return where the server of this machine is reached by a person or machine that comes in.

    Says what to do where no server runs. Raises InvitingError where one runs that nobody who comes
    to `host` would reach: then no line is worth printing.
    """
    listening = listening_here()
    if listening is None:
        start = f"crabhook up {wanted.option} 0.0.0.0:{wanted.port}"
        say(f"No server runs here now. Before the line is used, start it so: `{start}`")
        return str(TcpAddress(host, wanted.port))
    here = TcpAddress(host, 0).loopback
    tcp = [(address, mark) for address, mark in listening if isinstance(address, TcpAddress)]
    places = [place for place, mark in tcp if mark == wanted.mark]
    open_to = [place for place in places if here or not place.loopback]
    usual = [place for place in open_to if place.port == wanted.port]
    if open_to:
        place = (usual or open_to)[0]
        # Who listens at one address of loopback is not reached at another.
        return str(place) if place.loopback else str(TcpAddress(host, place.port))
    others = {(OPTIONS[mark], address) for address, mark in listening if address not in places}
    usual_socket = default_address()
    kept = "".join(
        sorted(f" {option} {address}" for option, address in others if address != usual_socket)
    )
    at = " and ".join(map(str, places))
    port = places[0].port if places else wanted.port
    takes = f"takes {wanted.who} at {at} alone" if at else f"takes no {wanted.who}"
    raise InvitingError(
        f"your server {takes}, so nobody could connect to it from elsewhere, and nobody was "
        f"invited. Restart it, and invite then: `crabhook down && crabhook up {wanted.option} "
        f"0.0.0.0:{port}{kept}`"
    )


OPTIONS = {reached.mark: reached.option for reached in (DESKS, HOOKS)}


def listening_here() -> Sequence[tuple[Address, str]] | None:
    """Return where the server of this machine listens, and for whom; None where none runs."""
    status = status_here()
    if status is None:
        return None
    places = status.get("listening")
    listening: list[tuple[Address, str]] = []
    for place in places if isinstance(places, list) else ():
        text, marked, _ = str(place).partition(DESKS.mark)
        with suppress(CrabhookError):
            listening.append((parse_address(text), marked))
    return listening


def status_here() -> Mapping[str, object] | None:
    """Return what the server of this machine says of itself; None where none runs."""
    from crabhook.app.running import running_at, socket_of  # not for machines

    try:
        path = socket_of(None).path
        pid = running_at(path)
    except CrabhookError:
        return None
    status = read_status(path)
    # Behind a service manager's socket another process may listen.
    return status if pid is not None and status.get("pid") == pid else None


class Noting:
    """Tells the person here of refused attempts, and notes them for the server's record.

    The note is in the team's file, signed during the invitation: nobody else can write it, and no
    server needs to run.
    """

    def __init__(self, folder: Folder, authority: Authority, about: str) -> None:
        self._folder, self._authority, self._about = folder, authority, about
        self._left = NOTED

    def __call__(self, words: str) -> None:
        """Tell of an attempt, and note it."""
        say(words)
        sys.stdout.flush()
        self.note(words)

    def note(self, words: str) -> None:
        """Note the invitation's end, which is told elsewhere."""
        self._left -= 1
        if self._left >= 0:
            what, at = f"{self._about}: {words}", int(time.time())
            noted = partial(edit_team.with_attempt, what=what, at=at)
            with suppress(CrabhookError):  # the person here has been told
                change(self._folder, self._authority, noted)


async def _invited(
    inviting: Inviting, noting: Noting, authority: Authority, place: InvitationAddress, there: str
) -> Joined:
    """Print the invitation, and wait until somebody has joined by it."""
    certificate = authority.certificate
    async with open_invitation(inviting, certificate, place, time.time()) as (invitation, port):
        there = f"  {there} {invitation}"
        for line in (f"On the other end, within {VALID // 60} minutes, once:", "", there, ""):
            say(line)
        sys.stdout.flush()
        try:
            return await outcome(port)
        except InvitingError as error:
            noting.note(str(error))
            raise


def joins_with(name: str, device: str, words: str) -> str:
    """Return the question whether the other end shows the same words."""
    return f"{name} (on {safe(device)}) wants to join. Does its screen show: {words} ?"


async def _compare(name: str, words: str, who: Joining) -> bool:
    """Ask the person here for the words, in a thread that does not delay the command's end."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[bool] = loop.create_future()

    def tell(same: bool) -> None:  # noqa: FBT001 - the one thing it tells
        if not answered.done():
            answered.set_result(same)

    def asked() -> None:
        try:
            same = agrees(joins_with(name, who.name, words))
        except UnseenError:
            same = False
        loop.call_soon_threadsafe(tell, same)

    Thread(target=asked, daemon=True).start()
    return await answered
