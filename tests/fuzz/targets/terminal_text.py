"""The one place where agents' text becomes safe for a terminal, and what lays it out.

Nothing acts, hides or reorders. Made safe twice it is the same, rows fit and lose nothing, and no
marks are heaped on a letter.
"""

from __future__ import annotations

from prompt_toolkit.utils import get_cwidth

from crabhook.hook.wire import printable
from crabhook.present.safe import MAX_MARKS_ON_A_LETTER, hidden, safe, safe_lines
from crabhook.present.summary import brief
from crabhook.ui.terminal import _CONTINUED, fold
from crabhook.ui.text.rows import Row, bounded, indented
from crabhook.ui.text.width import cells, clip, fit, safe_ascii, wrapped
from tests.fuzz.mutation import words
from tests.fuzz.target import Target
from tests.fuzz.text import text_of

# Written anew here, so that a gap in the table under test does not hide itself.
REORDERING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
UNSEEN = set("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b\u180e\u200b\u200c\u200d\u2060\u2800\u3164\ufe0f\ufeff\uffa0\U000e0041\U000e0100")  # fmt: skip
NEVER = REORDERING | UNSEEN


def law(data: bytes) -> None:
    """Nothing that acts, hides or reorders is left; nothing else changes, and nothing is lost."""
    text = text_of(data)
    said = safe(text)
    _still(said)
    assert safe(said) == said
    assert (hidden(text) == 0) or said != text
    assert _stacked(said) <= MAX_MARKS_ON_A_LETTER
    for spelt in (safe_ascii(text), safe_ascii(said)):
        assert spelt.isascii()
        _still(spelt)
    for line in safe_lines(text):
        _still(line)
    assert printable(data).isprintable()
    _still(brief(text))
    _laid_out(text, said, data[0] % 40 + 2 if data else 2)
    _bounded(text, len(data) * 7 % 300 + 20)


def _still(text: str) -> None:
    assert text.isprintable(), text
    assert not NEVER.intersection(text), text


def _stacked(text: str) -> int:
    """The most marks on one letter, by what takes no cell of its own."""
    most = now = 0
    for letter in text:
        now = now + 1 if get_cwidth(letter) == 0 else 0
        most = max(most, now)
    return most


def _laid_out(text: str, said: str, columns: int) -> None:
    """Rows fit, and hold every letter."""
    line = text.replace("\n", " ")
    rows = list(wrapped(line, columns, safe))
    assert "".join(rows) == safe(line)
    assert all(cells(row) <= columns for row in rows), rows
    assert cells(clip(said, columns)) <= columns
    assert cells(fit(said, columns)) == columns
    kept = "".join("".join(wrapped(line, columns, safe, words=True)).split())
    assert kept == "".join(safe(line).split())
    first, *more = fold(said, columns + len(_CONTINUED))
    assert all(part.startswith(_CONTINUED) for part in more)
    assert "".join([first, *(part.removeprefix(_CONTINUED) for part in more)]) == said


def _bounded(text: str, bound: int) -> None:
    rows = bounded(indented("    ", text, bound * 4), 10, bound)
    for row in [*rows, Row("  it says: ", text).cut(bound)]:
        _still(row.line)
        assert row.line.startswith("  ")
    assert len(rows) <= 12


MUTATION = words.of([*sorted(NEVER), "\x1b[2J", "\x1b]52;c;QUFB\x07", "\x9b31m", "\0", "\r", "\n", "\t", "\x7f", "\ud800", "\udc00", "e\u0301\u0301\u0301\u0301", "日本語", "שלום", "مرحبا", "👨‍👩‍👧", "🏳️‍🌈", "ก็็็็", "⟨U+202E⟩", "␛", "\u2028", "\u2029", "\u00a0", "\u3000", "\ue000", "\U0010ffff", "x" * 200])  # fmt: skip


def seeds() -> list[bytes]:
    """A plain text, and one of every kind."""
    told = [
        "ls -l",
        "a\tb\r\nc",
        "\x1b[31mred\x1b[0m",
        "日本 שלום é",
        "e\u0301\u0301\u0301",
        "\u202eevil\u2066",
        "\ud83d",
    ]
    return [one.encode("utf-8", "surrogatepass") for one in told]


TARGET = Target(law, MUTATION, seeds, longest=2048)
