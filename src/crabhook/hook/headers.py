"""Header compression (RFC 7541), without the half that remembers.

A hook's one connection carries one call, so nothing is gained by a table that
grows: ours is announced as empty, and what we send says that nothing of it may
be kept by any table on the way, since a token is among it.
"""

from crabhook.hook.messages import Malformed

# RFC 7541, appendix A: the names of the static table in its order, and the few
# values it has.
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
    """Write the header block of a call, nothing of it to be kept by any table on the way."""
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
    """Decode a header block; of a name that comes twice the last value counts."""
    fields: dict[bytes, bytes] = {}
    at = 0
    while at < len(block):
        first = block[at]
        if first & 0x80:  # wholly in the table
            index, at = _integer(block, at, 7)
            name, value = _entry(index), _VALUES.get(index, b"")
        elif first & 0xE0 == 0x20:  # a new size for a table that must stay empty
            size, at = _integer(block, at, 5)
            if size or fields:
                raise Malformed("a compression table larger than we allow")
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
        raise Malformed("a header from a table that is empty")
    return _NAMES[index]


def _integer(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """Read RFC 7541 5.1's integer behind a prefix of `bits` bits."""
    if at >= len(block):
        raise Malformed("a header block broken off")
    most = (1 << bits) - 1
    number = block[at] & most
    if number < most:
        return number, at + 1
    for count, byte in enumerate(block[at + 1 : at + 5]):
        number += (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return number, at + 2 + count
    raise Malformed("a number without an end in the headers")


def _read_string(block: bytes, at: int) -> tuple[bytes, int]:
    squeezed = at < len(block) and block[at] & 0x80
    size, at = _integer(block, at, 7)
    end = at + size
    if end > len(block):
        raise Malformed("a header longer than its block")
    if not squeezed:
        return block[at:end], end
    from crabhook.hook import huffman  # noqa: PLC0415 - only some peers use it

    return huffman.read(block[at:end]), end


def _string(text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    size = len(raw)
    if size < 127:
        return bytes((size,)) + raw
    out = bytearray(b"\x7f")
    size -= 127
    while size > 127:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out) + raw
