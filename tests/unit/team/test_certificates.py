"""The team's certificate authority, and keys that lie encrypted."""

import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from crabhook.team.certificates import (
    Authority,
    CertificateError,
    WrongPassphraseError,
    names_in,
    new_key,
    opened,
    passing,
    plain,
    request_of,
    sealed,
    signed_by,
    signing_in,
    signing_key_of,
    unsealed,
    until,
)

NOW = 1_800_000_000.0
RIGHT = "correct horse"
CHEAP = 2
ROOT = Authority.new("ours", NOW)


def test_a_key_is_opened_by_its_passphrase_and_by_no_other() -> None:
    key = new_key()
    text = sealed(key, RIGHT, cost=CHEAP)
    assert plain(unsealed(text, RIGHT)) == plain(key)
    for wrong in ("", RIGHT + " ", RIGHT.upper(), "x" * 5000):
        with pytest.raises(WrongPassphraseError):
            unsealed(text, wrong)
    assert plain(unsealed(sealed(key, "café horse", cost=CHEAP), "cafe\u0301 horse")) == plain(key)
    assert plain(opened(plain(key))) == plain(key)


def test_a_guess_at_a_key_costs_32_mebibytes_unless_a_test_says_less() -> None:
    assert sealed(new_key(), RIGHT).startswith(b"crabhook-key-v1 scrypt-32768-8-1 ")


@pytest.mark.parametrize("change", [(b"v1", b"v2"), (b"-2-8", b"-3-8"), (b"-2-8", b"-2097152-8"), (b"-2-8", b"-0-8")])  # fmt: skip
def test_a_key_of_another_make_or_of_a_cost_not_ours_is_refused(
    change: tuple[bytes, bytes],
) -> None:
    text = sealed(new_key(), RIGHT, cost=CHEAP).replace(*change, 1)
    with pytest.raises(CertificateError, match="has not written that key"):
        unsealed(text, RIGHT)


def test_a_poor_passphrase_seals_nothing() -> None:
    with pytest.raises(CertificateError, match="8 to 1024 characters"):
        sealed(new_key(), "short", cost=CHEAP)


def test_a_devices_certificate_names_its_operator_and_is_for_clients_alone() -> None:
    key = new_key()
    made = ROOT.for_device(request_of(key), "o1", "d1", NOW, closing=True)
    found = x509.load_pem_x509_certificate(made)
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.UniformResourceIdentifier) == [
        "crabhook:operator:o1",
        "crabhook:device:d1",
        "crabhook:closing",
    ]
    purposes = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(purposes) == [x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH]
    assert not found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert until(made) == NOW + 365 * 86_400
    assert found.not_valid_before_utc.timestamp() == NOW - 300
    found.verify_directly_issued_by(x509.load_pem_x509_certificate(ROOT.certificate))


def foreign_request(key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256()
    return builder.sign(key, algorithm).public_bytes(Encoding.DER)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (foreign_request(ed25519.Ed25519PrivateKey.generate()), "not for a key on the curve P-256"),
        (foreign_request(ec.generate_private_key(ec.SECP384R1())), "not for a key on the curve"),
        (request_of(new_key())[:-1], "cannot be read"),
        (request_of(new_key())[:-2] + b"zz", "not made by the key"),
        (b"", "cannot be read"),
        (b"x" * 9000, "too large"),
    ],
    ids=["Ed25519", "P-384", "cut", "not its own", "empty", "large"],
)
def test_a_request_not_made_by_a_key_of_ours_gets_no_certificate(
    request_: bytes, words: str
) -> None:
    with pytest.raises(CertificateError, match=words):
        ROOT.for_device(request_, "o", "d", NOW)


def test_a_server_is_known_by_every_name_and_address_that_it_was_given(tmp_path: Path) -> None:
    made = ROOT.for_server(new_key(), ["desk.example", "10.0.0.7", "::1"], NOW)
    (tmp_path / "s.pem").write_bytes(made)
    names = ssl._ssl._test_decode_cert(str(tmp_path / "s.pem"))["subjectAltName"]  # type: ignore[attr-defined]
    assert [name.strip() for _, name in names] == ["desk.example", "10.0.0.7", "0:0:0:0:0:0:0:1"]
    assert names_in((tmp_path / "s.pem").read_bytes()) == ("desk.example", "10.0.0.7", "::1")
    with pytest.raises(CertificateError, match="no name for a certificate"):
        ROOT.for_server(new_key(), ["müller.example"], NOW)


def test_what_is_no_servers_certificate_is_refused_in_words() -> None:
    for content in (b"", b"-----BEGIN CERTIFICATE-----", ROOT.certificate):
        with pytest.raises(CertificateError, match="certificate cannot be read"):
            names_in(content)


def test_only_the_teams_own_authority_signs_for_it() -> None:
    signature = ROOT.sign(b"text")
    assert signed_by(ROOT.certificate, signature, b"text")
    assert not signed_by(ROOT.certificate, signature, b"texts")
    assert not signed_by(ROOT.certificate, b"", b"text")
    assert not signed_by(Authority.new("ours", NOW).certificate, signature, b"text")
    assert until(passing(new_key(), NOW)) == NOW + 86_400


def test_a_request_names_the_key_for_decisions_that_its_opening_key_gives() -> None:
    key = new_key()
    signing = signing_key_of(key)
    assert signing_in(request_of(key)) == signing.public_key().public_bytes_raw().hex()
    assert signing_key_of(key).private_bytes_raw() == signing.private_bytes_raw()
    assert signing_key_of(new_key()).private_bytes_raw() != signing.private_bytes_raw()
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    older = builder.sign(key, SHA256()).public_bytes(Encoding.DER)
    assert signing_in(older) == ""
