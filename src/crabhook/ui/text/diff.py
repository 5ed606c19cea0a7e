"""What an edit takes out and puts in, line by line, with nothing between left out."""

from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from operator import itemgetter

from crabhook.model.wording import plural
from crabhook.present.compare import Side, changed_words, compared
from crabhook.present.safe import TAB
from crabhook.ui.text.code import wrap_line
from crabhook.ui.text.layout import Line, Rows, Sheet, rows_of_a_line
from crabhook.ui.text.width import Mask, lines_of, wrapped

MOST_COMPARED = 800  # lines of both sides; comparing may take their number squared

AROUND = 2  # lines shown on either side of a difference, where the whole is shown elsewhere
_CHANGED = {Side.ADDED: "added", Side.REMOVED: "removed"}
_STYLES = {Side.ADDED: "add", Side.REMOVED: "remove", Side.KEPT: ""}


def edit_rows(old: str, new: str, sheet: Sheet) -> Rows:
    """Return the change from `old` to `new` in rows; the flag tells whether a row begins a line.

    A replaced line has its changed words marked. Very long texts are shown as two wholes.
    """
    if not (runs := _compared(old, new, sheet)):
        for side, text in ((Side.REMOVED, old), (Side.ADDED, new)):
            for line in lines_of(sheet.fold(text)):
                yield from _line_rows(side, [(False, _spaced(line))], sheet)
        return
    for at, (side, lines) in enumerate(runs):
        before, after = runs[at - 1] if at else None, runs[at + 1] if at + 1 < len(runs) else None
        beside = {Side.REMOVED: after, Side.ADDED: before}.get(side)
        others = beside[1] if beside and beside[0] is not Side.KEPT else []
        for line, other in zip_longest(lines, others[: len(lines)]):
            pieces = [(False, line)] if other is None else changed_words(line, other)
            yield from _line_rows(side, pieces, sheet)


def unified_rows(old: str, new: str, sheet: Sheet) -> Rows:
    """Return the differences with some lines around them, and counts of the equal lines between."""
    if not (runs := _compared(old, new, sheet)):
        yield from edit_rows(old, new, sheet)
        return
    changes = [(side, line) for side, lines in runs for line in lines]
    changed = [place for place, (side, _) in enumerate(changes) if side is not Side.KEPT]
    near = {place + step for place in changed for step in range(-AROUND, AROUND + 1)}
    alike = 0
    for place, (side, line) in enumerate(changes):
        if place in near:
            yield from _alike(alike)
            alike = 0
            yield from _line_rows(side, [(False, line)], sheet)
        else:
            alike += 1
    yield from _alike(alike)


def _alike(lines: int) -> Rows:
    if lines:
        yield True, [("dim", f"  … {plural(lines, 'unchanged line')}")]


def added_rows(text: str, sheet: Sheet) -> Rows:
    """Return `text` as added lines, with a note if the last line has no end."""
    for line in lines_of(sheet.fold(text).removesuffix("\n")):
        yield from _line_rows(Side.ADDED, [(False, _spaced(line))], sheet)
    if not text.endswith("\n"):
        yield True, [("dim", "  (no newline at the end)")]


def patch_rows(text: str, sheet: Sheet) -> Rows:
    """Return a patch that an agent wrote itself, its lines coloured by their first letter."""
    for sign, run in groupby(lines_of(text), lambda line: line[:1]):
        style = {"+": "add", "-": "remove", "@": "label", "*": "label"}.get(sign, "")
        for line in _folded((line[1:] for line in run), sheet):
            rows = wrapped(_spaced(sign + line), sheet.columns, sheet.spell)
            yield from rows_of_a_line([(style, row)] for row in rows)


def _compared(old: str, new: str, sheet: Sheet) -> list[tuple[Side, list[str]]]:
    """Return the lines of both texts by side, blanks folded; none for texts too long to compare."""
    if old.count("\n") + new.count("\n") > MOST_COMPARED:
        return []
    changes = list(compared(old.split("\n"), new.split("\n")))
    bare = {(side, _spaced(line).rstrip()) for side, line in changes}
    alike = any((Side.ADDED, line) in bare for side, line in bare if side is Side.REMOVED)
    mark = _marked if alike else _spaced  # where lines differ only in blanks, blanks are shown
    runs: list[tuple[Side, list[str]]] = []
    for side, run in groupby(changes, itemgetter(0)):
        shown = map(_spaced if side is Side.KEPT else mark, (line for _, line in run))
        runs.append((side, _folded(shown, sheet)))
    return runs


def _folded(lines: Iterable[str], sheet: Sheet) -> list[str]:
    return sheet.fold("".join(f"{line}\n" for line in lines)).split("\n")[:-1]


def _spaced(line: str) -> str:
    return line.replace("\t", TAB)


def _marked(line: str) -> str:
    """Return the line with its tabs and the spaces at its end made visible."""
    bare = line.rstrip(" ")
    return bare.replace("\t", "→   ") + "·" * (len(line) - len(bare))


def _line_rows(side: Side, pieces: Sequence[tuple[bool, str]], sheet: Sheet) -> Rows:
    style, marks, columns, spell = _STYLES[side], (f"{side} ", "  "), sheet.columns - 2, sheet.spell
    if len(pieces) == 1:
        for place, row in enumerate(wrapped(pieces[0][1], columns, spell)):
            yield place == 0, [(style, marks[place > 0] + row)]
        return
    whole = "".join(text for _, text in pieces)
    spelt = spell.piece(whole) if isinstance(spell, Mask) else spell(whole)
    line: Line = [(_CHANGED[side] if flag else style, text) for flag, text in pieces]
    rows = wrap_line(line if spelt == whole else [(style, spelt)], columns)
    for place, part in enumerate(rows):
        yield place == 0, [(style, marks[place > 0]), *part]
