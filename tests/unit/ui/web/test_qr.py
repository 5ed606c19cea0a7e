"""QR codes, against segno and by the lines that a terminal shows."""

from itertools import chain
from typing import Any

import pytest
import segno
import segno.encoder
from hypothesis import given, settings
from hypothesis import strategies as st

from crabhook.ui.web.qr import QUIET, Matrix, TooLongForQrError, penalty, qr_lines, qr_matrix

MOST = 271
"""Bytes that fit a code of version 10 with low correction."""


@pytest.fixture(scope="module", autouse=True)
def padding_of_the_standard() -> Any:
    """Take segno's byte of zeros away, which it adds before the filling though the data ends a byte."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            segno.encoder,
            "write_padding_bits",
            lambda bits, _, length: bits.extend([0] * (-length % 8)),
        )
        yield


def of_segno(data: bytes, version: int, mask: int) -> Matrix:
    def made(level: str) -> Matrix:
        code = segno.make(
            data,
            mode="byte",
            error=level,
            version=version,
            mask=mask,
            boost_error=False,
            micro=False,
        )
        return [list(map(bool, row)) for row in code.matrix]

    try:
        return made("m")
    except segno.DataOverflowError:
        return made("l")


def version_of(matrix: Matrix) -> int:
    return (len(matrix) - 17) // 4


@settings(max_examples=15)
@given(st.binary(max_size=MOST) | st.binary(max_size=20))
def test_a_code_is_segnos_under_the_mask_that_segno_finds_best(data: bytes) -> None:
    ours = qr_matrix(data)
    every = [of_segno(data, version_of(ours), mask) for mask in range(8)]
    assert ours in every
    scores = [
        segno.encoder.evaluate_mask(list(map(bytearray, code)), *[len(code)] * 2) for code in every
    ]
    assert scores[every.index(ours)] == min(scores)
    assert list(map(penalty, every)) == scores


@pytest.mark.parametrize("length", [0, 14, 15, 17, 18, 106, 107, 134, 135, 230, 231, MOST])
def test_a_code_is_the_smallest_that_holds_the_bytes(length: int) -> None:
    data = bytes(range(256)) * 2
    smallest = segno.make(data[:length] or b"", mode="byte", error="l", micro=False)
    assert version_of(qr_matrix(data[:length])) == smallest.version


def test_a_longer_text_is_refused() -> None:
    with pytest.raises(TooLongForQrError):
        qr_matrix(bytes(MOST + 1))


@settings(max_examples=10)
@given(st.text(max_size=40))
def test_the_lines_show_the_code_with_four_light_modules_around_it(text: str) -> None:
    halves = {" ": (1, 1), "▄": (1, 0), "▀": (0, 1), "█": (0, 0)}
    lines = qr_lines(text)
    rows = list(
        chain.from_iterable(zip(*map(halves.__getitem__, line), strict=True) for line in lines)
    )
    code = qr_matrix(text.encode())
    inside = range(QUIET, QUIET + len(code))
    shown = [[bool(rows[row][column]) for column in inside] for row in inside]
    assert shown == code
    assert sum(map(sum, rows)) == sum(map(sum, code)), "nothing dark lies outside"
    assert len(rows) - len(code) >= 2 * QUIET
    assert len(rows[0]) - len(code) == 2 * QUIET
