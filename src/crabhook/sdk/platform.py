"""The agents whose hooks can be written with this library."""

from enum import StrEnum


class Platform(StrEnum):
    """A dialect of hook protocol, by the name that crabhook's own hook calls it."""

    CLAUDE = "claude"
    GEMINI = "gemini"
    CODEX = "codex"
