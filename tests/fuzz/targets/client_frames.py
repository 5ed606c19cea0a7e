"""The hook client's reader of HTTP/2: whatever a peer says is taken in or is malformed.

Nothing is held without a bound, how the bytes are cut changes nothing, and an answer that it
takes is the answer that h2 reads, wherever h2 reads the talk at all.
"""

from __future__ import annotations

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, TrailersReceived
from h2.exceptions import H2Error

from crabhook.hook.call import HookCall
from crabhook.hook.wire import MalformedBytes
from tests.fuzz.mutation import frames
from tests.fuzz.target import Target
from tests.unit.hook.test_call import (
    ACCEPTED,
    HEADERS,
    SETTINGS,
    answer,
    block,
    ending,
    frame,
    head,
)

BOUND = 17 << 10 << 4  # far more than a frame, a block and a backlog together
ASKED = [(":method", "POST"), (":scheme", "http"), (":path", "/x"), (":authority", "x")]
SETTING = [frame(SETTINGS, payload=number.to_bytes(2, "big") + value.to_bytes(4, "big")) for number in (1, 3, 4, 5, 6) for value in (0, 1, 16384, 65536, 2**31 - 1, 2**31)]  # fmt: skip
SPARE = [
    frame(SETTINGS), frame(SETTINGS, 1), head(*ACCEPTED), head(*ACCEPTED, stream=3), ending(), ending(8), ending(0, stream=3),
    frame(0, 0, 1, answer(b"yes")), frame(0, 1, 1, b""), frame(0, 8, 1, b"\x02xx\0\0"), frame(0, 0, 1, b"\0"), frame(1, 1, 1, block(("grpc-status", "0"))[:3]),
    frame(9, 4, 1, block(("grpc-status", "0"))[3:]), frame(1, 0x25, 1, b"\0\0\0\0\x10" + block(("grpc-status", "0"))), frame(2, 0, 1, b"\0\0\0\0\x10"), frame(3, 0, 1, b"\0\0\0\x08"),
    frame(5, 4, 1, b"\0\0\0\x02"), frame(6, 0, 0, b"12345678"), frame(6, 1, 0, b"12345678"), frame(7, 0, 0, bytes(8)), frame(7, 0, 0, b"\x7f\xff\xff\xff" + bytes(4)),
    frame(8, 0, 0, b"\0\0\x10\0"), frame(8, 0, 1, b"\x7f\xff\xff\xff"), frame(11, 0, 0, b"?"), head((":status", "103"), ("x", "y")), head((":status", "404")),
    head((":status", "200"), ("content-type", "text/html")), *SETTING,
]  # fmt: skip


def heard(talk: bytes, step: int, size: int) -> tuple[HookCall, bytes, str]:
    """Feed a talk in steps; return the call, what it sends, and what it calls malformed."""
    call, sent = HookCall(HEADERS, bytes(size)), b""
    try:
        for at in range(0, len(talk), step):
            call.feed(talk[at : at + step])
    except MalformedBytes as error:
        return call, sent, str(error)
    while more := call.take():
        sent += more
    return call, sent, ""


def law(data: bytes) -> None:
    """Byte 0: how the talk is cut; bytes 1 and 2: how much is asked; the rest is what comes back."""
    step, size, talk = data[0] + 1 if data else 1, int.from_bytes(data[1:3], "big"), data[3:]
    call, sent, wrong = heard(talk, len(talk) or 1, size)
    other, also_sent, also_wrong = heard(talk, step, size)
    told = (call.status, call.detail, call.message, call.accepted, call.greeted)
    assert told == (other.status, other.detail, other.message, other.accepted, other.greeted)
    assert (sent, wrong) == (also_sent, also_wrong)
    assert len(call._inbound) + len(call._outbound) + len(call._block or b"") < BOUND
    assert len(sent) <= size + 100_000
    assert call.detail.isprintable()
    if call.status == 0:
        assert call.accepted
        assert call.greeted
        _as_h2_reads_it(talk, call.message)
    else:
        assert call.message == b""


def _as_h2_reads_it(talk: bytes, message: bytes) -> None:
    peer = H2Connection(H2Configuration(client_side=True, header_encoding=None))
    peer.initiate_connection()
    peer.send_headers(1, ASKED, end_stream=True)
    try:
        events = peer.receive_data(talk)
    except H2Error:
        return  # it is stricter, or what is wrong comes behind the answer
    body = b"".join(
        one.data for one in events if isinstance(one, DataReceived) and one.stream_id == 1
    )
    assert body == answer(message)
    trailers = [dict(one.headers) for one in events if isinstance(one, TrailersReceived)]
    assert [fields for fields in trailers if int(fields[b"grpc-status"]) == 0]


def seeds() -> list[bytes]:
    """Talks as servers have them, and broken off in their middle."""
    good = frame(SETTINGS) + head(*ACCEPTED) + frame(0, 0, 1, answer(b"yes")) + ending()
    squeezed = frame(SETTINGS) + frame(1, 4, 1, block(*ACCEPTED, squeeze=True)) + ending(7)
    talks = [good, squeezed, good[:-3], frame(SETTINGS) + b"".join(SETTING) + good]
    return [ahead + talk for talk in talks for ahead in (b"\0\0\5", b"\7\xff\xff")]


TARGET = Target(law, frames.of(3, SPARE), seeds, longest=8192)
