"""What an edit takes out and puts in, line by line, with nothing between left out."""

from collections.abc import Iterator
from itertools import chain

from crabhook.ui.text.compare import Side, compared
from crabhook.ui.text.layout import Rows, rows_of_a_line
from crabhook.ui.text.safe import TAB
from crabhook.ui.text.width import Speller, lines_of, wrapped

MOST_COMPARED = 800  # lines of both sides; comparing may take their number squared

AROUND = 2  # lines shown on either side of a difference, where the whole is shown elsewhere
_STYLES = {Side.ADDED: "add", Side.REMOVED: "remove", Side.KEPT: ""}


def edit_rows(old: str, new: str, columns: int, spell: Speller) -> Rows:
    """Return the change from `old` to `new` in rows; the flag tells whether a row begins a line.

    Texts too long to compare are shown as taken out and put in whole.
    """
    changes = _compared(old, new)
    mark = _marked if _look_alike(changes) else _spaced
    for side, line in changes or chain(_all(Side.REMOVED, old), _all(Side.ADDED, new)):
        text = _spaced(line) if side is Side.KEPT else mark(line)
        yield from _line_rows(side, text, columns, spell)


def unified_rows(old: str, new: str, columns: int, spell: Speller) -> Rows:
    """Return what differs with a few lines around it; how many lines are alike between is said."""
    if not (changes := _compared(old, new)):
        yield from edit_rows(old, new, columns, spell)
        return
    changed = [place for place, (side, _) in enumerate(changes) if side is not Side.KEPT]
    near = {place + step for place in changed for step in range(-AROUND, AROUND + 1)}
    alike = 0
    for place, (side, line) in enumerate(changes):
        if place in near:
            yield from _alike(alike)
            alike = 0
            yield from _line_rows(side, _spaced(line), columns, spell)
        else:
            alike += 1
    yield from _alike(alike)


def _alike(lines: int) -> Rows:
    if lines:
        yield True, [("dim", f"  … {lines} {'line' if lines == 1 else 'lines'} alike")]


def added_rows(text: str, columns: int, spell: Speller) -> Rows:
    """Return `text` as all put in; said so where its last line has no end."""
    for line in lines_of(text.removesuffix("\n")):
        yield from _line_rows(Side.ADDED, _spaced(line), columns, spell)
    if not text.endswith("\n"):
        yield True, [("dim", "  (no newline at the end)")]


def patch_rows(text: str, columns: int, spell: Speller) -> Rows:
    """Return a patch that an agent wrote itself, its lines coloured by their first letter."""
    for line in lines_of(text):
        style = {"+": "add", "-": "remove", "@": "label", "*": "label"}.get(line[:1], "")
        yield from rows_of_a_line([(style, row)] for row in wrapped(_spaced(line), columns, spell))


def _compared(old: str, new: str) -> list[tuple[Side, str]]:
    """Return the lines of both texts; none where the texts are too long to compare."""
    few = old.count("\n") + new.count("\n") <= MOST_COMPARED
    return list(compared(old.split("\n"), new.split("\n"))) if few else []


def _all(side: Side, text: str) -> Iterator[tuple[Side, str]]:
    return ((side, line) for line in lines_of(text))


def _look_alike(changes: list[tuple[Side, str]]) -> bool:
    """Whether some line is taken out and put in that differs in its blanks alone."""
    bare = {(side, _spaced(line).rstrip()) for side, line in changes}
    return any((Side.ADDED, line) in bare for side, line in bare if side is Side.REMOVED)


def _spaced(line: str) -> str:
    return line.replace("\t", TAB)


def _marked(line: str) -> str:
    """Return the line with its tabs and the spaces at its end made visible."""
    bare = line.rstrip(" ")
    return bare.replace("\t", "→   ") + "·" * (len(line) - len(bare))


def _line_rows(side: Side, line: str, columns: int, spell: Speller) -> Rows:
    for place, row in enumerate(wrapped(line, columns - 2, spell)):
        yield place == 0, [(_STYLES[side], ("  " if place else f"{side} ") + row)]
