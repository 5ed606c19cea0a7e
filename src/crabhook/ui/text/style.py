"""How each kind of text looks, and whether the terminal's background is light.

Colour only repeats what words and marks say. The environment or the terminal tells the background:
the question (OSC 11) is sent once, when the desk opens. The answer may come among the keys at any
time; it is taken out, so that no letter of it counts as a key.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.styles import Style

from crabhook.data_files import tables

LOOKS: Mapping[str, tuple[str, str]] = tables(__file__, "style")["looks"]
THEMES: Mapping[str, Mapping[str, str]] = tables(__file__, "style")["themes"]
_OURS = "crabhook-"  # keeps our names apart from those the terminal layer styles itself
GROUND = "ground"  # the style of the whole screen


class Theme(StrEnum):
    """The operator's choice of colours; AUTO follows the terminal's background."""

    AUTO = "auto"
    DARK = "dark"
    LIGHT = "light"
    HIGH_CONTRAST = "high-contrast"
    MONO = "mono"  # the only one that needs no colours


def class_of(name: str) -> str:
    """Return the terminal layer's words for styles; the last counts most."""
    return " ".join(f"class:{_OURS}{each}" for each in name.split())


def style(theme: Theme) -> Style:
    """Return the looks of a theme; AUTO is DARK until the terminal has told its background."""
    colours = {} if theme is Theme.MONO else THEMES["dark" if theme is Theme.AUTO else theme.value]
    rules: list[tuple[str, str]] = []
    for name, (coloured, plain) in LOOKS.items():
        look = " ".join(colours.get(word, word) for word in coloured.split())
        rules.append((_OURS + name, look if colours else plain))
    return Style([*rules, (_OURS + GROUND, colours.get("ground", ""))])


QUESTION = "\x1b]11;?\x1b\\"
_ANSWER = re.compile(
    r"\x1b\]11;rgba?:([0-9a-f]{1,4})/([0-9a-f]{1,4})/([0-9a-f]{1,4})[^\x07\x1b]{0,8}(?:\x07|\x1b\\)",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    r"\x1b\](?:1(?:1(?:;(?:r(?:g(?:b(?:a?:[0-9a-f/]{0,24}\x1b?|a)?)?)?)?)?)?)?\Z", re.IGNORECASE
)
_WEIGHTS = (0.299, 0.587, 0.114)  # how bright red, green and blue look (ITU-R BT.601)
_SILENT = ("dumb", "linux", "screen")  # the beginnings of terminals' names that print the question
_LIGHT = range(7, 16)  # the palette's light colours, but for 8, which is dark grey


def known_light(environment: Mapping[str, str]) -> bool | None:
    """Return whether COLORFGBG names a light background; None if absent or unclear."""
    _, _, ground = environment.get("COLORFGBG", "").rpartition(";")
    if not ground.isdecimal() or int(ground) > max(_LIGHT):
        return None
    return int(ground) in _LIGHT and ground != "8"


def theme_in(environment: Mapping[str, str], chosen: Theme) -> Theme:
    """Return the operator's theme, or what the environment says: no colours, or a background."""
    if "NO_COLOR" in environment:
        return Theme.MONO
    light = known_light(environment) if chosen is Theme.AUTO else None
    return {True: Theme.LIGHT, False: Theme.DARK, None: chosen}[light]


def draws_letters(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether the locale can write more than ASCII; Python writes UTF-8 in the locale C as well."""
    plain = environment.get("LC_ALL") in ("C", "POSIX")
    return not plain and stream.encoding.lower().replace("-", "") == "utf8"


def may_be_asked(environment: Mapping[str, str]) -> bool:
    """Whether the terminal surely does not print an unknown question."""
    term = environment.get("TERM", "")
    return bool(term) and not term.startswith(_SILENT)


class BackgroundAnswers:
    """Takes a terminal's answers out of what it sends; `on_light` hears whether it is light."""

    def __init__(self, on_light: Callable[[bool], object]) -> None:
        self._on_light, self._held = on_light, ""

    def take(self, text: str) -> str:
        """Return what the operator typed; the beginning of an answer is held for its end."""
        text, self._held = self._held + text, ""
        for parts in _ANSWER.findall(text):
            levels = [int(part, 16) / (16 ** len(part) - 1) for part in parts]
            bright = sum(weight * level for weight, level in zip(_WEIGHTS, levels, strict=True))
            self._on_light(bright > 1 / 2)
        typed = _ANSWER.sub("", text)
        if begun := _BEGUN.search(typed):
            self._held = begun[0]
        return typed[: len(typed) - len(self._held)]


class _Reader(PosixStdinReader):
    def __init__(self, stdin: TextIO, on_light: Callable[[bool], object]) -> None:
        super().__init__(stdin.fileno(), encoding=stdin.encoding)
        self._answers = BackgroundAnswers(on_light)

    def read(self, count: int = 1024) -> str:
        return self._answers.take(super().read(count))


class AskedInput(Vt100Input):
    """The keys of a terminal that was asked for its background."""

    def __init__(self, stdin: TextIO, on_light: Callable[[bool], object]) -> None:
        super().__init__(stdin)
        self.stdin_reader = _Reader(stdin, on_light)
