"""`crabhook team`: found a team, invite, join, list, revoke.

A change takes the team's passphrase, typed on the terminal itself: see `asking`.
"""

import argparse
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from crabhook import config
from crabhook.cli.arguments import shared_place, team_on_record
from crabhook.cli.commands import actions
from crabhook.cli.team.asking import with_passphrase, yours
from crabhook.cli.team.attaching import join_desk, use_key, use_servers
from crabhook.cli.team.inviting import (
    LOOPBACK,
    change,
    finished_here,
    found_here,
    invite_machine,
    invite_operator,
    team_folder,
    team_now,
)
from crabhook.cli.team.provider import look_now, looked_at, show_provider, use_provider
from crabhook.cli.team.web_inviting import described, invite_browser
from crabhook.model.actor import Role
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own, write_own
from crabhook.store.opening import is_shared
from crabhook.team import edit_team
from crabhook.team.call_signature import PublicKey
from crabhook.team.folder import TEAM, founding, private
from crabhook.team.invitation import DESK_PORT, HOOK_PORT, OWN_DESKS, PORT
from crabhook.team.looks import confirmed, looks_in
from crabhook.team.membership import Member, SshKey, Team
from crabhook.team.team_file import authority_of, serve_as, share_seals, team_in
from crabhook.ui.console import say, say_below, say_json


def _init(arguments: argparse.Namespace) -> None:
    names = (*arguments.host, socket.gethostname())
    who = (arguments.operator, arguments.team)
    kept = finished_here(OWN_DESKS) or found_here(names, OWN_DESKS, *who)
    team, facts = team_now(team_folder()), kept.facts()
    say(f"The team {team.name} is founded. You are {facts.operator}, its first admin.")
    say(f"This device's keys are in {kept.path}.")
    say(f"The server is known as {', '.join(team.names)}. It counts from the server's next start.")
    say("Next, in this order:")
    if is_shared(config.record_place()):
        say("  crabhook team servers HERE:7444,OTHER:7444")
        say("      so that it finds both servers")
    if arguments.host:  # others come from elsewhere: without these options nobody reaches it
        say(f"  crabhook serve --operators 0.0.0.0:{DESK_PORT} --listen 0.0.0.0:{HOOK_PORT}")
    else:
        say("  crabhook serve")
    say("      or restart its service")
    say("  crabhook team invite NAME")


def _names(arguments: argparse.Namespace) -> None:
    folder = team_folder()
    names = tuple(dict.fromkeys((*arguments.host, *LOOPBACK)))
    authority = with_passphrase(yours(team_now(folder).name), partial(authority_of, folder))
    change(folder, authority, lambda team: replace(team, names=names))  # it may be refused
    serve_as(folder, authority, names, time.time())
    say(
        f"The server here has a new certificate, for {', '.join(names)}. Restart the server, "
        "so that it shows this certificate."
    )


def _pull(arguments: argparse.Namespace) -> None:
    """Let this machine be another server of the shared team, or update its copy."""
    shared_place()  # else there is nothing to pull from, and no reason to found a second team
    folder, there = team_folder(), team_on_record()
    if there is None:
        raise CrabhookError(
            "no team is on record there: found it on one machine (`crabhook team init`) and start "
            "that machine's server, which puts it there"
        )
    if not folder.exists:
        with founding(folder) as new:
            for name, path in new.shared.items():
                write_own(path, there.read(name).encode())
            names = tuple(dict.fromkeys((*arguments.host, socket.gethostname(), *LOOPBACK)))
            authority = with_passphrase(yours(team_in(new).name), partial(authority_of, new))
            serve_as(new, authority, names, time.time())
    elif not folder.sealing_key.exists():  # the team is older than such keys
        words = yours(team_now(folder).name)
        share_seals(folder, with_passphrase(words, partial(authority_of, folder)))
    team = team_now(folder)
    say(f"The team {team.name} is here as on record, version {team.version}.")
    say("It counts from the server's next start, if it was not here before.")


def _push(_: argparse.Namespace) -> None:
    """Share this machine's team where it is newer than the shared team."""
    shared_place()
    folder, there = team_folder(), team_on_record()
    if there is None:
        raise CrabhookError(
            "no team is on record: the first server that writes it and has one gives it"
        )
    content = private(folder.team, 4 << 20).decode()
    if content == there.read(TEAM):
        say("The team on record is the team of this machine: there is nothing to do.")
        return
    now = there.put(TEAM, content)
    say(f"The team on record is of version {now.version} there now, and in force on all servers.")


def _export(arguments: argparse.Namespace) -> None:
    """Write what strict hooks check by into a folder that other users may read."""
    folder, to = team_folder(), arguments.folder
    team = team_now(folder)
    try:
        for path in (folder.team, folder.authority):
            write_own(to / path.name, private(path, 4 << 20))
            (to / path.name).chmod(0o644)
        to.chmod(0o755)
    except OSError as error:
        raise CrabhookError(f"{to} cannot be written: {error.strerror}") from error
    say(f"Version {team.version} of the team {team.name} is in {to}, for strict hooks:")
    say(f"  crabhook install claude --strict --team {to / folder.team.name}")


def _invite(arguments: argparse.Namespace) -> None:
    of_a_line = arguments.host or arguments.port != PORT or arguments.server
    if arguments.web and (arguments.machine or of_a_line):
        raise edit_team.ChangeError(
            "--machine, --host, --port and --server are not for --web: --page says where it leads"
        )
    if not arguments.web and (arguments.page or arguments.agents_machine):
        raise edit_team.ChangeError("--page and --agents-machine are for --web")
    if arguments.oidc and (arguments.web or arguments.machine or arguments.role):
        raise edit_team.ChangeError(
            "--oidc is for a person's device, whose role comes of their groups: no --web, "
            "--machine or --role beside it"
        )
    if arguments.web:
        invite_browser(arguments)
        return
    if not arguments.machine:
        invite_operator(arguments)
        return
    if any((arguments.role, arguments.only_project, arguments.only_machine, arguments.only_kind)):
        raise edit_team.ChangeError(
            "--role and the --only options are for a person: a machine's hooks decide nothing"
        )
    invite_machine(arguments)


def _list(arguments: argparse.Namespace) -> None:
    from crabhook.cli.push import histories  # for this alone
    from crabhook.cli.verbs.attached import attached_of  # gRPC: likewise

    folder, now = team_folder(), time.time()
    looks = looks_in(folder)
    team, _ = confirmed(team_now(folder), looks, now)
    desks = attached_of(team.id)
    if arguments.json:
        columns = ("name", "since", "revoked", "owner")
        say_json(
            {
                "members": [
                    asdict(member)
                    | {"attached": desks.get(member.id, ()), "groups": team.groups_of(member.id)}
                    for member in team.members
                ],
                "machines": [
                    {key: getattr(machine, key) for key in columns} for machine in team.machines
                ],
            }
        )
        return
    phones = histories()
    for member in team.members:
        limits = "" if member.scope.everything else f"  only {member.scope}"
        groups = "".join(f"  {group}" for group in team.groups_of(member.id))
        say(f"{member.name}  {member.role}{groups}{limits}")
        for line in (
            *looked_at(member, looks),
            *(_attached(desk, member) for desk in desks.get(member.id, ())),
            *_owned(member, phones, now),
        ):
            say_below(line)
    names = {member.id: member.name for member in team.members}
    for machine in team.machines:
        day = time.strftime("%Y-%m-%d", time.gmtime(machine.revoked or machine.since))
        of_whom = f"  of {names[machine.owner]}" if machine.owner in names else ""
        state = "revoked" if machine.revoked else "since"
        say(f"{machine.name}  machine  {state} {day}{of_whom}")
    if team.owner in names:
        say(f"the server's own machine  of {names[team.owner]}")


def _owned(member: Member, phones: Mapping[str, Iterable[object]], now: float) -> Iterator[str]:
    """Yield a line about each device, passkey and SSH key of a person."""
    for device in member.devices:
        state = "revoked" if device.revoked else "ended" if now >= device.until else "until"
        day = time.strftime("%Y-%m-%d", time.gmtime(device.revoked or device.until))
        yield f"{device.name} ({device.id}), {state} {day}"
    for passkey in member.passkeys:
        yield described(passkey)
        yield from (f"called there: {history}" for history in phones.get(passkey.id, ()))
    for ssh_key in member.keys:
        key = PublicKey.parse(ssh_key.key)
        how = "touched" if key.in_hardware else "confirmed at its ssh-agent, as an admin says"
        yield f"signs by {key.fingerprint} {ssh_key.comment}, {how}"


def _attached(desk: Mapping[str, object], member: Member) -> str:
    """Return a line about a desk or a page that a person has open."""
    on_page = desk["device"] in [passkey.name for passkey in member.passkeys]
    by_key = ", by its open key" if desk["closing"] else ""
    how = ", on a page" if on_page else by_key
    where = f"{desk['device']} at {desk['address']}"
    return f"attached: {where}, since {str(desk['since'])[:16]}Z{how}"


def _trust_key(arguments: argparse.Namespace) -> None:
    if (arguments.key is None) == (arguments.passkey is None):
        raise edit_team.ChangeError("say an SSH key, or a passkey by --passkey DEVICE")
    if arguments.passkey is not None:
        _trust_passkey(arguments)
        return
    line = _line_of(arguments.key)
    key, words = PublicKey.parse(line), line.split(None, 2)
    if not (key.in_hardware or arguments.confirmed):
        raise edit_team.ChangeError(
            f"nobody can see whether {key.kind} signs without a person. Take a key in hardware "
            "(sk-…), or say with --confirmed that it is in an ssh-agent alone, by ssh-add -c"
        )
    comment = words[2].strip() if len(words) > 2 else ""
    ssh_key = SshKey(str(key), comment[:64], int(time.time()), not key.in_hardware)
    _changed(partial(edit_team.with_key, name=arguments.name, key=ssh_key))
    say(f"{arguments.name} may show presence by {key.fingerprint} from now on.")
    say("Next, on their device: `crabhook team keys use FILE`")


def _trust_passkey(arguments: argparse.Namespace) -> None:
    name, device = arguments.name, arguments.passkey
    _changed(partial(edit_team.with_confirmed_passkey, name=name, device=device))
    say(f"The passkey of {name} on {device} opens calls from now on.")


def _distrust_key(arguments: argparse.Namespace) -> None:
    key = PublicKey.parse(_line_of(arguments.key))
    _changed(partial(edit_team.without_key, name=arguments.name, key=str(key)))
    say(f"{key.fingerprint} shows nobody's presence any more.")


def _line_of(text_or_file: str) -> str:
    """Return a public key, given as text or file; raises CrabhookError."""
    if len(text_or_file.split()) > 1:
        return text_or_file
    try:
        return (
            read_own(Path(text_or_file).expanduser().absolute(), 1 << 14, anybodys=True)
            .decode()
            .strip()
        )
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise edit_team.ChangeError(
            f"the public key {text_or_file} cannot be read: {why}"
        ) from None


def _changed(with_change: Callable[[Team], Team]) -> None:
    folder = team_folder()
    team = team_now(folder)
    with_change(team)  # what cannot be done needs no passphrase to be told
    authority = with_passphrase(yours(team.name), partial(authority_of, folder))
    change(folder, authority, with_change)


def _group(arguments: argparse.Namespace) -> None:
    name, people = arguments.group.removeprefix("@"), tuple(arguments.person)
    _changed(partial(edit_team.with_group, name=name, people=people))
    if people:
        say(f"@{name} is {', '.join(people)} from now on.")
    else:
        say(f"The group @{name} has ended.")


def _owner(arguments: argparse.Namespace) -> None:
    person, machine = arguments.person, arguments.machine or ""
    _changed(partial(edit_team.with_owner, name=person, machine=machine))
    what = f"The machine {machine}" if machine else "The server's own machine"
    say(f"{what} is {person}'s: where a rule has not_self, {person} allows nothing asked there.")


def _revoke(arguments: argparse.Namespace) -> None:
    name, device, now = arguments.name, arguments.device, int(time.time())
    if arguments.machine:
        if device:
            raise edit_team.ChangeError("--device is for a person, and --machine for a machine")
        what, gone = f"The machine {name}", partial(edit_team.without_machine, name=name, at=now)
    else:
        what = f"{device} of {name}" if device else name
        gone = partial(edit_team.without_operator, name=name, device=device, at=now)
    _changed(gone)
    say(f"{what} is revoked: a server that runs refuses it from its next call on.")


team = actions(
    "team",
    {
        "init": _init,
        "invite": _invite,
        "join": join_desk,
        "list": _list,
        "revoke": _revoke,
        "group": _group,
        "owner": _owner,
        "names": _names,
        "servers": use_servers,
        "push": _push,
        "pull": _pull,
        "export": _export,
        "oidc show": show_provider,
        "oidc use": use_provider,
        "oidc look": look_now,
        "keys use": use_key,
        "keys trust": _trust_key,
        "keys distrust": _distrust_key,
    },
    {"roles": [role.value for role in Role], "PORT": PORT, "folder": Path},
)
