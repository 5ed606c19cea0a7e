"""The hook client's reader of the server's answer, against protobuf's own."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from crabhook.hook.wire import MalformedBytes, WireReply, read_reply
from crabhook.v1 import permission_pb2 as pb
from tests.fuzz.mutation import plain
from tests.fuzz.target import Target


def law(data: bytes) -> None:
    """Both that can read it read the same, and nothing that protobuf knows is refused."""
    ours, theirs = _ours(data), _theirs(data)
    if theirs is None:
        return
    if ours is not None:
        _same(ours, theirs)
    size = theirs.ByteSize()
    theirs.DiscardUnknownFields()
    all_known = theirs.ByteSize() == size
    again = _ours(theirs.SerializeToString())
    if theirs.HasField("reply") and theirs.reply.exit_code <= 255:
        assert again is not None
        _same(again, theirs)
        assert ours is not None or not all_known
    else:
        assert again is None
        assert ours is None


def _same(ours: WireReply, theirs: pb.PermissionResponse) -> None:
    reply = theirs.reply
    told = (reply.stdout, reply.stderr, reply.exit_code, theirs.confirm)
    assert (ours.stdout, ours.stderr, ours.exit_code, ours.confirm) == told


def _ours(data: bytes) -> WireReply | None:
    try:
        return read_reply(data)
    except MalformedBytes:
        return None


def _theirs(data: bytes) -> pb.PermissionResponse | None:
    try:
        return pb.PermissionResponse.FromString(data)
    except DecodeError:
        return None


def seeds() -> list[bytes]:
    """Answers as the server writes them."""
    said = pb.Reply(stdout=b'{"a":1}\n', stderr=b"e", exit_code=2)
    whole = pb.PermissionResponse(permission_decision="allow", reply=said, confirm=True)
    parts = pb.PermissionResponse(reply=pb.Reply(exit_code=300))
    both = [whole.SerializeToString(), parts.SerializeToString()]
    long = b"\x6a\x07\x18\x85\x80\x80\x80\x80\x01"  # an exit code past 32 bits, which are cut off
    return [*both, long, both[1] + both[0], b"", both[0] + b"\x98\x06\x01" + b"\xa3\x06\xa4\x06"]


TARGET = Target(law, plain.mutated, seeds, longest=512)
