"""`crabhook desk join`, and `crabhook install --join`: the invited end.

A machine joins with the standard library alone.
"""

import argparse
import socket
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from crabhook import config
from crabhook.cli.commands import ALONE, actions
from crabhook.cli.team.attaching import attach, chosen_team
from crabhook.cli.terminal import say
from crabhook.hook.servers import listed
from crabhook.model.errors import CrabhookError
from crabhook.ownfile import write_own
from crabhook.server.address import TcpAddress, parse_address
from crabhook.team.invitation import Invitation, JoinError, Joining, Joins, join, new_token

_READ = "Read these six words to the person who invited you:"
_WAITING = "Type nothing here: that person types `y` where the words are the same ..."


def shown(words: str) -> None:
    """Show the person here the six words that the inviting person is asked about."""
    for line in (_READ, "", f"  {words}", "", _WAITING):
        say(line)
    sys.stdout.flush()


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


def _join_desk(arguments: argparse.Namespace) -> None:
    from crabhook.cli.team.asking import new_passphrase  # noqa: PLC0415 - not for machines
    from crabhook.team.certificates import sealed  # noqa: PLC0415 - likewise
    from crabhook.team.desk_keys import DeskKeys, keep  # noqa: PLC0415 - likewise

    invitation = Invitation.parse(arguments.invitation)
    name = (arguments.name or socket.gethostname())[:64]
    say("The passphrase is asked for whenever this device opens a desk: choose a long one.")
    seal = partial(sealed, passphrase=new_passphrase())
    keys = DeskKeys.new(closing=not arguments.no_closing_key)
    joined = join(invitation, Joining(Joins.DESK, *keys.requests(), name), shown)
    kept = keep(config.config_folder(), keys, joined, name, seal)
    say(f"You are {joined.name}, {joined.role} in the team {joined.team}.")
    say(f"Its server is {' or '.join(listed(joined.server))}.")
    say(f"This device's keys are in {kept.path}.")
    say("Next: open your desk with `crabhook desk`.")


def _use_key(arguments: argparse.Namespace) -> None:
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
            "a signature comes with this device's closing key, which it has not: join anew"
        )
    folder.sign_with(arguments.key)
    say(f"{arguments.key} signs what is decided by commands here, once an admin trusts it:")
    say(f"  crabhook operators trust-key {folder.facts().operator} KEY.pub")


def _use_server(arguments: argparse.Namespace) -> None:
    """Set the servers of its team that this device's desk and verbs use."""
    folder = chosen_team(arguments.team)
    servers = listed(arguments.server)
    for one in servers:
        if not isinstance(parse_address(one), TcpAddress):
            raise CrabhookError(f"{one} is no address of a desks' port: write HOST:PORT")
    folder.enter(replace(folder.facts(), server=",".join(servers)))
    say(f"This device's desk goes to {' or '.join(servers)} from now on.")


desk = actions(
    "desk", {ALONE: attach, "join": _join_desk, "use-key": _use_key, "use-server": _use_server}, {}
)
