"""Verifies signatures in pure Python: Ed25519 (RFC 8032), ECDSA on P-256 (FIPS 186-5) and RSA.

It only verifies, and everything it sees is public, so nothing here hides its timing. The package
`cryptography` costs more than a start of Python at each call, this costs about a millisecond.

Both curves add multiples of two points. A table holds odd multiples of a point, and `_laid` writes
a number as columns of them, with a doubling between two. What was made ready has four tables, for
quarters of the number, and so needs a quarter of the doublings.
"""

from crabhook.hook.statement import sha256, sha512

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Point = tuple[int, ...]  # of a curve, or of a table
_Tables = list[list[_Point]]
_Columns = list[list[_Point]]

_WIDTH = 5  # bits of a digit: a table of 8 odd multiples, and a sixth of the digits are not zero
_QUARTERS, _QUARTER = 4, 64  # bits
_BITS = 258  # of a number, and of its digits' last carry


class _Multiples:
    """Odd multiples of a point, and of three more points once it was made ready."""

    def __init__(
        self,
        point: _Point,
        table: "Callable[[_Point], list[_Point]]",
        doubled: "Callable[[_Point, int], _Point]",
    ) -> None:
        self._point, self._table, self._doubled = point, table, doubled
        self._tables: _Tables = []

    def tables(self) -> _Tables:
        """Return a table, or four."""
        self._tables = self._tables or [self._table(self._point)]
        return self._tables

    def make_ready(self) -> None:
        """Work ahead for the time of two verifications: each later verification takes half."""
        point = self._point
        while len(self.tables()) < _QUARTERS:
            point = self._doubled(point, _QUARTER)
            self._tables.append(self._table(point))


def _laid(
    left: "tuple[int, _Tables]",
    right: "tuple[int, _Tables]",
    opposite: "Callable[[_Point], _Point]",
) -> _Columns:
    """Lay two numbers in columns, the first column first: of multiples, or their opposites."""
    columns: _Columns = [[] for _ in range(_BITS)]
    highest = 0
    for number, tables in (left, right):
        bits = _QUARTER if len(tables) > 1 else _BITS
        for place, table in enumerate(tables):
            part = number >> place * bits & ((1 << bits) - 1)
            at = 0
            while part:
                zeros = (part & -part).bit_length() - 1
                part >>= zeros
                at += zeros
                digit = part & ((1 << _WIDTH) - 1)
                if digit >> (_WIDTH - 1):
                    digit -= 1 << _WIDTH
                    columns[at].append(opposite(table[-digit >> 1]))
                else:
                    columns[at].append(table[digit >> 1])
                part -= digit
            highest = max(highest, at)
    return columns[highest::-1]


# Ed25519. A point is (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z; in a table it is
# (Y + X, Y - X, 2dT, 2Z).

_Q = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _Q) % _Q
_ROOT_OF_MINUS_1 = pow(2, (_Q - 1) // 4, _Q)


def _decompressed(encoded: bytes) -> _Point:
    """Return a point of Ed25519; raise ValueError where RFC 8032 5.1.3 has none.

    A coordinate that is not below 2**255 - 19 is refused too: each point has one name.
    """
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if len(encoded) != 32 or y >= _Q:
        raise ValueError("it is no point's name")
    u, v = y * y - 1, _D * y * y + 1
    x = u * pow(v, 3, _Q) * pow(u * pow(v, 7, _Q), (_Q - 5) // 8, _Q) % _Q
    if (v * x * x - u) % _Q:
        x = x * _ROOT_OF_MINUS_1 % _Q
        if (v * x * x - u) % _Q:
            raise ValueError("it is no point of the curve")
    if not x and sign:
        raise ValueError("it is no point's name")
    x = _Q - x if x & 1 != sign else x
    return x, y, 1, x * y % _Q


def _edwards_doubled(point: _Point, times: int = 1) -> _Point:
    x, y, z, t = point
    for _ in range(times):
        a, b = x * x, y * y
        e, g, h = 2 * x * y % _Q, (b - a) % _Q, -(a + b)
        f = g - 2 * z * z
        x, y, z, t = e * f % _Q, g * h % _Q, f * g % _Q, e * h % _Q
    return x, y, z, t


def _tabled(point: _Point) -> _Point:
    x, y, z, t = point
    return y + x, y - x, 2 * _D * t % _Q, 2 * z


def _edwards_opposite(tabled: _Point) -> _Point:
    above, below, t2, z2 = tabled
    return below, above, -t2, z2


def _edwards_table(point: _Point) -> list[_Point]:
    """Return 1, 3, 5 … 15 times a point."""
    above, below, t2, z2 = _tabled(_edwards_doubled(point))
    table: list[_Point] = [_tabled(point)]
    while len(table) < 1 << (_WIDTH - 2):
        x, y, z, t = point
        a, b, c, d = (y - x) * below, (y + x) * above, t * t2, z * z2
        e, f, g, h = (b - a) % _Q, (d - c) % _Q, d + c, b + a
        point = e * f % _Q, g * h % _Q, f * g % _Q, e * h % _Q
        table.append(_tabled(point))
    return table


class Ed25519Key:
    """A public key; raises ValueError for a wrong key, and for a key of small order."""

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
        x, y, z, t = _decompressed(encoded)
        opposite = -x, y, z, -t  # a verification takes its multiple away
        x, y, z, _ = _edwards_doubled(opposite, 3)
        if x == 0 and y == z:
            raise ValueError("it is a key of small order, whose signatures anybody can make")
        self._multiples = _Multiples(opposite, _edwards_table, _edwards_doubled)
        self.make_ready = self._multiples.make_ready

    def signed(self, signature: bytes, message: bytes) -> bool:
        """Whether the signature is of the message by this key; S has to be below the order."""
        s = int.from_bytes(signature[32:], "little")
        if len(signature) != 64 or s >= _ORDER:
            return False
        digest = sha512(signature[:32] + self.encoded + message).digest()
        k = int.from_bytes(digest, "little") % _ORDER
        both = (s, _BASE.tables()), (k, self._multiples.tables())
        x, y, z = _edwards_sum(_laid(*both, _edwards_opposite))
        inverse = pow(z, -1, _Q)
        x, y = x * inverse % _Q, y * inverse % _Q
        return signature[:32] == (y | (x & 1) << 255).to_bytes(32, "little")


_BASE = _Multiples(
    _decompressed((4 * pow(5, -1, _Q) % _Q).to_bytes(32, "little")),
    _edwards_table,
    _edwards_doubled,
)


def _edwards_sum(columns: _Columns) -> tuple[int, int, int]:
    """Add up columns, doubling between two of them; the whole cost is this loop."""
    x, y, z = 0, 1, 1
    q = _Q
    for column in columns:
        a, b = x * x, y * y
        e, g, h = 2 * x * y % q, (b - a) % q, -(a + b)
        f = (g - 2 * z * z) % q
        x, y, z = e * f % q, g * h % q, f * g % q
        for above, below, t2, z2 in column:
            t = e * h % q
            a, b, c, d = (y - x) * below, (y + x) * above, t * t2, z * z2
            e, f, g, h = (b - a) % q, (d - c) % q, d + c, b + a
            x, y, z = e * f % q, g * h % q, f * g % q
    return x, y, z


# P-256. A point is (X, Y, Z) with x = X/Z², y = Y/Z³; of no point Z is 0. Tables hold (x, y).

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B


class P256Key:
    """A public key in SEC 1's form, whole or compressed; raises ValueError for a wrong key."""

    def __init__(self, encoded: bytes) -> None:
        x, sign = int.from_bytes(encoded[1:33], "big"), encoded[:1]
        square = (x * x * x - 3 * x + _B) % _P
        if sign in (b"\x02", b"\x03"):
            y = pow(square, (_P + 1) // 4, _P)
            y = _P - y if y & 1 != sign[0] & 1 else y
        else:
            y = int.from_bytes(encoded[33:], "big")
        whole = (sign, len(encoded)) in ((b"\x02", 33), (b"\x03", 33), (b"\x04", 65))
        if not whole or x >= _P or y >= _P or y * y % _P != square:
            raise ValueError("it is no point of P-256")
        self._multiples = _Multiples((x, y, 1), _jacobian_table, _jacobian_doubled)
        self.make_ready = self._multiples.make_ready

    def signed(self, r: int, s: int, message: bytes) -> bool:
        """Whether r and s are a signature of the message's SHA-256 by this key.

        Both s and its opposite are right: ECDSA has no canonical s, and authenticators write both.
        """
        if not 0 < r < _N or not 0 < s < _N:
            return False
        inverse = pow(s, -1, _N)
        digest = int.from_bytes(sha256(message).digest(), "big")
        left = digest * inverse % _N, _GENERATOR.tables()
        right = r * inverse % _N, self._multiples.tables()
        x, _, z = _jacobian_sum(_laid(left, right, _jacobian_opposite))
        z2 = z * z % _P
        return bool(z) and any((each * z2 - x) % _P == 0 for each in (r, r + _N) if each < _P)


def _jacobian_opposite(tabled: _Point) -> _Point:
    x, y = tabled
    return x, -y


def _jacobian_table(point: _Point) -> list[_Point]:
    """Return 1, 3, 5 … 15 times a point."""
    first, step = _affine([point, _jacobian_doubled(point)])
    points: list[_Point] = [(*first, 1)]
    while len(points) < 1 << (_WIDTH - 2):
        points.append(_plus(points[-1], *step))
    return list(_affine(points))


def _affine(points: list[_Point]) -> list[_Point]:
    """Divide points by their Z, with a single inversion."""
    products = [1]
    for _, _, z in points:
        products.append(products[-1] * z % _P)
    inverse = pow(products.pop(), -1, _P)
    divided: list[_Point] = []
    for x, y, z in reversed(points):
        own = products.pop() * inverse % _P
        inverse = inverse * z % _P
        own2 = own * own % _P
        divided.append((x * own2 % _P, y * own2 * own % _P))
    return divided[::-1]


def _jacobian_doubled(point: _Point, times: int = 1) -> _Point:
    x, y, z = point
    for _ in range(times):
        delta, gamma = z * z, y * y % _P
        beta, alpha = x * gamma % _P, 3 * (x - delta) * (x + delta) % _P
        z = 2 * y * z % _P
        x = (alpha * alpha - 8 * beta) % _P
        y = (alpha * (4 * beta - x) - 8 * gamma * gamma) % _P
    return x, y, z


def _plus(point: _Point, x2: int, y2: int) -> _Point:
    """Add a point with Z = 1, whichever the two are."""
    x1, y1, z1 = point
    if not z1:
        return x2, y2, 1
    z11 = z1 * z1 % _P
    h, r = (x2 * z11 - x1) % _P, (y2 * z1 * z11 - y1) % _P
    if not h:
        return (1, 1, 0) if r else _jacobian_doubled(point)
    h2 = h * h % _P
    h3, v = h * h2 % _P, x1 * h2 % _P
    x3 = (r * r - h3 - 2 * v) % _P
    return x3, (r * (v - x3) - y1 * h3) % _P, z1 * h % _P


def _jacobian_sum(columns: _Columns) -> _Point:
    """Add up columns, doubling between two of them; the whole cost is this loop."""
    x, y, z = 1, 1, 0
    p = _P
    for column in columns:
        delta, gamma = z * z, y * y % p
        beta, alpha = x * gamma % p, 3 * (x - delta) * (x + delta) % p
        z = 2 * y * z % p
        x = (alpha * alpha - 8 * beta) % p
        y = (alpha * (4 * beta - x) - 8 * gamma * gamma) % p
        for x2, y2 in column:
            x, y, z = _plus((x, y, z), x2, y2)
    return x, y, z


_GENERATOR = _Multiples(
    (
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
        1,
    ),
    _jacobian_table,
    _jacobian_doubled,
)


# RSASSA-PKCS1-v1_5 with SHA-256, which Windows' authenticators write: RFC 8017.

_RSA_PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")
_RSA_LEAST, _RSA_MOST = 256, 512  # bytes


class RsaKey:
    """A public key; raises ValueError for a wrong key, as of less than 2048 bits."""

    def __init__(self, modulus: bytes, exponent: int) -> None:
        if not _RSA_LEAST <= len(modulus) <= _RSA_MOST or not modulus[0] >> 7:
            raise ValueError("an RSA key has 2048 to 4096 bits")
        if exponent < 3 or not exponent & 1 or exponent >> 32:
            raise ValueError("an RSA key's exponent is odd and short")
        self._size, self._modulus = len(modulus), int.from_bytes(modulus, "big")
        self._exponent = exponent

    def make_ready(self) -> None:
        """Do nothing: it needs no work ahead."""

    def signed(self, signature: bytes, message: bytes) -> bool:
        """Whether the signature is of the message by this key."""
        value, size = int.from_bytes(signature, "big"), self._size
        if len(signature) != size or value >= self._modulus:
            return False
        hashed = _RSA_PREFIX + sha256(message).digest()
        expected = b"\0\1" + b"\xff" * (size - len(hashed) - 3) + b"\0" + hashed
        return pow(value, self._exponent, self._modulus) == int.from_bytes(expected, "big")


# A known answer for each curve: the second of RFC 8032 7.1, and that of RFC 6979 A.2.5.

_EDWARDS_ANSWER = (
    bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
    bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
    b"r",
)
_P256_ANSWER = (
    bytes.fromhex(
        "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    ),
    0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716,
    0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8,
    b"sample",
)


def known_answers() -> "Iterator[bool]":
    """Verify known answers, a millisecond or two at a time; raise ArithmeticError if that fails.

    It also makes ready what all keys share, and what the interpreter does quicker a second time.
    """
    _BASE.make_ready()
    yield True
    public, signature, message = _EDWARDS_ANSWER
    edwards = Ed25519Key(public)
    yield _right(edwards.signed(signature, message), edwards.signed(signature, b""))
    _GENERATOR.make_ready()
    yield True
    public, r, s, message = _P256_ANSWER
    p256 = P256Key(public)
    yield _right(p256.signed(r, s, message), p256.signed(r, s, b""))


def _right(true: bool, false: bool) -> bool:  # noqa: FBT001 - two verdicts, side by side
    if not true or false:
        raise ArithmeticError("this Python verifies no signatures: a known answer came out wrong")
    return True
