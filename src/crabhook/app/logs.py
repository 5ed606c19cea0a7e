"""The server's log: lines of text or of JSON, on standard error or in a file.

An agent's text may be part of any line. In text lines it is made safe for a terminal and never
begins a line; JSON is ASCII, one object a line. A thread writes, so that the server never waits for
a slow reader.
"""

import json
import logging
import os
import queue
import re
import select
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from crabhook.config import Settings, state_folder
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import safe, safe_lines
from crabhook.store.record import iso

BACKLOG = 10_000  # lines kept for a reader that does not read
LAST_LINES = 1.0  # seconds at the end for the reader to take the last lines
WITHIN, AT_ONCE = 0.05, 100  # seconds, and at most so many lines, that are written together


class LogWriter(logging.Handler):
    """Writes lines to a file descriptor, or nowhere for None, and leaves it open."""

    def __init__(self, target: int | None) -> None:
        super().__init__()
        self._target = target
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lost = 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the line for the thread; count it as lost where the queue is full."""
        self._report_lost()
        if self._lines.qsize() < BACKLOG:
            with suppress(Exception):  # a faulty line: its caller goes on
                self._lines.put(self.format(record))
                return
        self._lost += 1

    def close(self) -> None:
        """Give the thread LAST_LINES to write the rest, and end it."""
        self._report_lost()
        self._closing.set()
        self._lines.put(None)
        self._thread.join(LAST_LINES)
        super().close()

    def _report_lost(self) -> None:
        if not self._lost or self._lines.qsize() >= BACKLOG // 2:
            return
        message, self._lost = f"{self._lost} lines of the log were lost here", 0
        about = {
            "name": __name__,
            "levelno": logging.WARNING,
            "levelname": "WARNING",
            "msg": message,
        }
        self._lines.put(self.format(logging.makeLogRecord(about)))

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            # To be woken for each line would cost the server more than the line.
            self._closing.wait(WITHIN)
            lines: list[str | None] = [line]
            while lines[-1] is not None and len(lines) < AT_ONCE and self._lines.qsize():
                lines.append(self._lines.get())
            if self._target is not None:
                text = "".join(f"{line}\n" for line in lines if line is not None)
                with suppress(OSError):  # nobody reads it
                    _write(self._target, text.encode("utf-8", "backslashreplace"))
            if lines[-1] is None:
                break


def _write(target: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:  # another process made the shared file non-blocking
            select.select([], [target], [])


_LOG = logging.getLogger(__name__)

FAILED, CANNOT_BEGIN = 1, 2
"""Exit codes: a fault of ours, and a server that cannot begin."""

_CONTINUED = "    | "
_JSON = json.JSONEncoder(default=str)
_SIMPLE = re.compile(r"[A-Za-z0-9_.:/@%+,-]+")


def fields(**about: object) -> dict[str, object]:
    """Return a line's fields as a logger's `extra`, without empty fields."""
    return {"fields": {name: value for name, value in about.items() if value not in ("", None)}}


def _when(record: logging.LogRecord) -> str:
    return f"{iso(record.created)[:-4]}Z"  # milliseconds


def _fields_of(record: logging.LogRecord) -> Mapping[str, object]:
    beside = getattr(record, "fields", {})
    return beside if isinstance(beside, Mapping) else {}


class TextLines(logging.Formatter):
    """`TIME LEVEL WORDS name=value …`; continued lines are marked."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of text, with its traceback in marked lines below."""
        beside = [f"{name}={_value(value)}" for name, value in _fields_of(record).items()]
        words = " ".join([safe(record.getMessage()), *beside])
        line = f"{_when(record)} {record.levelname.lower()} {words}"
        trace = safe_lines(self.formatException(record.exc_info)) if record.exc_info else ()
        below = [f"{_CONTINUED}{text}" for text in trace]
        return "\n".join([line, *below])


def _value(value: object) -> str:
    text = str(value)
    if _SIMPLE.fullmatch(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{safe(quoted)}"'


class JsonLines(logging.Formatter):
    """Each line is a JSON object: time, level, logger, text, and further fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of JSON."""
        line: dict[str, object] = {
            "time": _when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "what": record.getMessage(),
            **_fields_of(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return _JSON.encode(line)


@contextmanager
def logging_to(file: Path | None, *, form: str, level: str) -> Iterator[None]:
    """Write the log to a file, or to standard error, while the context lasts.

    A slow reader loses lines, and the log says how many. The error that ends the server is logged
    too, where no person reads it on a terminal.
    """
    with ExitStack() as opened:
        target = opened.enter_context(file.open("ab", buffering=0)) if file else sys.stderr
        writer = LogWriter(target.fileno() if target else None)
        opened.callback(writer.close)
        writer.setFormatter(JsonLines() if form == "json" else TextLines())
        root = logging.getLogger()
        root.addHandler(writer)
        opened.callback(root.removeHandler, writer)
        root.setLevel(level.upper())
        logging.captureWarnings(capture=True)
        try:
            yield
        except CrabhookError as error:
            if file or form == "text":
                raise  # the command prints it for a person
            _LOG.critical("%s", error)
            raise SystemExit(CANNOT_BEGIN) from None
        except Exception:
            _LOG.critical("the server has failed", exc_info=True)
            if file:
                raise
            raise SystemExit(FAILED) from None


def has_no_desk(settings: Settings) -> bool:
    """Whether the server opens no screen on its own terminal."""
    return settings.headless or settings.no_desk


def log_file(settings: Settings) -> Path | None:
    """Return the log's file beside a full screen, else None: lines would tear the screen."""
    if settings.plain or has_no_desk(settings):
        return None
    folder = state_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "serve.log"
    file.touch(mode=0o600)
    return file
