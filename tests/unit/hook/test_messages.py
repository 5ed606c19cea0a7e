"""The hand-written messages are those of the generated code, both ways."""

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook import messages
from crabhook.hook.messages import Malformed, Reply
from crabhook.v1 import permission_pb2 as pb

TEXTS = st.text(max_size=300)


@given(
    request_id=TEXTS,
    secret=TEXTS,
    platform=TEXTS,
    payload=st.binary(max_size=70_000),
    wait_ms=st.integers(0, 2**64 - 1),
    stance=st.sampled_from([messages.GATE, messages.COMPANION]),
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
    written = messages.permission_request(
        request_id=request_id,
        secret=secret,
        platform=platform,
        payload=payload,
        wait_ms=wait_ms,
        stance=stance,
        facts=messages.client_facts(host=host, pid=pid, user=secret, version=platform),
    )
    assert pb.PermissionRequest.FromString(written) == pb.PermissionRequest(
        request_id=request_id,
        secret=secret,
        platform=platform,
        payload=payload,
        wait_ms=wait_ms,
        stance=pb.Stance.ValueType(stance),
        client=pb.ClientFacts(host=host, pid=pid, user=secret, version=platform)
        if host or pid or secret or platform
        else None,
    )


def test_the_stances_are_the_wires() -> None:
    assert (messages.GATE, messages.COMPANION) == (pb.STANCE_GATE, pb.STANCE_COMPANION)


def test_a_name_that_is_no_text_still_makes_a_request_that_can_be_read() -> None:
    written = messages.client_facts(host="a\udcff", pid=0, user="", version="")
    assert pb.ClientFacts.FromString(written).host == "a?"


@given(TEXTS, TEXTS)
def test_a_receipt_reads_back_as_it_was_written(request_id: str, secret: str) -> None:
    written = messages.confirm_reply_request(request_id=request_id, secret=secret)
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
    reply = messages.read_reply(response.SerializeToString())
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
    reply = messages.read_reply(message)
    assert repr(reply) == "Reply(b'x', b'', 2, confirm=False)"
    assert pb.PermissionResponse.FromString(message).reply.stdout == b"x"


def test_a_reply_sent_in_parts_is_put_together() -> None:
    parts = [
        pb.PermissionResponse(reply=pb.Reply(stdout=b"first", exit_code=1)),
        pb.PermissionResponse(reply=pb.Reply(stdout=b"last", stderr=b"e")),
    ]
    joined = b"".join(part.SerializeToString() for part in parts)
    reply = messages.read_reply(joined)
    assert (reply.stdout, reply.stderr, reply.exit_code) == (b"last", b"e", 1)
    assert pb.PermissionResponse.FromString(joined).reply == pb.Reply(
        stdout=b"last", stderr=b"e", exit_code=1
    )


def test_no_reply_is_not_an_empty_reply() -> None:
    empty = messages.read_reply(pb.PermissionResponse(reply=pb.Reply()).SerializeToString())
    assert (empty.stdout, empty.stderr, empty.exit_code, empty.confirm) == (b"", b"", 0, False)
    with pytest.raises(Malformed, match="no reply"):
        messages.read_reply(pb.PermissionResponse(permission_decision="allow").SerializeToString())


@pytest.mark.parametrize("exit_code", [256, 512, 2**32 - 1])
def test_an_exit_code_no_process_has_is_refused(exit_code: int) -> None:
    response = pb.PermissionResponse(reply=pb.Reply(exit_code=exit_code))
    with pytest.raises(Malformed, match="exit code"):
        messages.read_reply(response.SerializeToString())


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
    with pytest.raises(Malformed):
        messages.read_reply(message)


@given(st.binary(max_size=200))
def test_bytes_that_both_can_read_mean_the_same_to_both(message: bytes) -> None:
    try:
        ours: Reply | None = messages.read_reply(message)
    except Malformed:
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
