"""Asks on the terminal itself: for what nobody is to see, or for a person's yes.

Never on standard input, as getpass does where there is no terminal: what is
piped in was not typed by a person.
"""

import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from crabhook.model.errors import CrabhookError

_TERMINAL = "/dev/tty"
_CTRL_C_WITHIN = 0.1  # seconds
_LARGEST = 4096  # bytes; a terminal's line has no more


class UnseenError(CrabhookError):
    """Nobody can be asked, or nothing was answered."""


def ask(prompt: str, *, shown: bool = False) -> str:
    """Return the line that a person types, which is not `shown` as a rule; raises UnseenError."""
    try:
        handle = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise UnseenError(
            f"there is no terminal to ask on ({error.strerror}): "
            "this is typed by a person, and read from nowhere else"
        ) from error
    try:
        with _line_by_line(handle, echo=shown):
            rest = prompt.encode(errors="replace")
            while rest:
                rest = rest[os.write(handle, rest) :]
            while not select.select([handle], [], [], _CTRL_C_WITHIN)[0]:
                pass  # gRPC's threads may get the signal: only awake do we hear of it
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


@contextmanager
def _line_by_line(handle: int, *, echo: bool) -> Iterator[None]:
    """Have the terminal give whole lines, and `echo` them; what was typed before is thrown away."""
    before = termios.tcgetattr(handle)
    asking = [*before]
    asking[3] = before[3] & ~termios.ECHO | termios.ICANON | (termios.ECHO if echo else 0)
    termios.tcsetattr(handle, termios.TCSAFLUSH, asking)
    try:
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSAFLUSH, before)
