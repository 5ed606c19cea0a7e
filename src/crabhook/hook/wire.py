"""Writes and reads the calls' messages and header blocks.

The messages are those of proto/crabhook/v1/permission.proto. They are written by hand, because the
import of the generated code takes four times as long as Python's start; a test compares each field
with the generated code, in both directions.

The header blocks are RFC 7541 without its dynamic table, from which a connection with one or two
calls gains nothing. We announce an empty table, and mark our headers as never indexed, since a
token is among them.
"""

GATE = 1
COMPANION = 2
SUPERVISOR = 3

# The form of the answer that a hook reads: the reply alone, and so one copy of a long input.
_REPLY_ALONE = 1

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10

# A field's key on the wire: its number and its wire type.
_RESPONSE_REPLY = 13 << 3 | _BYTES
_RESPONSE_CONFIRM = 14 << 3 | _VARINT
_REPLY_STDOUT = 1 << 3 | _BYTES
_REPLY_STDERR = 2 << 3 | _BYTES
_REPLY_EXIT_CODE = 3 << 3 | _VARINT


class MalformedBytes(Exception):  # noqa: N818 - a state of the wire, not a mistake in a program
    """The peer sent bytes that this protocol does not allow; the text says where."""


class WireReply:
    """What the hook prints, unread, on two streams, and its exit code, 0 to 255.

    `confirm`: the server waits for the receipt, which says that the hook has printed the reply.
    """

    __slots__ = ("confirm", "exit_code", "stderr", "stdout")

    def __init__(
        self, stdout: bytes = b"", stderr: bytes = b"", exit_code: int = 0, *, confirm: bool = False
    ) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.exit_code = exit_code
        self.confirm = confirm


def permission_request(  # noqa: PLR0913 - the message has ten fields
    *,
    request_id: str,
    secret: str,
    platform: str,
    payload: bytes,
    wait_ms: int,
    stance: int,
    facts: bytes,
    when_lost: str,
    strict: bytes = b"",
) -> bytes:
    """Write a PermissionRequest; `facts` and `strict` are messages already written."""
    asked = request_id, secret, platform, payload, wait_ms, stance, facts, when_lost
    return write_message(*asked, _REPLY_ALONE, strict)


def read_reply(response: bytes) -> WireReply:
    """Return the reply in a PermissionResponse; raise Malformed if there is none."""
    fields = fields_of(response)
    parts = [value for key, _, value in fields if key == _RESPONSE_REPLY]
    confirm = [number for key, number, _ in fields if key == _RESPONSE_CONFIRM]
    if not parts:
        raise MalformedBytes("the response holds no reply")
    stdout = stderr = b""
    exit_code = 0
    # Protobuf: a message field that comes several times is the joined bytes of all.
    for key, number, value in fields_of(b"".join(parts)):
        if key == _REPLY_STDOUT:
            stdout = value
        elif key == _REPLY_STDERR:
            stderr = value
        elif key == _REPLY_EXIT_CODE:
            exit_code = number & 0xFFFFFFFF
    if exit_code > 255:
        raise MalformedBytes(f"the reply's exit code is {exit_code}, not 0 to 255")
    return WireReply(stdout, stderr, exit_code, confirm=bool(confirm and confirm[-1]))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def write_message(*fields: "str | bytes | int") -> bytes:
    """Write a message of these fields, numbered from 1 in their order; defaults are left out."""
    parts = []
    for number, value in enumerate(fields, 1):
        if not value:
            continue
        if isinstance(value, int):
            parts += [bytes((number << 3 | _VARINT,)), _varint(value)]
            continue
        # A string field must be UTF-8; a name from the environment may be something else.
        raw = value.encode("utf-8", "replace") if isinstance(value, str) else value
        parts += [bytes((number << 3 | _BYTES,)), _varint(len(raw)), raw]
    return b"".join(parts)


def fields_of(message: bytes) -> list[tuple[int, int, bytes]]:
    """Split a message into each field's key, number and bytes, unknown fields included."""
    fields = []
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        kind = key & 7
        if key >> 3 == 0 or key >> 32:
            raise MalformedBytes("a field without a number")
        if kind == _VARINT:
            number, at = _read_varint(message, at)
            fields.append((key, number, b""))
            continue
        if kind == _BYTES:
            size, at = _read_varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise MalformedBytes(f"a field of wire type {kind}")
        if size > len(message) - at:
            raise MalformedBytes("a field longer than its message")
        fields.append((key, 0, message[at : at + size]))
        at += size
    return fields


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    number = 0
    for count, byte in enumerate(message[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, at + count + 1
    raise MalformedBytes("a number without an end")


# RFC 7541, appendix A: the names of the static table in its order, and its few values.
_NAMES = (
    b"|:authority|:method|:method|:path|:path|:scheme|:scheme|:status|:status|:status|:status"
    b"|:status|:status|:status|accept-charset|accept-encoding|accept-language|accept-ranges"
    b"|accept|access-control-allow-origin|age|allow|authorization|cache-control"
    b"|content-disposition|content-encoding|content-language|content-length|content-location"
    b"|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match"
    b"|if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location"
    b"|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after"
    b"|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via"
    b"|www-authenticate"
).split(b"|")
_VALUES = dict(
    zip(
        (*range(2, 15), 16),
        b"GET POST / /index.html http https 200 204 206 304 400 404 500 gzip, deflate".split(
            b" ", 13
        ),
        strict=True,
    )
)


def request_headers(path: str, authority: str, *, secure: bool, token: str, agent: str) -> bytes:
    """Write the header block of a call; no peer or proxy may put it in a compression table."""
    block = [
        b"\x83",  # :method POST
        b"\x87" if secure else b"\x86",  # :scheme
        b"\x14" + _string(path),  # :path
        b"\x11" + _string(authority),  # :authority
        b"\x10" + _string("te") + _string("trailers"),
        b"\x1f\x10" + _string("application/grpc"),  # content-type
        b"\x1f\x2b" + _string(agent),  # user-agent
    ]
    if token:
        block.append(b"\x1f\x08" + _string("Bearer " + token))  # authorization
    return b"".join(block)


def read_headers(block: bytes) -> dict[bytes, bytes]:
    """Decode a header block; where a name comes twice, the last value counts."""
    fields: dict[bytes, bytes] = {}
    at = 0
    while at < len(block):
        first = block[at]
        if first & 0x80:  # name and value from the static table
            index, at = _integer(block, at, 7)
            name, value = _entry(index), _VALUES.get(index, b"")
        elif first & 0xE0 == 0x20:  # a new size of the dynamic table, which must stay empty
            size, at = _integer(block, at, 5)
            if size or fields:
                raise MalformedBytes("a compression table larger than we allow")
            continue
        else:
            index, at = _integer(block, at, 6 if first & 0x40 else 4)
            if index:
                name = _entry(index)
            else:
                name, at = _read_string(block, at)
            value, at = _read_string(block, at)
        fields[name] = value
    return fields


def _entry(index: int) -> bytes:
    if not 0 < index < len(_NAMES):
        raise MalformedBytes("a header from a table that is empty")
    return _NAMES[index]


def _integer(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """Read an integer of RFC 7541 5.1, whose prefix has `bits` bits."""
    if at >= len(block):
        raise MalformedBytes("a header block broken off")
    most = (1 << bits) - 1
    number = block[at] & most
    if number < most:
        return number, at + 1
    for count, byte in enumerate(block[at + 1 : at + 5]):
        number += (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return number, at + 2 + count
    raise MalformedBytes("a number without an end in the headers")


def _read_string(block: bytes, at: int) -> tuple[bytes, int]:
    squeezed = at < len(block) and block[at] & 0x80
    size, at = _integer(block, at, 7)
    end = at + size
    if end > len(block):
        raise MalformedBytes("a header longer than its block")
    if not squeezed:
        return block[at:end], end
    from crabhook.hook import huffman  # only some peers use it

    try:
        return huffman.read(block[at:end]), end
    except ValueError as error:
        raise MalformedBytes(str(error)) from error


def _string(text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    size = len(raw)
    return (bytes((size,)) if size < 127 else b"\x7f" + _varint(size - 127)) + raw


def percent_decoded(text: bytes) -> bytes:
    """Decode gRPC's percent-encoding of a status message; a wrong escape stays as it is."""
    first, *rest = text.split(b"%")
    out = bytearray(first)
    for part in rest:
        digits = part[:2]
        if len(digits) == 2 and not digits.strip(b"0123456789abcdefABCDEF"):
            out.append(int(digits, 16))
            out += part[2:]
        else:
            out += b"%" + part
    return bytes(out)


def printable(text: bytes) -> str:
    """Return a peer's text as one line without control characters, safe on a terminal."""
    line = "".join(c if c.isprintable() else " " for c in text.decode("utf-8", "replace"))
    return line[:500]
