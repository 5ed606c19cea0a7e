"""An invitation into the team, both ends of it: one line from one person to another.

The line says where to connect and how both ends prove that they know it. The invited end needs only
the standard library and the hook's wire, since agents' machines join by it too.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import field
from enum import IntEnum
from time import monotonic
from typing import Final

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.hook.call import OK, UNAVAILABLE, HookCall
from crabhook.hook.statement import framed
from crabhook.hook.wire import MalformedBytes, fields_of, request_headers, write_message
from crabhook.model.errors import CrabhookError

VALID = 15 * 60  # seconds
TRIES = 5  # wrong secrets before the listener closes
LONGEST_NAME = 64  # characters of a device's
PORT, DESK_PORT, HOOK_PORT = 7445, 7444, 7443
"""Where one joins, where desks go then, and where hooks do, unless somebody says otherwise."""
OWN_DESKS = f"127.0.0.1:{DESK_PORT}"
"""Where a server with a team takes the desks of its own machine, without a setting."""
SERVICE = "/crabhook.v1.EnrolService"

_PIN, _TEAM, _SECRET, _CHECK = 20, 16, 16, 2  # bytes
_VERSION = 1
_LINE = re.compile(r"crab1([a-z2-7]+)@(.+):([0-9]{1,5})")
_WORDS = tables(__file__, "words")["words"].split()


class InvitationError(CrabhookError):
    """A line that is no invitation, or an invitation that leads nowhere any more."""


class Joins(IntEnum):
    """What an invitation is for, as the wire numbers it."""

    DESK = 1
    MACHINE = 2


def pin_of(certificate: bytes) -> bytes:
    """Return what an invitation knows a listener's certificate by, which is given in DER."""
    return hashlib.sha256(certificate).digest()[:_PIN]


def team_of(authority: bytes) -> bytes:
    """Return what an invitation knows a team by: its authority's certificate, in DER."""
    return hashlib.sha256(authority).digest()[:_TEAM]


@frozen
class Invitation:
    """Where to join, whom to expect there, and the secret that may be shown there once."""

    host: str
    port: int
    pin: bytes
    team: bytes
    secret: bytes = field(repr=False)

    def __str__(self) -> str:
        packed = bytes((_VERSION,)) + self.pin + self.team + self.secret
        text = base64.b32encode(packed + _check(packed)).decode().rstrip("=").lower()
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"crab1{text}@{host}:{self.port}"

    @classmethod
    def parse(cls, line: str) -> "Invitation":
        """Read what `str` wrote; raises InvitationError."""
        parts = _LINE.fullmatch(line.strip())
        if parts is None or not 0 < int(parts[3]) < 65536:
            raise InvitationError(
                "this is no invitation: it is one line, as crab1…@HOST:PORT, whole"
            )
        text = parts[1].upper()
        try:
            packed = base64.b32decode(text + "=" * (-len(text) % 8))
        except binascii.Error:
            packed = b""
        packed, check = packed[:-_CHECK], packed[-_CHECK:]
        if len(packed) != 1 + _PIN + _TEAM + _SECRET or _check(packed) != check:
            raise InvitationError("a letter of the invitation is missing or wrong: copy it again")
        if packed[0] != _VERSION:
            raise InvitationError("the invitation is from a newer crabhook: update crabhook here")
        pin, rest = packed[1 : 1 + _PIN], packed[1 + _PIN :]
        host = parts[2].removeprefix("[").removesuffix("]")
        return cls(host, int(parts[3]), pin, rest[:_TEAM], rest[_TEAM:])


def _check(packed: bytes) -> bytes:
    return hashlib.sha256(packed).digest()[:_CHECK]


def kept(secret: bytes) -> bytes:
    """Return what who invited keeps of the secret: enough to check a proof, and in memory alone."""
    return hashlib.sha256(b"crabhook-join-v1\0" + secret).digest()


def proof(secret: bytes, *fields: bytes) -> bytes:
    """Return the proof that somebody who has the secret has said these fields; see `kept`."""
    return hmac.digest(secret, framed(*fields), "sha256")


def proves(secret: bytes, shown: bytes, *fields: bytes) -> bool:
    """Whether it is that proof, in a time that tells nothing about it."""
    return hmac.compare_digest(proof(secret, *fields), shown)


def six_words(pin: bytes, nonce: bytes, *fields: bytes) -> str:
    """Return the words that both ends show, of the keys and of what neither end chose alone."""
    digest = hashlib.sha256(framed(b"crabhook-words-v1", pin, nonce, *fields)).digest()
    return " ".join(_WORDS[byte] for byte in digest[:6])


ANSWER_WITHIN = 10.0  # seconds, of a listener that is there
_BYTES = 2  # protobuf's wire type


class JoinError(CrabhookError):
    """Nobody was let in; says why."""


@frozen
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


@frozen
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


def no_sign_in(_page: str, _code: str) -> None:
    """Show nothing of a sign-in: a machine is nobody who could."""


def join(
    invitation: Invitation,
    who: Joining,
    show: Callable[[str], None],
    sign_in: Callable[[str, str], None] = no_sign_in,
    *,
    within: float = VALID,
) -> Joined:
    """Join; `show` gets the six words, while the other end compares them.

    `sign_in` gets the page and the code where the team asks its identity provider.

    Raises JoinError, and then changes nothing here.
    """
    secret = kept(invitation.secret)
    until = monotonic() + within
    with closing(_line(invitation)) as line:
        shown = proof(secret, *who.fields)
        begin = write_message(who.joins, who.key, who.closing_key, who.name.encode(), shown)
        call = HookCall(_headers(invitation, "BeginJoin"), begin)
        nonce, page, code = _answer(line, call, monotonic() + ANSWER_WITHIN, 3)
        if page:
            sign_in(page.decode("utf-8", "replace"), code.decode("utf-8", "replace"))
        show(six_words(invitation.pin, nonce, *who.fields))
        call.again(_headers(invitation, "FinishJoin"), write_message(proof(secret, nonce)))
        answer = _answer(line, call, until, 7)
    authority, certificate, closing_certificate, *texts = answer
    try:
        fits = team_of(ssl.PEM_cert_to_DER_cert(authority.decode("ascii"))) == invitation.team
    except ValueError:
        fits = False
    if not fits:
        raise JoinError("it answered for another team than the invitation is from")
    server, team, name, role = (text.decode("utf-8", "replace") for text in texts)
    return Joined(authority, certificate, closing_certificate, server, team, name, role)


def _line(invitation: Invitation) -> ssl.SSLSocket:
    """Connect, and send nothing before the listener shows the invitation's key."""
    where = f"{invitation.host}:{invitation.port}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the pin below proves the key; no authority does
    context.set_alpn_protocols(["h2"])
    try:
        bare = socket.create_connection((invitation.host, invitation.port), ANSWER_WITHIN)
    except (socket.gaierror, UnicodeError) as error:  # the second for what can be no name
        raise JoinError(
            f"this machine knows no host {invitation.host}, where the invitation leads ({error}): "
            "nothing was changed. Who invited has to give the server a name or an address that "
            "this machine knows, by `crabhook team names NAME`, and to invite again"
        ) from error
    except OSError as error:
        why = error.strerror or error
        raise JoinError(
            f"nobody listens at {where} ({why}): an invitation lasts 15 "
            "minutes, and the inviting command must still run. Is a firewall in between?"
        ) from error
    try:
        line = context.wrap_socket(bare)
    except (OSError, ValueError) as error:
        bare.close()
        raise JoinError(f"no TLS came about with {where}: {error}") from error
    if pin_of(line.getpeercert(binary_form=True) or b"") != invitation.pin:
        line.close()
        raise JoinError(f"the invitation is not from the program at {where}")
    return line


def _headers(invitation: Invitation, call: str) -> bytes:
    where = f"{invitation.host}:{invitation.port}"
    return request_headers(f"{SERVICE}/{call}", where, secure=True, token="", agent="crabhook-join")


def _answer(line: ssl.SSLSocket, call: HookCall, by: float, fields: int) -> Sequence[bytes]:
    """Finish a call; return the answer's first fields, which are texts or bytes."""
    try:
        while call.status is None:
            line.settimeout(max(by - monotonic(), 0.001))
            if unsent := call.take():
                line.sendall(unsent)
                continue
            if not (data := line.recv(1 << 16)):
                raise ConnectionError("the connection was closed")
            call.feed(data)
        values = dict.fromkeys(range(1, fields + 1), b"")
        for key, _, value in fields_of(call.message) if call.status == OK else ():
            if key & 7 == _BYTES:
                values[key >> 3] = value
    except TimeoutError:
        raise JoinError("the other end did not answer in time: nothing was changed") from None
    except (OSError, MalformedBytes) as error:
        raise JoinError(f"the connection to the other end was lost: {error}") from error
    if call.status != OK:
        gone = _GONE if call.status == UNAVAILABLE else call.detail
        raise JoinError(gone or f"the other end refused (status {call.status})")
    return [values[number] for number in range(1, fields + 1)]


_GONE: Final = "the other end ended the invitation: nothing was changed"
