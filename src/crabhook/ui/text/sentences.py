"""Sentences for a person, wrapped at words; a command in them stays whole, so that it is copied so.

A command stands in backticks. Only the standard library is needed: `crabhook install` uses this
where the hook alone is installed.
"""

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

_WORD = re.compile("( *)((?:`[^`]*`|[^ `]|`)+)")


def wrap_sentences(text: str, columns: int, *, first: str = "", rest: str = "") -> Iterator[str]:
    """Yield rows of at most `columns` cells; what is longer by itself has a row of its own.

    `first` begins the first row and `rest` each other row. No row comes of an empty text.
    """
    row, is_empty = first, True
    for blanks, word in _WORD.findall(text):
        longer = row + blanks + word
        if is_empty or _cells(longer) <= columns:
            row = longer
        else:
            yield row
            row = rest + word
        is_empty = False
    if not is_empty:
        yield row


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
