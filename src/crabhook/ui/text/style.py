"""How each kind of text looks.  Colour only repeats what words and marks already say."""

from collections.abc import Mapping
from enum import StrEnum

from prompt_toolkit.styles import Style

from crabhook.tables import tables

LOOKS: Mapping[str, tuple[str, str]] = tables(__file__, "style")["looks"]
THEMES: Mapping[str, Mapping[str, str]] = tables(__file__, "style")["themes"]
_OURS = "crabhook-"  # keeps our names apart from those the terminal layer styles itself


GROUND = "ground"  # the style of the whole screen


class Theme(StrEnum):
    """The sets of looks an operator can choose; AUTO goes by the terminal's background."""

    AUTO = "auto"
    DARK = "dark"
    LIGHT = "light"
    HIGH_CONTRAST = "high-contrast"
    MONO = "mono"

    @property
    def coloured(self) -> bool:
        """Whether a terminal that shows it needs colours."""
        return self is not Theme.MONO


def class_of(name: str) -> str:
    """Return the terminal layer's word for one of the styles; none for plain text."""
    return f"class:{_OURS}{name}" if name else ""


def style(theme: Theme) -> Style:
    """Return the looks of a theme; AUTO is DARK until the terminal has told its background."""
    rules = [(_OURS + name, _look(name, theme)) for name in LOOKS]
    return Style([*rules, (_OURS + GROUND, _colours(theme).get("ground", ""))])


def _colours(theme: Theme) -> Mapping[str, str]:
    return {} if theme is Theme.MONO else THEMES["dark" if theme is Theme.AUTO else theme.value]


def _look(name: str, theme: Theme) -> str:
    coloured, plain = LOOKS[name]
    colours = _colours(theme)
    return " ".join(colours.get(word, word) for word in coloured.split()) if colours else plain
