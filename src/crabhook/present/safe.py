"""Agents' text made safe for a terminal: what could act, hide or reorder becomes a visible mark.

A mark is the code point in angle brackets, such as ⟨U+202E⟩, or a control picture, such as ␛.
Nothing is dropped, so different texts never look the same. A long run of blanks becomes a mark with
its length, so that blanks push nothing out of view.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeAlias

Speller: TypeAlias = Callable[[str], str]
"""What makes an agent's text fit for a terminal, as `safe` does."""

TAB = "    "
EXCERPT = 40  # letters
MAX_MARKS_ON_A_LETTER = 2  # combining marks past these only serve to cover the lines around
EMPTY_SHOWN = 3  # empty lines on end; of more there is only how many
BLANKS_SHOWN = 80  # cells of blanks on end; of more there is only how many
_EMPTY = re.compile(rf"^(?:[ \t]*\n){{{EMPTY_SHOWN + 1},}}", re.MULTILINE)
_BLANKS = re.compile(rf"[ \t]{{{BLANKS_SHOWN // len(TAB)},}}")
_IN_JSON = re.compile(rf"(?: |\\[nrt]){{{BLANKS_SHOWN},}}")
FOLD = re.compile("([⟨<][0-9]+ (?:empty lines|blanks|tabs|blanks and tabs)[⟩>])")

# Invisible though Unicode calls them letters, marks or symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_VARIATION = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))
# Combines with the letter before: marks of any class, and parts of a Korean letter.
_STACKED_CATEGORIES = frozenset({"Mn", "Me"})
_JOINING = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def safe(text: str) -> str:
    """Return `text` on one line, every character of it visible or a plain space."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(spelled(text))


def spelled(text: str) -> Iterator[str]:
    """Yield what is shown of each letter of a text: the letter itself, or a mark in its place."""
    stacked = 0
    for letter in text:
        stacked = stacked + 1 if _stacks(letter) else 0
        yield _code(letter) if stacked > MAX_MARKS_ON_A_LETTER else _mark(letter)


def safe_lines(text: str) -> list[str]:
    """Return `text` line by line, split at newlines alone, every line safe; tabs become spaces."""
    lines = text.replace("\r\n", "\n").replace("\t", TAB).split("\n")
    return [safe(line) for line in lines]


def folded(text: str) -> str:
    """Return a text with a mark in place of many empty lines on end, and of many blanks."""
    lines = _EMPTY.sub(lambda it: f"⟨{it[0].count(chr(10))} empty lines⟩\n", text)
    return _BLANKS.sub(_fold, lines)


def folded_json(text: str) -> str:
    """Return a line of JSON with a mark in place of many blanks on end, also of escaped blanks."""
    return _IN_JSON.sub(lambda it: "⟨{} blanks⟩".format(len(it[0]) - it[0].count("\\")), text)


def _fold(run: re.Match[str]) -> str:
    blanks = run[0]
    if len(blanks.replace("\t", TAB)) <= BLANKS_SHOWN:
        return blanks
    kinds = (("blanks", " "), ("tabs", "\t"))
    return f" ⟨{len(blanks)} {' and '.join(name for name, letter in kinds if letter in blanks)}⟩ "


def excerpt(text: str) -> str:
    """Return the start of a text that cannot be read, safe, to be repeated in a complaint."""
    return safe(text[:EXCERPT])


def hidden(text: str) -> int:
    """Return how many characters of `text` a terminal would not have shown as themselves."""
    if text.isascii() and text.isprintable():
        return 0
    return sum(letter not in "\n\t" and _mark(letter) != letter for letter in text)


def runs_leftward(text: str) -> bool:
    """Whether `text` has a letter that runs right to left: a terminal may reorder what is around.

    Such letters are a language's own and stay as they are.
    """
    return not text.isascii() and any(map(_is_leftward, text))


@lru_cache(maxsize=4096)
def _is_leftward(letter: str) -> bool:
    return unicodedata.bidirectional(letter) in ("R", "AL", "AN")


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
