"""The terminal as prompt_toolkit writes to it, except that writing never blocks.

What the terminal does not take at once is kept and sent when it does; until
then nobody must draw anew (`busy`), so no more than one picture is ever kept.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from crabhook.ui.tty import reopened

LAST_WORDS = 1.0  # seconds a terminal has to take the last picture, before we leave without


class Glass:
    """Standard output as a text stream whose `buffer` it is itself, as prompt_toolkit wants it."""

    def __init__(self, standard: TextIO, descriptor: int) -> None:
        self._standard = standard
        self._descriptor = descriptor
        self._pending = bytearray()
        self._then: list[Callable[[], object]] = []
        self.encoding = "utf-8"
        self.buffer = self

    def __repr__(self) -> str:
        return f"<Glass pending={len(self._pending)}>"

    @classmethod
    def over(cls, standard: TextIO) -> "Glass | None":
        """Return a glass over a terminal; None where there is none, or no way to it."""
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
        """Let the terminal take what is left, if it does so soon."""
        try:
            async with asyncio.timeout(LAST_WORDS):
                while self.busy:  # noqa: ASYNC110 - a moment, at the end
                    await asyncio.sleep(0.01)
        except TimeoutError:
            pass
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
        with suppress(OSError):  # the terminal is gone; reading it says so to whoever has to know
            self._send()
        if not self.busy:
            asyncio.get_running_loop().remove_writer(self._descriptor)
            waiting, self._then = self._then, []
            for do in waiting:
                do()
