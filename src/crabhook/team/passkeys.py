"""Passkeys: how one is enrolled, and how its signature opens one call.

A page's session looks and closes. A phone or another authenticator makes an assertion after a
fingerprint, a face or a PIN. It lets one call do what its person may do. Its challenge is the
digest of that very call: of the text that an SSH key would sign (`call_signature`).

The counter of an authenticator is not looked at: passkeys that are copied between devices have
none, and a challenge is of one call. Attestation is not asked for, so `aaguid` is the
authenticator's own word.

fido2 reads what authenticators write. It is imported at the first use: a server without a web desk
does not need it.
"""

import base64
import binascii
import struct
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

from crabhook.datatypes import frozen
from crabhook.extras import WEB, installer
from crabhook.model.errors import CrabhookError
from crabhook.team.call_signature import TOO_LONG_AGO, WITHIN, SignedCall
from crabhook.team.membership import NO_PASSKEY, Identified, Passkey, Principal, Team, TeamRefusal

if TYPE_CHECKING:
    from fido2.webauthn import AuthenticatorData

ALGORITHMS: Final = (-7, -8, -257)
"""The signatures that count, as COSE numbers them: ES256, EdDSA and RS256, the best first."""

LARGEST = 8192  # bytes of a part of what a browser sends; attestation may bring certificates
_LONGEST_ID = 1023  # bytes of a credential's id, by WebAuthn
_SIGNING, _ENROLLING = "webauthn.get", "webauthn.create"

# What fido2 and cryptography raise for bytes that no authenticator wrote.
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    NotImplementedError,
    struct.error,
    UnsupportedAlgorithm,
)


class PasskeyError(CrabhookError):
    """An enrolment or a signature of a passkey that does not count; says why."""


def need_library() -> None:
    """Raise CrabhookError where the package is missing that reads what authenticators write."""
    try:
        import fido2.webauthn  # noqa: F401 - whether it is there
    except ImportError:
        raise CrabhookError(
            f"passkeys need a package that is missing here: {installer(WEB)}"
        ) from None


def to_text(data: bytes) -> str:
    """Return bytes in base64url without padding, as browsers write them."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_text(text: object) -> bytes:
    """Read what `to_text` wrote; raises PasskeyError."""
    try:
        if not isinstance(text, str) or len(text) > 2 * LARGEST:
            raise ValueError(text)  # noqa: TRY301 - as every other wrong one
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise PasskeyError(_CANNOT_BE_READ) from None


_CANNOT_BE_READ = "what the passkey sent cannot be read"


@frozen
class Assertion:
    """A passkey's signature: `client_data` says what for, `authenticator_data` how it was given."""

    credential: bytes
    client_data: bytes
    authenticator_data: bytes
    signature: bytes

    @classmethod
    def from_json(cls, value: object) -> "Assertion":
        """Read what a browser's `PublicKeyCredential.toJSON()` gives; raises PasskeyError."""
        names = ("clientDataJSON", "authenticatorData", "signature")
        return cls(from_text(_mapping(value).get("id")), *_response(value, names))

    @property
    def name(self) -> str:
        """The credential's id as the team's file has it."""
        return to_text(self.credential)

    @property
    def json(self) -> Mapping[str, Any]:
        """The same form, for the record."""
        response = {
            "clientDataJSON": to_text(self.client_data),
            "authenticatorData": to_text(self.authenticator_data),
            "signature": to_text(self.signature),
        }
        return {"id": self.name, "type": "public-key", "response": response}


@frozen
class Registration:
    """A new passkey as a browser brings it."""

    client_data: bytes
    attestation: bytes

    @classmethod
    def from_json(cls, value: object) -> "Registration":
        """Read what a browser's `PublicKeyCredential.toJSON()` gives; raises PasskeyError."""
        return cls(*_response(value, ("clientDataJSON", "attestationObject")))

    @property
    def json(self) -> Mapping[str, Any]:
        """The same form."""
        response = {
            "clientDataJSON": to_text(self.client_data),
            "attestationObject": to_text(self.attestation),
        }
        return {"type": "public-key", "response": response}


def _response(value: object, names: Iterable[str]) -> Iterator[bytes]:
    response = _mapping(_mapping(value).get("response"))
    return (from_text(response.get(name)) for name in names)


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise PasskeyError(_CANNOT_BE_READ)
    return value


@frozen
class Enrolled:
    """What an enrolment proves of a new passkey; `Passkey` has the words for each."""

    credential: str
    key: str
    aaguid: str
    backup_eligible: bool
    backed_up: bool


def enrolled(
    registration: Registration, challenge: bytes, rp: str, origins: Container[str]
) -> Enrolled:
    """Return a passkey that was made for this challenge on a page of ours; raises PasskeyError.

    `rp` is the host whose pages it signs for, `origins` are where this server shows its pages.
    """
    _need_client_data(registration.client_data, _ENROLLING, challenge, origins)
    from fido2 import cbor
    from fido2.webauthn import AttestationObject

    try:
        if len(registration.attestation) > LARGEST:
            raise ValueError("too long")
        data = AttestationObject(registration.attestation).auth_data
        made = data.credential_data
        if made is None or not 0 < len(made.credential_id) <= _LONGEST_ID:
            raise ValueError("no credential")
        key = cbor.encode(dict(made.public_key))
        algorithm = made.public_key[3]
    except _UNREADABLE:
        raise PasskeyError(_CANNOT_BE_READ) from None
    _need_person(data, rp)
    if algorithm not in ALGORITHMS:
        raise PasskeyError("the passkey signs in a way that is not known here: take another device")
    return Enrolled(
        to_text(made.credential_id),
        to_text(key),
        str(made.aaguid) if made.aaguid else "",
        data.is_backup_eligible(),
        data.is_backed_up(),
    )


def verify(
    assertion: Assertion, challenge: bytes, passkey: Passkey, origins: Container[str]
) -> None:
    """Raise PasskeyError unless the passkey signed this challenge, for its person, on our page."""
    _need_client_data(assertion.client_data, _SIGNING, challenge, origins)
    from fido2 import cbor
    from fido2.cose import CoseKey
    from fido2.webauthn import AuthenticatorData

    signed = assertion.authenticator_data + sha256(assertion.client_data).digest()
    try:
        data = AuthenticatorData(assertion.authenticator_data)
        parameters = cbor.decode(from_text(passkey.key))
        if not isinstance(parameters, Mapping):
            raise TypeError(parameters)
        key = CoseKey.parse(parameters)
    except _UNREADABLE:
        raise PasskeyError(_CANNOT_BE_READ) from None
    _need_person(data, passkey.rp)
    # A key that can suddenly be copied is not the one that an admin let in.
    if data.is_backup_eligible() != passkey.backup_eligible:
        raise PasskeyError(
            "whether the passkey may be copied has changed since it was enrolled: enrol it again"
        )
    try:
        key.verify(signed, assertion.signature)
    except (InvalidSignature, *_UNREADABLE):
        raise PasskeyError("the passkey's signature is false") from None


def _need_client_data(
    client_data: bytes, kind: str, challenge: bytes, origins: Container[str]
) -> None:
    """Raise PasskeyError unless the browser says that it was for this, on a page of ours."""
    from fido2.webauthn import CollectedClientData

    try:
        if len(client_data) > LARGEST:
            raise ValueError("too long")
        claimed = CollectedClientData(client_data)
        here = claimed.origin in origins  # an error for what has no hash
    except _UNREADABLE:
        raise PasskeyError(_CANNOT_BE_READ) from None
    if claimed.type != kind:
        raise PasskeyError("an enrolment is no signature, and a signature is no enrolment")
    if claimed.challenge != challenge:
        raise PasskeyError("what the passkey signed is not what was asked for")
    if not here:
        raise PasskeyError("the passkey was used on a page that is not this server's")
    if claimed.cross_origin:
        raise PasskeyError("the passkey was used on a page within another page")


def _need_person(data: "AuthenticatorData", rp: str) -> None:
    """Raise PasskeyError unless a person was there, verified, at an authenticator for this host."""
    if data.rp_id_hash != sha256(rp.encode()).digest():
        raise PasskeyError("the passkey is for pages of another host")
    if not data.is_user_present():
        raise PasskeyError("nobody touched the passkey")
    if not data.is_user_verified():
        raise PasskeyError(
            "the passkey asked for no fingerprint, face or PIN: only with one does it count"
        )


def challenge_of(call: SignedCall) -> bytes:
    """Return what a passkey signs to open this call."""
    return sha256(call.text).digest()


def signed_in(
    assertion: Assertion, challenge: bytes, team: Team, now: float, origins: Container[str]
) -> Identified:
    """Return who signs in by a passkey, to look and close; `now` in seconds since 1970."""
    if (whose := team.passkey(assertion.name)) is None:
        return NO_PASSKEY
    member, passkey = whose
    principal = team.by_passkey(member.id, passkey.id, now)
    if isinstance(principal, TeamRefusal):
        return principal
    try:
        verify(assertion, challenge, passkey, origins)
    except PasskeyError as error:
        return TeamRefusal(str(error))
    return principal


def opened_by_passkey(  # noqa: PLR0913 - as by an SSH key, and where pages are shown
    assertion: Assertion,
    call: SignedCall,
    team: Team,
    principal: Principal,
    now: float,
    *,
    origins: Container[str],
) -> Identified:
    """Return the principal with the right to open, or why the assertion does not give it.

    The principal has signed in by a passkey, which has to sign. `now` and the call's
    time are on the server's clock.
    """
    if abs(now - call.at) > WITHIN:
        return TeamRefusal(TOO_LONG_AGO)
    passkey = _passkey_to_open_with(assertion, team, principal)
    if isinstance(passkey, TeamRefusal):
        return passkey
    try:
        verify(assertion, challenge_of(call), passkey, origins)
    except PasskeyError as error:
        return TeamRefusal(str(error))
    return replace(principal, closing=False, signed=True)


def _passkey_to_open_with(
    assertion: Assertion, team: Team, principal: Principal
) -> Passkey | TeamRefusal:
    """Return the passkey that an assertion says it is of, or why it may not open."""
    whose = team.passkey(assertion.name)
    if whose is None or whose[0].id != principal.operator:
        return TeamRefusal(f"this passkey is none of {principal.name}'s")
    _, passkey = whose
    if passkey.id != principal.device:
        return TeamRefusal(
            f"{principal.name} signed in by the passkey on {principal.device_name}: sign by it, or "
            f"sign in by the passkey on {passkey.name}"
        )
    # Its end is by the calendar, at which the caller was identified.
    standing = team.by_passkey(principal.operator, passkey.id, passkey.since)
    if isinstance(standing, TeamRefusal):
        return standing
    if not passkey.counts:
        return TeamRefusal(
            f"the passkey on {passkey.name} is on a machine where agents run, so it may look and "
            f"close: an admin runs `crabhook team keys trust {principal.name} --passkey "
            f"{passkey.id}`"
        )
    return passkey
