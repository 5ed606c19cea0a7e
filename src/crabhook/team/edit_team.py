"""What is changed in a team: each takes the team as it is and returns it changed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from secrets import token_hex
from typing import TypeVar

from crabhook.model.actor import Role
from crabhook.model.ballot import EVERYBODY
from crabhook.model.errors import CrabhookError
from crabhook.team.identity import OidcPolicy
from crabhook.team.membership import (
    KINDS,
    Attempt,
    Device,
    Machine,
    Member,
    Passkey,
    Scope,
    SshKey,
    Team,
    TeamGroup,
)

Owned = TypeVar("Owned", Device, Passkey)

ATTEMPTS_KEPT = 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


class ChangeError(CrabhookError):
    """A change that this team does not allow; nothing was changed."""


def new_id(kind: str) -> str:
    """Return a new id that begins with its kind: o for a person, d a device, p a passkey."""
    return f"{kind}-{token_hex(4)}"


def invitable(team: Team, name: str, role: Role | None, scope: Scope) -> Member:
    """Return the invited person, who may be in the team already; raises ChangeError.

    Without a `role`, a new person is a decider. A wrong name is refused, and a member with another
    role or scope.
    """
    _check(name)
    if unknown := set(scope.kinds) - set(KINDS):
        raise ChangeError(
            f"there is no kind {', '.join(sorted(unknown))}. The kinds are: {', '.join(KINDS)}"
        )
    for member in team.members:
        if _is(member, name):
            if role not in (None, member.role) or scope not in (Scope(), member.scope):
                raise ChangeError(
                    f"{member.name} is in the team already, as {member.role}. An invitation adds a "
                    "device and changes no role: revoke the person first"
                )
            return member
    return Member(new_id("o"), name, role or Role.DECIDER, scope)


def with_device(team: Team, member: Member, device: Device) -> Team:
    """Add a device to a person, who comes into the team with the first device."""
    member = _in_team(team, member)
    named = replace(device, name=_free_name(member, device.name))
    return _with(team, replace(member, devices=(*member.devices, named)))


def with_identity(
    team: Team, member: Member, device: Device, groups: tuple[str, ...], ended: int = 0
) -> Team:
    """Add a device to a person who has signed in; raises ChangeError for another person's account.

    The groups are filled too. `ended`: when the provider ended what they had; that does not come
    back with the new device.
    """
    identity = member.identity
    for other in team.members:
        if identity and other.identity and other.identity.is_same(identity):
            if other.id != member.id:
                raise ChangeError(f"that account is {other.name} in the team already")
        elif other.id == member.id and other.identity:
            raise ChangeError(f"{other.name} joined as {other.identity}: revoke the person first")
    there = _in_team(team, member)
    if ended:
        there = with_revoked(there, ended, lambda owned: not owned.revoked)
    team = with_device(_with(team, replace(there, identity=identity)), member, device)
    for group in groups:
        team = _with_one_more(team, group, member.id)
    return team


def _with_one_more(team: Team, name: str, person: str) -> Team:
    """Put a person, by id, into a group, which begins with its first."""
    _check(name)
    before = next((group.members for group in team.groups if group.name == name), ())
    others = tuple(group for group in team.groups if group.name != name)
    members = tuple(dict.fromkeys((*before, person)))
    return replace(team, groups=(*others, TeamGroup(name, members)))


def with_policy(team: Team, policy: OidcPolicy | None) -> Team:
    """Have the team ask this identity provider, or none; raises ChangeError for no change."""
    if team.oidc == policy:
        raise ChangeError("the team's file has these settings already")
    for _, group in policy.groups if policy else ():
        _check(group)
    return replace(team, oidc=policy)


def with_passkey(team: Team, member: Member, passkey: Passkey) -> Team:
    """Add a passkey to a person, who may come into the team with it; raises ChangeError.

    A passkey has one person, and is not enrolled again once it was revoked.
    """
    if team.passkey(passkey.credential):
        raise ChangeError(
            "this passkey is in the team already, or was revoked: make another passkey"
        )
    member = _in_team(team, member)
    named = replace(passkey, name=_free_name(member, passkey.name))
    return _with(team, replace(member, passkeys=(*member.passkeys, named)))


def with_confirmed_passkey(team: Team, name: str, device: str) -> Team:
    """Have a person's passkey on an agents' machine count, by its device's name or its id.

    Raises ChangeError where there is none such.
    """

    def is_meant(passkey: Passkey) -> bool:
        return not passkey.revoked and device in (passkey.name, passkey.id)

    meant = [
        passkey
        for member in team.members
        if _is(member, name)
        for passkey in member.passkeys
        if is_meant(passkey)
    ]
    if not meant:
        raise ChangeError(f"{name} has no passkey on {device}")
    if all(passkey.counts for passkey in meant):
        raise ChangeError(f"the passkey of {name} on {device} counts already")
    return _with_member(
        team,
        name,
        lambda member: replace(
            member,
            passkeys=tuple(
                replace(passkey, confirmed=True) if is_meant(passkey) else passkey
                for passkey in member.passkeys
            ),
        ),
    )


def _in_team(team: Team, member: Member) -> Member:
    """Return the member as in the team now; raises ChangeError for another of that name."""
    there = next((other for other in team.members if other.id == member.id), None)
    if there is None and any(_is(other, member.name) for other in team.members):
        raise ChangeError(f"{member.name} has come into the team meanwhile")
    return there or member


def _free_name(member: Member, wanted: str) -> str:
    """Return a name that no device or passkey of the person has, so that each can be revoked."""
    names = {candidate.name for candidate in member.owned if not candidate.revoked}
    name, number = wanted, 2
    while name in names:
        name, number = f"{wanted}-{number}", number + 1
    return name


def _with(team: Team, member: Member) -> Team:
    others = (other for other in team.members if other.id != member.id)
    return replace(team, members=(*others, member))


def without_operator(team: Team, name: str, device: str | None, at: int) -> Team:
    """Revoke a person, or one of their devices and passkeys, by name or id.

    Raises ChangeError if unknown.
    """

    def goes(candidate: Device | Passkey) -> bool:
        return not candidate.revoked and device in (None, candidate.name, candidate.id)

    if not any(any(map(goes, member.owned)) for member in team.members if _is(member, name)):
        what = f"no device {device} of {name}" if device else f"nobody called {name}"
        raise ChangeError(f"there is {what} that could be revoked")
    if device is None:  # the person goes, and the name may come anew
        stay = tuple(member for member in team.members if not _is(member, name))
        return _without_strangers(replace(team, members=stay))

    return _with_member(team, name, lambda member: with_revoked(member, at, goes))


def with_revoked(member: Member, at: int, goes: Callable[[Device | Passkey], bool]) -> Member:
    """Return a person whose devices and passkeys that go were revoked then."""

    def left(candidate: Owned) -> Owned:
        return replace(candidate, revoked=at) if goes(candidate) else candidate

    devices, passkeys = map(left, member.devices), map(left, member.passkeys)
    return replace(member, devices=tuple(devices), passkeys=tuple(passkeys))


def _without_strangers(team: Team) -> Team:
    """Take people who are not in the team any more out of its groups."""
    ids = {member.id for member in team.members}
    groups = (
        replace(group, members=tuple(person for person in group.members if person in ids))
        for group in team.groups
    )
    return replace(team, groups=tuple(group for group in groups if group.members))


def with_group(team: Team, name: str, people: tuple[str, ...]) -> Team:
    """Have a group consist of these people, by name; of nobody ends it.

    Raises ChangeError for an unknown person, or for a group that is not there to end.
    """
    name = name.removeprefix("@")
    _check(name)
    if name == EVERYBODY.removeprefix("@"):
        raise ChangeError(f"{EVERYBODY} is everybody who may decide, and no group of yours")
    others = tuple(group for group in team.groups if group.name != name)
    if not people:
        if len(others) == len(team.groups):
            raise ChangeError(f"there is no group @{name}")
        return replace(team, groups=others)
    members = tuple(dict.fromkeys(_person(team, person).id for person in people))
    return replace(team, groups=(*others, TeamGroup(name, members)))


def with_owner(team: Team, name: str, machine: str) -> Team:
    """Say whose agents run on a machine; "" is the server's own. Raises ChangeError if unknown."""
    owner = _person(team, name).id
    if not machine:
        return replace(team, owner=owner)
    there = next((each for each in team.machines if each.name == machine), None)
    if there is None:
        raise ChangeError(f"there is no machine {machine}")
    return with_machine(team, replace(there, owner=owner))


def _person(team: Team, name: str) -> Member:
    for member in team.members:
        if _is(member, name):
            return member
    raise ChangeError(f"there is nobody called {name}")


def with_key(team: Team, name: str, key: SshKey) -> Team:
    """Let a person show presence by an SSH key too; raises ChangeError if unknown."""
    if not any(_is(member, name) for member in team.members):
        raise ChangeError(f"there is nobody called {name}")
    return _with_member(
        team, name, lambda member: replace(member, keys=(*_keys_but(member, key.key), key))
    )


def without_key(team: Team, name: str, key: str) -> Team:
    """Have a person's SSH key count no more; raises ChangeError where there is none such."""
    keys = [ssh_key.key for member in team.members if _is(member, name) for ssh_key in member.keys]
    if key not in keys:
        raise ChangeError(f"{name} has no such key")
    return _with_member(team, name, lambda member: replace(member, keys=_keys_but(member, key)))


def _keys_but(member: Member, key: str) -> tuple[SshKey, ...]:
    return tuple(ssh_key for ssh_key in member.keys if ssh_key.key != key)


def _with_member(team: Team, name: str, changed: Callable[[Member], Member]) -> Team:
    members = (changed(member) if _is(member, name) else member for member in team.members)
    return replace(team, members=tuple(members))


def _is(member: Member, name: str) -> bool:
    return member.name.casefold() == name.casefold()


def with_machine(team: Team, machine: Machine) -> Team:
    """Add a machine; one of the same name has a new token from now on."""
    _check(machine.name)
    others = (other for other in team.machines if other.name != machine.name)
    return replace(team, machines=(*others, machine))


def without_machine(team: Team, name: str, at: int) -> Team:
    """Revoke a machine's token; raises ChangeError where there is none."""
    machine = next(
        (
            candidate
            for candidate in team.machines
            if candidate.name == name and not candidate.revoked
        ),
        None,
    )
    if machine is None:
        raise ChangeError(f"there is no machine {name} that could be revoked")
    return with_machine(team, replace(machine, revoked=at))


def with_attempt(team: Team, what: str, at: int) -> Team:
    """Note a refused attempt to join the team; only the last attempts are kept."""
    return replace(team, attempts=(*team.attempts, Attempt(at, what))[-ATTEMPTS_KEPT:])


def refusals(before: Team, after: Team) -> Iterator[str]:
    """Say which attempts to come into the team were refused from one version to a later version."""
    for attempt in after.attempts:
        if attempt not in before.attempts:
            yield f"somebody was not let into the team: {attempt.what}"


def doubts(before: Team, after: Team) -> Iterator[str]:
    """Say whom the identity provider does not confirm any more, and who counts less by its word."""
    earlier = {member.id: member for member in before.members}
    for member in after.members:
        old = earlier.get(member.id, member)
        if member.doubt and member.doubt != old.doubt:
            yield member.doubt.why
        if member.identity and member.role is not old.role:
            yield f"{member.name} is {member.role} now, by {member.identity.issuer}"


def news(before: Team, after: Team) -> Iterator[str]:
    """Say what has changed from one version to a later, a line each, for feed and record."""
    devices_before = {device.id: device for member in before.members for device in member.devices}
    for member in after.members:
        for device in member.devices:
            old = devices_before.get(device.id)
            if old is None:
                yield _came(member, device.name)
            if device.revoked and not (old and old.revoked):
                yield f"{device.name} of {member.name} was revoked"
    yield from _news_of_passkeys(before, after)
    yield from _news_of_keys(before, after)
    left = {member.id for member in after.members}
    yield from (f"{member.name} was revoked" for member in before.members if member.id not in left)
    yield from _news_of_machines(before, after)
    yield from _news_of_groups(before, after)
    yield from _news_of_identities(before, after)
    if before.names != after.names:
        yield f"a server of the team is now known as {', '.join(after.names)}"


def _news_of_machines(before: Team, after: Team) -> Iterator[str]:
    machines = {machine.name: machine for machine in before.machines}
    for machine in after.machines:
        old = machines.get(machine.name)
        if machine.revoked and (old is None or not old.revoked):
            yield f"the machine {machine.name} was revoked"
        elif not machine.revoked and (old is None or machine != replace(old, owner=machine.owner)):
            yield f"the machine {machine.name} has come into the team"
        if machine.owner != (old.owner if old else ""):
            yield f"the machine {machine.name} is {_name_of(after, machine.owner)}'s from now on"
    if before.owner != after.owner:
        yield f"the server's own machine is {_name_of(after, after.owner)}'s from now on"


def _name_of(team: Team, person: str) -> str:
    return next((member.name for member in team.members if member.id == person), "nobody")


def _news_of_groups(before: Team, after: Team) -> Iterator[str]:
    earlier = {group.name: group.members for group in before.groups}
    for group in after.groups:
        if earlier.pop(group.name, None) != group.members:
            names = ", ".join(_name_of(after, person) for person in group.members)
            yield f"the group @{group.name} is {names} from now on"
    yield from (f"the group @{name} has ended" for name in earlier)


def _news_of_identities(before: Team, after: Team) -> Iterator[str]:
    earlier = {member.id: member for member in before.members}
    for member in after.members:
        old = earlier.get(member.id)
        if member.identity and (old is None or old.identity is None):
            yield f"{member.name} is {member.identity}"
        if old and old.doubt and member.doubt is None:
            yield f"{member.name} is confirmed again"
    if before.oidc != after.oidc:
        asks = after.oidc.issuer if after.oidc else "no identity provider"
        yield f"the team asks {asks} from now on, by other settings than before"


def _came(member: Member, device: str) -> str:
    role = f"{member.role}{member.scope.limits}"
    return f"{member.name} has come into the team with {device}, as {role}"


def _news_of_passkeys(before: Team, after: Team) -> Iterator[str]:
    earlier = {passkey.id: passkey for member in before.members for passkey in member.passkeys}
    for member in after.members:
        for passkey in member.passkeys:
            old = earlier.get(passkey.id)
            if old is None:
                yield _came(member, f"a passkey on {passkey.name}")
            elif passkey.counts and not old.counts:
                yield f"an admin vouches for the passkey of {member.name} on {passkey.name}"
            if passkey.revoked and not (old and old.revoked):
                yield f"the passkey of {member.name} on {passkey.name} was revoked"


def _news_of_keys(before: Team, after: Team) -> Iterator[str]:
    earlier = {member.id: member.keys for member in before.members}
    for member in after.members:
        old = earlier.get(member.id, ())
        for key in member.keys:
            if key not in old:
                yield f"an SSH key of {member.name} shows presence from now on: {_short(key)}"
        for key in old:
            if key.key not in [ssh_key.key for ssh_key in member.keys]:
                yield f"an SSH key of {member.name} shows presence no more: {_short(key)}"


def _short(key: SshKey) -> str:
    return f"{key.key.partition(' ')[0]} {key.comment}".strip()


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ChangeError(
            f"{name!r} is no name: it has 1 to 32 letters, digits, dots, hyphens and underlines"
        )
