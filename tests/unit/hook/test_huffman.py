"""HPACK's Huffman code, with the hpack library as the judge."""

import hpack.huffman
import hpack.huffman_constants
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook import huffman
from crabhook.hook.wire import MalformedBytes, read_headers

ENCODER = hpack.huffman.HuffmanEncoder(
    hpack.huffman_constants.REQUEST_CODES, hpack.huffman_constants.REQUEST_CODES_LENGTH
)


@given(st.binary(max_size=400))
def test_what_was_squeezed_comes_back(text: bytes) -> None:
    assert huffman.read(ENCODER.encode(text) if text else b"") == text


def test_every_byte_has_its_code() -> None:
    assert huffman.read(ENCODER.encode(bytes(range(256)))) == bytes(range(256))


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xff\xff\xff",  # the end marker
        b"\xff",  # eight bits of padding
        b"\x18",  # "a" and padding of zeros
        b"\xfe",  # the beginning of a code that does not end
    ],
)
def test_wrong_endings_are_malformed(text: bytes) -> None:
    with pytest.raises(ValueError, match="a Huffman string"):
        huffman.read(text)
    block = b"\x10\x01x" + bytes((0x80 | len(text),)) + text  # a header of that value
    with pytest.raises(MalformedBytes, match="a Huffman string"):
        read_headers(block)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_the_judge_reads_them(text: bytes) -> None:
    try:
        ours: bytes | None = huffman.read(text)
    except ValueError:
        ours = None
    if ours is not None:
        assert ENCODER.encode(ours) == text if ours else text == b""
