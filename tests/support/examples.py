"""How many examples a property is tried on: all of them in CI, a quarter while somebody works.

`--hypothesis-profile=ci` chooses all, and `.ci/run` does.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

Row = TypeVar("Row")

CI = "ci"
DEV = "dev"
# A machine that does other things as well is no fault of an example's: no deadline.
settings.register_profile(CI, deadline=None)
settings.register_profile(DEV, deadline=None, max_examples=25)
_SHARE = 4
_FEWEST = 5


def examples(number: int, **more: Any) -> settings:
    """Try a property on `number` examples in CI, and on a share of them otherwise."""
    return settings(max_examples=number if _in_ci() else max(_FEWEST, number // _SHARE), **more)


def share(rows: Sequence[Row], turn: int) -> Sequence[Row]:
    """Return all rows in CI and a share otherwise, another each turn: for a table times a table."""
    return rows if _in_ci() else rows[turn % _SHARE :: _SHARE]


def _in_ci() -> bool:
    return settings.get_current_profile_name() == CI
