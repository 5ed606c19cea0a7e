"""The server's log: lines of text or of JSON, on standard error or in a file.

What an agent sent may be part of any line.  In text it is made safe for a
terminal and never begins a line; JSON is ASCII, one object a line.
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from crabhook.cli.logwriter import LogWriter
from crabhook.model.errors import CrabhookError
from crabhook.ui.text.safe import safe, safe_lines

_LOG = logging.getLogger(__name__)

LEVELS = {name.lower(): getattr(logging, name) for name in ("DEBUG", "INFO", "WARNING", "ERROR")}
FAILED, CANNOT_BEGIN = 1, 2
"""Exit codes: a fault of ours, and what was asked for cannot be done."""

_CONTINUED = "    | "
_SIMPLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@%+,-"


def told(**about: object) -> dict[str, object]:
    """Return what a line says beside its words, as a logger's `extra`, without what is empty."""
    return {"told": {name: value for name, value in about.items() if value not in ("", None)}}


class _Lines(logging.Formatter):
    """What both forms need: the time, what is told beside, and the traceback."""

    def when(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"

    def told(self, record: logging.LogRecord) -> Mapping[str, object]:
        beside = getattr(record, "told", {})
        return beside if isinstance(beside, Mapping) else {}

    def trace(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info else ""


class TextLines(_Lines):
    """`TIME LEVEL WORDS name=value …`; lines that go on are marked."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of text, and its traceback as marked lines below."""
        beside = [f"{name}={_value(value)}" for name, value in self.told(record).items()]
        words = " ".join([safe(record.getMessage()), *beside])
        line = f"{self.when(record)} {record.levelname.lower()} {words}"
        trace = self.trace(record)
        below = [f"{_CONTINUED}{text}" for text in safe_lines(trace)] if trace else []
        return "\n".join([line, *below])


def _value(value: object) -> str:
    text = str(value)
    if text and all(letter in _SIMPLE for letter in text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{safe(quoted)}"'


class JsonLines(_Lines):
    """One object a line: time, level, logger, what, and what is told beside."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of JSON."""
        line: dict[str, object] = {
            "time": self.when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "what": record.getMessage(),
            **self.told(record),
        }
        if trace := self.trace(record):
            line["trace"] = trace
        return json.dumps(line, default=str)


@contextmanager
def logging_to(file: Path | None, *, form: str, level: str) -> Iterator[None]:
    """Write the log to a file, or to standard error, while the context lasts.

    Whoever does not read it loses lines, which is then said; agents never wait
    for it.  What ends the server is logged with the rest, where no person
    reads it on the terminal.
    """
    with ExitStack() as opened:
        target = opened.enter_context(file.open("ab", buffering=0)) if file else sys.stderr
        writer = LogWriter(target.fileno() if target else None)
        opened.callback(writer.close)
        writer.setFormatter(JsonLines() if form == "json" else TextLines())
        root = logging.getLogger()
        root.addHandler(writer)
        opened.callback(root.removeHandler, writer)
        root.setLevel(LEVELS[level])
        logging.captureWarnings(capture=True)
        try:
            yield
        except CrabhookError as error:
            if file or form == "text":
                raise  # a person reads it
            _LOG.critical("%s", error)
            raise SystemExit(CANNOT_BEGIN) from None
        except Exception:
            _LOG.critical("the server has failed", exc_info=True)
            if file:
                raise
            raise SystemExit(FAILED) from None
