"""The team's own small certificate authority: keys, certificates, and seals under a passphrase.

All keys are ECDSA P-256, since gRPC's TLS takes no Ed25519. A device signs decisions by an Ed25519
key derived from its opening key, so the same passphrase opens both. Only this module and its
importers need the package `cryptography`; hooks never do.
"""

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from crabhook.datatypes import frozen
from crabhook.model.card import number_of
from crabhook.model.errors import CrabhookError

Key: TypeAlias = ec.EllipticCurvePrivateKey

DAY = 86_400
SKEW = 300  # seconds by which a new certificate is dated back: clocks differ
AUTHORITY_DAYS, SERVER_DAYS, DEVICE_DAYS = 7300, 825, 365
SHORTEST, LONGEST = 8, 1024  # characters of a passphrase
COST = 1 << 15  # scrypt's N: 32 MiB and about a tenth of a second a guess
_DEAREST = 1 << 17  # so that no file can make us work for an hour
_LARGEST_REQUEST = 8 << 10


class CertificateError(CrabhookError):
    """A key, a certificate or a request for a certificate that cannot be used."""


class WrongPassphraseError(CertificateError):
    """The passphrase opens no such key."""


def new_key() -> Key:
    """Return a new key."""
    return ec.generate_private_key(ec.SECP256R1())


def plain(key: Key) -> bytes:
    """Return a key as it may lie unencrypted: the server's, and a key that only closes gates."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def normal(passphrase: str) -> str:
    """Return a passphrase as any keyboard would send it."""
    return unicodedata.normalize("NFC", passphrase)


def fair(passphrase: str) -> str:
    """Return a passphrase as any keyboard would send it; raises CertificateError if it is poor."""
    sent = normal(passphrase)
    if not SHORTEST <= len(sent) <= LONGEST:
        raise CertificateError(f"a passphrase has {SHORTEST} to {LONGEST} characters")
    return sent


def sealed(key: Key, passphrase: str, *, cost: int = COST) -> bytes:
    """Return a key encrypted under a passphrase: PKCS #8 under a password made by scrypt.

    The 2048 rounds of PBKDF2 in plain PKCS #8 would cost an attacker half a millisecond a guess.
    """
    salt = secrets.token_bytes(16)
    password = _stretched(fair(passphrase), salt, cost)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password))
    return f"crabhook-key-v1 scrypt-{cost}-8-1 {salt.hex()}\n".encode() + text


_SEAL = re.compile(rb"crabhook-key-v1 scrypt-([0-9]{1,9})-8-1 ([0-9a-f]{32})\n(?s:(.+))")


def unsealed(text: bytes, passphrase: str) -> Key:
    """Return the key in what `sealed` wrote; raises WrongPassphraseError, CertificateError."""
    envelope = _SEAL.fullmatch(text)
    cost = int(envelope[1]) if envelope else 0
    if not envelope or cost < 2 or cost & (cost - 1) or cost > _DEAREST:
        raise CertificateError("this version of crabhook has not written that key")
    password = _stretched(
        normal(passphrase)[: LONGEST + 1], bytes.fromhex(envelope[2].decode()), cost
    )
    try:
        return _p256(load_pem_private_key(envelope[3], password))
    except ValueError:
        raise WrongPassphraseError("that is not the passphrase") from None


def opened(text: bytes) -> Key:
    """Return a key that lies unencrypted; raises CertificateError."""
    try:
        return _p256(load_pem_private_key(text, None))
    except (ValueError, TypeError) as error:
        raise CertificateError(f"it is no key: {error}") from None


def _stretched(passphrase: str, salt: bytes, cost: int) -> bytes:
    data = passphrase.encode("utf-8", "surrogatepass")
    room = (256 * cost + 4096) * 8  # bytes: twice what scrypt takes, OpenSSL's default is less
    return hashlib.scrypt(data, salt=salt, n=cost, r=8, p=1, maxmem=room, dklen=32).hex().encode()


def _p256(key: object) -> Key:
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise CertificateError("it is no key on the curve P-256")
    return key


def signing_key_of(key: Key) -> ed25519.Ed25519PrivateKey:
    """Return the key by which a device signs decisions, derived from its opening key."""
    secret = key.private_numbers().private_value.to_bytes(32, "big")
    derived = HKDF(SHA256(), 32, salt=None, info=b"crabhook-decision-key-v1").derive(secret)
    return ed25519.Ed25519PrivateKey.from_private_bytes(derived)


# 2.25 is for names that nobody registers; the number is a random UUID's.
_SIGNING = x509.ObjectIdentifier("2.25.213506873245930178360241856391067214773")


def request_of(key: Key) -> bytes:
    """Return a request for a certificate, in DER, without a name: the team gives the names.

    It also says by which key the device will sign decisions; see `signing_in`.
    """
    public = signing_key_of(key).public_key().public_bytes_raw()
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    extended = builder.add_extension(x509.UnrecognizedExtension(_SIGNING, public), critical=False)
    return extended.sign(key, SHA256()).public_bytes(Encoding.DER)


def signing_in(request: bytes) -> str:
    """Return the public key for decisions in a device's request, as `Device.signing` has it.

    Empty for an older program's request. Raises CertificateError for what is no such key.
    """
    extensions = _read(request).extensions
    public = next((each.value for each in extensions if each.oid == _SIGNING), None)
    if public is None:
        return ""
    raw = public.value if isinstance(public, x509.UnrecognizedExtension) else b""
    if len(raw) != 32:
        raise CertificateError("the request names a key for decisions that is no key")
    return raw.hex()


def signature_of(key: Key, data: bytes) -> bytes:
    """Return a key's signature of some bytes: ECDSA over their SHA-256, in DER."""
    return key.sign(data, ec.ECDSA(SHA256()))


@frozen(slots=False)
class Authority:
    """The team's certificate authority with its key; `certificate` is PEM, `name` the team's."""

    certificate: bytes
    key: Key

    @classmethod
    def new(cls, name: str, now: float) -> "Authority":
        """Return a new authority."""
        key = new_key()
        subject = _name(f"crabhook team {name}")
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        builder = (
            _dated(subject, subject, key.public_key(), now, AUTHORITY_DAYS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(own, critical=False)
        )
        return cls(_pem(builder.sign(key, SHA256())), key)

    def for_device(
        self, request: bytes, operator: str, device: str, now: float, *, closing: bool = False
    ) -> bytes:
        """Return the certificate of a device whose key made the request, in PEM.

        Only the key is taken from the request. Raises CertificateError for another kind of key, or
        a request not made by its key.
        """
        uris = [f"{_OPERATOR}{operator}", f"{_DEVICE}{device}"]
        uris += [_CLOSING] if closing else []
        names = map(x509.UniformResourceIdentifier, uris)
        purpose = ExtendedKeyUsageOID.CLIENT_AUTH
        return self._issue(device, _asked(request), now, DEVICE_DAYS, names=names, purpose=purpose)

    def for_server(self, key: Key, names: Sequence[str], now: float) -> bytes:
        """Return the certificate of a server that is reached by these names and addresses."""
        purpose, hosts = ExtendedKeyUsageOID.SERVER_AUTH, map(_host, names)
        return self._issue(
            names[0], key.public_key(), now, SERVER_DAYS, names=hosts, purpose=purpose
        )

    @property
    def sealing_key(self) -> bytes:
        """The secret of the team's servers, the same each time; it tells nothing of the key."""
        secret = self.key.private_numbers().private_value.to_bytes(32, "big")
        return HKDF(SHA256(), 32, salt=None, info=b"crabhook-servers-v1").derive(secret)

    def sign(self, data: bytes) -> bytes:
        """Return the authority's signature of some bytes."""
        return signature_of(self.key, data)

    def _issue(  # noqa: PLR0913 - what two kinds of certificate differ in
        self,
        name: str,
        key: ec.EllipticCurvePublicKey,
        now: float,
        days: int,
        *,
        names: Iterable[x509.GeneralName],
        purpose: x509.ObjectIdentifier,
    ) -> bytes:
        issuer = x509.load_pem_x509_certificate(self.certificate).subject
        ours = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            _dated(_name(name), issuer, key, now, days)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(ours, critical=False)  # Python 3.13 wants it
        )
        return _pem(builder.sign(self.key, SHA256()))


_OPERATOR, _DEVICE, _CLOSING = "crabhook:operator:", "crabhook:device:", "crabhook:closing"


def device_in(certificate: bytes) -> tuple[str, str, bool]:
    """Return the ids of a device's person and of the device, and whether its key only closes.

    `certificate` is a device's own, in PEM. Raises CertificateError for what is none.
    """
    try:
        extensions = x509.load_pem_x509_certificate(certificate).extensions
        names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound) as error:
        raise CertificateError(f"the device's certificate cannot be read: {error}") from None
    uris = names.get_values_for_type(x509.UniformResourceIdentifier)

    def told(kind: str) -> str:
        return next((uri.removeprefix(kind) for uri in uris if uri.startswith(kind)), "")

    return told(_OPERATOR), told(_DEVICE), _CLOSING in uris


def passing(key: Key, now: float) -> bytes:
    """Return a certificate, in PEM, for a listener that lasts minutes: known by its pin alone."""
    name = _name("crabhook join")
    return _pem(_dated(name, name, key.public_key(), now, 1).sign(key, SHA256()))


def signed_by(certificate: bytes, signature: bytes, data: bytes) -> bool:
    """Whether the authority of that certificate, in PEM, has signed the bytes."""
    try:
        key = x509.load_pem_x509_certificate(certificate).public_key()
    except ValueError as error:
        raise CertificateError(f"it is no certificate: {error}") from None
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise CertificateError("it is no certificate on the curve P-256")
    try:
        key.verify(signature, data, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def until(certificate: bytes) -> int:
    """Return when a certificate in PEM ends, in seconds since 1970."""
    return int(x509.load_pem_x509_certificate(certificate).not_valid_after_utc.timestamp())


def names_in(certificate: bytes) -> tuple[str, ...]:
    """Return the names and addresses that a server's certificate, in PEM, is for."""
    try:
        extensions = x509.load_pem_x509_certificate(certificate).extensions
        names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound) as error:
        raise CertificateError(f"the server's certificate cannot be read: {error}") from None
    return tuple(str(host.value) for host in names)


def begins(certificate: bytes) -> int:
    """Return when a certificate in PEM begins, in seconds since 1970."""
    return int(x509.load_pem_x509_certificate(certificate).not_valid_before_utc.timestamp())


class _Request(NamedTuple):
    """A request for a certificate, read whole: nothing in it raises later."""

    key: object
    valid: bool
    extensions: x509.Extensions


def _read(request: bytes) -> _Request:
    try:
        if len(request) > _LARGEST_REQUEST:
            raise ValueError("it is too large")  # noqa: TRY301 - as every other wrong one
        read = x509.load_der_x509_csr(request)
        return _Request(read.public_key(), read.is_signature_valid, read.extensions)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's bytes bring about
        raise CertificateError(f"the request for a certificate cannot be read: {error}") from None


def _asked(request: bytes) -> ec.EllipticCurvePublicKey:
    key, valid, _ = _read(request)
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise CertificateError("the request is not for a key on the curve P-256")
    if not valid:
        raise CertificateError("the request was not made by the key that it names")
    return key


def _dated(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: float, days: int
) -> x509.CertificateBuilder:
    begins = datetime.fromtimestamp(int(now) - SKEW, UTC)
    ends = datetime.fromtimestamp(int(now) + days * DAY, UTC)
    return (
        x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _host(name: str) -> x509.GeneralName:
    number = number_of(name)
    if number is not None:
        return x509.IPAddress(number)
    try:
        return x509.DNSName(name)
    except ValueError:
        raise CertificateError(
            f"{name!r} is no name for a certificate: write it in ASCII"
        ) from None


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)
