"""Rows: lines with our words and an agent's side by side, and a bound on their number.

The law of this file: our own rows begin with exactly two spaces; an agent's text follows our words
on such a row, or four spaces or more. So no agent's text looks like our line, and all of it is made
safe in one place, `Row.line`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, zip_longest

from crabhook.datatypes import frozen
from crabhook.present.cover import masked
from crabhook.present.safe import TAB, safe

_LOOKED_THROUGH = 32_768  # characters of a text whose secrets are looked for as a whole
_MOST_TAKEN = 200_000  # rows; a fraction of a second


@frozen
class Row:
    """One line before printing: our words, the agent's, and ours again."""

    ours: str
    theirs: str = ""
    after: str = ""
    shortened: bool = False  # some of the agent's text is missing
    piece: bool = False  # it is a line of a longer text
    shown: str = ""  # a piece with the secrets covered that a search of the whole text found

    @property
    def size(self) -> int:
        """How much the row counts towards a bound, in characters."""
        return len(self.ours) + len(self.theirs) + len(self.after) + 1

    @property
    def line(self) -> str:
        """The row as it is printed, the agent's words made safe and the secrets in them covered."""
        shown = self.shown or masked(self.theirs, begins=not self.piece)
        return self.ours + safe(shown.replace("\t", TAB)) + self.after

    @property
    def bare_line(self) -> str:
        """The row with its secrets in the clear."""
        return self.ours + safe(self.theirs.replace("\t", TAB)) + self.after

    def cut(self, longest: int) -> "Row":
        """Return the row with the middle of an overlong text replaced by a note."""
        half = longest // 2
        gone = len(self.theirs) - 2 * half
        if gone <= 0:
            return self
        theirs, shown = (
            f"{text[:half]}⟨{gone} characters left out⟩{text[half + gone :]}" if text else ""
            for text in (self.theirs, self.shown)
        )
        return replace(self, theirs=theirs, shown=shown, shortened=True, piece=True)


def indented(indent: str, text: str, longest: int) -> Iterator[Row]:
    """Yield a row for each line of `text`; past `longest` characters, its start and its end."""
    half = longest // 2
    gone = len(text) - 2 * half
    if len(text) <= longest:
        yield from _lines(indent, text)
    else:
        yield from _lines(indent, text[:half])
        yield Row(f"  … {gone} characters left out here …", shortened=True)
        yield from _lines(indent, text[half + gone :], begins=False)


def _lines(indent: str, text: str, *, begins: bool = True) -> Iterator[Row]:
    """Yield a row for each line, with the secrets covered that the whole text reveals."""
    shown = masked(text, begins=begins) if len(text) <= _LOOKED_THROUGH else ""
    for line, covered in zip_longest(text.split("\n"), shown.split("\n"), fillvalue=""):
        yield Row(indent, line, piece=True, shown=covered)


def bounded(rows: Iterable[Row], lines: int, characters: int) -> list[Row]:
    """Return the rows, or the first and last of them within a bound; no more are even made."""
    most = min(characters, _MOST_TAKEN)
    every = list(islice(rows, most + 1))
    if len(every) > most:
        every[-1] = Row("  … and more, left out here …", shortened=True)
    elif len(every) <= lines and sum(row.size for row in every) <= characters:
        return every
    longest = characters // 4
    head = _first(every, lines * 3 // 4, characters // 2, longest)
    tail = _first(reversed(every[len(head) :]), lines // 4, characters // 2, longest)
    gone = len(every) - len(head) - len(tail)
    gap = [Row(f"  … {gone} lines left out here …", shortened=True)] if gone else []
    return [*head, *gap, *reversed(tail)]


def _first(rows: Iterable[Row], lines: int, characters: int, longest: int) -> list[Row]:
    """Return as many of the first rows as fit, none longer than `longest`."""
    fitting: list[Row] = []
    for whole in rows:
        row = whole.cut(longest)
        characters -= row.size
        if characters < 0 or len(fitting) == lines:
            break
        fitting.append(row)
    return fitting
