"""The hook client's reader of header blocks and of Huffman's code, against hpack's."""

from __future__ import annotations

from hpack import Decoder
from hpack.exceptions import HPACKError
from hpack.huffman_table import decode_huffman

from crabhook.hook.huffman import read
from crabhook.hook.wire import MalformedBytes, percent_decoded, printable, read_headers
from tests.fuzz.mutation import plain
from tests.fuzz.target import Target
from tests.unit.hook.test_call import ACCEPTED, block


def law(data: bytes) -> None:
    """What it reads, hpack reads too, and alike; Huffman's code is read or refused exactly as by hpack."""
    fields = _ours(data)
    if fields is not None:
        assert _theirs(data) == fields
    _huffman(data)
    assert printable(percent_decoded(data)).isprintable()
    assert len(percent_decoded(data)) <= len(data)


def _ours(data: bytes) -> dict[bytes, bytes] | None:
    try:
        return read_headers(data)
    except MalformedBytes:
        return None


def _theirs(data: bytes) -> dict[bytes, bytes] | None:
    decoder = Decoder()
    decoder.header_table_size = decoder.max_allowed_table_size = 0
    try:
        return {bytes(name): bytes(value) for name, value in decoder.decode(data, raw=True)}
    except HPACKError:
        return None


def _huffman(data: bytes) -> None:
    try:
        ours = read(data)
    except ValueError:
        ours = None
    try:
        theirs = bytes(decode_huffman(data))
    except HPACKError:
        theirs = None
    assert ours == theirs, (ours, theirs)


def seeds() -> list[bytes]:
    """Blocks as servers send them."""
    told = [
        *ACCEPTED,
        ("grpc-status", "16"),
        ("grpc-message", "a %C3%A9 b"),
        ("date", "Sat"),
        ("x", "y" * 200),
    ]
    padded = [b"\x1f\xff", b"\x1f\xff\xff", b"\xff\xff\xff\xff", b"\x1f\x00"]
    blocks = [block(*told), block(*told, squeeze=True), b"\x20" + block(*ACCEPTED)]
    return [*blocks, *padded, b"\x3f\xe1\x1f"]


TARGET = Target(law, plain.mutated, seeds, longest=1024)
