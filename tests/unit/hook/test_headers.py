"""Header blocks, with the hpack library as the judge."""

import hpack
import pytest
from hpack.table import HeaderTable
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook.headers import read_headers, request_headers
from crabhook.hook.messages import Malformed

NAMES = st.one_of(
    st.sampled_from([name for name, _ in HeaderTable.STATIC_TABLE]),
    st.binary(min_size=1, max_size=200),
)
VALUES = st.one_of(
    st.sampled_from([value for _, value in HeaderTable.STATIC_TABLE]),
    st.binary(max_size=300),
)
FIELDS = st.lists(st.tuples(NAMES, VALUES), max_size=12)


@given(fields=FIELDS, squeeze=st.booleans(), sensitive=st.booleans())
def test_headers_are_read_as_they_were_written(
    *, fields: list[tuple[bytes, bytes]], squeeze: bool, sensitive: bool
) -> None:
    encoder = hpack.Encoder()
    encoder.header_table_size = 0  # what our SETTINGS ask for; written as a size update
    encoded = encoder.encode(
        [
            hpack.HeaderTuple(*field) if not sensitive else hpack.NeverIndexedHeaderTuple(*field)
            for field in fields
        ],
        huffman=squeeze,
    )
    assert read_headers(encoded) == dict(fields)


def test_the_static_table_is_the_standards() -> None:
    for index, (name, value) in enumerate(HeaderTable.STATIC_TABLE, 1):
        assert read_headers(bytes((0x80 | index,))) == {name: value}


@pytest.mark.parametrize(
    "block",
    [
        b"\x80",  # entry 0
        b"\x80\x00",
        b"\xbe",  # entry 62, the first of the dynamic table
        b"\xff\xff\xff\xff\xff\xff",  # an index without an end
        b"\x3f\x00",  # a table of 31
        b"\x88\x20",  # a table resized in the middle
        b"\x7e\x00",  # a name from the dynamic table
        b"\x40",  # a name that does not follow
        b"\x40\x01a",  # a value that does not follow
        b"\x40\x7f",  # a length that does not follow
        b"\x40\x05ab",  # a name longer than the block
        b"\x48\x81\xff\xff",  # a value squeezed wrongly
        b"\x7f",
    ],
)
def test_what_is_no_header_block_is_malformed(block: bytes) -> None:
    with pytest.raises(Malformed):
        read_headers(block)


@pytest.mark.parametrize("token", ["", "t", "t" * 119, "t" * 120, "t" * 121, "t" * 8000])
def test_the_judge_reads_what_we_write(token: str) -> None:
    block = request_headers("/a/B", "localhost", secure=False, token=token, agent="crabhook/1")
    decoder = hpack.Decoder()
    decoded = decoder.decode(block, raw=True)
    assert dict(decoded) == {
        b":method": b"POST",
        b":scheme": b"http",
        b":path": b"/a/B",
        b":authority": b"localhost",
        b"te": b"trailers",
        b"content-type": b"application/grpc",
        b"user-agent": b"crabhook/1",
    } | ({b"authorization": b"Bearer " + token.encode()} if token else {})
    assert [name for name, _ in decoded][:4] == [b":method", b":scheme", b":path", b":authority"]


def test_no_table_on_the_way_may_keep_the_token() -> None:
    block = request_headers("/a/B", "h", secure=True, token="t", agent="crabhook/1")
    decoder = hpack.Decoder()
    headers = decoder.decode(block, raw=True)
    assert all(
        not header.indexable for header in headers if header[0] not in (b":method", b":scheme")
    )
    assert (b":scheme", b"https") in [tuple(header) for header in headers]
    assert not decoder.header_table.dynamic_entries
