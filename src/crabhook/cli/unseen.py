"""Asks on the terminal itself for what nobody is to see.

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


def ask(prompt: str) -> str:
    """Return the line that a person types, which is not shown; raises UnseenError."""
    try:
        handle = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise UnseenError(
            f"there is no terminal to ask on ({error.strerror}): "
            "a passphrase is typed by a person, and read from nowhere else"
        ) from error
    try:
        with _without_echo(handle):
            os.write(handle, prompt.encode())
            while not select.select([handle], [], [], _CTRL_C_WITHIN)[0]:
                pass  # gRPC's threads may get the signal: only awake do we hear of it
            typed = os.read(handle, _LARGEST)
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
def _without_echo(handle: int) -> Iterator[None]:
    """Keep the terminal from showing what is typed; what was typed before is thrown away."""
    before = termios.tcgetattr(handle)
    silent = [*before]
    silent[3] = before[3] & ~termios.ECHO | termios.ICANON
    termios.tcsetattr(handle, termios.TCSAFLUSH, silent)
    try:
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSAFLUSH, before)
