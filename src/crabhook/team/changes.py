"""What is changed in a team: each takes the team as it is and returns it changed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from secrets import token_hex

from crabhook.model.actor import Role
from crabhook.model.errors import CrabhookError
from crabhook.team.membership import KINDS, Attempt, Device, Machine, Member, Scope, SshKey, Team

ATTEMPTS_KEPT = 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


class ChangeError(CrabhookError):
    """A change that this team does not allow; nothing was changed."""


def new_id(kind: str) -> str:
    """Return a new id that says what kind of thing it is of: o for a person, d for a device."""
    return f"{kind}-{token_hex(4)}"


def invitable(team: Team, name: str, role: Role | None, scope: Scope) -> Member:
    """Return the invited person, who may be in the team already; raises ChangeError.

    Without a `role`, a new person is a decider. A wrong name is refused, and a member with another
    role or scope.
    """
    _check(name)
    if unknown := set(scope.kinds) - set(KINDS):
        raise ChangeError(
            f"there is no kind {', '.join(sorted(unknown))}; known are: {', '.join(KINDS)}"
        )
    for one in team.members:
        if _is(one, name):
            if role not in (None, one.role) or scope not in (Scope(), one.scope):
                raise ChangeError(
                    f"{one.name} is in the team already, as {one.role}; an invitation adds a "
                    "device and changes no role: revoke the person first"
                )
            return one
    return Member(new_id("o"), name, role or Role.DECIDER, scope)


def with_device(team: Team, member: Member, device: Device) -> Team:
    """Add a device to a person, who comes into the team with the first one."""
    there = next((one for one in team.members if one.id == member.id), None)
    if there is None and any(_is(one, member.name) for one in team.members):
        raise ChangeError(f"{member.name} has come into the team meanwhile")
    member = there or member
    names = {one.name for one in member.devices if not one.revoked}
    name, number = device.name, 2
    while name in names:
        name, number = f"{device.name}-{number}", number + 1
    added = replace(member, devices=(*member.devices, replace(device, name=name)))
    others = (one for one in team.members if one.id != member.id)
    return replace(team, members=(*others, added))


def without_operator(team: Team, name: str, device: str | None, at: int) -> Team:
    """Revoke a person, or one of their devices, by name or id; raises ChangeError if unknown."""

    def goes(one: Device) -> bool:
        return not one.revoked and device in (None, one.name, one.id)

    if not any(goes(one) for member in team.members if _is(member, name) for one in member.devices):
        what = f"no device {device} of {name}" if device else f"nobody called {name}"
        raise ChangeError(f"there is {what} that could be revoked")
    if device is None:  # the person goes, and the name may come anew
        return replace(team, members=tuple(one for one in team.members if not _is(one, name)))

    def without_device(member: Member) -> Member:
        left = (replace(one, revoked=at) if goes(one) else one for one in member.devices)
        return replace(member, devices=tuple(left))

    return _with_member(team, name, without_device)


def with_key(team: Team, name: str, key: SshKey) -> Team:
    """Let a person show presence by an SSH key too; raises ChangeError if unknown."""
    if not any(_is(one, name) for one in team.members):
        raise ChangeError(f"there is nobody called {name}")
    return _with_member(
        team, name, lambda member: replace(member, keys=(*_keys_but(member, key.key), key))
    )


def without_key(team: Team, name: str, key: str) -> Team:
    """Have a person's SSH key count no more; raises ChangeError where there is none such."""
    found = [one.key for member in team.members if _is(member, name) for one in member.keys]
    if key not in found:
        raise ChangeError(f"{name} has no such key")
    return _with_member(team, name, lambda member: replace(member, keys=_keys_but(member, key)))


def _keys_but(member: Member, key: str) -> tuple[SshKey, ...]:
    return tuple(one for one in member.keys if one.key != key)


def _with_member(team: Team, name: str, changed: Callable[[Member], Member]) -> Team:
    members = (changed(one) if _is(one, name) else one for one in team.members)
    return replace(team, members=tuple(members))


def _is(member: Member, name: str) -> bool:
    return member.name.casefold() == name.casefold()


def with_machine(team: Team, machine: Machine) -> Team:
    """Add a machine; one of the same name has a new token from now on."""
    _check(machine.name)
    others = (one for one in team.machines if one.name != machine.name)
    return replace(team, machines=(*others, machine))


def without_machine(team: Team, name: str, at: int) -> Team:
    """Revoke a machine's token; raises ChangeError where there is none."""
    found = next((one for one in team.machines if one.name == name and not one.revoked), None)
    if found is None:
        raise ChangeError(f"there is no machine {name} that could be revoked")
    return with_machine(team, replace(found, revoked=at))


def with_attempt(team: Team, what: str, at: int) -> Team:
    """Note a refused attempt to join the team; only the last attempts are kept."""
    return replace(team, attempts=(*team.attempts, Attempt(at, what))[-ATTEMPTS_KEPT:])


def refusals(before: Team, after: Team) -> Iterator[str]:
    """Say which attempts to come into the team were refused from one version to a later one."""
    for one in after.attempts:
        if one not in before.attempts:
            yield f"somebody was not let into the team: {one.what}"


def news(before: Team, after: Team) -> Iterator[str]:
    """Say what has changed from one version to a later one, a line each, for feed and record."""
    known = {device.id: device for one in before.members for device in one.devices}
    for member in after.members:
        for device in member.devices:
            old = known.get(device.id)
            if old is None:
                limits = "" if member.scope.everything else f", limited to {member.scope}"
                yield (
                    f"{member.name} has come into the team with {device.name}, "
                    f"as {member.role}{limits}"
                )
            if device.revoked and not (old and old.revoked):
                yield f"{device.name} of {member.name} was revoked"
    yield from _news_of_keys(before, after)
    left = {one.id for one in after.members}
    yield from (f"{one.name} was revoked" for one in before.members if one.id not in left)
    machines = {one.name: one for one in before.machines}
    for machine in after.machines:
        before_it = machines.get(machine.name)
        if machine.revoked and (before_it is None or not before_it.revoked):
            yield f"the machine {machine.name} was revoked"
        elif not machine.revoked and machine != before_it:
            yield f"the machine {machine.name} has come into the team"
    if before.names != after.names:
        yield f"a server of the team is now known as {', '.join(after.names)}"


def _news_of_keys(before: Team, after: Team) -> Iterator[str]:
    earlier = {one.id: one.keys for one in before.members}
    for member in after.members:
        old = earlier.get(member.id, ())
        for key in member.keys:
            if key not in old:
                yield f"an SSH key of {member.name} shows presence from now on: {_short(key)}"
        for key in old:
            if key.key not in [one.key for one in member.keys]:
                yield f"an SSH key of {member.name} shows presence no more: {_short(key)}"


def _short(key: SshKey) -> str:
    return f"{key.key.partition(' ')[0]} {key.comment}".strip()


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ChangeError(
            f"{name!r} is no name: it has 1 to 32 letters, digits, dots, hyphens and underlines"
        )
