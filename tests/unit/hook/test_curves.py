"""Signatures verified in pure Python: RFC vectors, what others take too lightly, and an oracle."""

from hashlib import sha256

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook.curves import Ed25519Key, P256Key, RsaKey, known_answers
from tests.support.rows import every_row

ORDER = 2**252 + 27742317777372353535851937790883648493
Q = 2**255 - 19
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
P = 2**256 - 2**224 + 2**192 + 2**96 - 1

# RFC 8032 7.1: public key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        (
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
            "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
        ),
    ),
]
# Points whose order divides 8, with the second names that some libraries take (y not below 2**255-19).
SMALL = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


def edwards(*, ready: bool) -> tuple[ed25519.Ed25519PrivateKey, Ed25519Key]:
    private = ed25519.Ed25519PrivateKey.generate()
    key = Ed25519Key(private.public_key().public_bytes_raw())
    if ready:
        key.make_ready()
    return private, key


def p256(*, ready: bool) -> tuple[ec.EllipticCurvePrivateKey, P256Key]:
    private = ec.generate_private_key(ec.SECP256R1())
    form = PublicFormat.CompressedPoint if ready else PublicFormat.UncompressedPoint
    key = P256Key(private.public_key().public_bytes(Encoding.X962, form))
    if ready:
        key.make_ready()
    return private, key


def test_rfc_8032s_signatures_are_true_and_the_test_of_itself_passes() -> None:
    for public, message, signature in RFC_8032:
        key = Ed25519Key(bytes.fromhex(public))
        assert key.signed(bytes.fromhex(signature), bytes.fromhex(message))
        assert not key.signed(bytes.fromhex(signature), bytes.fromhex(message) + b"x")
    assert all(known_answers())


@every_row("encoded", SMALL)
def test_a_key_whose_signatures_anybody_can_make_is_refused(encoded: str) -> None:
    with pytest.raises(ValueError, match=r"small order|point"):
        Ed25519Key(bytes.fromhex(encoded))


def test_an_ed25519_signature_has_one_form() -> None:
    private, key = edwards(ready=True)
    signature = private.sign(b"message")
    s = int.from_bytes(signature[32:], "little")
    assert key.signed(signature, b"message")
    for wrong in (
        signature[:32] + (s + ORDER).to_bytes(32, "little"),
        signature[:32] + (ORDER - s).to_bytes(32, "little"),
        signature + b"\0",
        signature[:63],
        b"",
        bytes(64),
    ):
        assert not key.signed(wrong, b"message")


def test_no_other_byte_of_an_ed25519_signature_or_key_is_true() -> None:
    private, key = edwards(ready=True)
    public, signature = private.public_key().public_bytes_raw(), private.sign(b"message")
    for at in range(64):
        for bit in (1, 128):
            wrong = bytearray(signature)
            wrong[at] ^= bit
            assert not key.signed(bytes(wrong), b"message")
    for at in range(32):
        wrong = bytearray(public)
        wrong[at] ^= 1
        try:
            other = Ed25519Key(bytes(wrong))
        except ValueError:
            continue
        assert not other.signed(signature, b"message")


def test_what_is_no_point_is_no_key() -> None:
    private, _ = p256(ready=False)
    point = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    wrong = bytearray(point)
    wrong[-1] ^= 1
    large = b"\4" + (P + 1).to_bytes(32, "big") + point[33:]
    for encoded in (b"", b"\0", point[:64], point + b"\0", b"\6" + point[1:], bytes(wrong), large):
        with pytest.raises(ValueError, match="P-256"):
            P256Key(encoded)
    for encoded in (b"", bytes(31), bytes(33), b"\x02" + bytes(31)):
        with pytest.raises(ValueError, match="point"):
            Ed25519Key(encoded)


def test_numbers_beyond_the_curve_sign_nothing() -> None:
    private, key = p256(ready=True)
    r, s = decode_dss_signature(private.sign(b"message", ec.ECDSA(SHA256())))
    assert key.signed(r, s, b"message")
    assert key.signed(r, N - s, b"message")
    for wrong in ((0, s), (r, 0), (r + N, s), (r, s + N), (N, s), (r, N), (-r, s), (s, r), (1, 1)):
        assert not key.signed(*wrong, b"message")


@given(st.binary(max_size=200), st.booleans(), st.integers(0, 511), st.binary(min_size=1))
def test_ed25519_says_what_cryptography_says(
    message: bytes, ready: bool, bit: int, other: bytes
) -> None:
    private, key = edwards(ready=ready)
    signature = bytearray(private.sign(message))
    assert key.signed(bytes(signature), message)
    assert not key.signed(bytes(signature), message + other)
    signature[bit // 8] ^= 1 << bit % 8
    with pytest.raises(InvalidSignature):
        private.public_key().verify(bytes(signature), message)
    assert not key.signed(bytes(signature), message)


@given(
    st.binary(max_size=200),
    st.booleans(),
    st.one_of(st.integers(1, N - 1), st.sampled_from([1, 2, N - 1, N - 2])),
    st.one_of(st.integers(1, N - 1), st.sampled_from([1, 2, N - 1, N - 2])),
)
def test_p256_says_what_cryptography_says(message: bytes, ready: bool, r: int, s: int) -> None:
    private, key = p256(ready=ready)
    own = decode_dss_signature(private.sign(message, ec.ECDSA(SHA256())))
    for pair in (own, (own[0], s), (r, own[1]), (r, s), (own[0], N - own[1])):
        try:
            private.public_key().verify(encode_dss_signature(*pair), message, ec.ECDSA(SHA256()))
        except InvalidSignature:
            assert not key.signed(*pair, message)
        else:
            assert key.signed(*pair, message)


@every_row("number", [1, 2, 3, 4, 7, 15, 2**64, 2**64 - 1, N - 1, N - 2, (N + 1) // 2])
def test_keys_that_meet_the_generator_on_their_way_are_added_right(number: int) -> None:
    """Their multiples are the generator's own: sums double, or come to no point at all."""
    private = ec.derive_private_key(number, ec.SECP256R1())
    point = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    for ready in (False, True):
        key = P256Key(point)
        if ready:
            key.make_ready()
        for message in (b"", b"a", b"b"):
            r, s = decode_dss_signature(private.sign(message, ec.ECDSA(SHA256())))
            assert key.signed(r, s, message)
            assert not key.signed(r, s ^ 2, message)


def test_a_sum_that_is_no_point_is_no_signature() -> None:
    digest = int.from_bytes(sha256(b"m").digest(), "big") % N
    for secret in (1, 5):
        private = ec.derive_private_key(secret, ec.SECP256R1())
        key = P256Key(
            private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        )
        r = -digest * pow(secret, -1, N) % N  # then u1 + u2 * secret is 0
        assert not key.signed(r, 7, b"m")


def test_rsa_says_what_cryptography_says() -> None:
    private = rsa.generate_private_key(65537, 2048)
    modulus = private.public_key().public_numbers().n.to_bytes(256, "big")
    key = RsaKey(modulus, 65537)
    key.make_ready()
    signature = private.sign(b"message", PKCS1v15(), SHA256())
    assert key.signed(signature, b"message")
    assert not key.signed(signature, b"massage")
    for wrong in (signature[:-1], signature + b"\0", bytes(256), b"\0" + signature, modulus):
        assert not key.signed(wrong, b"message")
    for at in range(0, 256, 7):
        other = bytearray(signature)
        other[at] ^= 1
        assert not key.signed(bytes(other), b"message")
    for wrong_key in (
        (modulus[:128], 65537),
        (b"\1" + modulus[1:], 65537),
        (modulus, 1),
        (modulus, 4),
    ):
        with pytest.raises(ValueError, match="RSA"):
            RsaKey(*wrong_key)
