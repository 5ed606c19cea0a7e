"""Presence shown by an SSH key, in place of the passphrase: what is signed, and what then counts.

A device shows its closing key, which lies open.  A signature by a key of the same person, over
this one call to this server, lets the call do what that person may do.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from crabhook.team.invitation import framed
from crabhook.team.membership import Identified, Refused, Seat, SshKey, Team
from crabhook.team.sshsig import Shown, SshError, shown_by

HEADER = "crabhook-presence-bin"
"""The metadata of a call in which a signature comes: `SignedPresence` in operator.proto."""

WITHIN = 120.0  # seconds from when it was asked for; somebody has to find the key and touch it

Sign: TypeAlias = Callable[[bytes], Awaitable[bytes]]
"""Has a person's key sign a text; returns the signature without armour, or raises CrabhookError."""


class Call(NamedTuple):
    """What is signed: a call by this person, to the server that drew the challenge.

    `team` and `operator` are ids, `request` is the message as it is sent, and `at` the time on the
    server's clock at which the signature was asked for, seconds.
    """

    team: str
    operator: str
    challenge: bytes
    rpc: str
    request: bytes
    at: float

    @property
    def text(self) -> bytes:
        """The bytes that are signed."""
        told = (self.team.encode(), self.operator.encode(), self.challenge, self.rpc.encode())
        at = round(self.at * 1000).to_bytes(8, "big")
        return framed(b"crabhook-presence-v1", *told, sha256(self.request).digest(), at)


def opened_by(signature: bytes, call: Call, team: Team, seat: Seat, now: float) -> Identified:
    """Return the seat as one that opens too, or why the signature of the call does not do that."""
    if abs(now - call.at) > WITHIN:
        return Refused("the signature was asked for too long ago: try again")
    try:
        shown = shown_by(signature, call.text)
    except SshError as error:
        return Refused(str(error))
    keys = next((one.keys for one in team.members if one.id == seat.operator), ())
    known = next((one for one in keys if one.key == str(shown.key)), None)
    if known is None:
        return Refused(
            f"{shown.key.fingerprint} is no key of {seat.name}'s: an admin runs "
            "`crabhook operators trust-key`"
        )
    if why := _without_a_person(known, shown):
        return Refused(why)
    return replace(seat, closing=False)


def _without_a_person(known: SshKey, shown: Shown) -> str:
    """Return why a signature shows no person; empty where it does, or where a person vouches."""
    if shown.key.in_hardware:
        return "" if shown.touched else "the key was not touched"
    return "" if known.confirmed else "this key signs without a person"
