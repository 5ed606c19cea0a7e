"""Agents' text made safe for a terminal: what could act, hide or reorder becomes a visible mark.

A mark is the code point between angle brackets, such as ⟨U+202E⟩, or a control picture, such as ␛.
Nothing is dropped, so two different texts never look the same because of what was taken out.
"""

import unicodedata
from functools import lru_cache

TAB = "    "
EXCERPT = 40  # letters
MAX_MARKS_ON_A_LETTER = 2  # combining marks past these only serve to cover the lines around

# Invisible though Unicode calls them letters, marks or symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_VARIATION = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))
# What stands on the letter before it: marks, whatever their class, and the parts of a Korean one.
_STACKED_CATEGORIES = frozenset({"Mn", "Me"})
_JOINING = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def safe(text: str) -> str:
    """Return `text` on one line, every character of it visible or a plain space."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    stacked = 0
    for letter in text:
        stacked = stacked + 1 if _stacks(letter) else 0
        shown.append(_code(letter) if stacked > MAX_MARKS_ON_A_LETTER else _mark(letter))
    return "".join(shown)


def safe_lines(text: str) -> list[str]:
    """Return `text` line by line, split at newlines alone, every line safe; tabs become spaces."""
    lines = text.replace("\r\n", "\n").replace("\t", TAB).split("\n")
    return [safe(line) for line in lines]


def excerpt(text: str) -> str:
    """Return the start of a text that cannot be read, safe, to be repeated in a complaint."""
    return safe(text[:EXCERPT])


def hidden(text: str) -> int:
    """Return how many characters of `text` a terminal would not have shown as themselves."""
    if text.isascii() and text.isprintable():
        return 0
    return sum(letter not in "\n\t" and _mark(letter) != letter for letter in text)


@lru_cache(maxsize=4096)
def _stacks(letter: str) -> bool:
    code = ord(letter)
    joins = any(code in span for span in _JOINING)
    return joins or unicodedata.category(letter) in _STACKED_CATEGORIES


@lru_cache(maxsize=4096)
def _mark(letter: str) -> str:
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if letter == " ":
        return letter
    unseen = letter in _BLANK or any(code in span for span in _VARIATION)
    return _code(letter) if unseen or unicodedata.category(letter) in _HIDDEN_CATEGORIES else letter


def _code(letter: str) -> str:
    return f"⟨U+{ord(letter):04X}⟩"
