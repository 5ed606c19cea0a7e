"""How each kind of text looks.  Colour only repeats what words and marks already say."""

from collections.abc import Mapping

from prompt_toolkit.styles import Style

# name: (look in colour, look without)
LOOKS: Mapping[str, tuple[str, str]] = {
    "title": ("bold", "bold"),
    "count": ("bold ansiyellow", "bold"),
    "rule": ("ansibrightblack", ""),
    "dim": ("ansibrightblack", ""),
    "mark": ("bold ansicyan", "bold"),
    "selected": ("bold", "bold"),
    "unarmed": ("ansibrightblack", "italic"),
    "ended": ("ansibrightblack strike", "strike"),
    "outcome": ("bold", "bold"),
    "held": ("bold ansiyellow", "bold reverse"),
    "time": ("", ""),
    "urgent": ("bold ansired", "bold"),
    "heading": ("bold", "bold"),
    "strong": ("bold", "bold"),
    "emphasis": ("italic", "italic"),
    "noted": ("ansiyellow", "bold"),
    "label": ("ansicyan", "underline"),
    "bar": ("ansibrightblack", ""),
    "name": ("ansiblue", ""),
    "keyword": ("ansimagenta", ""),
    "string": ("ansigreen", ""),
    "number": ("ansicyan", ""),
    "operator": ("ansiyellow", ""),
    "comment": ("ansibrightblack", ""),
    "add": ("ansigreen", ""),
    "remove": ("ansired", ""),
    "warning": ("bold ansired", "bold"),
    "current": ("bold ansicyan", "bold"),
    "answered": ("ansigreen", ""),
    "chosen": ("bold ansigreen", "bold"),
    "option": ("", ""),
    "key": ("bold ansicyan", "bold"),
    "notice": ("bold ansiyellow", "bold"),
    "prompt": ("bold", "bold"),
    "typed": ("", ""),
    "cursor": ("reverse", "reverse"),
}


_OURS = "crabhook-"  # keeps our names apart from those the terminal layer styles itself


def class_of(name: str) -> str:
    """Return the terminal layer's word for one of the styles; none for plain text."""
    return f"class:{_OURS}{name}" if name else ""


def style(*, colour: bool) -> Style:
    """Return the looks, for a terminal with colours or for one without."""
    return Style([(_OURS + name, looks[0 if colour else 1]) for name, looks in LOOKS.items()])
