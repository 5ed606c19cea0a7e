"""How a server is told to end by signals, and what becomes of what waits then.

The first one ends it in good order.  A second SIGTERM or SIGINT ends it as
the system does, at once.
"""

import asyncio
import signal
from collections.abc import Callable

HAND_OVER = signal.SIGUSR1
"""Make room for the next server: what waits is left to it, and its hooks come back there."""

_IN_GOOD_ORDER = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, HAND_OVER)
_AT_ONCE = (signal.SIGTERM, signal.SIGINT)


class Leaving:
    """The end of a server, as signals bring it about; `hands_over` says how."""

    def __init__(self) -> None:
        self.hands_over = False

    def __repr__(self) -> str:
        return f"<Leaving hands_over={self.hands_over}>"

    def hear(self, end: Callable[[], object]) -> None:
        """Call `end` at the first signal."""
        loop = asyncio.get_running_loop()
        for number in _IN_GOOD_ORDER:
            loop.add_signal_handler(number, self._heard, number, end)

    def begin(self) -> None:
        """Note that the end has begun, by whatever: the next signal is no longer waited for."""
        loop = asyncio.get_running_loop()
        for number in _AT_ONCE:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    def _heard(self, number: signal.Signals, end: Callable[[], object]) -> None:
        self.hands_over = number == HAND_OVER
        self.begin()
        end()
