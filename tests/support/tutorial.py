"""What the pages of the tutorial show, as a pattern of what is to be seen on a terminal."""

from __future__ import annotations

import re


def like(shown: str) -> str:
    """Return the pattern of a shown line: `…` is anything, and how wide a gap is does not count."""
    return ".*".join(r"\s+".join(map(re.escape, part.split())) for part in shown.split("…"))


KEYS = {"↓": "Down", "Ctrl-C": "C-c"}
"""The pages' names of keys, and tmux's."""
