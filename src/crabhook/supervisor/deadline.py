"""One deadline for all that the supervisor waits for: its input, its lock, its reviewer."""

from collections.abc import Callable
from time import monotonic

from crabhook.supervisor.errors import OutOfTimeError


class Deadline:
    """So many seconds from now, on the monotonic clock."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def __repr__(self) -> str:
        return f"<Deadline in {self._end - self._clock():.1f} s>"

    def left(self) -> float:
        """Return the seconds that are left, more than 0; raise OutOfTimeError when none are."""
        left = self._end - self._clock()
        if left <= 0:
            raise OutOfTimeError
        return left
