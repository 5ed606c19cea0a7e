"""Lines on the standard output: safe for a terminal, in red where they are a warning."""

import json
import os
import sys

from crabhook.model.jsontext import Value
from crabhook.ui.text.safe import safe

WIDTH = 100  # characters of what a call was about
_TELLING = ("command", "file_path", "path", "url", "pattern", "query", "prompt")
_RED, _PLAIN = "\x1b[1;31m", "\x1b[0m"


def say(line: str, *, warning: bool = False) -> None:
    """Print one line; what is in it may be an agent's own words."""
    shown = safe(line)
    if warning and sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        shown = f"{_RED}{shown}{_PLAIN}"
    sys.stdout.write(f"{shown}\n")


def say_json(value: object) -> None:
    """Print a value as one line of JSON, in ASCII, so that no terminal is moved by it."""
    sys.stdout.write(f"{json.dumps(value, default=repr)}\n")


def about(given: Value) -> str:
    """Return what a call is about: the command, the file, or whatever its input begins with."""
    if isinstance(given, dict):
        for key in _TELLING:
            if key in given:
                return str(given[key])
    return json.dumps(given, ensure_ascii=False)


def short(text: str, width: int = WIDTH) -> str:
    """Return a text on one line of no more than so many characters."""
    shown = safe(text)
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"
