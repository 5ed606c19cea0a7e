"""Letters of a command that nobody sees, or that turn the order of what is around them."""

import unicodedata

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Invisible though Unicode calls them letters, marks or symbols."""
_VARIATION = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))
_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ORDINARY = frozenset("\n\t")
_OF_PICTURES = frozenset({"So", "Sk", "Sm"})
_JOINERS = frozenset("\u200c\u200d")


def unseen(text: str) -> tuple[str, ...]:
    """Return such letters of a text, each once and by its name: "U+202E right-to-left override".

    A letter that joins pictures to a single picture, as in an emoji, is as honest as the picture. A
    letter that joins letters, in a script that is written so, is as honest as the word.
    """
    if text.isascii() and text.isprintable():
        return ()
    hiding = (
        letter for place, letter in enumerate(text) if _hides(letter) and not _joins(text, place)
    )
    return tuple(dict.fromkeys(map(_named, hiding)))


def _hides(letter: str) -> bool:
    if letter in _ORDINARY:
        return False
    varies = any(ord(letter) in span for span in _VARIATION)
    return varies or letter in _BLANK or unicodedata.category(letter) in _CATEGORIES


def _joins(text: str, place: int) -> bool:
    # No slice from the beginning: a long line of such letters would be copied once for each.
    letter, before = text[place], text[place - 1 : place] if place else ""
    after = text[place + 1 : place + 2]
    if letter == "\ufe0f":
        return bool(before) and unicodedata.category(before) in _OF_PICTURES
    if letter not in _JOINERS or not before or not after:
        return False
    sides = (before, after)
    pictures = all(side == "\ufe0f" or unicodedata.category(side) in _OF_PICTURES for side in sides)
    return pictures or all(map(_is_joined, sides))


def _is_joined(letter: str) -> bool:
    """Whether a letter is of a script that joins letters: Arabic, and those of India."""
    return unicodedata.bidirectional(letter) == "AL" or 0x0900 <= ord(letter) < 0x0E00


def _named(letter: str) -> str:
    name = unicodedata.name(letter, "a control character").lower()
    return f"U+{ord(letter):04X} {name}"
