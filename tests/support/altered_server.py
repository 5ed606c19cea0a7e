"""The true `crabhook serve` as its own process, its wall clock moved and its patience shortened.

Run as `python altered_server.py CLOCK PATIENCE serve …`. CLOCK is a file with the seconds by which
the wall clock is ahead (negative: set back), read whenever somebody asks for the time, so a test
moves the clock of a server that runs. PATIENCE is how many seconds a restarted server waits for the
hooks of the one before; "" leaves it as it is.

No test may set the machine's clock, a time namespace moves only the clocks that nobody can set, and
libfaketime is not everywhere. `time.time` is the only wall clock the server reads, so it is
replaced before the first module of the server asks for it; all else is the code as it is shipped.
A copy of `warm_program` was imported under such a clock, and moves it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


class MovableClock:
    """The machine's wall clock, and the seconds by which it is ahead."""

    def __init__(self) -> None:
        self._true = time.time
        self.ahead: Callable[[], float] = lambda: 0.0

    def __call__(self) -> float:
        return self._true() + self.ahead()


def make_movable() -> None:
    """Give every module that is imported from now on a clock that `alter` can move."""
    time.time = MovableClock()


def alter(clock: Path, patience: str) -> None:
    """Move the clock and shorten the patience."""
    if not isinstance(time.time, MovableClock):
        make_movable()  # no module of the server is imported yet
    assert isinstance(time.time, MovableClock)
    time.time.ahead = lambda: float(clock.read_text("ascii"))
    if patience:
        from crabhook.broker import restoring

        before = restoring.COME_BACK_WITHIN
        for module in tuple(sys.modules.values()):
            if vars(module).get("COME_BACK_WITHIN") == before:
                module.COME_BACK_WITHIN = float(patience)  # type: ignore[attr-defined]


def main() -> NoReturn:
    """Serve under the clock and with the patience that the command line names."""
    alter(Path(sys.argv[1]), sys.argv[2])
    from crabhook.__main__ import main as crabhook

    sys.argv = ["crabhook", *sys.argv[3:]]
    sys.exit(crabhook())


if __name__ == "__main__":
    main()
