"""How large the bench is: the sizes of the published tables, or the smallest that still run."""

import os
from typing import TypeVar

_T = TypeVar("_T")
SMALLEST = os.environ.get("CRABHOOK_BENCH") == "smallest"
"""Whether each section is to run once in its smallest size: that it runs is what is proven."""


def sized(full: _T, smallest: _T) -> _T:
    """Return a section's size: of the tables in performance.md, or of the proof that it runs."""
    return smallest if SMALLEST else full
