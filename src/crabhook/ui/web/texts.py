"""Agents' texts as HTML, line by line.

A line is a `span.line`, so that the page can tell which were in view. Lines past the first twenty
stand in a `details.more` that says how many they are. A text too long for a page is cut, and says
so.
"""

from collections.abc import Iterable, Sequence

from crabhook.datatypes import frozen
from crabhook.model.wording import plural
from crabhook.present.cover import COVER, masked
from crabhook.present.phrases import joined as phrase
from crabhook.present.safe import FOLD, folded
from crabhook.secrets.context import names_a_secret
from crabhook.ui.web.html import NEWLINE, NOTHING, Html, el, joined, spaced, text

SHOWN = 20  # lines of a text that are in view at once
MOST_LINES, MOST_LETTERS = 2_000, 200_000  # of a text on a page


@frozen
class Pen:
    """How texts are written: `covers` secrets; `card`: the number of a card that waits, or 0."""

    covers: bool = True
    card: int = 0

    @property
    def open(self) -> bool:
        """Whether what is written can still be answered."""
        return bool(self.card)

    def words(self, words: str, *, piece: bool = False) -> str:
        """Return a text with its secrets covered; a `piece` is of a longer text."""
        return masked(words, begins=not piece) if self.covers else words

    def of(self, key: str, words: str) -> str:
        """Return the text of a field with its secrets covered, all of it where the name says so."""
        if not self.covers or not names_a_secret(key):
            return self.words(words)
        return "".join(COVER if letter.isalnum() else letter for letter in words)


@frozen
class StartOfText:
    """The start of a text, as far as a page shows it; `rest` says how much more there is."""

    text: str
    rest: str = ""

    @classmethod
    def of(cls, whole: str) -> "StartOfText":
        """Return a text, or its start where it is too long."""
        start = "\n".join(whole[:MOST_LETTERS].split("\n", MOST_LINES)[:MOST_LINES])
        more = len(whole) - len(start)
        return cls(start, plural(more, "more letter") if more else "")


def line(*inner: str, class_: str = "", **attributes: str | int) -> Html:
    """Return a line."""
    return el("span", *inner, class_=phrase("line", class_, by=" "), **attributes)


def words_of(words: str) -> Html:
    """Return the words of a line, the marks of many blanks apart."""
    parts = FOLD.split(spaced(words))
    return joined(
        el("span", part, class_="mark") if place % 2 else text(part)
        for place, part in enumerate(parts)
        if part
    )


def lines_of(words: str, class_: str = "") -> list[Html]:
    """Return the lines of a text whose secrets are covered."""
    return [line(words_of(each), class_=class_) for each in folded(words).split("\n")]


def block(kind: str, lines: Sequence[Html], title: str = "", rest: str = "") -> Html:
    """Return lines under a title; `rest` says what behind them is not on the page."""
    first, more = lines[:SHOWN], lines[SHOWN:]
    parts = [rows_of(first)]
    if more:
        summary = el("summary", plural(len(more), "more line"))
        parts.append(el("details", summary, rows_of(more), class_="more"))
    if rest:
        parts.append(el("p", f"! not on this page: {rest}", class_="warning"))
    return section(kind, *parts, title=title, lines=len(lines), whole=not rest)


def rows_of(lines: Iterable[Html]) -> Html:
    """Return lines."""
    return el("pre", joined(lines, NEWLINE), class_="rows")


def section(
    kind: str, *inner: Html, title: str = "", lines: int | None = None, whole: bool = True
) -> Html:
    """Return a block of any content."""
    return el(
        "section",
        el("h3", title) if title else NOTHING,
        *inner,
        class_="block",
        data_block=kind,
        data_lines=lines,
        data_whole="yes" if whole else "no",
    )


def text_block(kind: str, words: str, pen: Pen, title: str = "") -> Html:
    """Return an agent's text."""
    shown = StartOfText.of(words)
    return block(kind, lines_of(pen.words(shown.text)), title, shown.rest)


def paragraph(words: str, class_: str = "") -> Html:
    """Return a sentence."""
    return el("p", words, class_=phrase("words", class_, by=" "))
