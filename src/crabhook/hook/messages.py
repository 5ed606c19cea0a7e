"""The messages of proto/crabhook/v1/permission.proto, as far as a hook needs them.

Written by hand, because importing the generated code takes four times as long
as starting Python.  A test pins every field to the generated code, both ways.
"""

GATE = 1
COMPANION = 2

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10

# A field's key on the wire: its number, and how its value is written.
_RESPONSE_REPLY = 13 << 3 | _BYTES
_RESPONSE_CONFIRM = 14 << 3 | _VARINT
_REPLY_STDOUT = 1 << 3 | _BYTES
_REPLY_STDERR = 2 << 3 | _BYTES
_REPLY_EXIT_CODE = 3 << 3 | _VARINT


class Malformed(Exception):  # noqa: N818 - a state of the wire, not a mistake in a program
    """What the peer sent is not what this wire carries; the text says where."""


class Reply:
    """What the hook repeats without looking: two streams and an exit code, 0 to 255.

    `confirm` says that somebody waits to hear that it was printed.
    """

    __slots__ = ("confirm", "exit_code", "stderr", "stdout")

    def __init__(
        self, stdout: bytes = b"", stderr: bytes = b"", exit_code: int = 0, *, confirm: bool = False
    ) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.exit_code = exit_code
        self.confirm = confirm

    def __repr__(self) -> str:
        return f"Reply({self.stdout!r}, {self.stderr!r}, {self.exit_code}, confirm={self.confirm})"


def client_facts(*, host: str, pid: int, user: str, version: str) -> bytes:
    """Write a ClientFacts."""
    return b"".join((_text(1, host), _number(2, pid), _text(3, user), _text(4, version)))


def permission_request(  # noqa: PLR0913 - the message has seven fields
    *,
    request_id: str,
    secret: str,
    platform: str,
    payload: bytes,
    wait_ms: int,
    stance: int,
    facts: bytes,
) -> bytes:
    """Write a PermissionRequest; `facts` is a ClientFacts already written."""
    return b"".join(
        (
            _text(1, request_id),
            _text(2, secret),
            _text(3, platform),
            _bytes(4, payload),
            _number(5, wait_ms),
            _number(6, stance),
            _bytes(7, facts),
        )
    )


def confirm_reply_request(*, request_id: str, secret: str) -> bytes:
    """Write a ConfirmReplyRequest."""
    return _text(1, request_id) + _text(2, secret)


def read_reply(response: bytes) -> Reply:
    """Take the reply out of a PermissionResponse; raise Malformed if it has none."""
    fields = _fields(response)
    parts = [value for key, _, value in fields if key == _RESPONSE_REPLY]
    confirm = [number for key, number, _ in fields if key == _RESPONSE_CONFIRM]
    if not parts:
        raise Malformed("the response holds no reply")
    stdout = stderr = b""
    exit_code = 0
    # A message sent in parts is the parts one after the other, by protobuf's law.
    for key, number, value in _fields(b"".join(parts)):
        if key == _REPLY_STDOUT:
            stdout = value
        elif key == _REPLY_STDERR:
            stderr = value
        elif key == _REPLY_EXIT_CODE:
            exit_code = number & 0xFFFFFFFF
    if exit_code > 255:
        raise Malformed(f"the reply's exit code is {exit_code}, not 0 to 255")
    return Reply(stdout, stderr, exit_code, confirm=bool(confirm and confirm[-1]))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return bytes((field << 3 | _VARINT,)) + _varint(value) if value else b""


def _bytes(field: int, value: bytes) -> bytes:
    return bytes((field << 3 | _BYTES,)) + _varint(len(value)) + value if value else b""


def _text(field: int, value: str) -> bytes:
    # A name from the environment need not be UTF-8, and a string field must be.
    return _bytes(field, value.encode("utf-8", "replace"))


def _fields(message: bytes) -> list[tuple[int, int, bytes]]:
    """Split a message into keys and their numbers or bytes, those unknown to us among them."""
    found = []
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        kind = key & 7
        if key >> 3 == 0 or key >> 32:
            raise Malformed("a field without a number")
        if kind == _VARINT:
            number, at = _read_varint(message, at)
            found.append((key, number, b""))
            continue
        if kind == _BYTES:
            size, at = _read_varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise Malformed(f"a field of wire type {kind}")
        if size > len(message) - at:
            raise Malformed("a field longer than its message")
        found.append((key, 0, message[at : at + size]))
        at += size
    return found


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    number = 0
    for count, byte in enumerate(message[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, at + count + 1
    raise Malformed("a number without an end")
