"""A team for tests, founded in a moment: its passphrase costs nothing to guess."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from crabhook.model.actor import Role
from crabhook.team.certificates import (
    Authority,
    Key,
    new_key,
    plain,
    request_of,
    sealed,
    signing_in,
    until,
)
from crabhook.team.desk_keys import DeskFolder, DeskKeys, keep
from crabhook.team.folder import Folder
from crabhook.team.invitation import Joined
from crabhook.team.membership import (
    Device,
    Identified,
    Member,
    Permission,
    Scope,
    Team,
    TeamRefusal,
    fingerprint_of,
)
from crabhook.team.team_file import TeamReader, change, found_team

if TYPE_CHECKING:
    from pathlib import Path

PASSPHRASE = RIGHT = "correct horse"
WRONG = "battery staple"
LOOPBACK = ("localhost", "127.0.0.1")
CHEAP = 2
"""What a guess costs here."""

seal = partial(sealed, passphrase=PASSPHRASE, cost=CHEAP)


@dataclass
class Founded:
    """A team's folder, opened."""

    folder: Folder
    authority: Authority
    now: float

    def let_in(
        self, name: str, role: Role = Role.DECIDER, scope: Scope | None = None
    ) -> tuple[bytes, bytes]:
        """Let a person in with one device; return its certificate and key, PEM."""
        key: Key = new_key()
        request, since = request_of(key), int(self.now) - 300
        made = self.authority.for_device(request, f"o-{name}", f"d-{name}", self.now)
        signing, ends = signing_in(request), until(made)
        device = Device(
            f"d-{name}", f"{name}'s", fingerprint_of(made), since, ends, signing=signing
        )
        member = Member(f"o-{name}", name, role, scope or Scope(), (device,))
        self.change(lambda team: replace(team, members=(*team.members, member)))
        return made, plain(key)

    def seat(self, config: Path, name: str, server: str, role: Role = Role.ADMIN) -> DeskFolder:
        """Let a person in whose device keeps both its keys below a configuration folder."""
        keys = DeskKeys.new(closing=True)
        requests = keys.requests()
        made, closing = (
            self.authority.for_device(one, f"o-{name}", f"d-{name}", self.now, closing=bool(which))
            for which, one in enumerate(requests)
        )
        since, ends = int(self.now) - 300, until(made)
        known = (fingerprint_of(made), since, ends, fingerprint_of(closing), 0)
        device = Device(f"d-{name}", "laptop", *known, signing_in(requests[0]))
        member = Member(f"o-{name}", name, role, Scope(), (device,))
        self.change(lambda team: replace(team, members=(*team.members, member)))
        authority = self.folder.authority.read_bytes()
        told = Joined(authority, made, closing, server, "ours", name, role.value)
        return keep(config, keys, told, "laptop", seal)

    def revoke(self, name: str) -> None:
        """Revoke all of a person's devices."""

        def revoked(one: Member) -> Member:
            devices = tuple(replace(device, revoked=int(self.now)) for device in one.devices)
            return replace(one, devices=devices) if one.name == name else one

        self.change(lambda team: replace(team, members=tuple(map(revoked, team.members))))

    def forget_signing(self, *names: str) -> None:
        """Have these people's devices be as those that joined before devices signed decisions."""

        def older(one: Member) -> Member:
            devices = tuple(replace(device, signing="") for device in one.devices)
            return replace(one, devices=devices) if one.name in names else one

        self.change(lambda team: replace(team, members=tuple(map(older, team.members))))

    def change(self, with_change: object) -> Team:
        return change(self.folder, self.authority, with_change)  # type: ignore[arg-type]

    def reader(self) -> TeamReader:
        return TeamReader(self.folder)


def allowed(
    team: Team, certificate: bytes, now: float, permission: Permission = Permission.ALLOW
) -> Identified:
    """Return who may do this by a certificate, or why they may not."""
    principal = team.identify(certificate, now)
    if isinstance(principal, TeamRefusal):
        return principal
    return team.may(principal, permission) or principal


def founded(
    folder: Path, now: float, name: str = "ours", names: tuple[str, ...] = LOOPBACK
) -> Founded:
    """Found a team whose server is on the loopback, or has other names."""
    where = Folder(folder)
    authority = found_team(where, name, names, seal, now)
    return Founded(where, authority, now)
