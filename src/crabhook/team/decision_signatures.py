"""Signatures of decisions, checked by the team: whose key made them, and whether that counts.

A strict hook checks the same by itself (`hook/signed.py`), with nothing imported. Here the server
checks before it takes a decision, and `crabhook log verify` checks what is on record.
"""

from collections.abc import Container
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519

from crabhook.hook.statement import NAMESPACE
from crabhook.model.actor import Role
from crabhook.model.errors import CrabhookError
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import StatementFields
from crabhook.team.call_signature import shown_by
from crabhook.team.membership import Device, Member, Passkey, Team
from crabhook.team.passkeys import Assertion, from_text, verify

DESK, SSH, PASSKEY = 1, 2, 3
"""The kinds of keys, as `SignatureKind` of permission.proto numbers them."""

STEPS_UP = (SSH, PASSKEY)
"""What signs a call by itself; a desk's passphrase opens for hours."""

SIGNED_WITHIN = 600.0  # seconds that the signer's clock may differ from the server's


class FalseSignatureError(CrabhookError):
    """A signature of a decision that does not count; says why."""


class UnknownSignerError(FalseSignatureError):
    """By the team's file nobody who decides has such a key; an older file may have had it."""


def check_signature(
    signature: DecisionSignature, team: Team, now: float, origins: Container[str]
) -> None:
    """Raise FalseSignatureError unless a person of the team made this signature, with a good key.

    `now`: seconds since 1970, at which the key has to count. `origins`: where pages are shown.
    """
    member = next((each for each in team.members if each.id == signature.operator), None)
    if member is None:
        raise UnknownSignerError("who signed is not in the team")
    if not member.role.includes(Role.DECIDER):
        raise UnknownSignerError(f"{member.name} is a {member.role}, who decides nothing")
    try:
        fields = StatementFields.read(signature.statement)
    except ValueError as error:
        raise FalseSignatureError(str(error)) from None
    if fields.team.hex() != team.id:
        raise FalseSignatureError("it is of another team")
    _need_same(fields, signature)
    kind = _KINDS.get(signature.kind)
    if kind is None:
        raise FalseSignatureError("it is of a kind that is not known here")
    try:
        kind(signature, member, now, origins)
    except FalseSignatureError:
        raise
    except (CrabhookError, InvalidSignature, ValueError) as error:
        why = str(error) or "it is false"
        raise FalseSignatureError(f"the signature of {member.name} does not count: {why}") from None


def _need_same(fields: StatementFields, signature: DecisionSignature) -> None:
    """Raise FalseSignatureError where the signed bytes and what stands beside them differ."""
    named = fields.operator.decode("utf-8", "replace"), fields.key.decode("utf-8", "replace")
    if named != (signature.operator, signature.key):
        raise FalseSignatureError("what was signed names another person, or another key")
    beside = (
        ("request", fields.request_id, signature.request_id.encode()),
        ("verdict", fields.verdict, signature.verdict.encode()),
        ("card", int.from_bytes(fields.card, "big"), signature.card),
        ("list of who has to sign", fields.terms, signature.terms),
        ("time", int.from_bytes(fields.signed_at, "big"), signature.signed_at),
    )
    for what, signed, stated in beside:
        if signed != stated:
            raise FalseSignatureError(f"what was signed names another {what}")


def _by_desk(signature: DecisionSignature, member: Member, now: float, _: Container[str]) -> None:
    device = next((each for each in member.devices if each.id == signature.key), None)
    if device is None or not device.signing:
        raise UnknownSignerError(
            f"{member.name} has no device with a key that signs decisions, by the id "
            f"{signature.key[:40]!r}: a device that joined before has to join again"
        )
    _need_standing(device, member, now)
    key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(device.signing))
    key.verify(signature.signature, signature.statement)


def _by_ssh(signature: DecisionSignature, member: Member, _now: float, _: Container[str]) -> None:
    shown = shown_by(signature.signature, signature.statement, NAMESPACE)
    trusted = next((each for each in member.keys if each.key == str(shown.key)), None)
    if shown.key.fingerprint != signature.key:
        raise FalseSignatureError("another key signed than it says")
    if trusted is None:
        raise UnknownSignerError(
            f"{shown.key.fingerprint} is no key of {member.name}'s: an admin runs `crabhook team "
            "keys trust`"
        )
    if shown.key.in_hardware and not shown.touched:
        raise FalseSignatureError("the key was not touched")
    if not shown.key.in_hardware and not trusted.confirmed:
        raise UnknownSignerError("this key signs without a person")


def _by_passkey(
    signature: DecisionSignature, member: Member, now: float, origins: Container[str]
) -> None:
    passkey = next((each for each in member.passkeys if each.id == signature.key), None)
    if passkey is None:
        raise UnknownSignerError(f"{member.name} has no such passkey")
    _need_standing(passkey, member, now)
    if not passkey.counts:
        raise UnknownSignerError(
            f"the passkey on {passkey.name} is on a machine where agents run: an admin runs "
            "`crabhook team keys trust`"
        )
    assertion = Assertion(
        from_text(passkey.credential),
        signature.client_data,
        signature.authenticator_data,
        signature.signature,
    )
    verify(assertion, sha256(signature.statement).digest(), passkey, origins)


def _need_standing(key: Device | Passkey, member: Member, now: float) -> None:
    if key.revoked and key.revoked <= now:
        raise FalseSignatureError(f"{key.name} of {member.name} was revoked")
    if not key.since <= now < key.until:
        raise FalseSignatureError(f"the time of {key.name} of {member.name} is over, or not yet")


_KINDS = {DESK: _by_desk, SSH: _by_ssh, PASSKEY: _by_passkey}
