"""One call, frame by frame, with no socket: what is fed, what is taken, how it ends."""

import h2.config
import h2.connection
import h2.events
import h2.settings
import hpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook import call as codes
from crabhook.hook.call import HookCall
from crabhook.hook.wire import MalformedBytes, request_headers
from tests.support.examples import examples
from tests.support.rows import every_row

HEADERS = request_headers("/s/M", "localhost", secure=False, token="", agent="crabhook/test")
DATA, HEAD, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, MORE = range(10)
ACK = END_STREAM = 1
END_HEADERS, PADDED, PRIORITIZED = 4, 8, 32
ACCEPTED = [(":status", "200"), ("content-type", "application/grpc+proto")]


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload
    )


def block(*fields: tuple[str, str], squeeze: bool = False) -> bytes:
    encoder = hpack.Encoder()
    encoder.header_table_size = 0
    return encoder.encode(list(fields), huffman=squeeze)


def setting(number: int, value: int) -> bytes:
    return number.to_bytes(2, "big") + value.to_bytes(4, "big")


def head(*fields: tuple[str, str], ended: bool = False, stream: int = 1) -> bytes:
    flags = END_HEADERS | (END_STREAM if ended else 0)
    return frame(HEAD, flags, stream, block(*fields))


def ending(status: int = 0, *more: tuple[str, str], stream: int = 1) -> bytes:
    return head(("grpc-status", str(status)), *more, ended=True, stream=stream)


def answer(message: bytes, *, announced: int | None = None) -> bytes:
    size = len(message) if announced is None else announced
    return b"\0" + size.to_bytes(4, "big") + message


def greeted(message: bytes = b"question") -> HookCall:
    call = HookCall(HEADERS, message)
    call.feed(frame(SETTINGS))
    return call


def accepted() -> HookCall:
    call = greeted()
    call.feed(head(*ACCEPTED))
    return call


def answered(behind: bytes = b"") -> HookCall:
    """A call that was sent whole and has its answer, and what the peer said behind it."""
    call = accepted()
    call.take()
    call.feed(frame(DATA, 0, 1, answer(b"yes")) + ending() + behind)
    return call


class Server:
    """The h2 library as the peer: it checks every byte that a call sends."""

    def __init__(self, **limits: int) -> None:
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self.h2.initiate_connection()
        if limits:
            self.h2.update_settings(
                {getattr(h2.settings.SettingCodes, name): value for name, value in limits.items()}
            )
        self.stream = 0
        self.received = bytearray()
        self.headers: dict[bytes, bytes] = {}
        self.ended = False
        self.pings = 0

    def meet(self, call: HookCall, *, grant: bool = True) -> None:
        """Exchange bytes until neither side has anything to say."""
        while True:
            from_us = call.take()
            # The library heeds an acknowledged frame size only from the next piece on.
            ack, first, rest = from_us.partition(frame(SETTINGS, ACK))
            for piece in filter(None, (ack + first, rest)):
                for event in self.h2.receive_data(piece):
                    self.on(event, grant=grant)
            from_them = self.h2.data_to_send()
            call.feed(from_them)
            if not from_us and not from_them:
                return

    def on(self, event: h2.events.Event, *, grant: bool) -> None:
        if isinstance(event, h2.events.RequestReceived):
            self.headers = dict(event.headers)
            self.stream = event.stream_id
        elif isinstance(event, h2.events.DataReceived):
            self.received += event.data
            if grant:
                self.h2.acknowledge_received_data(event.flow_controlled_length, self.stream)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended = True
        elif isinstance(event, h2.events.PingAckReceived):
            self.pings += 1


@examples(30)
@given(
    st.integers(0, 300_000),
    st.integers(0, 200_000),
    st.integers(16_384, 100_000),
    st.integers(0, 100_000),
)
def test_a_payload_of_any_size_fits_through_any_window(
    size: int, window: int, frame_size: int, later_window: int
) -> None:
    call = HookCall(HEADERS, b"x" * size)
    server = Server(INITIAL_WINDOW_SIZE=window, MAX_FRAME_SIZE=frame_size)
    server.meet(call)
    server.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: later_window})
    server.meet(call)
    for _ in range(2):  # the first may only lift the window to zero
        if not server.ended:
            server.h2.increment_flow_control_window(400_000, 1)
            server.meet(call)
    assert server.ended
    assert bytes(server.received) == answer(b"x" * size)
    assert server.headers[b":path"] == b"/s/M"


def test_nothing_is_sent_beyond_the_window_the_peer_gives() -> None:
    call = HookCall(HEADERS, b"x" * 500_000)
    server = Server()
    server.meet(call, grant=False)
    assert len(server.received) == 65_535
    assert not server.ended
    server.h2.increment_flow_control_window(1_000, 1)
    server.meet(call, grant=False)
    assert len(server.received) == 65_535  # the connection's own window is full as well
    server.h2.increment_flow_control_window(1_000)
    server.meet(call, grant=False)
    assert len(server.received) == 66_535


def test_a_window_can_sink_below_zero_while_in_use() -> None:
    call = HookCall(HEADERS, b"x" * 100_000)
    assert call.take()
    call.feed(frame(SETTINGS, payload=setting(4, 10)))
    call.feed(frame(WINDOW, 0, 0, (1 << 20).to_bytes(4, "big")))
    call.feed(frame(WINDOW, 0, 1, (65_525).to_bytes(4, "big")))
    assert call.take() == frame(SETTINGS, ACK)  # 65535 are out, 10 + 65525 were allowed
    call.feed(frame(WINDOW, 0, 1, (7).to_bytes(4, "big")))
    assert call.take() == frame(DATA, 0, 1, b"x" * 7)


def test_the_first_flight_asks_for_no_table_no_push_and_all_the_window() -> None:
    server = Server()
    call = HookCall(HEADERS, b"question")
    events = server.h2.receive_data(call.take())
    changed = {
        code: change.new_value
        for event in events
        if isinstance(event, h2.events.RemoteSettingsChanged)
        for code, change in event.changed_settings.items()
    }
    assert changed == {1: 0, 2: 0, 4: 2**31 - 1}
    assert server.h2.outbound_flow_control_window == 2**31 - 1
    assert any(isinstance(event, h2.events.StreamEnded) for event in events)
    assert call.take() == b""


@pytest.mark.slow
@every_row(
    "size, padding",
    [*((size, None) for size in (0, 1, 16_379, 16_380)), (16_380, 0), (70_000, 255)],
)
def test_an_answer_arrives_whole(size: int, padding: int | None) -> None:
    call = HookCall(HEADERS, b"question")
    server = Server()
    server.meet(call)
    server.h2.send_headers(1, [*ACCEPTED, ("x-long", "y" * 20_000)])
    server.meet(call)
    assert (call.greeted, call.accepted) == (True, True)
    server.h2.ping(b"12345678")
    rest = answer(b"z" * size)
    while rest:
        step = 16_000
        server.h2.send_data(1, rest[:step], pad_length=padding)
        rest = rest[step:]
    server.meet(call)
    assert server.pings == 1
    assert not call.message
    server.h2.send_headers(1, [("grpc-status", "0")], end_stream=True)
    server.meet(call)
    assert (call.status, call.message) == (codes.OK, b"z" * size)


@given(st.integers(1, 60))
def test_bytes_may_come_in_pieces_of_any_size(step: int) -> None:
    call = HookCall(HEADERS, b"question")
    bytes_in = (
        frame(SETTINGS) + head(*ACCEPTED) + frame(DATA, 0, 1, answer(b"yes")[:4])
        + frame(DATA, 0, 1, answer(b"yes")[4:]) + ending()
    )  # fmt: skip
    for at in range(0, len(bytes_in), step):
        assert call.status is None
        call.feed(bytes_in[at : at + step])
    assert (call.status, call.message) == (codes.OK, b"yes")


def test_headers_may_be_continued_padded_and_prioritised() -> None:
    call = greeted()
    fields = block(*ACCEPTED, squeeze=True)
    first = b"\x03" + bytes(5) + fields[:4] + bytes(3)
    call.feed(frame(HEAD, PADDED | PRIORITIZED, 1, first))
    call.feed(frame(MORE, 0, 1, fields[4:6]))
    assert not call.accepted
    call.feed(frame(MORE, END_HEADERS, 1, fields[6:]))
    assert call.accepted


def test_acceptance_is_seen_before_the_answer_and_only_then() -> None:
    call = greeted()
    assert not call.accepted
    call.feed(head((":status", "103")))
    assert not call.accepted
    call.feed(head(*ACCEPTED))
    assert call.accepted
    assert (call.accepted, call.status, len(call._body)) == (True, None, 13)


def test_a_refusal_without_acceptance_is_told_from_one_after() -> None:
    refused = greeted()
    fields = [*ACCEPTED, ("grpc-status", "16"), ("grpc-message", "no%20token%C3%A9")]
    refused.feed(head(*fields, ended=True))
    assert (refused.status, refused.accepted, refused.detail) == (16, False, "no tokené")
    lost = accepted()
    lost.feed(ending(14))
    assert (lost.status, lost.accepted) == (14, True)


def test_the_trailers_win_over_a_reset_and_a_goodbye() -> None:
    call = accepted()
    goodbye = frame(GOAWAY, 0, 0, (2**31 - 1).to_bytes(4, "big") + bytes(4))
    call.feed(goodbye + frame(DATA, 0, 1, answer(b"yes")) + ending() + frame(RESET, 0, 1, bytes(4)))
    assert (call.status, call.message) == (codes.OK, b"yes")


def test_what_follows_the_end_changes_nothing() -> None:
    call = accepted()
    call.feed(frame(DATA, 0, 1, answer(b"yes")) + ending() + ending(13) + b"garbage" * 9)
    call.feed(b"garbage" * 9)
    assert (call.status, call.message) == (codes.OK, b"yes")


def test_a_goodbye_that_knows_our_stream_leaves_it_open() -> None:
    call = accepted()
    call.feed(frame(GOAWAY, 0, 0, (1).to_bytes(4, "big") + bytes(4) + b"why"))
    assert call.status is None
    other = greeted()
    other.feed(frame(GOAWAY, 0, 0, bytes(8)))
    assert (other.status, other.accepted) == (codes.UNAVAILABLE, False)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (0, codes.INTERNAL),
        (2, codes.INTERNAL),
        (7, codes.UNAVAILABLE),
        (8, codes.CANCELLED),
        (11, codes.RESOURCE_EXHAUSTED),
        (12, codes.PERMISSION_DENIED),
    ],
)
def test_a_reset_is_the_status_grpc_gives_it(code: int, status: int) -> None:
    call = accepted()
    call.feed(frame(RESET, 0, 1, code.to_bytes(4, "big")))
    assert call.status == status


@every_row(
    "http, status",
    [
        ("400", codes.INTERNAL),
        ("401", codes.UNAUTHENTICATED),
        ("403", codes.PERMISSION_DENIED),
        ("404", codes.UNIMPLEMENTED),
        ("503", codes.UNAVAILABLE),
        ("302", codes.UNKNOWN),
    ],
)
@every_row("ended", [True, False])
def test_a_proxys_refusal_is_the_status_grpc_gives_it(
    *, http: str, status: int, ended: bool
) -> None:
    call = greeted()
    call.feed(head((":status", http), ("content-type", "text/html"), ended=ended))
    assert (call.status, call.accepted, call.detail) == (status, False, f"HTTP status {http}")


@pytest.mark.parametrize("written", ["", "x", "+1", " 1", "\uff11", "-1", "99999999999"])
def test_a_status_that_is_no_number_is_unknown(written: str) -> None:
    call = accepted()
    call.feed(head(("grpc-status", written), ended=True))
    assert call.status == codes.UNKNOWN


def test_pings_are_answered_between_the_pieces_of_a_large_payload() -> None:
    call = HookCall(HEADERS, b"x" * (8 << 20))
    wide = (1 << 30).to_bytes(4, "big")
    call.feed(frame(SETTINGS, payload=setting(4, 1 << 30)) + frame(WINDOW, 0, 0, wide))
    assert len(call.take()) < 1 << 20
    call.feed(frame(PING, payload=b"abcdefgh") + frame(PING, ACK, payload=b"answered"))
    assert call.take().startswith(frame(PING, ACK, payload=b"abcdefgh"))


def test_unknown_frames_and_settings_are_passed_over() -> None:
    call = greeted()
    call.feed(frame(10, 255, 77, b"?") + frame(200) + frame(PRIORITY, 0, 3, bytes(5)))
    call.feed(frame(SETTINGS, payload=setting(99, 1) + setting(3, 0)))
    call.feed(frame(SETTINGS, ACK) + head(*ACCEPTED))
    assert call.accepted


NOT_HTTP2 = [
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"SSH-2.0-OpenSSH_9.6\r\n",
    frame(PING, payload=bytes(8)),
    frame(SETTINGS, ACK),
    bytes(9),
    b"\xff" * 9,
]


@pytest.mark.parametrize("first", NOT_HTTP2)
def test_a_peer_that_begins_with_anything_but_settings_speaks_no_http2(first: bytes) -> None:
    with pytest.raises(MalformedBytes, match="does not speak HTTP/2"):
        HookCall(HEADERS, b"").feed(first)


MALFORMED_BEFORE_ACCEPTANCE = {
    "data": frame(DATA, 0, 1, answer(b"yes")),
    "headers on no stream": frame(HEAD, END_HEADERS, 0, block(*ACCEPTED)),
    "headers on a stream we did not open": frame(HEAD, END_HEADERS, 3, block(*ACCEPTED)),
    "another's reset": frame(RESET, 0, 2, bytes(4)),
    "settings on a stream": frame(SETTINGS, 0, 1),
    "settings cut short": frame(SETTINGS, payload=bytes(5)),
    "an acknowledgement with content": frame(SETTINGS, ACK, payload=bytes(6)),
    "frames too small": frame(SETTINGS, payload=setting(5, 16_383)),
    "frames too large": frame(SETTINGS, payload=setting(5, 1 << 24)),
    "a window too wide": frame(SETTINGS, payload=setting(4, 1 << 31)),
    "a connection window too wide": frame(WINDOW, payload=(2**31 - 1).to_bytes(4, "big")),
    "a window update of nothing": frame(WINDOW, payload=bytes(4)),
    "a window update cut short": frame(WINDOW, payload=b"\1"),
    "a ping cut short": frame(PING, payload=bytes(7)),
    "a ping on a stream": frame(PING, 0, 1, bytes(8)),
    "a goodbye cut short": frame(GOAWAY, payload=bytes(7)),
    "a goodbye on a stream": frame(GOAWAY, 0, 1, bytes(8)),
    "a priority cut short": frame(PRIORITY, 0, 1, bytes(4)),
    "a reset cut short": frame(RESET, 0, 1, bytes(3)),
    "a push": frame(PUSH, END_HEADERS, 1, bytes(4) + block(*ACCEPTED)),
    "a continuation of nothing": frame(MORE, END_HEADERS, 1, block(*ACCEPTED)),
    "a block broken off": frame(HEAD, 0, 1, b"\x88") + frame(PING, payload=bytes(8)),
    "a block broken off by the unknown": frame(HEAD, 0, 1, b"\x88") + frame(99),
    "headers without their priority": frame(HEAD, END_HEADERS | PRIORITIZED, 1, bytes(4)),
    "more padding than content": frame(HEAD, END_HEADERS | PADDED, 1, b"\2\0"),
    "padding without its length": frame(HEAD, END_HEADERS | PADDED, 1),
    "headers without an end": frame(HEAD, 0, 1, bytes(16_384))
    + 4 * frame(MORE, 0, 1, bytes(16_384)),
    "a frame larger than announced": frame(DATA, 0, 1, bytes(16_385)),
    "not gRPC": head((":status", "200"), ("content-type", "text/html")),
    "no type": head((":status", "200")),
    "no status": head(*ACCEPTED, ended=True),
    "OK without an answer": head(*ACCEPTED, ("grpc-status", "0"), ended=True),
    "more pings than it reads answers": frame(PING, payload=bytes(8)) * 5_000,
    "more settings than it reads answers": frame(SETTINGS) * 8_000,
}
MALFORMED_AFTER_ACCEPTANCE = {
    "a compressed answer": frame(DATA, 0, 1, b"\1" + answer(b"yes")[1:]),
    "an answer too large": frame(DATA, 0, 1, answer(b"", announced=codes.LARGEST_MESSAGE + 1)),
    "two answers": frame(DATA, 0, 1, answer(b"yes") * 2),
    "an answer without trailers": frame(DATA, END_STREAM, 1, answer(b"yes")),
    "trailers that do not end": frame(DATA, 0, 1, answer(b"yes")) + head(("grpc-status", "0")),
    "OK and no answer": ending(),
    "OK and less than a length": frame(DATA, 0, 1, b"\0\0") + ending(),
    "OK and half an answer": frame(DATA, 0, 1, answer(b"yes", announced=4)) + ending(),
    "a padding longer than the data": frame(DATA, PADDED, 1, b"\3ab"),
}


@every_row("name", MALFORMED_BEFORE_ACCEPTANCE)
def test_malformed_before_acceptance(name: str) -> None:
    call = greeted()
    with pytest.raises(MalformedBytes):
        call.feed(MALFORMED_BEFORE_ACCEPTANCE[name])
    assert not call.accepted
    assert call.status is None


@pytest.mark.parametrize("name", MALFORMED_AFTER_ACCEPTANCE)
def test_malformed_after_acceptance(name: str) -> None:
    call = accepted()
    with pytest.raises(MalformedBytes):
        call.feed(MALFORMED_AFTER_ACCEPTANCE[name])
    assert call.status is None
    assert call.message == b""


# Again, on the same connection.

RECEIPT = request_headers("/s/Again", "localhost", secure=False, token="t", agent="crabhook/test")


@examples(40)
@given(st.integers(0, 200_000), st.integers(0, 200_000), st.integers(0, 100_000))
def test_a_second_question_goes_on_the_next_stream_of_the_same_connection(
    first: int, second: int, window: int
) -> None:
    call = HookCall(HEADERS, b"x" * first)
    server = Server(INITIAL_WINDOW_SIZE=window)
    for stream, message, path in ((1, b"x" * first, b"/s/M"), (3, b"y" * second, b"/s/Again")):
        if stream == 3:
            server.received.clear()
            server.ended = False
            call.again(RECEIPT, message)
            assert (call.status, call.accepted, call.message) == (None, False, b"")
        server.meet(call)
        if not server.ended:
            server.h2.increment_flow_control_window(400_000, stream)
            server.meet(call)
        assert server.ended
        assert (server.stream, server.headers[b":path"]) == (stream, path)
        assert bytes(server.received) == answer(message)
        server.h2.send_headers(stream, ACCEPTED)
        server.meet(call)
        assert call.accepted
        server.h2.send_data(stream, answer(path))
        server.h2.send_headers(stream, [("grpc-status", "0")], end_stream=True)
        server.meet(call)
        assert (call.status, call.message) == (codes.OK, path)


def test_an_answer_to_the_second_question_is_its_own() -> None:
    call = answered()
    call.again(RECEIPT, b"")
    call.feed(head(*ACCEPTED, ("grpc-status", "7"), ("grpc-message", "no"), ended=True, stream=3))
    assert (call.status, call.accepted, call.message, call.detail) == (7, False, b"", "no")


@pytest.mark.parametrize("behind", [True, False])
def test_what_is_still_said_about_the_first_question_changes_nothing(*, behind: bool) -> None:
    late = frame(RESET, 0, 1, bytes(4)) + frame(WINDOW, 0, 1, (2**31 - 1).to_bytes(4, "big")) * 2
    call = answered(late if behind else b"")
    call.again(RECEIPT, b"")
    call.feed(b"" if behind else late)
    assert call.status is None
    call.feed(head(*ACCEPTED, stream=3) + frame(DATA, 0, 3, answer(b"")) + ending(stream=3))
    assert call.status == codes.OK


@every_row(
    "late",
    [
        frame(DATA, 0, 1, answer(b"yes")),
        ending(),
        frame(MORE, END_HEADERS, 1, b""),
        frame(RESET, 0, 5, bytes(4)),
        frame(RESET, 0, 2, bytes(4)),
        frame(RESET, 0, 1, bytes(3)),
        frame(WINDOW, 0, 5, (1).to_bytes(4, "big")),
        b"garbage" * 9,
    ],
)
@every_row("behind", [True, False])
def test_a_peer_that_loses_its_thread_is_malformed(late: bytes, *, behind: bool) -> None:
    call = answered(late if behind else b"")
    if behind:
        with pytest.raises(MalformedBytes):
            call.again(RECEIPT, b"")
    else:
        call.again(RECEIPT, b"")
        with pytest.raises(MalformedBytes):
            call.feed(late)
    assert (call.status, call.message) == (None, b"")


GOODBYE = frame(GOAWAY, 0, 0, (1).to_bytes(4, "big") + bytes(4))


def test_who_has_said_goodbye_is_asked_nothing_more() -> None:
    call = accepted()
    call.take()
    call.feed(GOODBYE + frame(DATA, 0, 1, answer(b"yes")) + ending())
    assert call.status == codes.OK
    call.again(RECEIPT, b"more")
    assert (call.status, call.message, call.take()) == (codes.UNAVAILABLE, b"", b"")


def test_a_goodbye_behind_the_answer_is_heard() -> None:
    call = answered(GOODBYE)
    call.again(RECEIPT, b"more")
    assert call.status == codes.UNAVAILABLE


def test_room_the_peer_makes_behind_its_answer_is_room_for_the_second_question() -> None:
    call = HookCall(HEADERS, bytes(65_530))  # with its length, all of the connection's window
    call.feed(frame(SETTINGS) + head(*ACCEPTED))
    call.take()
    room = frame(WINDOW, 0, 0, (7).to_bytes(4, "big"))
    call.feed(frame(DATA, 0, 1, answer(b"yes")) + ending() + room)
    call.again(RECEIPT, b"12")
    assert call.take().endswith(frame(DATA, END_STREAM, 3, answer(b"12")))


def test_a_question_nobody_heard_out_is_taken_back_before_the_second() -> None:
    call = HookCall(HEADERS, b"x" * 500_000)
    server = Server()
    server.meet(call, grant=False)
    server.h2.send_headers(1, ACCEPTED)
    server.h2.send_data(1, answer(b"early"))
    server.h2.send_headers(1, [("grpc-status", "0")], end_stream=True)
    server.meet(call, grant=False)
    assert call.message == b"early"
    server.h2.increment_flow_control_window(100)
    server.received.clear()
    call.again(RECEIPT, b"second")
    server.meet(call)
    assert (server.stream, server.ended) == (3, True)
    assert bytes(server.received) == answer(b"second")


def test_what_was_put_back_goes_out_first_and_whole() -> None:
    call = HookCall(HEADERS, b"question")
    flight = call.take()
    call.put_back(flight[10:])
    call.feed(frame(SETTINGS) + head(*ACCEPTED) + frame(DATA, 0, 1, answer(b"yes")) + ending())
    call.again(RECEIPT, b"more")
    assert call.take() == flight[10:]
    server = Server()
    server.h2.receive_data(flight)
    for event in server.h2.receive_data(call.take()):
        server.on(event, grant=True)
    assert (server.stream, bytes(server.received)) == (3, answer(b"more"))
    assert call.take() == b""
