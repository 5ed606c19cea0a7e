"""Lengths of time, moments and parts of a line, in words for people."""

import time

from crabhook.datatypes import frozen


@frozen
class Clock:
    """One moment on two clocks: the desk's (`now`) and the wall's (`wall`, since 1970)."""

    now: float
    wall: float

    def of_day(self, at: float) -> str:
        """Return the time of day at which it was `at` on the desk's clock."""
        return time.strftime("%H:%M:%S", time.localtime(self.wall - (self.now - at)))


WENT_ON = "the agent went on"
"""How a card stands whose agent does not wait any more."""


def joined(*parts: str, by: str = " · ") -> str:
    """Return those of the parts that say something as one text."""
    return by.join(filter(None, parts))


def lasting(seconds: float) -> str:
    """Return a length of time: 0:07, 12:30, 3:05:00; days when there are many hours."""
    hours = int(seconds) // 3600
    return countdown(seconds) if hours < 100 else f"{hours // 24}d"


def ago(seconds: float) -> str:
    """Return how long something has lasted: 12 s, then as `lasting` tells it."""
    return f"{max(int(seconds), 0)} s" if seconds < 60 else lasting(seconds)


def countdown(seconds: float) -> str:
    """Return a length of time as minutes and seconds, or hours, minutes and seconds."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def bar(part: float, length: int) -> str:
    """Return a bar filled to `part`, from 0 to 1; a little of something is never shown as none."""
    full = min(max(round(part * length), 1 if part > 0 else 0), length)
    return "▓" * full + "░" * (length - full)
