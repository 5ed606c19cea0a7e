"""QR codes of short texts, such as the address of the web desk, for a phone's camera.

ISO/IEC 18004, as far as an address needs it: bytes alone, versions 1 to 10, error correction L or
M. Below, a module is one square of the code, and True is a dark square.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby, pairwise, product, zip_longest
from typing import NamedTuple, TypeAlias

from crabhook.model.errors import CrabhookError

Matrix: TypeAlias = list[list[bool]]
Place: TypeAlias = tuple[int, int]
"""Row and column."""

_WHITE_ON_BLACK, _AS_BEFORE = "\x1b[97;40m", "\x1b[m"
QUIET = 4  # light modules around the code, which cameras need to find it


class TooLongForQrError(CrabhookError):
    """A text that fits no code of version 10."""


class _Level(NamedTuple):
    """A level of error correction: its two bits; each version's bytes of correction, and blocks."""

    bits: int
    correction: tuple[int, ...]
    blocks: tuple[int, ...]


# Tables 7 and 9 of the standard, version 1 first.
_BYTES = (26, 44, 70, 100, 134, 172, 196, 242, 292, 346)
_LOW = _Level(0b01, (7, 10, 15, 20, 26, 18, 20, 24, 30, 18), (1, 1, 1, 1, 1, 2, 2, 2, 2, 4))
_MEDIUM = _Level(0b00, (10, 16, 26, 18, 24, 16, 18, 22, 22, 26), (1, 1, 1, 2, 2, 4, 4, 4, 5, 5))
_ALIGNED = (
    (),
    *((6, at) for at in range(18, 35, 4)),
    *((6, at, 2 * at - 6) for at in range(22, 29, 2)),
)
"""The rows and columns of the alignment patterns' middles."""

_MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda row, column: (row + column) % 2 == 0,
    lambda row, _: row % 2 == 0,
    lambda _, column: column % 3 == 0,
    lambda row, column: (row + column) % 3 == 0,
    lambda row, column: (row // 2 + column // 3) % 2 == 0,
    lambda row, column: row * column % 2 + row * column % 3 == 0,
    lambda row, column: (row * column % 2 + row * column % 3) % 2 == 0,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2 == 0,
)


def qr_lines(text: str) -> list[str]:
    """Return a code for a terminal, with its quiet zone: two modules a letter, the *light* drawn.

    Print it as bright white on black: then it is right in a light terminal too.
    """
    matrix = qr_matrix(text.encode())
    beside = [False] * QUIET
    around = [[False] * (len(matrix) + 2 * QUIET)] * QUIET
    rows = [*around, *([*beside, *row, *beside] for row in matrix), *around]
    halves = {(True, True): " ", (True, False): "▄", (False, True): "▀", (False, False): "█"}
    pairs = zip_longest(rows[::2], rows[1::2], fillvalue=rows[0])
    return ["".join(halves[pair] for pair in zip(*both, strict=True)) for both in pairs]


def drawn(text: str) -> str:
    """Return a code as rows for a terminal, in its right colours on any terminal."""
    return "".join(f"{_WHITE_ON_BLACK}{line}{_AS_BEFORE}\n" for line in qr_lines(text))


def qr_matrix(data: bytes) -> Matrix:
    """Return the smallest code of these bytes; raises TooLongForQrError.

    It takes the better error correction if that makes the code no larger.
    """
    for version, level in product(range(1, len(_BYTES) + 1), (_MEDIUM, _LOW)):
        if len(data) <= room(version, level):
            bits = _bits(_interleaved(_padded(data, version, level), version, level))
            return min((_drawn(bits, version, level, mask) for mask in range(8)), key=penalty)
    raise TooLongForQrError(f"a QR code holds {room(len(_BYTES), _LOW)} bytes, not {len(data)}")


def room(version: int, level: _Level) -> int:
    """Return how many bytes of a text a code has room for."""
    return _data_bytes(version, level) - len(_head(b"", version)) // 8 - 1


def _data_bytes(version: int, level: _Level) -> int:
    return _BYTES[version - 1] - level.correction[version - 1] * level.blocks[version - 1]


def _head(data: bytes, version: int) -> str:
    """Return the bits before the text: that bytes follow, and how many."""
    return f"0100{len(data):0{8 if version < 10 else 16}b}"


def _padded(data: bytes, version: int, level: _Level) -> bytes:
    """Return the data's bytes: head, text, end, and filling."""
    bits = _head(data, version) + "".join(f"{byte:08b}" for byte in data) + "0000"
    whole = int(bits, 2).to_bytes(len(bits) // 8, "big")
    filling = b"\xec\x11" * _BYTES[version - 1]
    return (whole + filling)[: _data_bytes(version, level)]


def _interleaved(data: bytes, version: int, level: _Level) -> Iterable[int]:
    """Return the data in blocks, each with its correction, byte by byte of all blocks in turn."""
    blocks, correction = level.blocks[version - 1], level.correction[version - 1]
    short, longer = divmod(len(data), blocks)
    ends = [short * block + max(0, block - (blocks - longer)) for block in range(blocks + 1)]
    parts = [data[start:end] for start, end in pairwise(ends)]
    checks = [_correction(part, correction) for part in parts]
    in_turn = (chain.from_iterable(zip_longest(*columns)) for columns in (parts, checks))
    return (byte for byte in chain.from_iterable(in_turn) if byte is not None)


def _times(left: int, right: int) -> int:
    """Multiply in the field of 256 elements by x^8 + x^4 + x^3 + x^2 + 1."""
    product_so_far = 0
    for bit in f"{right:08b}":
        product_so_far = product_so_far << 1 ^ (product_so_far >> 7) * 0x11D ^ int(bit) * left
    return product_so_far


@cache
def _generator(degree: int) -> tuple[int, ...]:
    """Return the coefficients of the product of x - 2^i, i < degree, without the leading 1."""
    coefficients, root = [1], 1
    for _ in range(degree):
        shifted = [*coefficients, 0]
        coefficients = [
            shifted[at] ^ (_times(coefficients[at - 1], root) if at else 0)
            for at in range(len(shifted))
        ]
        root = _times(root, 2)
    return tuple(coefficients[1:])


def _correction(data: bytes, length: int) -> list[int]:
    """Return the remainder of the division by the generator: Reed and Solomon's bytes."""
    rest = [0] * length
    for byte in data:
        factor = byte ^ rest[0]
        shifted = [*rest[1:], 0]
        rest = [
            have ^ _times(by, factor) for have, by in zip(shifted, _generator(length), strict=True)
        ]
    return rest


def _bits(data: Iterable[int]) -> str:
    return "".join(f"{byte:08b}" for byte in data)


def _size(version: int) -> int:
    return 17 + 4 * version


def _drawn(bits: str, version: int, level: _Level, mask: int) -> Matrix:
    """Return the code with the data under one of the eight masks."""
    size = _size(version)
    fixed = _fixed(version) | _format(level.bits << 3 | mask, size)
    free = (place for place in _way(size) if place not in fixed)
    # What is left over when all bytes are drawn is light, before the mask.
    drawn = {
        place: (bit == "1") != _MASKS[mask](*place)
        for place, bit in zip(free, bits + "0" * 7, strict=False)
    }
    modules = fixed | drawn
    return [[modules[row, column] for column in range(size)] for row in range(size)]


def _way(size: int) -> Iterator[Place]:
    """Yield the places in the order of the data: columns by two, upward and downward in turn."""
    upward = True
    for right in (*range(size - 1, 6, -2), 5, 3, 1):
        for row in reversed(range(size)) if upward else range(size):
            yield from ((row, right), (row, right - 1))
        upward = not upward


@cache
def _fixed(version: int) -> dict[Place, bool]:
    """Return the modules that every code of a version has."""
    size = _size(version)
    modules: dict[Place, bool] = {}
    for at in range(size):
        modules[6, at] = modules[at, 6] = at % 2 == 0
    for row, column in product(_ALIGNED[version - 1], repeat=2):
        if (row, column) not in {(6, 6), (6, size - 7), (size - 7, 6)}:
            modules |= _rings(row, column, 2, size)
    for row, column in ((3, 3), (3, size - 4), (size - 4, 3)):
        modules |= _rings(row, column, 4, size)
    if version >= 7:
        code = _checked(version, 0x1F25, 12)
        for at in range(18):
            row, column = at // 3, size - 11 + at % 3
            modules[row, column] = modules[column, row] = bool(code >> at & 1)
    return modules


def _rings(row: int, column: int, radius: int, size: int) -> dict[Place, bool]:
    """Return squares in squares: a finder with its light edge (4), or an alignment pattern (2)."""
    light = {2: {1}, 4: {2, 4}}[radius]
    around = range(-radius, radius + 1)
    return {
        (row + down, column + right): max(abs(down), abs(right)) not in light
        for down, right in product(around, repeat=2)
        if 0 <= row + down < size and 0 <= column + right < size
    }


def _checked(value: int, divisor: int, length: int) -> int:
    """Return a value with the bits that check it, the remainder of its division, behind it."""
    rest = value << length
    while rest.bit_length() > length:
        rest ^= divisor << rest.bit_length() - divisor.bit_length()
    return value << length | rest


def _format(value: int, size: int) -> dict[Place, bool]:
    """Return the modules that tell level and mask, twice, and the module that is always dark."""
    code = _checked(value, 0x537, 10) ^ 0x5412
    along = (*range(6), 7, 8)
    first = [*((at, 8) for at in along), *((8, at) for at in reversed((*range(6), 7)))]
    second = [*((8, size - 1 - at) for at in range(8)), *((size - 7 + at, 8) for at in range(7))]
    bits = [bool(code >> at & 1) for at in range(15)]
    places = chain(zip(first, bits, strict=True), zip(second, bits, strict=True))
    return dict(places) | {(size - 8, 8): True}


_LIKE_A_FINDER = re.compile("(?<=0000)1011101|1011101(?=0000)")


def penalty(matrix: Matrix) -> int:
    """Return how hard a code is to read: its runs, squares, likeness of a finder, and balance."""
    lines = [*matrix, *map(list, zip(*matrix, strict=True))]
    dark = sum(map(sum, matrix))
    off_balance = abs(dark * 20 - len(matrix) ** 2 * 10) // len(matrix) ** 2
    return sum(map(_line_penalty, lines)) + 3 * _squares(matrix) + 10 * off_balance


def _line_penalty(line: Sequence[bool]) -> int:
    runs = (len(list(run)) for _, run in groupby(line))
    text = "".join("01"[module] for module in line)
    # The quiet zone is light.
    alike = _LIKE_A_FINDER.findall(f"0000{text}0000")
    return sum(run - 2 for run in runs if run >= 5) + 40 * len(alike)


def _squares(matrix: Matrix) -> int:
    """Return how many squares of two by two have one colour."""
    return sum(
        upper[at] == upper[at + 1] == lower[at] == lower[at + 1]
        for upper, lower in pairwise(matrix)
        for at in range(len(matrix) - 1)
    )
