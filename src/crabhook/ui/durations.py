"""Lengths of time as an operator writes them: 90s, 5m, 2h, 1h30m; a rule's also in days."""

import re
from datetime import timedelta

from crabhook.ui.safe import safe
from crabhook.ui.words import LineError

FOR_EVER = "forever"
_LONGEST_LIFE = 3650  # days
_LIFE = re.compile(r"(?:([0-9]{1,6})d)?(?:([0-9]{1,6})h)?", re.IGNORECASE)
LONGEST = 100 * 3600  # seconds; what is to last longer is no matter of a sitting
_WRITTEN = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?", re.IGNORECASE)
_QUOTED = 40  # letters of what cannot be read that are repeated


def read_duration(text: str, usage: str) -> float:
    """Return the seconds that `text` says; `usage` is the line's, for the hint in a LineError."""
    found = _WRITTEN.fullmatch(text)
    if not found or not text:
        wrong = f'"{safe(text[:_QUOTED])}" is no length of time such as 90s, 5m, 2h or 1h30m'
        raise LineError(wrong, usage)
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    length = hours * 3600 + minutes * 60 + seconds
    if not 0 < length <= LONGEST:
        raise LineError(
            f"a length of time is more than nothing and at most {LONGEST // 3600}h", usage
        )
    return float(length)


def read_life(text: str, usage: str) -> timedelta | None:
    """Return how long a rule is to hold, None for ever; `usage` is as for `read_duration`."""
    if text.lower() == FOR_EVER:
        return None
    found = _LIFE.fullmatch(text)
    if not found or not text:
        wrong = f'"{safe(text[:_QUOTED])}" is no life of a rule such as 12h, 7d, 30d or {FOR_EVER}'
        raise LineError(wrong, usage)
    days, hours = (int(part or 0) for part in found.groups())
    life = timedelta(days=days, hours=hours)
    if not timedelta() < life <= timedelta(days=_LONGEST_LIFE):
        wrong = f"a rule holds for more than nothing and at most {_LONGEST_LIFE}d, or {FOR_EVER}"
        raise LineError(wrong, usage)
    return life
