"""Standard output of a command: safe lines, JSON, and whether a person sits there."""

import json
import os
import sys

from crabhook.ui.text.safe import safe

_RED, _PLAIN = "\x1b[1;31m", "\x1b[0m"


def takes_a_person() -> bool:
    """Whether a person sits at both ends: standard input and standard output are a terminal."""
    return all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))


def takes_a_screen() -> bool:
    """Whether the desk can be a full screen: both ends are a terminal, and not a dumb one."""
    return takes_a_person() and os.environ.get("TERM") != "dumb"


def say(line: str, *, warning: bool = False) -> None:
    """Print one line, which may have an agent's own words."""
    shown = safe(line)
    if warning and sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        shown = f"{_RED}{shown}{_PLAIN}"
    sys.stdout.write(f"{shown}\n")


def say_json(value: object) -> None:
    """Print a value as one line of JSON, in ASCII, so that no terminal is moved by it."""
    sys.stdout.write(f"{json.dumps(value, default=repr)}\n")
