"""What the identity provider said last of each person, and what that leaves of the team's file.

The signed file names the most that a person may. A look at the provider can only take away, so it
needs no passphrase. Without a fresh look a person opens nothing, so no deletion of a look opens
anything. The looks lie beside the team's file, with the refresh tokens, for their owner alone.
"""

import fcntl
import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from math import inf
from typing import Any

from crabhook.datatypes import frozen
from crabhook.model.actor import Role
from crabhook.safe_open import write_own
from crabhook.team.edit_team import with_revoked
from crabhook.team.folder import Folder, TeamError, private, raising_team_error
from crabhook.team.identity import Doubt, Identity
from crabhook.team.membership import Member, Team, TeamGroup

SKEW = 120.0  # seconds by which the clocks of two machines may differ
_LARGEST = 16 << 20  # bytes: ten thousand people


@frozen
class LastLook:
    """The last look at a person, by their id in the team; times are in seconds since 1970.

    `at`: when the provider last said that they are in. `role` and `groups` are what their groups
    there made of them then. `ended`: why they are out for good; `ended_at` when. `trouble`: why
    the looks since failed. `token` refreshes, and `nonce` stands in each ID token for them.
    """

    member: str
    identity: Identity
    at: int
    role: Role
    groups: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    nonce: str = ""
    ended: str = ""
    ended_at: int = 0
    trouble: str = ""


Looks = Mapping[str, LastLook]
"""The last look at each person, by their ids in the team."""


def looks_in(folder: Folder) -> Looks:
    """Return the looks; raises TeamError where they cannot be read. No file is no looks."""
    if not folder.looks.exists():
        return {}
    try:
        looks = map(_look, json.loads(private(folder.looks, _LARGEST)))
        return {look.member: look for look in looks}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        raise TeamError(
            f"{folder.looks} cannot be read ({why}): who joined by the identity provider may do "
            "nothing. Remove that file, and invite them again by --oidc"
        ) from None


def _look(values: Mapping[str, Any]) -> LastLook:
    made = dict(values)
    made["identity"] = Identity(**made["identity"])
    made["role"] = Role(made["role"])
    made["groups"] = tuple(map(str, made["groups"]))
    return LastLook(**made)


def keep_looks(folder: Folder, pairs: Iterable[tuple[LastLook, LastLook | None]]) -> None:
    """Write looks, each with the look before it; raises TeamError.

    A look counts if the look before it is still the last: the person may have joined again since.
    With None it counts always.
    """
    with _alone(folder, "looks.lock"):
        looks = dict(looks_in(folder))
        counting = [now for now, old in pairs if old is None or looks.get(now.member) == old]
        looks |= {look.member: look for look in counting}
        _write(folder, looks.values())


def forget_looks(folder: Folder, people: Container[str]) -> None:
    """Forget the looks at all but these people, by id, with their tokens; raises TeamError."""
    with _alone(folder, "looks.lock"):
        looks = looks_in(folder)
        stay = [look for look in looks.values() if look.member in people]
        if len(stay) < len(looks):
            _write(folder, stay)


def _write(folder: Folder, looks: Iterable[LastLook]) -> None:
    content = json.dumps([asdict(look) for look in looks], indent=1)
    with raising_team_error(folder.looks, "written"):
        write_own(folder.looks, content.encode())


@contextmanager
def one_round(folder: Folder) -> Iterator[bool]:
    """Give whether nobody else looks: a provider may take a refresh token once."""
    try:
        with _alone(folder, "looking.lock", wait=False):
            yield True
    except BlockingIOError:
        yield False


@contextmanager
def _alone(folder: Folder, name: str, *, wait: bool = True) -> Iterator[None]:
    path = folder.path / name
    with raising_team_error(path, "opened"):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def confirmed(team: Team, looks: Looks, now: float) -> tuple[Team, float]:
    """Return what the looks leave of a team, and until when that holds without another look."""
    if not any(member.identity for member in team.members):
        return team, inf
    members = tuple(_confirmed(team, member, looks, now) for member in team.members)
    bound = team.oidc.bound if team.oidc else 0
    turns = (at for look in looks.values() for at in (look.at - SKEW, look.at + bound))

    def still(group: TeamGroup) -> TeamGroup:
        stay = (person for person in group.members if _is_in(person, group.name, team, looks))
        return replace(group, members=tuple(stay))

    left = replace(team, members=members, groups=tuple(map(still, team.groups)))
    return left, min((at for at in turns if at > now), default=inf)


def _confirmed(team: Team, member: Member, looks: Looks, now: float) -> Member:
    identity = member.identity
    if identity is None:
        return member
    look = _look_at(member, looks)
    if look is None:
        why = f"no server here has looked at {identity.issuer} for {member.name}. {_anew(member)}"
        return replace(member, doubt=Doubt(why, out=True))
    if look.ended:
        return _out(member, look)
    role = look.role if member.role.includes(look.role) else member.role
    return replace(member, role=role, doubt=_doubt(team, member, look, now))


def _look_at(member: Member, looks: Looks) -> LastLook | None:
    """Return the last look at the account that the person joined by."""
    look = looks.get(member.id)
    identity = member.identity
    return look if look and identity and look.identity.is_same(identity) else None


def _out(member: Member, look: LastLook) -> Member:
    why = f"{member.name} is out: {look.ended}. {_anew(member)}. {_at_hooks(member)}"
    gone = with_revoked(member, look.ended_at, lambda owned: not owned.revoked)
    return replace(gone, doubt=Doubt(why, out=True))


def _doubt(team: Team, member: Member, look: LastLook, now: float) -> Doubt | None:
    policy, issuer = team.oidc, look.identity.issuer
    if policy is None or policy.issuer != issuer:
        asks = policy.issuer if policy else "no identity provider"
        return Doubt(f"{member.name} joined by {issuer}, and the team asks {asks} now")
    if look.at - SKEW <= now < look.at + policy.bound:
        return None
    return Doubt(
        f"{member.name} may look and close, not open: {issuer} last confirmed them at "
        f"{moment(look.at)}, and the team waits {policy.bound} s for it"
    )


def taken_away(signed: Team, present: Team) -> Mapping[str, str]:
    """Return what the looks take away, in words by people's names."""
    if signed is present:
        return {}
    words = {
        after.name: _loss(
            before, after, set(signed.groups_of(after.id)) - {*present.groups_of(after.id)}
        )
        for before, after in zip(signed.members, present.members, strict=True)
    }
    return {name: loss for name, loss in words.items() if loss}


def _loss(before: Member, after: Member, groups: Iterable[str]) -> str:
    if after.doubt:
        return "out" if after.doubt.out else "looks and closes"
    role = f"{after.role}, not {before.role}" if after.role is not before.role else ""
    return ", ".join(filter(None, (role, *(f"not in {group}" for group in sorted(groups)))))


def _is_in(person: str, group: str, team: Team, looks: Looks) -> bool:
    """Whether a person is in a group still: a group that the provider fills takes its word."""
    filled = team.oidc is not None and group in {name for _, name in team.oidc.groups}
    member = next((member for member in team.members if member.id == person), None)
    if not filled or member is None or member.identity is None:
        return True
    look = _look_at(member, looks)
    return look is not None and group in look.groups


def _anew(member: Member) -> str:
    return f"An admin can let them in: `crabhook team invite {member.name} --oidc`"


def _at_hooks(member: Member) -> str:
    # A look cannot be signed, so a hook that trusts no server has to be told by the signed file.
    return (
        f"For strict hooks, end their keys in the signed file: `crabhook team revoke {member.name}`"
    )


def moment(seconds: float) -> str:
    """Return a time in words, by UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%MZ")
