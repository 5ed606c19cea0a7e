"""Inviting a phone or another browser: `crabhook team invite NAME --web`.

The browser makes a passkey on a page of the server. The admin compares six words here and signs the
passkey into the team's file.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crabhook.cli.commands import need_passkeys
from crabhook.cli.team.asking import with_passphrase, yours
from crabhook.cli.team.inviting import (
    Noting,
    change,
    invited_person,
    joins_with,
    status_here,
    team_folder,
    team_now,
)
from crabhook.cli.terminal import UnseenError, agrees
from crabhook.data_files import tables
from crabhook.model.errors import CrabhookError
from crabhook.server.unix_socket import pages_in
from crabhook.team import edit_team, passkeys
from crabhook.team.enrolling import NOT_THE_SAME, SECOND_TIME, InvitingError, wrong_secret
from crabhook.team.invitation import VALID
from crabhook.team.team_file import authority_of
from crabhook.team.web_enrolling import CommandSide, Offered, is_name, is_this_machine
from crabhook.ui.console import say
from crabhook.ui.web.qr import drawn

if TYPE_CHECKING:
    from crabhook.team.certificates import Authority
    from crabhook.team.folder import Folder
    from crabhook.team.membership import Member, Passkey

LOOK_EVERY = 0.3  # seconds between two looks at what came


def invite_browser(arguments: argparse.Namespace) -> None:
    """Print a link that lets a browser make a passkey, and wait until it has come."""
    need_passkeys()
    folder = team_folder()
    team = team_now(folder)
    member = invited_person(arguments, team)
    origin = page_of(arguments.page)
    authority = with_passphrase(yours(team.name), partial(authority_of, folder))
    side = CommandSide(folder, team, member, origin, time.time())
    noting = Noting(folder, authority, f"the invitation for {member.name}")
    with _told(side, noting):
        _show(side.link)
        offered = _offered(side, noting)
        if not _compared(member.name, offered):
            raise InvitingError(NOT_THE_SAME)
        new = side.passkey(offered, time.time(), agents_machine=arguments.agents_machine)
        passkey = _let_in(folder, authority, member, new)
        side.admitted(passkey.name)
    role = f"{member.role}{member.scope.limits}"
    say(f"{member.name} has joined as {role}, by a passkey on {passkey.name}.")
    for line in warnings_of(passkey, member.name):
        say(line)


def page_of(address: str | None) -> str:
    """Return the origin of the page: as it was asked for, or as the server of this machine says.

    Raises CrabhookError for a page where no browser makes a passkey.
    """
    if address is None:
        pages = pages_in(status_here() or {})
        if not pages:
            raise InvitingError(
                "no server runs here that shows pages: start it by `crabhook up --web HOST:PORT`, "
                "or say with --page where its page is"
            )
        address = pages[0]
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host or parts.path.strip("/"):
        raise InvitingError(f"{address} is no page's address: it is as https://desk.example:7446")
    if not is_name(host):
        raise InvitingError(
            f"browsers make no passkey for {host}, which is no name: give the server's machine a "
            "name, and say --page https://NAME:PORT"
        )
    if parts.scheme == "http" and not is_this_machine(host):
        raise InvitingError(
            f"browsers make no passkey for {address}, which has no TLS: the page needs https"
        )
    return f"{parts.scheme}://{parts.netloc}"


def _show(link: str) -> None:
    """Print the link, and on a terminal a code that a phone's camera reads, if it can go there."""
    for_phones = not is_this_machine(urlsplit(link).hostname or "")
    if not for_phones:
        say("A phone cannot open this page: `crabhook doctor web` says what is missing.")
    where = "On the phone" if for_phones else "In a browser on this machine"
    say(f"{where}, within {VALID // 60} minutes, once:")
    say("")
    if for_phones and sys.stdout.isatty():
        sys.stdout.write(drawn(link))
    say(f"  {link}")
    say("")
    sys.stdout.flush()


@contextmanager
def _told(side: CommandSide, noting: Noting) -> Iterator[None]:
    """End the invitation where nobody came by it, and tell the page and the record why."""
    try:
        yield
    except CrabhookError as error:
        side.ended(str(error))
        noting.note(str(error))
        raise
    except BaseException:  # Ctrl-C too: the page shall not wait for an answer
        side.ended("the admin ended the invitation: nobody joined")
        raise


def _offered(side: CommandSide, noting: Noting) -> Offered:
    """Wait for a passkey, and tell of what was refused meanwhile; raises CrabhookError."""
    wrong = repeated = 0
    while True:
        now_wrong, now_repeated = side.refused()
        for number in range(wrong, now_wrong):
            noting(wrong_secret(number + 1))
        if now_repeated > repeated:
            noting(SECOND_TIME)
        wrong, repeated = now_wrong, now_repeated
        if (offered := side.look(time.time())) is not None:
            return offered
        time.sleep(LOOK_EVERY)


def _compared(name: str, offered: Offered) -> bool:
    try:
        return agrees(joins_with(name, offered.device, offered.words))
    except UnseenError:
        return False


def _let_in(
    folder: "Folder", authority: "Authority", member: "Member", new: "Passkey"
) -> "Passkey":
    """Sign the passkey into the team's file; return it as it is there."""
    team = change(folder, authority, partial(edit_team.with_passkey, member=member, passkey=new))
    there = team.passkey(new.credential)
    return there[1] if there else new


def warnings_of(passkey: "Passkey", name: str) -> Iterable[str]:
    """Say what an admin has to know of a passkey."""
    if passkey.backup_eligible:
        keeper = kind_of(passkey) or "the account that keeps it"
        yield f"{keeper} may copy it to other devices: each of them counts as this passkey."
    if not passkey.counts:
        yield (
            "Agents run on its machine, so it looks and closes. If it asks a person each time, "
            f"`crabhook team keys trust {name} --passkey {passkey.id}` lets it open too."
        )


def kind_of(passkey: "Passkey") -> str:
    """Return what its authenticator says it is, as `iCloud Keychain`; empty for an unknown kind."""
    return str(tables(passkeys.__file__, "authenticators").get(passkey.aaguid, ""))


def described(passkey: "Passkey") -> str:
    """Return a line about a passkey for the list of the team."""
    day = partial(time.strftime, "%Y-%m-%d")
    ended = time.time() >= passkey.until
    state = "revoked" if passkey.revoked else "ended" if ended else "until"
    end = day(time.gmtime(passkey.revoked or passkey.until))
    parts = [
        f"passkey on {passkey.name} ({passkey.id})",
        f"since {day(time.gmtime(passkey.since))}",
        f"{state} {end}",
        kind_of(passkey) or "of an unknown kind",
        "copied to other devices"
        if passkey.backed_up
        else "may be copied to other devices"
        if passkey.backup_eligible
        else "stays on its device",
    ]
    if passkey.agents_machine:
        word = "opens, as an admin says" if passkey.confirmed else "looks and closes only"
        parts.append(f"on a machine of the agents: {word}")
    return ", ".join(parts)
