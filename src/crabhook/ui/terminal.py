"""Standard input and output, without a thread and without blocking the loop.

A terminal that nobody reads (a halted tmux, a stopped ssh) blocks its writer, and every hook of the
same loop with it. Non-blocking mode on standard output would change it for our shell too; on a
descriptor of our own (`reopened`) it changes nothing else.
"""

import asyncio
import os
import select
import sys
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from stat import S_ISREG
from typing import TextIO

from crabhook.ui.commands.words import MAX_LINE

LAST_WORDS = 1.0  # seconds a terminal has to take the last picture, before we leave without
_CHUNK = 4096  # PIPE_BUF: a pipe that is ready takes this much without blocking
_NARROWEST = 20  # columns; a terminal that says less does not know
_CONTINUED = "    > "
_Watch = Callable[..., object]


def reopened(descriptor: int) -> int | None:
    """Return a non-blocking descriptor of the same terminal; None where there is none to be had."""
    try:
        return os.open(os.ttyname(descriptor), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:  # no terminal, or another user's
        return None


async def read_lines(source: int | None) -> AsyncIterator[str]:
    """Yield the lines of a file descriptor, without their ends, until the other side leaves.

    Bytes that are not UTF-8 become U+FFFD. Of a line past MAX_LINE enough stays for the parser to
    refuse it. A last line without an end counts, except on a terminal.
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
    """Return the line as text, at least as long as its bytes."""
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
    ready = asyncio.Event()
    try:
        watch(descriptor, ready.set)
    except PermissionError:  # a regular file or /dev/null
        await asyncio.sleep(0)
        return
    try:
        await ready.wait()
    finally:
        unwatch(descriptor)


class LineWriter:
    """Writes text and a line's end to a file descriptor at once.

    On a terminal, wide lines are folded here, indented: a fold by the terminal could put an agent's
    text where our own lines begin. `words`: fold between words if possible.
    """

    def __init__(self, target: int | None, encoding: str = "utf-8", *, words: bool = False) -> None:
        self._target, self._words = target, words
        self._encoding = encoding
        self._way = None if target is None else reopened(target)
        self._waits = target is not None and not S_ISREG(os.fstat(target).st_mode)
        self._folds = target is not None and os.isatty(target)

    async def __call__(self, text: str) -> None:
        """Write `text`; raises OSError when the reader is gone."""
        if self._target is None:
            raise BrokenPipeError("standard output is closed")
        with suppress(OSError):  # the terminal is gone; one that says 0 does not know
            if self._folds and (columns := os.get_terminal_size(self._target).columns):
                fitting = partial(fold, columns=max(columns, _NARROWEST), words=self._words)
                text = "\n".join(chain.from_iterable(map(fitting, text.split("\n"))))
        loop = asyncio.get_running_loop()
        way = self._target if self._way is None else self._way
        rest = memoryview(f"{text}\n".encode(self._encoding, "backslashreplace"))
        room = select.poll()  # where there is some, the text is written at once, in order
        room.register(way, select.POLLOUT)
        while rest:
            if self._waits and not room.poll(0):  # a file always has
                await _ready(way, loop.add_writer, loop.remove_writer)
            with suppress(BlockingIOError):  # a terminal that has room has not always enough
                rest = rest[os.write(way, rest[:_CHUNK]) :]
            if self._waits:  # others have their turn, however fast it is read
                await asyncio.sleep(0)

    def close(self) -> None:
        """Let go of the terminal."""
        if self._way is not None:
            os.close(self._way)
            self._way = None


def standard_lines() -> AsyncIterator[str]:
    """Return the lines of standard input."""
    return read_lines(sys.stdin.fileno() if sys.stdin else None)


def standard_writer(*, words: bool = False) -> LineWriter:
    """Return a writer to standard output, after what was printed there before."""
    if not sys.stdout:
        return LineWriter(None)
    sys.stdout.flush()
    return LineWriter(sys.stdout.fileno(), sys.stdout.encoding, words=words)


def fold(line: str, columns: int, *, words: bool = False) -> Iterator[str]:
    """Yield `line` in parts that fit `columns`, all but the first indented.

    `words`: a word that begins in the second half of a part is not cut.
    """
    if line.isascii() and len(line) <= columns:
        yield line
        return
    part: list[str] = []
    width = 0
    for letter in line:
        cells = _cells(letter)
        if width + cells > columns:
            at = _end_of_words(part, letter) if words else len(part)
            yield "".join(part[:at])
            part = [_CONTINUED, *part[at:]]
            width = len(_CONTINUED) + sum(map(_cells, part[1:]))
        part.append(letter)
        width += cells
    yield "".join(part)


def _end_of_words(part: Sequence[str], then: str) -> int:
    """Return how much of a part comes before a word that continues with `then`."""
    if then == " ":
        return len(part)
    blanks = (at for at in range(len(part), len(part) // 2, -1) if part[at - 1] == " ")
    return next(blanks, len(part))


def _cells(letter: str) -> int:
    return 1 if unicodedata.east_asian_width(letter) in "NaNH" else 2


class NonBlockingOutput:
    """Standard output as a text stream whose `buffer` it is itself, as prompt_toolkit wants it."""

    def __init__(self, standard: TextIO, descriptor: int) -> None:
        self._standard = standard
        self._descriptor = descriptor
        self._pending = bytearray()
        self._then: list[Callable[[], object]] = []
        self.encoding = "utf-8"
        self.buffer = self

    @classmethod
    def over(cls, standard: TextIO) -> "NonBlockingOutput | None":
        """Return a stream over a terminal; None where there is none, or no way to it."""
        descriptor = reopened(standard.fileno()) if standard.isatty() else None
        return None if descriptor is None else cls(standard, descriptor)

    @property
    def busy(self) -> bool:
        """Whether the terminal has not yet taken all that it was sent."""
        return bool(self._pending)

    def then(self, do: Callable[[], object]) -> None:
        """Do something once the terminal has taken everything: at once, if it has."""
        if not self.busy:
            do()
        elif do not in self._then:
            self._then.append(do)

    def fileno(self) -> int:
        """Return the terminal's own descriptor, to be asked for its size."""
        return self._standard.fileno()

    def isatty(self) -> bool:
        """Be a terminal."""
        return True

    def write(self, data: bytes) -> int:
        """Send what the terminal takes, and the rest later; raises OSError when it is gone."""
        busy = self.busy
        self._pending += data
        if not busy:
            self._send()
            if self.busy:
                asyncio.get_running_loop().add_writer(self._descriptor, self._go_on)
        return len(data)

    def flush(self) -> None:
        """Do nothing: what can be sent has been."""

    async def close(self) -> None:
        """Let the terminal take the rest, if it does so soon."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                while self.busy:  # noqa: ASYNC110 - a moment, at the end
                    await asyncio.sleep(0.01)
        asyncio.get_running_loop().remove_writer(self._descriptor)
        os.close(self._descriptor)

    def _send(self) -> None:
        try:
            while self._pending:
                del self._pending[: os.write(self._descriptor, self._pending)]
        except BlockingIOError:
            pass
        except OSError:
            self._pending.clear()
            raise

    def _go_on(self) -> None:
        with suppress(OSError):  # the terminal is gone: the application learns it by reading
            self._send()
        if not self.busy:
            asyncio.get_running_loop().remove_writer(self._descriptor)
            waiting, self._then = self._then, []
            for do in waiting:
                do()
