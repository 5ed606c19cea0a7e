"""A log handler whose reader may be slow, stuck or gone: a thread writes, nobody waits for it."""

import logging
import os
import queue
import select
import threading
from contextlib import suppress

BACKLOG = 10_000  # lines kept for a reader who has stopped reading
LAST_LINES = 1.0  # seconds that whoever reads has for them at the end


class LogWriter(logging.Handler):
    """Writes lines to a file descriptor; None for nowhere.  It leaves the descriptor open."""

    def __init__(self, target: int | None) -> None:
        super().__init__()
        self._target = target
        self._lines: queue.Queue[str | None] = queue.Queue(BACKLOG)
        self._lost = 0
        self._thread = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Have the record written; when too many wait already, only count it."""
        if self._lost and self._room():
            self._say_what_is_lost()
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._lost += 1
        except Exception:  # noqa: BLE001 - a line that cannot be made must not become a fault of its caller's
            self._lost += 1

    def close(self) -> None:
        """Write what there is, as far as somebody reads it, and no more after that."""
        if self._lost and self._room():
            self._say_what_is_lost()
        with suppress(queue.Full):
            self._lines.put(None, timeout=LAST_LINES)
            self._thread.join(LAST_LINES)
        super().close()

    def _room(self) -> bool:
        return self._lines.qsize() < BACKLOG // 2

    def _say_what_is_lost(self) -> None:
        said, self._lost = f"{self._lost} lines of the log were lost here", 0
        about = {"name": __name__, "levelno": logging.WARNING, "levelname": "WARNING", "msg": said}
        with suppress(queue.Full):
            self._lines.put_nowait(self.format(logging.makeLogRecord(about)))

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            if self._target is not None:
                with suppress(OSError):  # nobody reads it
                    _write(self._target, f"{line}\n".encode("utf-8", "backslashreplace"))


def _write(target: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:  # whoever shares it with us has made it so
            select.select([], [target], [])
