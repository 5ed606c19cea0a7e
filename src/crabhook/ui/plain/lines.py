"""Lines in and lines out, without a thread, over whatever standard input and output are.

Pipes, terminals and sockets are waited for by the event loop.  It refuses
regular files and /dev/null, which are always ready.  Nothing that others
share is made non-blocking: see `ui.tty`.
"""

import asyncio
import os
import sys
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from stat import S_ISREG

from crabhook.ui.tty import reopened
from crabhook.ui.words import MAX_LINE

_CHUNK = 4096  # PIPE_BUF: a pipe that is ready takes this much without blocking
_NARROWEST = 20  # columns; a terminal that says less does not know
_CONTINUED = "    > "
_Watch = Callable[..., object]


async def read_lines(source: int | None) -> AsyncIterator[str]:
    """Yield the lines of a file descriptor, without their ends, until the other side has left.

    None, a closed one and a terminal that hung up have no lines.  Bytes that
    are not UTF-8 become U+FFFD.  Of a line past MAX_LINE only so much is kept
    that the parser sees it is too long.  A terminal's last line without an
    end was not sent, so it is dropped; any other's counts.
    """
    if source is None:
        return
    pending = bytearray()
    while chunk := await _read(source):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            pending += part[: MAX_LINE + 1 - len(pending)]
            yield _decode(pending)
            pending.clear()
        pending += rest[: MAX_LINE + 1 - len(pending)]
    if pending and not os.isatty(source):
        yield _decode(pending)


def _decode(line: bytearray) -> str:
    """Return the line as text; it never gets shorter than its bytes when some are replaced."""
    return line.decode("utf-8", "replace").removesuffix("\r")


async def _read(source: int) -> bytes:
    loop = asyncio.get_running_loop()
    try:
        await _ready(source, loop.add_reader, loop.remove_reader)
        return os.read(source, 1 << 16)
    except OSError:
        return b""


async def _ready(descriptor: int, watch: _Watch, unwatch: _Watch) -> None:
    """Wait until reading or writing would not block."""
    ready = asyncio.get_running_loop().create_future()
    try:
        watch(descriptor, _wake, ready)
    except PermissionError:  # a regular file or /dev/null
        await asyncio.sleep(0)
        return
    try:
        await ready
    finally:
        unwatch(descriptor)


def _wake(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


class LineWriter:
    """Writes text to a file descriptor at once, each time with a line's end.

    On a terminal, lines wider than it are folded here, indented: folded by
    the terminal, what an agent sent could end up where only our own lines
    begin.
    """

    def __init__(self, target: int | None, encoding: str = "utf-8") -> None:
        self._target = target
        self._encoding = encoding
        self._way = None if target is None else reopened(target)
        self._waits = target is not None and not S_ISREG(os.fstat(target).st_mode)

    async def __call__(self, text: str) -> None:
        """Write `text`; raises OSError when nobody reads any more."""
        if self._target is None:
            raise BrokenPipeError("standard output is closed")
        if columns := _columns(self._target):
            text = "\n".join(part for line in text.split("\n") for part in fold(line, columns))
        loop = asyncio.get_running_loop()
        way = self._target if self._way is None else self._way
        rest = memoryview(f"{text}\n".encode(self._encoding, "backslashreplace"))
        while rest:
            if self._waits:  # a file always has room
                await _ready(way, loop.add_writer, loop.remove_writer)
            with suppress(BlockingIOError):  # a terminal that has room has not always enough
                rest = rest[os.write(way, rest[:_CHUNK]) :]

    def close(self) -> None:
        """Let go of the terminal."""
        if self._way is not None:
            os.close(self._way)
            self._way = None


def standard_lines() -> AsyncIterator[str]:
    """Return the lines of standard input."""
    return read_lines(sys.stdin.fileno() if sys.stdin else None)


def standard_writer() -> LineWriter:
    """Return a writer to standard output, after what was printed there before."""
    if not sys.stdout:
        return LineWriter(None)
    sys.stdout.flush()
    return LineWriter(sys.stdout.fileno(), sys.stdout.encoding)


def _columns(target: int) -> int:
    """Return how wide the terminal is, 0 for anything that is none."""
    try:
        columns = os.get_terminal_size(target).columns
    except OSError:
        return 0
    return max(columns, _NARROWEST) if columns else 0


def fold(line: str, columns: int) -> Iterator[str]:
    """Yield `line` in parts that fit into `columns`, all but the first one indented."""
    if line.isascii() and len(line) <= columns:
        yield line
        return
    part: list[str] = []
    width = 0
    for letter in line:
        cells = 1 if unicodedata.east_asian_width(letter) in "NaNH" else 2
        if width + cells > columns:
            yield "".join(part)
            part, width = [_CONTINUED], len(_CONTINUED)
        part.append(letter)
        width += cells
    yield "".join(part)
