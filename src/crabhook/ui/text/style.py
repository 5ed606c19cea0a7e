"""How each kind of text looks.  Colour only repeats what words and marks already say."""

from collections.abc import Mapping

from prompt_toolkit.styles import Style

from crabhook.tables import tables

LOOKS: Mapping[str, tuple[str, str]] = tables(__file__, "style")["looks"]
_OURS = "crabhook-"  # keeps our names apart from those the terminal layer styles itself


def class_of(name: str) -> str:
    """Return the terminal layer's word for one of the styles; none for plain text."""
    return f"class:{_OURS}{name}" if name else ""


def style(*, colour: bool) -> Style:
    """Return the looks, for a terminal with colours or for one without."""
    return Style([(_OURS + name, looks[0 if colour else 1]) for name, looks in LOOKS.items()])
