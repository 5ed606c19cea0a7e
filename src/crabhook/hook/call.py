"""The client's side of a unary gRPC call: bytes in, bytes out, no socket, no clock.

HTTP/2 is RFC 9113; gRPC over HTTP/2 is doc/PROTOCOL-HTTP2.md of the gRPC project. The connection
carries one call, and after its end perhaps a second, so it has one stream at a time. Our SETTINGS
ask the peer for an empty compression table and give it the largest window, so that this module
keeps account of neither. Wrong input from the peer raises MalformedBytes, and every buffer has a
bound.
"""

from crabhook.hook.wire import MalformedBytes, percent_decoded, printable, read_headers

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Callable

OK, CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, PERMISSION_DENIED = 0, 1, 2, 4, 7
RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, UNAUTHENTICATED = 8, 12, 13, 14, 16

# A call that ended so may succeed when it is tried again; None: its connection was lost.
TEMPORARY = (None, CANCELLED, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE)

LARGEST_MESSAGE = 100 << 20
_LARGEST_FRAME = 16384  # HTTP/2's default: we announce no other
_LARGEST_HEADER_BLOCK = 64 << 10
_LARGEST_BACKLOG = 64 << 10  # acknowledgements that the peer does not read
_LARGEST_WINDOW = (1 << 31) - 1
_AT_ONCE = 256 << 10  # so that the answer to a PING does not wait behind the whole payload

_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 3, 4, 6, 8, 9
_ACK = _END_STREAM = 0x1
_END_HEADERS, _PADDED, _PRIORITY = 0x4, 0x8, 0x20
_CANCEL = (8).to_bytes(4, "big")  # the error code of a reset

# Where a frame comes: on the connection itself, or on a stream in one of RFC 9113's states. Only
# the stream of the current call is open.
_CONNECTION, _OPEN, _CLOSED, _IDLE = range(4)

# The gRPC status for an HTTP status (UNKNOWN for all others) and for the error code of a reset
# stream (INTERNAL for all others).
_STATUS_OF_HTTP = {
    b"400": INTERNAL,
    b"401": UNAUTHENTICATED,
    b"403": PERMISSION_DENIED,
    b"404": UNIMPLEMENTED,
    b"429": UNAVAILABLE,
    b"502": UNAVAILABLE,
    b"503": UNAVAILABLE,
    b"504": UNAVAILABLE,
}
_STATUS_OF_RESET = {7: UNAVAILABLE, 8: CANCELLED, 11: RESOURCE_EXHAUSTED, 12: PERMISSION_DENIED}


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload
    )


# HEADER_TABLE_SIZE 0, ENABLE_PUSH 0, INITIAL_WINDOW_SIZE 2^31-1; the connection's own window, which
# begins with 65535, is raised to the same.
_PREFACE = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    + _frame(
        _SETTINGS,
        0,
        _CONNECTION,
        b"\0\1\0\0\0\0" + b"\0\2\0\0\0\0" + b"\0\4" + _LARGEST_WINDOW.to_bytes(4, "big"),
    )
    + _frame(_WINDOW_UPDATE, 0, _CONNECTION, (_LARGEST_WINDOW - 65535).to_bytes(4, "big"))
)


class HookCall:
    """One call; after its end, `again` begins another on the same connection.

    `meanwhile`, if there is such work, does the next milliseconds of it while the answer is waited
    for, and returns whether more is left.

    The caller gives received bytes to `feed`, and sends what `take` returns. `greeted`: the peer
    speaks HTTP/2. `accepted`: the peer has taken the request. After the end, `status` is gRPC's
    code, `detail` the peer's words, and `message` the answer if the code is OK.
    """

    def __init__(
        self, headers: bytes, message: bytes, meanwhile: "Callable[[], bool] | None" = None
    ) -> None:
        self.greeted = False
        self.meanwhile = meanwhile
        self._leaving = False  # the peer takes no more calls on this connection
        self._inbound = bytearray()
        self._unsent = b""
        self._outbound = bytearray(_PREFACE)
        self._connection_window = self._initial_window = 65535
        self._frame_limit = _LARGEST_FRAME
        self._open(1, headers, message)

    def _open(self, stream: int, headers: bytes, message: bytes) -> None:
        self.accepted = False
        self.status: int | None = None
        self.detail = ""
        self.message = b""
        self._stream = stream
        self._stream_window = self._initial_window
        self._block: bytearray | None = None  # header fragments until END_HEADERS
        self._block_ends_stream = False
        self._answer = bytearray()  # the length-prefixed message
        self._outbound += _frame(_HEADERS, _END_HEADERS, stream, headers)
        self._body = memoryview(b"\0" + len(message).to_bytes(4, "big") + message)

    def again(self, headers: bytes, message: bytes) -> None:
        """Begin another call, on a new stream, after the end of this call."""
        if self._leaving:
            self.status, self.detail, self.message = UNAVAILABLE, "it is shutting down", b""
            return
        if self._body:  # the peer answered before it had read all of the request
            self._outbound += _frame(_RESET, 0, self._stream, _CANCEL)
        self._open(self._stream + 2, headers, message)
        self.feed(b"")  # reads frames that came after the answer

    def put_back(self, rest: bytes) -> None:
        """Take back the rest of what `take` returned, which the socket had no room for."""
        self._unsent = rest

    def take(self) -> bytes:
        """Return the bytes to send now; none where the peer's windows are full."""
        if self._unsent:
            rest, self._unsent = self._unsent, b""
            return rest
        out = self._outbound
        while self._body and len(out) < _AT_ONCE:
            room = min(
                self._stream_window, self._connection_window, self._frame_limit, len(self._body)
            )
            if room <= 0:
                break
            chunk, self._body = self._body[:room], self._body[room:]
            self._stream_window -= room
            self._connection_window -= room
            out += _frame(_DATA, 0 if self._body else _END_STREAM, self._stream, bytes(chunk))
        self._outbound = bytearray()
        return bytes(out)

    def feed(self, data: bytes) -> None:
        """Read received bytes; raise MalformedBytes where they are no answer to this call."""
        self._inbound += data
        while self.status is None and len(self._inbound) >= 9:
            size = int.from_bytes(self._inbound[:3], "big")
            kind, flags = self._inbound[3], self._inbound[4]
            stream = int.from_bytes(self._inbound[5:9], "big") & _LARGEST_WINDOW
            if not self.greeted and (kind != _SETTINGS or flags & _ACK or size > _LARGEST_FRAME):
                raise MalformedBytes("it does not speak HTTP/2")
            if size > _LARGEST_FRAME:
                raise MalformedBytes(f"a frame of {size} bytes, more than we announced")
            if len(self._inbound) < 9 + size:
                return
            payload = bytes(self._inbound[9 : 9 + size])
            del self._inbound[: 9 + size]
            self._on_frame(kind, flags, stream, payload)

    def _on_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if self._block is not None and kind != _CONTINUATION:
            raise MalformedBytes("a header block broken off")
        if kind >= len(self._HANDLERS):
            return  # RFC 9113 5.5: frames of an unknown type are ignored
        states, handle = self._HANDLERS[kind]
        state = self._state_of(stream)
        if state not in states:
            raise MalformedBytes(f"a frame of type {kind} on stream {stream}")
        handle(self, flags, state, payload)
        if len(self._outbound) > _LARGEST_BACKLOG:
            raise MalformedBytes("more to acknowledge than it reads")

    def _state_of(self, stream: int) -> int:
        if stream == self._stream:
            return _OPEN
        if stream == 0:
            return _CONNECTION
        return _CLOSED if stream < self._stream and stream % 2 else _IDLE

    def _on_data(self, flags: int, _state: int, payload: bytes) -> None:
        if not self.accepted:
            raise MalformedBytes("an answer before its headers")
        self._answer += _unpadded(flags, payload)
        if len(self._answer) >= 5:
            size = int.from_bytes(self._answer[1:5], "big")
            if self._answer[0] != 0:
                raise MalformedBytes("a compressed answer, which nobody asked for")
            if size > LARGEST_MESSAGE:
                raise MalformedBytes(f"an answer of {size} bytes")
            if len(self._answer) > 5 + size:
                raise MalformedBytes("more than one answer")
        if flags & _END_STREAM:
            raise MalformedBytes("an answer without a status")

    def _on_headers(self, flags: int, _state: int, payload: bytes) -> None:
        payload = _unpadded(flags, payload)
        if flags & _PRIORITY:
            if len(payload) < 5:
                raise MalformedBytes("headers shorter than their priority")
            payload = payload[5:]
        self._block = bytearray()
        self._block_ends_stream = bool(flags & _END_STREAM)
        self._on_continuation(flags, _OPEN, payload)

    def _on_continuation(self, flags: int, _state: int, payload: bytes) -> None:
        if self._block is None:
            raise MalformedBytes("a continuation of nothing")
        self._block += payload
        if len(self._block) > _LARGEST_HEADER_BLOCK:
            raise MalformedBytes("headers without an end")
        if flags & _END_HEADERS:
            block, self._block = bytes(self._block), None
            self._on_fields(read_headers(block), ended=self._block_ends_stream)

    def _on_fields(self, fields: dict[bytes, bytes], *, ended: bool) -> None:
        status = fields.get(b":status", b"")
        if self.accepted:
            if not ended:
                raise MalformedBytes("headers in the middle of an answer")
            self._end(fields)
        elif b"grpc-status" in fields and ended:
            self._end(fields)
        elif status.startswith(b"1") and not ended:
            return  # an interim response: the final one follows
        elif status != b"200":
            self.status = _STATUS_OF_HTTP.get(status, UNKNOWN)
            self.detail = f"HTTP status {printable(status)}"
        elif ended or not fields.get(b"content-type", b"").startswith(b"application/grpc"):
            raise MalformedBytes("it speaks HTTP/2, but not gRPC")
        else:
            self.accepted = True

    def _end(self, fields: dict[bytes, bytes]) -> None:
        code = fields.get(b"grpc-status", b"")
        status = int(code) if code.isdigit() and len(code) < 4 else UNKNOWN
        if status == OK and len(self._answer) != 5 + int.from_bytes(self._answer[1:5], "big"):
            raise MalformedBytes("the status is OK, but the answer is not whole")
        self.status = status
        self.message = bytes(self._answer[5:]) if status == OK else b""
        self.detail = printable(percent_decoded(fields.get(b"grpc-message", b"")))

    def _on_priority(self, _flags: int, _state: int, payload: bytes) -> None:
        if len(payload) != 5:
            raise MalformedBytes("a priority of the wrong size")

    def _on_reset(self, _flags: int, state: int, payload: bytes) -> None:
        if len(payload) != 4:
            raise MalformedBytes("a reset of the wrong size")
        if state == _CLOSED:
            return
        code = int.from_bytes(payload, "big")
        self.status = _STATUS_OF_RESET.get(code, INTERNAL)

    def _on_settings(self, flags: int, _state: int, payload: bytes) -> None:
        if len(payload) % 6 or (flags & _ACK and payload):
            raise MalformedBytes("settings of the wrong size")
        if flags & _ACK:
            return
        for at in range(0, len(payload), 6):
            name = int.from_bytes(payload[at : at + 2], "big")
            value = int.from_bytes(payload[at + 2 : at + 6], "big")
            if name == 4:  # INITIAL_WINDOW_SIZE changes the open window too, even to below zero
                self._widen(_OPEN, value - self._initial_window)
                self._initial_window = value
            elif name == 5:  # MAX_FRAME_SIZE
                if not _LARGEST_FRAME <= value < 1 << 24:
                    raise MalformedBytes(f"a largest frame of {value} bytes")
                self._frame_limit = value
        self.greeted = True
        self._outbound += _frame(_SETTINGS, _ACK, _CONNECTION)

    def _on_push(self, _flags: int, _state: int, _payload: bytes) -> None:
        raise MalformedBytes("a push, which we switched off")

    def _on_ping(self, flags: int, _state: int, payload: bytes) -> None:
        if len(payload) != 8:
            raise MalformedBytes("a ping of the wrong size")
        if not flags & _ACK:
            self._outbound += _frame(_PING, _ACK, _CONNECTION, payload)

    def _on_goaway(self, _flags: int, _state: int, payload: bytes) -> None:
        if len(payload) < 8:
            raise MalformedBytes("a goodbye of the wrong size")
        self._leaving = True
        # The peer may still answer our stream, unless the frame says that the peer never saw it.
        if int.from_bytes(payload[:4], "big") & _LARGEST_WINDOW < self._stream:
            self.status = UNAVAILABLE
            self.detail = "it is shutting down"

    def _on_window_update(self, _flags: int, state: int, payload: bytes) -> None:
        step = int.from_bytes(payload, "big") & _LARGEST_WINDOW
        if len(payload) != 4 or step == 0:
            raise MalformedBytes("a window update that updates nothing")
        self._widen(state, step)

    def _widen(self, state: int, step: int) -> None:
        if state == _OPEN:
            self._stream_window += step
        elif state == _CONNECTION:
            self._connection_window += step
        if max(self._stream_window, self._connection_window) > _LARGEST_WINDOW:
            raise MalformedBytes("a window wider than windows can be")

    # By frame type: the states of a stream that allow it, and its handler.
    _HANDLERS = (
        ((_OPEN,), _on_data),
        ((_OPEN,), _on_headers),
        ((_OPEN, _CLOSED, _IDLE), _on_priority),
        ((_OPEN, _CLOSED), _on_reset),
        ((_CONNECTION,), _on_settings),
        ((_OPEN,), _on_push),
        ((_CONNECTION,), _on_ping),
        ((_CONNECTION,), _on_goaway),
        ((_CONNECTION, _OPEN, _CLOSED), _on_window_update),
        ((_OPEN,), _on_continuation),
    )


def _unpadded(flags: int, payload: bytes) -> bytes:
    if not flags & _PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise MalformedBytes("a frame with more padding than content")
    return payload[1 : len(payload) - payload[0]]
