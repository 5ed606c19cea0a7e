"""What an edit takes out and puts in, line by line, with nothing between left out."""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, zip_longest
from operator import itemgetter

from crabhook.ui.text.code import wrap_line
from crabhook.ui.text.compare import Side, changed_words, compared
from crabhook.ui.text.layout import Line, Rows, rows_of_a_line
from crabhook.ui.text.safe import TAB
from crabhook.ui.text.width import Mask, Speller, lines_of, wrapped

MOST_COMPARED = 800  # lines of both sides; comparing may take their number squared

AROUND = 2  # lines shown on either side of a difference, where the whole is shown elsewhere
_CHANGED = {Side.ADDED: "added", Side.REMOVED: "removed"}
_STYLES = {Side.ADDED: "add", Side.REMOVED: "remove", Side.KEPT: ""}


def edit_rows(old: str, new: str, columns: int, spell: Speller) -> Rows:
    """Return the change from `old` to `new` in rows; the flag tells whether a row begins a line.

    In a line that takes the place of another the words that differ are marked.  Texts too long
    to compare are shown as taken out and put in whole.
    """
    changes = _compared(old, new)
    if not changes:
        for side, line in chain(_all(Side.REMOVED, old), _all(Side.ADDED, new)):
            yield from _line_rows(side, [(False, _spaced(line))], columns, spell)
        return
    mark = _marked if _look_alike(changes) else _spaced
    runs = [(side, [line for _, line in run]) for side, run in groupby(changes, itemgetter(0))]
    for at, (side, lines) in enumerate(runs):
        before, after = runs[at - 1] if at else None, runs[at + 1] if at + 1 < len(runs) else None
        beside = {Side.REMOVED: after, Side.ADDED: before}.get(side)
        others = beside[1] if beside and beside[0] is not Side.KEPT else []
        for line, other in zip_longest(lines, others[: len(lines)]):
            pieces = [(False, _spaced(line) if side is Side.KEPT else mark(line))]
            if other is not None:
                pieces = changed_words(mark(line), mark(other))
            yield from _line_rows(side, pieces, columns, spell)


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
            yield from _line_rows(side, [(False, _spaced(line))], columns, spell)
        else:
            alike += 1
    yield from _alike(alike)


def _alike(lines: int) -> Rows:
    if lines:
        yield True, [("dim", f"  … {lines} {'line' if lines == 1 else 'lines'} alike")]


def added_rows(text: str, columns: int, spell: Speller) -> Rows:
    """Return `text` as all put in; said so where its last line has no end."""
    for line in lines_of(text.removesuffix("\n")):
        yield from _line_rows(Side.ADDED, [(False, _spaced(line))], columns, spell)
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


def _line_rows(
    side: Side, pieces: Sequence[tuple[bool, str]], columns: int, spell: Speller
) -> Rows:
    """Return a line in rows, its flagged pieces marked."""
    style, marks = _STYLES[side], (f"{side} ", "  ")
    if len(pieces) == 1:
        for place, row in enumerate(wrapped(pieces[0][1], columns - 2, spell)):
            yield place == 0, [(style, marks[place > 0] + row)]
        return
    whole = "".join(text for _, text in pieces)
    spelt = spell.piece(whole) if isinstance(spell, Mask) else spell(whole)
    line: Line = [(_CHANGED[side] if flag else style, text) for flag, text in pieces]
    for place, part in enumerate(
        wrap_line(line if spelt == whole else [(style, spelt)], columns - 2)
    ):
        yield place == 0, [(style, marks[place > 0]), *part]
