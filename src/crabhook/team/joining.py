"""The end that was invited: goes where the invitation leads, and comes back with what it is given.

It needs nothing but the standard library and the hook's own wire: see `invitation`.
"""

import hashlib
import secrets
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import Final

from crabhook.hook.call import OK, UNAVAILABLE, Call
from crabhook.hook.wire import Malformed, bytes_field, fields_of, number_field, request_headers
from crabhook.model.errors import CrabhookError
from crabhook.team.invitation import (
    SERVICE,
    VALID,
    Invitation,
    Joins,
    kept,
    pin_of,
    proof,
    six_words,
    team_of,
)

ANSWER_WITHIN = 10.0  # seconds, of a listener that is there
_BYTES = 2  # protobuf's wire type


class JoinError(CrabhookError):
    """Nobody was let in; says why."""


@dataclass(frozen=True, slots=True)
class Joining:
    """Who would join: what, its key and its closing key as the wire has them, and its name."""

    joins: Joins
    key: bytes
    closing_key: bytes
    name: str

    @property
    def fields(self) -> tuple[bytes, ...]:
        """What is proven, and what the words are made of."""
        return (bytes((self.joins,)), self.key, self.closing_key, self.name.encode())


@dataclass(frozen=True, slots=True)
class Joined:
    """What somebody in the team has; certificates are PEM, and empty for a machine."""

    authority: bytes
    certificate: bytes
    closing_certificate: bytes
    server: str
    team: str
    name: str
    role: str


def new_token() -> tuple[str, bytes]:
    """Return a machine's new token, and its SHA-256 to join with: the token itself stays here."""
    token = secrets.token_urlsafe(32)
    return token, hashlib.sha256(token.encode()).digest()


def join(
    invitation: Invitation,
    who: Joining,
    show: Callable[[str], None],
    *,
    within: float = VALID,
) -> Joined:
    """Join; `show` is given the six words, while the other end compares them.

    Raises JoinError, and then nothing was changed here.
    """
    known = kept(invitation.secret)
    until = monotonic() + within
    with closing(_line(invitation)) as line:
        begin = number_field(1, who.joins) + bytes_field(2, who.key)
        begin += bytes_field(3, who.closing_key) + bytes_field(4, who.name.encode())
        begin += bytes_field(5, proof(known, *who.fields))
        call = Call(_headers(invitation, "BeginJoin"), begin)
        (nonce,) = _answer(line, call, monotonic() + ANSWER_WITHIN, 1)
        show(six_words(invitation.pin, nonce, *who.fields))
        call.again(_headers(invitation, "FinishJoin"), bytes_field(1, proof(known, nonce)))
        told = _answer(line, call, until, 7)
    authority, certificate, closing_certificate, *texts = told
    try:
        fits = team_of(ssl.PEM_cert_to_DER_cert(authority.decode("ascii"))) == invitation.team
    except ValueError:
        fits = False
    if not fits:
        raise JoinError("it answered for another team than the invitation is from")
    server, team, name, role = (one.decode("utf-8", "replace") for one in texts)
    return Joined(authority, certificate, closing_certificate, server, team, name, role)


def _line(invitation: Invitation) -> ssl.SSLSocket:
    """Connect, and send nothing unless the listener holds the key that the invitation names."""
    where = f"{invitation.host}:{invitation.port}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # known by its pin, below: nobody vouches for it
    context.set_alpn_protocols(["h2"])
    try:
        bare = socket.create_connection((invitation.host, invitation.port), ANSWER_WITHIN)
    except (OSError, UnicodeError) as error:  # the second for what can be no name
        why = getattr(error, "strerror", None) or error
        raise JoinError(
            f"nobody listens at {where} ({why}): an invitation lasts 15 "
            "minutes, and the one who invited has to wait for you; is a firewall in between?"
        ) from error
    try:
        line = context.wrap_socket(bare)
    except (OSError, ValueError) as error:
        bare.close()
        raise JoinError(f"no TLS came about with {where}: {error}") from error
    if pin_of(line.getpeercert(binary_form=True) or b"") != invitation.pin:
        line.close()
        raise JoinError(f"the program at {where} is not the one that the invitation is from")
    return line


def _headers(invitation: Invitation, call: str) -> bytes:
    where = f"{invitation.host}:{invitation.port}"
    return request_headers(f"{SERVICE}/{call}", where, secure=True, token="", agent="crabhook-join")


def _answer(line: ssl.SSLSocket, call: Call, by: float, fields: int) -> Sequence[bytes]:
    """Carry a call to its end; return the answer's first fields, which are texts or bytes."""
    try:
        while call.status is None:
            line.settimeout(max(by - monotonic(), 0.001))
            if unsent := call.take():
                line.sendall(unsent)
                continue
            if not (data := line.recv(1 << 16)):
                raise ConnectionError("the connection was closed")
            call.feed(data)
        told = dict.fromkeys(range(1, fields + 1), b"")
        for key, _, value in fields_of(call.message) if call.status == OK else ():
            if key & 7 == _BYTES:
                told[key >> 3] = value
    except TimeoutError:
        raise JoinError("the other end did not answer in time; nothing was changed") from None
    except (OSError, Malformed) as error:
        raise JoinError(f"the connection to the other end was lost: {error}") from error
    if call.status != OK:
        gone = _GONE if call.status == UNAVAILABLE else call.detail
        raise JoinError(gone or f"the other end refused (status {call.status})")
    return [told[number] for number in range(1, fields + 1)]


_GONE: Final = "the other end ended the invitation; nothing was changed"
