"""Bytes into lines, without loss: what comes out, put together, is what went in."""

from collections.abc import Iterator

from crabhook.datatypes import frozen

LONGEST = 96 << 20
"""Bytes of the longest line that is read; of a longer line the pieces pass unread."""


@frozen
class WholeLine:
    """A line with its end, or what was left without one when the peer ended."""

    data: bytes


@frozen
class Piece:
    """A piece of a line that is too long to be read; `ends` marks the last."""

    data: bytes
    ends: bool


class LineCutter:
    """Cuts what a peer sends, in chunks of any size, into lines of a bounded length."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._chunks: list[bytes] = []
        self._size = 0
        self._unread = False

    def feed(self, chunk: bytes) -> Iterator[WholeLine | Piece]:
        """Take a chunk; yield the lines that it ends, and the pieces of a line that is too long."""
        while chunk:
            end = chunk.find(b"\n") + 1
            part, chunk = (chunk[:end], chunk[end:]) if end else (chunk, b"")
            if self._unread:
                self._unread = not end
                yield Piece(part, ends=bool(end))
                continue
            self._chunks.append(part)
            self._size += len(part)
            if self._size > self._longest:
                self._unread = not end
                yield Piece(self._take(), ends=bool(end))
            elif end:
                yield WholeLine(self._take())

    def close(self) -> Iterator[WholeLine | Piece]:
        """Yield what is left when the peer has ended."""
        if self._unread:
            self._unread = False
            yield Piece(b"", ends=True)
        elif self._size:
            yield WholeLine(self._take())

    def _take(self) -> bytes:
        data, self._chunks, self._size = b"".join(self._chunks), [], 0
        return data
