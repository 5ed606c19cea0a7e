"""What is written and read: messages judged by the generated code, header blocks by hpack."""

import hpack
import pytest
from google.protobuf.message import DecodeError
from hpack.table import HeaderTable
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook import wire
from crabhook.hook.wire import (
    MalformedBytes,
    WireReply,
    percent_decoded,
    printable,
    read_headers,
    read_reply,
    request_headers,
)
from crabhook.v1 import permission_pb2 as pb
from tests.support.rows import every_row

TEXTS = st.text(max_size=300)


@given(
    request_id=TEXTS,
    secret=TEXTS,
    platform=TEXTS,
    payload=st.binary(max_size=70_000),
    wait_ms=st.integers(0, 2**64 - 1),
    stance=st.sampled_from([wire.GATE, wire.COMPANION, wire.SUPERVISOR]),
    host=TEXTS,
    pid=st.integers(0, 2**32 - 1),
)
def test_a_request_reads_back_as_it_was_written(
    *,
    request_id: str,
    secret: str,
    platform: str,
    payload: bytes,
    wait_ms: int,
    stance: int,
    host: str,
    pid: int,
) -> None:
    written = wire.permission_request(
        request_id=request_id,
        secret=secret,
        platform=platform,
        payload=payload,
        wait_ms=wait_ms,
        stance=stance,
        when_lost=host,
        facts=wire.write_message(host, pid, secret, platform),
        strict=wire.write_message(payload, host.encode(), pid),
    )
    assert pb.PermissionRequest.FromString(written) == pb.PermissionRequest(
        request_id=request_id,
        secret=secret,
        platform=platform,
        payload=payload,
        wait_ms=wait_ms,
        stance=pb.Stance.ValueType(stance),
        when_lost=host,
        answer_form=pb.ANSWER_FORM_REPLY,
        client=pb.ClientFacts(host=host, pid=pid, user=secret, version=platform)
        if host or pid or secret or platform
        else None,
        strict=pb.StrictHook(team_id=payload, team_sha256=host.encode(), need=pid)
        if payload or host or pid
        else None,
    )


def test_the_stances_are_the_wires() -> None:
    stances = (wire.GATE, wire.COMPANION, wire.SUPERVISOR)
    assert stances == (pb.STANCE_GATE, pb.STANCE_COMPANION, pb.STANCE_SUPERVISOR)


def test_a_name_that_is_no_text_still_makes_a_request_that_can_be_read() -> None:
    written = wire.write_message("a\udcff", 0, "", "")
    assert pb.ClientFacts.FromString(written).host == "a?"


@given(TEXTS, TEXTS)
def test_a_receipt_reads_back_as_it_was_written(request_id: str, secret: str) -> None:
    written = wire.write_message(request_id, secret)
    assert pb.ConfirmReplyRequest.FromString(written) == pb.ConfirmReplyRequest(
        request_id=request_id, secret=secret
    )


@given(
    stdout=st.binary(max_size=70_000),
    stderr=st.binary(max_size=300),
    exit_code=st.integers(0, 255),
    confirm=st.booleans(),
    other=TEXTS,
)
def test_a_reply_reads_as_it_was_written_whatever_stands_beside_it(
    *, stdout: bytes, stderr: bytes, exit_code: int, confirm: bool, other: str
) -> None:
    response = pb.PermissionResponse(
        permission_decision=other,
        suppress_output=True,
        hook_specific_output_json=other,
        reply=pb.Reply(stdout=stdout, stderr=stderr, exit_code=exit_code),
        confirm=confirm,
    )
    reply = read_reply(response.SerializeToString())
    assert (reply.stdout, reply.stderr, reply.exit_code) == (stdout, stderr, exit_code)
    assert reply.confirm == confirm


def test_fields_of_a_later_version_are_passed_over() -> None:
    later = (
        b"\xa0\x06\x96\x01"  # 100: a number
        b"\xa9\x06" + bytes(8) + b"\xb2\x06\x03abc"  # 101: 64 bits; 102: bytes
        b"\xbd\x06" + bytes(4)  # 103: 32 bits
    )
    inside = pb.Reply(stdout=b"x", exit_code=2).SerializeToString() + later
    message = later + b"\x6a" + bytes((len(inside),)) + inside + later
    reply = read_reply(message)
    assert (reply.stdout, reply.stderr, reply.exit_code, reply.confirm) == (b"x", b"", 2, False)
    assert pb.PermissionResponse.FromString(message).reply.stdout == b"x"


def test_a_reply_sent_in_parts_is_put_together() -> None:
    parts = [
        pb.PermissionResponse(reply=pb.Reply(stdout=b"first", exit_code=1)),
        pb.PermissionResponse(reply=pb.Reply(stdout=b"last", stderr=b"e")),
    ]
    joined = b"".join(part.SerializeToString() for part in parts)
    reply = read_reply(joined)
    assert (reply.stdout, reply.stderr, reply.exit_code) == (b"last", b"e", 1)
    assert pb.PermissionResponse.FromString(joined).reply == pb.Reply(
        stdout=b"last", stderr=b"e", exit_code=1
    )


def test_no_reply_is_not_an_empty_reply() -> None:
    empty = read_reply(pb.PermissionResponse(reply=pb.Reply()).SerializeToString())
    assert (empty.stdout, empty.stderr, empty.exit_code, empty.confirm) == (b"", b"", 0, False)
    with pytest.raises(MalformedBytes, match="no reply"):
        read_reply(pb.PermissionResponse(permission_decision="allow").SerializeToString())


@pytest.mark.parametrize("exit_code", [256, 512, 2**32 - 1])
def test_an_exit_code_no_process_has_is_refused(exit_code: int) -> None:
    response = pb.PermissionResponse(reply=pb.Reply(exit_code=exit_code))
    with pytest.raises(MalformedBytes, match="exit code"):
        read_reply(response.SerializeToString())


@pytest.mark.parametrize(
    "message",
    [
        b"\x6a",  # a length that does not follow
        b"\x6a\x05ab",  # longer than its message
        b"\x6a\x02\x0a\x09",  # the same inside the reply
        b"\x6b",  # a group
        b"\x02\x00",  # field 0
        b"\xff" * 11,  # a number without an end
        b"\x09abc",  # 64 bits cut short
    ],
)
def test_what_is_no_message_is_malformed(message: bytes) -> None:
    with pytest.raises(MalformedBytes):
        read_reply(message)


@given(st.binary(max_size=200))
def test_bytes_that_both_can_read_mean_the_same_to_both(message: bytes) -> None:
    try:
        ours: WireReply | None = read_reply(message)
    except MalformedBytes:
        ours = None
    try:
        theirs = pb.PermissionResponse.FromString(message)
    except DecodeError:
        return
    if ours is not None:
        assert theirs.reply == pb.Reply(
            stdout=ours.stdout, stderr=ours.stderr, exit_code=ours.exit_code
        )
        assert theirs.confirm == ours.confirm


# Header blocks.

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


@every_row(
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
    with pytest.raises(MalformedBytes):
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


# Words of the peer's.


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (b"plain", b"plain"),
        (b"%e2%82%ac %25", "€ %".encode()),
        (b"100%", b"100%"),
        (b"%zz%4", b"%zz%4"),
        (b"% 1%+1", b"% 1%+1"),
        (b"", b""),
    ],
)
def test_a_message_of_percents_is_undone_as_far_as_it_goes(text: bytes, decoded: bytes) -> None:
    assert percent_decoded(text) == decoded


@given(st.binary(max_size=2000))
def test_nothing_a_peer_says_moves_a_terminal(text: bytes) -> None:
    line = printable(text)
    assert line.isprintable()
    assert len(line) <= 500
