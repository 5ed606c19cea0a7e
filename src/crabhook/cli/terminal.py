"""What a command shows of a call, and questions on a terminal: a person's answer.

A question goes to the terminal itself and never to standard input, as getpass does without a
terminal: nobody typed piped text.
"""

import json
import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import Value
from crabhook.present.safe import safe
from crabhook.ui.console import columns_of, rows_on

WIDTH = 100  # characters of what a call was about
_TELLING = ("command", "file_path", "path", "url", "pattern", "query", "prompt")


def about(tool_input: Value) -> str:
    """Return what a call is about: the command, the file, or the beginning of its input."""
    if isinstance(tool_input, dict):
        for key in _TELLING:
            if key in tool_input:
                return str(tool_input[key])
    return json.dumps(tool_input, ensure_ascii=False)


def short(text: str, width: int = WIDTH) -> str:
    """Return a text on one line of no more than so many characters."""
    shown = safe(text)
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"


_TERMINAL = "/dev/tty"
_CTRL_C_WITHIN = 0.1  # seconds
_LARGEST = 4096  # bytes; a terminal's line has no more
PASSPHRASE_WITHIN = 300.0  # seconds in which a person types a secret
YES_WITHIN = 900.0  # seconds for a yes, which may take a telephone call


class UnseenError(CrabhookError):
    """Nobody can be asked, or nothing was answered."""


def ask(prompt: str, *, shown: bool = False, within: float = PASSPHRASE_WITHIN) -> str:
    """Return the line that a person types, which is not `shown` as a rule; raises UnseenError.

    What was typed before the question stood is dropped. So a command whose keys came too early
    would wait for ever: it ends `within` so many seconds, having sent nothing.
    """
    try:
        handle = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise UnseenError(
            f"there is no terminal to ask on ({error.strerror}): "
            "this is typed by a person, and read from nowhere else"
        ) from error
    try:
        with _line_by_line(handle, echo=shown):
            rest = _wrapped(prompt, columns_of(handle)).encode(errors="replace")
            while rest:
                rest = rest[os.write(handle, rest) :]
            until = monotonic() + within
            # gRPC's threads may get the signal of Ctrl-C: only an awake main thread notices.
            while not select.select([handle], [], [], _CTRL_C_WITHIN)[0]:
                if monotonic() > until:
                    raise UnseenError(
                        f"nobody typed an answer within {within:g} s, so nothing was done. "
                        "What was typed before the question is dropped"
                    )
            typed = os.read(handle, _LARGEST)
            if not shown:
                os.write(handle, b"\n")
    except (OSError, termios.error) as error:
        raise UnseenError(f"the terminal cannot be read: {error}") from error
    finally:
        os.close(handle)
    if not typed.rstrip(b"\r\n"):
        raise UnseenError("nothing was typed")
    try:
        return typed.rstrip(b"\r\n").decode()
    except UnicodeDecodeError:
        raise UnseenError("what was typed is not UTF-8") from None


def _wrapped(prompt: str, columns: int) -> str:
    rows = [row for line in prompt.split("\n") for row in rows_on(line.rstrip(" "), columns)]
    return "\n".join(rows) + prompt[len(prompt.rstrip(" ")) :]


def agrees(question: str) -> bool:
    """Whether a person answers yes; raises UnseenError."""
    return ask(f"{question} [y/N] ", shown=True, within=YES_WITHIN).strip().lower() in ("y", "yes")


@contextmanager
def _line_by_line(handle: int, *, echo: bool) -> Iterator[None]:
    """Make the terminal give whole lines, with `echo` or without; drop what was typed before."""
    before = termios.tcgetattr(handle)
    asking = [*before]
    asking[3] = before[3] & ~termios.ECHO | termios.ICANON | (termios.ECHO if echo else 0)
    termios.tcsetattr(handle, termios.TCSAFLUSH, asking)
    try:
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSAFLUSH, before)
