"""Who is in the team and what each may do: values, with no file, no clock and no cryptography.

TLS shows the other end's certificate. Its rights are looked up at every call, since a connection
outlives a revoked certificate.
"""

import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from hmac import compare_digest
from posixpath import normpath
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.actor import Role
from crabhook.team.identity import Doubt, Identity, OidcPolicy


class Permission(StrEnum):
    """What a desk asks the server to do, as a role may allow it."""

    WATCH = "watch"  # see cards, their ends, orders, who looks at what
    READ = "read"  # a whole card, sessions, what was decided
    UNCOVER = "uncover"  # a card on a page with its secrets
    CLAIM = "claim"
    ADJUST = "adjust"  # extend, snooze
    NOTE = "note"  # tell a session's model something
    OFFERS = "offers"  # which rules there could be, and what they say of an edit
    ALLOW = "allow"  # every decision but a denial: allow, answer, ask, pass
    DENY = "deny"
    HOLD = "hold"
    STOP = "stop"
    HERE = "here"  # end orders that let calls pass
    ORDER = "order"  # give or end any other standing order
    REMEMBER = "remember"
    TEAM = "team"  # see and change who is in it


_FREE_VIEWS = (Permission.WATCH, Permission.READ)
_VIEWS = (*_FREE_VIEWS, Permission.UNCOVER)
_ORDERS = (Permission.ORDER, Permission.REMEMBER, Permission.TEAM)

NEEDS: Mapping[Permission, Role] = {
    permission: Role.VIEWER
    if permission in _VIEWS
    else Role.ADMIN
    if permission in _ORDERS
    else Role.DECIDER
    for permission in Permission
}
"""The least role for each permission."""

_CLOSES = (Permission.DENY, Permission.HOLD, Permission.STOP, Permission.HERE)

CLOSING = frozenset({*_FREE_VIEWS, Permission.CLAIM, Permission.OFFERS, *_CLOSES})
"""What a key may do that lies unencrypted: look, read what the rules say, and close gates."""

KINDS = ("call", "question", "plan", "form", "stop")
"""The kinds of card, as the settings name them."""


@frozen
class Target:
    """What an act is about, as far as a scope needs to know; empty if unknown.

    `machine` showed its own token. `project` contains the agent's folder, as the agent says.
    """

    project: str = ""
    machine: str = ""
    kind: str = ""


@frozen
class Scope:
    """A person's limits; an empty list limits nothing.

    `projects` are folders with all their content; both lists may have patterns, as `build*`.
    """

    projects: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether it limits nothing."""
        return not (self.projects or self.machines or self.kinds)

    def takes_in(self, target: Target) -> bool:
        """Whether what each limit needs of the target is known and inside."""
        project = normpath(target.project) if target.project else ""
        return (
            (not self.projects or any(_is_in(project, top) for top in self.projects))
            and (
                not self.machines
                or any(fnmatchcase(target.machine, pattern) for pattern in self.machines)
            )
            and (not self.kinds or target.kind in self.kinds)
        )

    @property
    def limits(self) -> str:
        """What it limits, to be put after a role; empty for nothing."""
        return "" if self.everything else f", limited to {self}"

    def __str__(self) -> str:
        limits = {"projects": self.projects, "machines": self.machines, "kinds": self.kinds}
        return "; ".join(f"{what} {', '.join(which)}" for what, which in limits.items() if which)


def _is_in(project: str, folder: str) -> bool:
    return bool(project) and (
        fnmatchcase(project, folder) or f"{project}/".startswith(f"{folder.rstrip('/')}/")
    )


@frozen
class Device:
    """A person's device, known by its certificates' SHA-256 in hexadecimal.

    Its opening key is encrypted; `closing` is the certificate of the other, if any. Times are
    seconds since 1970; `revoked` 0 means not revoked.

    `signing` is the public half of what it signs decisions with, Ed25519 in hexadecimal; empty for
    a device that joined before there was such a key.
    """

    id: str
    name: str
    fingerprint: str
    since: int
    until: int
    closing: str = ""
    revoked: int = 0
    signing: str = ""


@frozen
class SshKey:
    """A person's SSH key to show presence: `key` as in a .pub file, without comment.

    `confirmed`: an admin vouches that it never signs without a person, which only hardware keys
    prove.
    """

    key: str
    comment: str = ""
    since: int = 0
    confirmed: bool = False


@frozen
class Passkey:
    """A person's passkey, in the phone or the computer called `name`.

    `credential` is its id among all passkeys, `key` its public key as COSE has it, both in
    base64url. It signs for pages of the host `rp` alone. Times are as a device's.

    `aaguid` tells the kind of authenticator, by its own word. `backup_eligible`: it may be copied
    to other devices, and `backed_up` says whether it was when it was enrolled.

    `agents_machine`: it was made on a machine where agents run, whose programs may use it without
    a person. It counts there if an admin vouches for it, which is `confirmed`.
    """

    id: str
    credential: str
    key: str
    rp: str
    name: str
    since: int
    until: int
    revoked: int = 0
    aaguid: str = ""
    backup_eligible: bool = False
    backed_up: bool = False
    agents_machine: bool = False
    confirmed: bool = False

    @property
    def counts(self) -> bool:
        """Whether its signature proves a person."""
        return self.confirmed or not self.agents_machine


@frozen
class Member:
    """A person in the team.

    `identity`: who they proved to be when they joined, if the team asks its identity provider.
    `doubt` is of the moment, and in no file.
    """

    id: str
    name: str
    role: Role
    scope: Scope = Scope()
    devices: tuple[Device, ...] = ()
    keys: tuple[SshKey, ...] = ()
    passkeys: tuple[Passkey, ...] = ()
    identity: Identity | None = None
    doubt: Doubt | None = None

    @property
    def owned(self) -> tuple[Device | Passkey, ...]:
        """All that a person signs in by, each with a name of its own."""
        return *self.devices, *self.passkeys


@frozen
class Machine:
    """A machine where agents run, known by the SHA-256 of the token that its hooks show.

    `owner`: the person, by id, whose agents run there; empty if nobody said.
    """

    name: str
    token_sha256: str = field(repr=False)
    since: int = 0
    revoked: int = 0
    owner: str = ""


@frozen
class TeamGroup:
    """People of the team whom rules name together, as `@leads`; `members` are their ids."""

    name: str
    members: tuple[str, ...]


@frozen
class Attempt:
    """A failed invitation, or a refused attempt, in words; and when."""

    at: int
    what: str


@frozen
class Principal:
    """Who calls: a person, by which device, and whether by its closing key.

    A passkey is a device too. `signed`: the closing key opens for this one call, since an SSH key
    or a passkey of the person's signed it. `doubt`: why no key of the person's opens now.
    """

    operator: str
    name: str
    role: Role
    device: str
    device_name: str
    scope: Scope = Scope()
    closing: bool = False
    signed: bool = False
    doubt: str = ""


@frozen
class TeamRefusal:
    """Why something may not be done, in words for the person who asked."""

    why: str


@frozen
class ClosedKey(TeamRefusal):
    """A key that looks and closes was shown for an act that a proof of presence would open."""


Identified: TypeAlias = Principal | TeamRefusal

# A person who is revoked leaves no device behind by which the two cases could be told apart.
NOT_IN_TEAM = TeamRefusal(
    "this certificate is of no device in the team: its person was revoked, or it is from a team "
    "file that was lost. Ask for an invitation"
)
NO_PASSKEY = TeamRefusal(
    "this passkey is of nobody in the team: its person was revoked, or it was never enrolled. Ask "
    "for an invitation"
)


@frozen(slots=False)
class Team:
    """The whole team at one version of its file.

    `id` is the fingerprint of its certificate authority. `names`: the names and addresses in the
    server's certificate; invitations use the first. `attempts`: the last refused attempts, for the
    server's record. `groups`: whom rules name together. `owner`: the person, by id, whose agents
    run on the server's own machine; empty if nobody said. `oidc`: which identity provider says who
    a person is, if any does.
    """

    id: str
    name: str
    version: int
    members: tuple[Member, ...] = ()
    machines: tuple[Machine, ...] = ()
    names: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    groups: tuple[TeamGroup, ...] = ()
    owner: str = ""
    oidc: OidcPolicy | None = None

    def groups_of(self, person: str) -> tuple[str, ...]:
        """Return the groups of a person, by id, as rules write them."""
        return tuple(f"@{group.name}" for group in self.groups if person in group.members)

    def owner_of(self, machine: str) -> str:
        """Return whose agents run on a machine, by id; "" is the server's own machine."""
        if not machine:
            return self.owner
        return next((there.owner for there in self.machines if there.name == machine), "")

    def identify(self, certificate: bytes | str, now: float) -> Identified:
        """Return who holds the key of a certificate in PEM, `now` in seconds since 1970."""
        fingerprint = fingerprint_of(certificate)
        for member in self.members:
            for device in member.devices:
                if fingerprint and fingerprint in (device.fingerprint, device.closing):
                    return _principal(
                        member, device, now, closing=fingerprint != device.fingerprint
                    )
        return NOT_IN_TEAM

    def principal(self, operator: str, device: str, now: float) -> Identified:
        """Return a person at a device, by their ids, `now` in seconds since 1970."""
        for member in self.members:
            for candidate in member.devices:
                if (member.id, candidate.id) == (operator, device):
                    return _principal(member, candidate, now, closing=False)
        return NOT_IN_TEAM

    def passkey(self, credential: str) -> tuple[Member, Passkey] | None:
        """Return whose passkey has this credential's id, and that passkey, which may be revoked."""
        for member in self.members:
            for passkey in member.passkeys:
                if passkey.credential == credential:
                    return member, passkey
        return None

    def by_passkey(self, operator: str, passkey: str, now: float) -> Identified:
        """Return a person who signed in by a passkey, by their ids, `now` in seconds since 1970.

        That person may look and close; the passkey opens one call at a time.
        """
        for member in self.members:
            for candidate in member.passkeys:
                if (member.id, candidate.id) == (operator, passkey):
                    return _by_passkey(member, candidate, now)
        return NO_PASSKEY

    def may(
        self, principal: Principal, permission: Permission, target: Target | None = None
    ) -> TeamRefusal | None:
        """Return why the principal may not do this to the target, or None.

        Without a target, a limited person may only look (each card is checked again), and do
        nothing that reaches beyond the limits.
        """
        role, needed = principal.role, NEEDS[permission]
        if not role.includes(needed):
            who = f"{principal.name} is {_a(role)}"
            return TeamRefusal(f"only {_a(needed)} can {permission}, and {who}")
        if principal.doubt and permission not in CLOSING:
            return TeamRefusal(principal.doubt)
        if principal.closing and permission not in CLOSING:
            return ClosedKey(
                f"this key of {principal.name}'s may look and close, as by deny, hold and stop. "
                f"To {permission}, open the desk with its passphrase, or sign with a trusted key"
            )
        if principal.scope.everything or (target is None and permission in _VIEWS):
            return None
        if target is not None and principal.scope.takes_in(target):
            return None
        return TeamRefusal(
            f"{principal.name} is limited to {principal.scope}, and this is beyond it"
        )

    def machine_of(self, token: str) -> str | None:
        """Return the name of the machine whose token this is; looks at each, whichever it is."""
        shown = digest_of(token)
        machines = [
            machine for machine in self.machines if compare_digest(shown, machine.token_sha256)
        ]
        return next((machine.name for machine in machines if not machine.revoked), None)


def _a(role: Role) -> str:
    return f"{'an' if role is Role.ADMIN else 'a'} {role}"


def _principal(member: Member, device: Device, now: float, *, closing: bool) -> Identified:
    if member.doubt and member.doubt.out:
        return TeamRefusal(member.doubt.why)
    if device.revoked:
        return TeamRefusal(f"{device.name} of {member.name} was revoked on {_day(device.revoked)}")
    if now >= device.until:
        return TeamRefusal(
            f"the certificate of {device.name} ended on {_day(device.until)}: ask for an invitation"
        )
    if now < device.since:
        return TeamRefusal(
            f"the certificate of {device.name} begins on {_day(device.since)}: is a clock wrong?"
        )
    return _caller(member, device, closing=closing)


def _by_passkey(member: Member, passkey: Passkey, now: float) -> Identified:
    if member.doubt and member.doubt.out:
        return TeamRefusal(member.doubt.why)
    whose = f"the passkey of {member.name} on {passkey.name}"
    if passkey.revoked:
        return TeamRefusal(f"{whose} was revoked on {_day(passkey.revoked)}")
    if now >= passkey.until:
        return TeamRefusal(f"{whose} ended on {_day(passkey.until)}: ask for an invitation")
    return _caller(member, passkey, closing=True)


def _caller(member: Member, owned: Device | Passkey, *, closing: bool) -> Principal:
    doubt = member.doubt.why if member.doubt else ""
    who = member.id, member.name, member.role, owned.id, owned.name, member.scope
    return Principal(*who, closing, doubt=doubt)


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


_PEM = re.compile(
    rb"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----", re.ASCII
)
_LARGEST_PEM = 64 << 10  # characters


def fingerprint_of(certificate: bytes | str) -> str:
    """Return the SHA-256 of the first certificate in a PEM text; empty where there is none."""
    der = der_of(certificate)
    return hashlib.sha256(der).hexdigest() if der else ""


def der_of(certificate: bytes | str) -> bytes:
    """Return the first certificate in a PEM text, in DER; empty where there is none."""
    text = certificate.encode("ascii", "replace") if isinstance(certificate, str) else certificate
    armoured = _PEM.search(text[:_LARGEST_PEM])
    try:
        return binascii.a2b_base64(armoured[1]) if armoured else b""
    except binascii.Error:
        return b""


def digest_of(token: str) -> str:
    """Return the digest that identifies a machine's token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
