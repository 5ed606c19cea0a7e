"""An operator's terminal, made here: what a desk sends to it is read, keys are written into it."""

import os
import re
import select
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from bench.errors import BenchError
from bench.served import Home, end, serve_command, team_of_one
from crabhook.cli.team.asking import yours

ROWS, COLUMNS = 40, 200
QUIET = 0.06  # seconds without a word, after which a desk has drawn all there is
_PATIENCE = 120.0
_LONGEST_SIGN = 256  # bytes


class Glass:
    """The terminal's side of a pseudo-terminal with a desk in it.

    What the desk sends is searched for one pattern alone, its `sign`: `signs`
    counts how often it came since `forget`, and `last` is its group's text.
    """

    def __init__(self, master: int, sign: re.Pattern[bytes]) -> None:
        self.master = master
        self.signs = 0
        self.last = b""
        self._sign = sign
        self._rest = b""  # what came last and was no sign: the next one may begin in it

    def __repr__(self) -> str:
        return f"<Glass {self.signs} signs, {self.last!r} last, then {self._rest!r}>"

    def press(self, keys: bytes) -> None:
        """Write keys, as a keyboard does."""
        os.write(self.master, keys)

    def read(self) -> None:
        """Take in what the desk has said; to be called when there is something to read."""
        said = self._rest + os.read(self.master, 1 << 16)
        end = 0
        for found in self._sign.finditer(said):
            self.signs, self.last, end = self.signs + 1, found[1] or b"", found.end()
        self._rest = said[max(end, len(said) - _LONGEST_SIGN) :]

    def until(self, told: Callable[["Glass"], bool]) -> None:
        """Read on until a sign has come that satisfies; raises BenchError where it never does."""
        by = monotonic() + _PATIENCE
        while not told(self):
            if not self._receive(by - monotonic()):
                raise BenchError(f"a desk did not say what was due: {self!r}")

    def until_drawn(self) -> None:
        """Read the picture that follows from a key; raises BenchError where none comes."""
        if not self._receive(_PATIENCE):
            raise BenchError(f"a key changed nothing on the desk: {self!r}")
        self.until_quiet()

    def until_quiet(self) -> None:
        """Read on until the desk has nothing more to say for the moment."""
        by = monotonic() + _PATIENCE
        while self._receive(QUIET):
            if monotonic() > by:
                raise BenchError(f"a desk never stops talking: {self!r}")

    def forget(self) -> None:
        """Count signs anew."""
        self.signs = 0

    def _receive(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], max(seconds, 0.0))[0]:
            return False
        self.read()
        return True


@contextmanager
def desk_on_glass(home: Home, sign: re.Pattern[bytes], *options: str) -> Iterator[Glass]:
    """Run `crabhook serve` in a terminal of its own while the context lasts."""
    with _on_glass(home, sign, serve_command(*options)) as glass:
        yield glass


@contextmanager
def desk_elsewhere_on_glass(home: Home, sign: re.Pattern[bytes], *_: str) -> Iterator[Glass]:
    """Run a server, and the desk of a device of its team in a terminal, while the context lasts.

    The desk takes its options from the settings, as `crabhook desk` does.
    """
    settings = home.folder / "config" / "crabhook" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[desk]\narming_ms = 0\ntake_back_ms = 0\n", encoding="utf-8")
    with team_of_one(home) as passphrase:
        command = (sys.executable, "-c", _OWNS, serve_command()[0], "desk")
        with _on_glass(home, _ASKS, command) as asked:
            asked.until(lambda glass: glass.signs > 0)
            asked.press(passphrase.encode() + b"\n")
            yield Glass(asked.master, sign)


# The passphrase is asked for on the terminal that a process owns, not on its standard input.
_OWNS = (
    "import fcntl, os, sys, termios; "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
# The words come from the program: a prompt that was worded anew had the bench wait for ever.
_ASKS = re.compile(b"(" + re.escape(yours("|").partition("|")[0]).encode() + b")")


@contextmanager
def _on_glass(home: Home, sign: re.Pattern[bytes], command: Sequence[str]) -> Iterator[Glass]:
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (ROWS, COLUMNS))
    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        env=home.environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,  # else our own terminal's keys reach it too
    ) as server:
        os.close(slave)
        try:
            yield Glass(master, sign)
        finally:
            os.close(master)  # as a terminal does that is closed, so that nothing waits for it
            end(server)
