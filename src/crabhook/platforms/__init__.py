"""Floor 1: the agents' dialects, bytes to model and model to bytes; no I/O.

`interface.py` says what a dialect must offer; each sibling is one and knows
none of the others.
"""

from collections.abc import Mapping

from crabhook.platforms.claude import Claude
from crabhook.platforms.codex import Codex
from crabhook.platforms.gemini import Gemini
from crabhook.platforms.interface import Platform

PLATFORMS: Mapping[str, Platform] = {
    platform.name: platform for platform in (Claude(), Gemini(), Codex())
}
