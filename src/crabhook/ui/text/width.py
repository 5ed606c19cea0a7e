"""Letters on a terminal: their spelling, their width in cells, line breaks.

Our own words use the few symbols of OWN_SYMBOLS, which `own_ascii` replaces at the end. A Speller
spells agents' text from the start; a Mask also covers secrets.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from prompt_toolkit.utils import get_cwidth

from crabhook.datatypes import frozen
from crabhook.present.cover import COVER, masked
from crabhook.present.safe import Speller, safe
from crabhook.secrets.context import names_a_secret

CHUNK = 2048  # letters of a long line that are looked at in one go
LONGEST_WORD = 512  # letters of a word that is not cut between two of them
ELLIPSIS = "…"
OWN_SYMBOLS = dict(zip("─│┆┌┐└┘╭╮╰╯├┤▓░▸▹·…✓▲→←↑↓", "-|:++++++++++#.>--~*!><^v", strict=True))
_OWN_ASCII = str.maketrans(OWN_SYMBOLS)


def safe_ascii(text: str) -> str:
    """Return `text` as `safe` would, with every letter past ASCII as its code point."""
    spelt = safe(text)
    return spelt if spelt.isascii() else "".join(map(_spelt_out, spelt))


_OWN_PARTS = re.compile(r" [·—] |…|▲+(?= )")
_IN_WORDS = _OWN_ASCII | {ord("—"): "-"}


def _ascii_words(text: str) -> str:
    """Return words of ours, with an agent's among them, as `safe_ascii` would, but for our marks.

    A command and an agent's file stay letter by letter: this is for sentences alone.
    """
    ours = _OWN_PARTS.sub(lambda it: it[0].translate(_IN_WORDS), text)
    return safe_ascii(ours)


def in_words(spell: Speller) -> Speller:
    """Return the speller for sentences of ours: in ASCII, our own marks are no strange letters."""
    if isinstance(spell, Mask):
        return replace(spell, spell=in_words(spell.spell))
    return _ascii_words if spell is safe_ascii else spell


def own_ascii(text: str) -> str:
    """Return our own words with their symbols replaced, one letter for one."""
    return text.translate(_OWN_ASCII)


def _spelt_out(letter: str) -> str:
    code = ord(letter)
    if code < 0x80:
        return letter
    if 0x2400 <= code < 0x2420:  # a control picture, as `safe` marks a control character
        code -= 0x2400
    return {"⟨": "<", "⟩": ">"}.get(letter, f"<U+{code:04X}>")


def cells(text: str) -> int:
    """Return how many cells of a terminal's line the text takes."""
    return len(text) if text.isascii() else get_cwidth(text)


def clip(text: str, columns: int) -> str:
    """Return `text` in at most so many cells; an ellipsis replaces the rest."""
    if columns <= 0:
        return ""
    if cells(text) <= columns:
        return text
    head = text[: _row_end(text, 0, max(columns - 1, 1))]
    return (head if cells(head) < columns else "") + ELLIPSIS


def fit(text: str, columns: int) -> str:
    """Return `text` in exactly so many cells, clipped or followed by spaces."""
    clipped = clip(text, columns)
    return clipped + " " * (columns - cells(clipped))


def wrapped(line: str, columns: int, spell: Speller, *, words: bool = False) -> Iterator[str]:
    """Return an agent's line in rows of at most `columns` cells, spelt on demand.

    `words` breaks at spaces where possible and drops only a space at a row's end.
    """
    spell = in_words(spell) if words else spell
    left, start, spell = "", 0, spell.piece if isinstance(spell, Mask) else spell
    while start < len(line):
        end = start + CHUNK
        if end < len(line):  # between two words, so that a speller sees words whole
            blank = line.rfind(" ", end - LONGEST_WORD, end)
            end = blank if blank > 0 else end
        spelt = left + spell(line[start:end])
        *rows, left = (spelt[place:stop] for place, stop in cuts(spelt, columns, words=words))
        yield from rows
        start = end
    yield left


def lines_of(text: str) -> Iterator[str]:
    """Return the lines of `text` one by one, split at newlines alone."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def cuts(text: str, columns: int, *, words: bool) -> Iterator[tuple[int, int]]:
    """Return where each row of `text`, safe already, begins and ends; there is always one."""
    columns = max(columns, 1)
    start = 0
    while True:
        end = _row_end(text, start, columns)
        if words and end < len(text) and text[end] != " ":
            end = text.rfind(" ", start, end) + 1 or end
        yield start, end
        start = end + (words and text[end : end + 1] == " ")
        if start >= len(text):
            return


def _row_end(text: str, start: int, columns: int) -> int:
    """Return the end of the row that begins at `start`: one letter later at least."""
    end = start + columns
    if text[start:end].isascii() and text[end : end + 1].isascii():
        return end
    used = 0
    for place in range(start, len(text)):
        used += get_cwidth(text[place])
        if used > columns and place > start:
            return place
    return len(text)


@frozen
class Mask:
    """A speller that covers what it finds before another speller spells the rest."""

    spell: Speller
    cover: str = COVER

    def __call__(self, text: str) -> str:
        """Return `text` spelt, its secrets covered."""
        return self.spell(masked(text, self.cover))

    def piece(self, text: str) -> str:
        """Return a piece of a longer text spelt, the secrets in it covered."""
        return self.spell(masked(text, self.cover, begins=False))

    def apart(self, text: str) -> tuple[str, Speller]:
        """Return `text` covered as a whole, and how its lines are then spelt."""
        return masked(text, self.cover), self.spell

    def whole(self, text: str) -> str:
        """Return all of `text` covered, as the value of a field that names a secret is."""
        return self.spell("".join(self.cover if letter.isalnum() else letter for letter in text))


def spelling_of(name: str, spell: Speller) -> Speller:
    """Return how the value of a field of that name is spelt."""
    return spell.whole if isinstance(spell, Mask) and names_a_secret(name) else spell
