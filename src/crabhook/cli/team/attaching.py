"""`crabhook desk`: the desk of a server elsewhere, and the invited end of its team.

`crabhook install --join` is an invited end too.
"""

import argparse
import asyncio
import os
import socket
import sys
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from crabhook import config
from crabhook.cli.commands import DONE, NO_SERVER, NOT_ALLOWED, Subcommand, declaring, reporting
from crabhook.config import Settings
from crabhook.hook.failover import listed
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import write_own
from crabhook.server.address import TcpAddress, parse_address
from crabhook.team.invitation import Invitation, JoinError, Joining, Joins, join, new_token
from crabhook.ui.console import say, takes_a_person, takes_a_screen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crabhook.desk.updates import Cursor
    from crabhook.remote.desk import RemoteDesk
    from crabhook.team.desk_keys import Credentials, DeskFolder

LOOK_WITHIN = 2.0  # seconds until a server is left to gRPC, which says more of a slow one
FIRST_WITHIN = 10.0  # seconds to be attached in
LEAVES_WITHIN = 2.0  # seconds to end the connection in, once all is said
LAST_WITHIN = 5.0  # seconds that the last decision may take, once its operator has left


class AttachError(CrabhookError):
    """A desk that cannot be opened: its server is not there."""

    exit_code = NO_SERVER


class MayNotError(AttachError):
    """A desk that its server refuses: it takes none of this device's."""

    exit_code = NOT_ALLOWED


def open_desk(arguments: argparse.Namespace) -> int:
    """Open the desk of a server that runs, or start a server in this terminal.

    Raises CrabhookError.
    """
    if arguments.team is None and takes_a_person() and _begins_here():
        from crabhook.cli.commands import command_of  # the server has no use for this module

        serve, parser = command_of("serve"), argparse.ArgumentParser()
        serve.add_arguments(parser)
        return serve.run(parser.parse_args(["--plain"] if arguments.plain else []))
    attach(arguments)
    return DONE


def _begins_here() -> bool:
    """Whether there is nothing to attach to: no server runs here, and no team is elsewhere.

    Raises AttachError where the server here has its desk in another terminal.
    """
    from crabhook.app.running import (  # not for machines
        running_at,
        socket_of,
        takes_desks,
        without_desks,
    )
    from crabhook.server.unix_socket import read_status  # likewise
    from crabhook.team.desk_keys import desk_folders  # likewise
    from crabhook.team.folder import Folder  # likewise

    path = socket_of(None).path
    if (pid := running_at(path)) is None:
        return Folder(config.team_folder()).exists or not any(desk_folders(config.config_folder()))
    if not takes_desks(read_status(path)):
        raise AttachError(without_desks(pid))
    return False


def attach(arguments: argparse.Namespace) -> None:
    """Open the desk, until the operator leaves it; raises CrabhookError."""
    from crabhook.cli.team.asking import with_passphrase, yours  # not for machines

    folder = chosen_team(arguments.team)
    server = place_of(folder)
    plain = arguments.plain or not takes_a_screen()
    settings = config.override(config.load(None), {"plain": True} if plain else {})
    credentials = with_passphrase(yours(folder.facts().team), folder.opened)
    asyncio.run(at_desk(server, credentials, settings))


def chosen_team(team: str | None) -> "DeskFolder":
    """Return the folder of the named or only team of this device; raises AttachError."""
    from crabhook.team.desk_keys import desk_folders  # not for machines

    folders = list(desk_folders(config.config_folder()))
    wanted = [folder for folder in folders if team is None or folder.facts().team == team]
    if len(wanted) == 1:
        return wanted[0]
    if not folders:
        raise AttachError(_no_team())
    teams = ", ".join(folder.facts().team for folder in folders)
    raise AttachError(f"say which desk, with --team NAME (this device is in {teams})")


def place_of(folder: "DeskFolder") -> str:
    """Return where the team's server takes desks; raises AttachError if nobody listens.

    On the server's own machine its present address is in the user's runtime folder.
    """
    server = folder.facts().server
    host = server.rpartition(":")[0].strip("[]")
    if (here := _own_place(folder)) and host in _HERE:
        return here  # another program may have its old port
    try:
        look_for(server)
    except AttachError:
        if not here:
            raise
        return here
    return server


def _own_place(folder: "DeskFolder") -> str:
    """Return where this machine's own server takes desks; empty for another team's or none."""
    from crabhook.app.running import running_at, socket_of  # not for machines
    from crabhook.server.unix_socket import read_status  # likewise
    from crabhook.team.folder import Folder, private  # likewise

    try:
        own = private(Folder(config.team_folder()).authority)
        if own != private(folder.path / "authority.pem"):
            return ""
        path = socket_of(None).path
        status = read_status(path)
        if status.get("pid") != running_at(path):
            return ""  # it is a file of a server that was killed
        places = status.get("listening")
        for place in places if isinstance(places, list) else ():
            text, of_desks, _ = str(place).partition(" for desks")
            address = parse_address(text) if of_desks else None
            if isinstance(address, TcpAddress):
                host = _ANYWHERE.get(address.host, address.host)
                if host in _HERE:  # a local program reaches it so
                    return str(TcpAddress(host, address.port))
    except CrabhookError:
        pass  # the address is as when this device joined
    return ""


def look_for(server: str) -> None:
    """Check that one of the servers takes desks, before the passphrase; raises AttachError."""
    if any(os.environ.get(variable) for variable in _PROXIES):
        return  # gRPC goes another way than we can look
    reasons = []
    for address in listed(server):
        if not (why := _why_not(address)):
            return
        reasons.append(why)
    raise AttachError("; ".join(reasons))


def _why_not(server: str) -> str:
    """Say why nobody can be reached there; empty if somebody may be."""
    host, _, port = server.rpartition(":")
    host = host.strip("[]")
    try:
        socket.create_connection((host, int(port)), LOOK_WITHIN).close()
    except TimeoutError:
        return ""
    except ValueError:
        return f"{server!r} is no address of a server"
    except ConnectionRefusedError:
        return _nobody_here(server) if host in _HERE else f"no server takes desks at {server}"
    except OSError as error:
        return f"no way to the server at {server}: {error.strerror or error}"
    return ""


_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
_HERE = ("127.0.0.1", "::1", "localhost")
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def _server_here() -> int | None:
    """Return the process of the server that runs here; None without one."""
    from crabhook.app.running import running_at, socket_of  # not for machines

    with suppress(CrabhookError):
        return running_at(socket_of(None).path)
    return None


def _no_team() -> str:
    """Say which command makes commands of a person's possible on a device of no team."""
    if pid := _server_here():
        return (
            f"the server here (process {pid}) takes such commands from a team alone: found one "
            "with `crabhook team init`, and restart the server"
        )
    return (
        "this device is in no team: found one with `crabhook up`, or join one with `crabhook team "
        "join LINE`"
    )


def _nobody_here(server: str) -> str:
    """Say what to do where no server here takes desks."""
    from crabhook.app.running import DESKS_AFTER  # not for machines

    pid = _server_here()
    if pid is None:
        return "no server runs here: start it with `crabhook up`"
    return (
        f"the server here (process {pid}) takes no desks at {server}: decide at its own, or end it "
        f"with {DESKS_AFTER}"
    )


async def at_desk(server: str, keys: "Credentials", settings: Settings) -> None:
    """Show the desk of a server, and at its end what was decided here; raises AttachError."""
    from crabhook.ui.day_counts import WAITS_ON, DayCounts  # not for machines

    async with connected(server, keys) as desk:
        tally = DayCounts()
        desk.decided = tally.count
        await _show(desk, settings, server)
        waiting = await desk.finish(LAST_WITHIN)
        if not settings.plain or takes_a_person():
            for line in tally.summary(waiting, WAITS_ON):
                say(line)


def turned_away(desk: "RemoteDesk") -> MayNotError:
    """Return the error of an attached desk that its server takes no more."""
    return MayNotError(f"{desk.lost}: the server takes this device no more")


@asynccontextmanager
async def connected(
    server: str, keys: "Credentials", after: "Cursor | None" = None
) -> "AsyncIterator[RemoteDesk]":
    """Give a desk that is connected to one of the servers, after a cursor; raises AttachError."""
    import grpc  # not for machines

    from crabhook.cli.team.asking import signer_of  # likewise
    from crabhook.desk.updates import NEVER  # likewise
    from crabhook.remote.desk import RemoteDesk  # likewise
    from crabhook.remote.servers import OPTIONS, Servers  # likewise

    shown = grpc.ssl_channel_credentials(keys.authority, keys.key, keys.certificate)
    on_the_way: list[Any] = []
    if keys.sign is not None:
        from crabhook.cli.team.asking import Signing  # few have such a key

        on_the_way.append(Signing(keys, keys.sign, lambda: there))
    channel = partial(
        grpc.aio.secure_channel, credentials=shown, options=OPTIONS, interceptors=on_the_way
    )
    async with AsyncExitStack() as open_channels:
        channels = {
            address: await open_channels.enter_async_context(channel(address))
            for address in listed(server)
        }
        there = RemoteDesk(Servers(channels), monotonic, after or NEVER, signer_of(keys))
        running = asyncio.ensure_future(there.run())
        try:
            try:
                async with asyncio.timeout(FIRST_WITHIN):
                    await there.attached.wait()
            except TimeoutError:
                why = f"no desk at {server}: {there.lost}"
                raise (MayNotError if there.may_not else AttachError)(why) from None
            yield there
        finally:
            running.cancel()
            # Bounded: a library that swallows the cancelling must not keep a verb from its end.
            await asyncio.wait({running}, timeout=LEAVES_WITHIN)


async def _show(desk: "RemoteDesk", settings: Settings, server: str) -> None:
    from crabhook.app.desks import chosen  # as above
    from crabhook.ui.terminal import standard_lines, standard_writer

    if not settings.plain:
        from crabhook.ui.full import app  # the other desk needs none of it

        await app.run(desk, options=replace(chosen(settings), elsewhere=True), title=server)
        return
    from crabhook.ui.plain import desk as plain  # likewise
    from crabhook.ui.plain.person import DetailLevel

    a_person = takes_a_person()
    write = standard_writer(words=a_person)
    detail = DetailLevel(settings.detail) if a_person else None
    try:
        options = plain.PlainOptions(settings.take_back_ms or 0, detail)
        await plain.run(desk, standard_lines(), write, options=options)
    finally:
        write.close()


# To join a team, as a device or a machine; a machine joins with the standard library alone.

_READ = "Read these six words to the person who invited you:"
_WAITING = "Type nothing here: that person types `y` where the words are the same ..."


def shown(words: str) -> None:
    """Show the person here the six words that the inviting person is asked about."""
    for line in (_READ, "", f"  {words}", "", _WAITING):
        say(line)
    sys.stdout.flush()


def signs_in(page: str, code: str) -> None:
    """Show the person here where to sign in, at the team's identity provider."""
    say("Sign in, in any browser, if you began this join yourself:", "")
    say(f"  {page}", f"  with the code  {code}", "")


class MachineKeys(NamedTuple):
    """What hooks on a machine go to their server with; files alone of their owner."""

    server: str
    token_file: Path
    authority: Path
    name: str


def join_machine(line: str) -> MachineKeys:
    """Join with this machine; raises CrabhookError, and then nothing was changed."""
    invitation = Invitation.parse(line)
    token, digest = new_token()
    who = Joining(Joins.MACHINE, digest, b"", socket.gethostname()[:64])
    joined = join(invitation, who, shown)
    folder = config.config_folder() / "servers" / invitation.team.hex()
    kept = MachineKeys(joined.server, folder / "token", folder / "authority.pem", joined.name)
    try:
        write_own(kept.token_file, f"{token}\n".encode())
        write_own(kept.authority, joined.authority)
    except OSError as error:
        raise JoinError(f"{folder} cannot be written: {error.strerror}") from error
    return kept


def join_desk(arguments: argparse.Namespace) -> None:
    """Join a team with this device; raises CrabhookError."""
    from crabhook.cli.team.asking import new_passphrase  # not for machines
    from crabhook.team.certificates import sealed  # likewise
    from crabhook.team.desk_keys import DeskKeys, keep  # likewise

    invitation = Invitation.parse(arguments.invitation)
    name = (arguments.name or socket.gethostname())[:64]
    say("This device asks for the passphrase each time it opens a desk: make it long.")
    seal = partial(sealed, passphrase=new_passphrase())
    keys = DeskKeys.new(closing=not arguments.no_closing_key)
    joined = join(invitation, Joining(Joins.DESK, *keys.requests(), name), shown, signs_in)
    kept = keep(config.config_folder(), keys, joined, name, seal)
    say(f"You are {joined.name}, {joined.role} in the team {joined.team}.")
    say(f"Its server is {' or '.join(listed(joined.server))}.")
    say(f"This device's keys are in {kept.path}.")
    say("Next: open your desk with `crabhook`.")


def use_key(arguments: argparse.Namespace) -> None:
    """Let an SSH key sign here in place of the passphrase, or no longer."""
    folder = chosen_team(arguments.team)
    if arguments.key is None:
        if not arguments.none:
            raise CrabhookError("name the key's file, or say --none")
        folder.sign_with(None)
        say("The passphrase is asked for again.")
        return
    if folder.closing() is None:
        raise CrabhookError(
            "a signature comes with this device's closing key, which it has not: join again"
        )
    folder.sign_with(arguments.key)
    say(f"{arguments.key} signs what is decided by commands here, once an admin trusts it:")
    say(f"  crabhook team keys trust {folder.facts().operator} KEY.pub")


def use_servers(arguments: argparse.Namespace) -> None:
    """Set the servers of its team that this device's desk and verbs use."""
    folder = chosen_team(arguments.team)
    servers = listed(arguments.server)
    for address in servers:
        if not isinstance(parse_address(address), TcpAddress):
            raise CrabhookError(f"{address} is no address of a desks' port: write HOST:PORT")
    folder.enter(replace(folder.facts(), server=",".join(servers)))
    say(f"This device's desk goes to {' or '.join(servers)} from now on.")


desk = Subcommand(declaring("desk"), partial(reporting, "desk", open_desk))
