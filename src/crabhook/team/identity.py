"""Who a person is at the team's identity provider, and what their groups there make of them.

Values alone, which the team's signed file holds. What the provider said last is in `looks`.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from crabhook.datatypes import frozen
from crabhook.model.actor import Role

LONGEST = 2048  # letters of an address, or of a code
_ADDRESS = re.compile(r"https?://[\x21-\x7e]+")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@frozen
class Identity:
    """An account: `subject` at `issuer`. An address of e-mail may change hands, and proves nothing.

    `label` is what the provider calls the person, for people to read. `since` is in seconds since
    1970.
    """

    issuer: str
    subject: str
    label: str = ""
    since: int = 0

    def __str__(self) -> str:
        subject = f"{self.subject}@{self.issuer}"
        return f"{self.label} ({subject})" if self.label else subject

    def is_same(self, other: "Identity") -> bool:
        """Whether both are the same account: what it is called may change."""
        return (self.issuer, self.subject) == (other.issuer, other.subject)


@frozen
class Entitled:
    """What a person's groups at the provider make of them; the groups are the team's."""

    role: Role
    groups: tuple[str, ...] = ()


@frozen
class OidcPolicy:
    """Which provider proves who a person is, and what its groups mean here.

    `roles` and `groups` lead from a value of the claim to a role, and to a group of the team. The
    server looks again `every` so many seconds. Unless it succeeds for `bound` seconds, a person
    may only look and close.
    """

    issuer: str
    client: str
    audience: str
    claim: str
    roles: tuple[tuple[str, Role], ...]
    groups: tuple[tuple[str, str], ...] = ()
    every: int = 300
    bound: int = 86_400

    def entitled(self, values: Iterable[str]) -> Entitled | None:
        """Return what the values of the claim make of a person: the highest role; None for none."""
        have = frozenset(values)
        roles = {role for value, role in self.roles if value in have}
        highest = [role for role in roles if all(role.includes(other) for other in roles)]
        groups = tuple(dict.fromkeys(group for value, group in self.groups if value in have))
        return Entitled(highest[0], groups) if highest else None


@frozen
class Doubt:
    """Why a person may do less now than the team's file says.

    `out`: nothing at all. Otherwise they may look and close.
    """

    why: str
    out: bool = False


def fault_of_issuer(issuer: str) -> str:
    """Return why an issuer cannot be asked; empty where it can."""
    if fault := fault_of_address(issuer, plain=True):
        return fault
    return "has more than a host and a path" if {"?", "#"} & set(issuer) else ""


def fault_of_address(where: str, *, plain: bool) -> str:
    """Return why an address cannot be asked; `plain`: a port of this machine needs no TLS."""
    try:
        parts = urlsplit(where)
    except ValueError:
        return "is no address"
    secure = parts.scheme == "https" or (
        plain and parts.scheme == "http" and parts.hostname in _LOOPBACK
    )
    if not secure or not parts.hostname:
        return "is no https:// address"
    whole = _ADDRESS.fullmatch(where) and parts.username is None and len(where) <= LONGEST
    return "" if whole else "is no plain address"
