"""What a desk tells on its terminal is found, however it is cut into pieces on the way."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from bench.glass import Glass

TITLE = re.compile(rb"\x1b\]2;crabhook(?: \((\d+)\))?\x07")


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def test_a_sign_cut_into_pieces_is_one_sign(ends: tuple[int, int]) -> None:
    reading, writing = ends
    glass = Glass(reading, TITLE)
    for piece in (b"picture\x1b]2;crab", b"hook (4", b"2)\x07more"):
        os.write(writing, piece)
        glass.read()
    assert (glass.signs, glass.last) == (1, b"42")


def test_the_last_of_several_signs_counts_and_all_are_counted(ends: tuple[int, int]) -> None:
    reading, writing = ends
    glass = Glass(reading, TITLE)
    os.write(writing, b"\x1b]2;crabhook (1)\x07" + b"x" * 5000 + b"\x1b]2;crabhook\x07")
    glass.until(lambda glass: glass.signs == 2)
    assert glass.last == b""
    glass.forget()
    assert glass.signs == 0
