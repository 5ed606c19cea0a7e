"""Printed lines of a command: safe, wrapped for a person, or JSON."""

import json
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from crabhook.present.safe import safe
from crabhook.ui.text.sentences import wrap_sentences

_RED, _PLAIN = "\x1b[1;31m", "\x1b[0m"


def takes_a_person() -> bool:
    """Whether a person sits at both ends: standard input and standard output are a terminal."""
    return all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))


def takes_a_screen() -> bool:
    """Whether the desk can be a full screen: both ends are a terminal, and it is not "dumb"."""
    return takes_a_person() and os.environ.get("TERM") != "dumb"


def say(*lines: str, warning: bool = False, stream: TextIO | None = None) -> None:
    """Print lines, which may have an agent's own words; on standard output as a rule.

    On a terminal each is wrapped as `rows_on` says; elsewhere nothing is wrapped.
    """
    stream = stream or sys.stdout
    columns = columns_of(stream) if stream.isatty() else 0
    is_red = warning and stream.isatty() and "NO_COLOR" not in os.environ
    for row in (row for line in lines for row in rows_on(safe(line), columns)):
        stream.write(f"{_RED}{row}{_PLAIN}\n" if is_red else f"{row}\n")


def columns_of(terminal: TextIO | int) -> int:
    """Return how broad a terminal is; 0 where nobody knows."""
    try:
        handle = terminal if isinstance(terminal, int) else terminal.fileno()
        return os.get_terminal_size(handle).columns
    except OSError:
        return 0


def rows_on(line: str, columns: int) -> Sequence[str]:
    """Return a line wrapped at words, on a terminal that is so broad; 0 columns wrap nothing.

    A command in backticks stays whole, so that a person can copy it. So does a line that begins
    with a blank: a command, or a row below another.
    """
    if not columns or not line or line.startswith(" "):
        return (line,)
    return (*wrap_sentences(line, columns),)


def say_below(line: str) -> None:
    """Print a row of a list below its head: on a terminal wrapped at words, and further in."""
    columns = columns_of(sys.stdout) if sys.stdout.isatty() else 0
    rows = wrap_sentences(safe(line), columns, first="    ", rest="      ") if columns else ()
    sys.stdout.writelines(f"{row}\n" for row in rows or (f"    {safe(line)}",))


def say_json(value: object) -> None:
    """Print a value as one line of JSON, in ASCII, so that no terminal is moved by it."""
    sys.stdout.write(f"{json.dumps(value, default=repr)}\n")
