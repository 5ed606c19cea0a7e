"""A person at a terminal of a command's own: reads what it prints there, types, sends signals."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The child makes the terminal its controlling one before it becomes the command.
AT_TERMINAL = (
    "import fcntl, os, sys, termios; terminal = int(sys.argv[1]); os.setsid(); "
    "fcntl.ioctl(terminal, termios.TIOCSCTTY, 0); os.close(terminal); "
    "os.execvp(sys.argv[2], sys.argv[2:])"
)


class Typist:
    """Starts a command whose /dev/tty is ours; its standard streams lead elsewhere.

    `shown` is everything the terminal has shown, what was typed and echoed included. It is `columns`
    broad, or does not say how broad.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        stdin: bytes = b"",
        columns: int = 0,
    ) -> None:
        self.shown = ""
        # We keep the inner side open too: a terminal nobody has open reads as one that was hung up.
        self._terminal, self._inner = pty.openpty()
        termios.tcsetwinsize(self._inner, (24, columns))
        self.process = subprocess.Popen(
            [sys.executable, "-c", AT_TERMINAL, str(self._inner), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            pass_fds=(self._inner,),
        )
        assert self.process.stdin is not None
        self.process.stdin.write(stdin)
        self.process.stdin.close()
        self.process.stdin = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        os.close(self._terminal)
        os.close(self._inner)

    def answer(self, prompt: str, typed: str, seconds: float = 60) -> None:
        """Wait until the terminal shows a prompt it has not shown before; type a line."""
        start, deadline = len(self.shown), time.monotonic() + seconds
        while prompt not in self.shown[start:]:
            assert time.monotonic() < deadline, f"{prompt!r} did not come: {self.shown!r}"
            if not self._look(0.05) and self.process.poll() is not None and not self._look(0):
                raise AssertionError(f"ended without {prompt!r}: {self.finish()}")
        self.type(typed.encode())

    def type(self, typed: bytes) -> None:
        """Type bytes as they stand."""
        os.write(self._terminal, typed)

    def finish(self, seconds: float = 60) -> tuple[int, str, str]:
        """Wait for the end; return the exit code, standard output and standard error."""
        stdout, stderr = self.process.communicate(timeout=seconds)
        while self._look(0):
            pass
        return self.process.returncode, stdout.decode(), stderr.decode()

    def _look(self, seconds: float) -> bool:
        """Read what is new on the terminal; whether anything was."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return False
        self.shown += os.read(self._terminal, 4096).decode()
        return True


def agree(
    command: Sequence[str], environment: Mapping[str, str], answer: str = "y\n"
) -> tuple[int, str, str]:
    """Run a command that asks for a yes at its terminal, and answer; return how it ended.

    That is its exit code, its standard output, and all that its terminal and its errors showed.
    """
    with Typist(command, environment) as person:
        person.answer("[y/N] ", answer)
        code, stdout, stderr = person.finish()
        return code, stdout, person.shown + stderr
