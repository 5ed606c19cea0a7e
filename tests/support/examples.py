"""How many examples a property is tried on: all of them at night, a quarter or fewer by day.

By day they are the same each time, so that a change is judged by what it changes. A night draws
others. `--hypothesis-profile=night` chooses that, and `.ci/night` does.
"""

import random
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

Row = TypeVar("Row")

NIGHT = "night"
DAY = "day"
# A machine that does other things as well is no fault of an example's: no deadline.
settings.register_profile(NIGHT, deadline=None)
settings.register_profile(DAY, deadline=None, max_examples=25, derandomize=True)
_SHARE = 4
_FEWEST = 5


def examples(number: int, of: int = _SHARE, **more: Any) -> settings:
    """Try a property on `number` examples at night, and on a share of them by day."""
    return settings(max_examples=number if at_night() else max(_FEWEST, number // of), **more)


def part(size: int) -> int:
    """Return the size of a search at night, and a share of it by day."""
    return size if at_night() else size // _SHARE


def drawn(rows: Sequence[Row], number: int) -> Sequence[Row]:
    """Draw so many of the rows: other ones each night, and the same by day."""
    # At night by the seed that pytest prints, so that a find can be drawn again.
    sample = random.sample if at_night() else random.Random(0).sample
    return sample(rows, number)


def share(rows: Sequence[Row], turn: int, of: int = _SHARE) -> Sequence[Row]:
    """Return all rows at night and a share by day, another each turn: for a table times a table."""
    return rows if at_night() else rows[turn % of :: of]


def at_night() -> bool:
    """Whether all is tried that can be."""
    return settings.get_current_profile_name() == NIGHT
