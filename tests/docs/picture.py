"""README's pictures, still and moving; run as a module it makes both.

The moving picture is the real demo's screen, as pyte drew it. The still is the queue of many
agents, as the painter draws it. Only the looks are this file's own: a
terminal's letters as SVG, in one palette on a ground of its own, so that it can be read on a page
of any colour. The moving picture is a strip of frames behind a window, moved by CSS in steps:
no script, nothing from elsewhere, and who wants no motion sees the still.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from crabhook.ui.text.width import cells
from tests.docs.film import COLUMNS, ROWS, Frame, Program, play, queue
from tests.support.drawn_terminal import Look, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCS = Path(__file__).parents[2] / "docs"
STILL, MOVING = DOCS / "terminal.svg", DOCS / "terminal-moving.svg"
LARGEST = 300_000  # bytes of the moving picture
CELL, LINE, TOP, LEFT = 8.4, 17, 25, 12
WIDTH, HEIGHT = round(2 * LEFT + COLUMNS * CELL), TOP + ROWS * LINE
GROUND, PLAIN = "#16181d", "#c9ced6"
COLOURS = {
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "brightblack": "#8b93a1",
}
_LOOKS = {
    "text": f"fill:{PLAIN}",
    ".b": "font-weight:bold",
    ".i": "font-style:italic",
    **{f".{name}": f"fill:{colour}" for name, colour in COLOURS.items()},
    ".r": f"fill:{GROUND}",
}
_SVG = "{http://www.w3.org/2000/svg}"


def moving(frames: Sequence[Frame]) -> str:
    """Return the moving picture."""
    rows = _Rows()
    strip = [
        f'<g class="frame">{rows.of(frame, number * HEIGHT)}</g>'
        for number, frame in enumerate(frames)
    ]
    whole, passed, steps = sum(frame.seconds for frame in frames), 0.0, []
    for number, frame in enumerate(frames):
        at = 100 * passed / whole
        steps.append(f"{at:.2f}%{{transform:translateY({-number * HEIGHT}px)}}")
        passed += frame.seconds
    still = next(number for number, frame in enumerate(frames) if frame.still)
    style = (
        f"@keyframes film{{{''.join(steps)}}}"
        f"#film{{animation:film {whole:.1f}s step-end infinite}}"
        "@media(prefers-reduced-motion:reduce){"
        f"#film{{animation:none;transform:translateY({-still * HEIGHT}px)}}}}"
    )
    window = f'<svg width="{WIDTH}" height="{HEIGHT}"><g id="film">'
    return _svg(style, [f"<defs>{rows.defined()}</defs>", window, *strip, "</g></svg>"])


def still(frame: Frame) -> str:
    """Return the still picture."""
    drawn = (f'<g transform="translate(0,{at * LINE})">{_row(row)}</g>' for at, row in _full(frame))
    return _svg("", ['<g class="frame">', *drawn, "</g>"])


def _svg(style: str, parts: Sequence[str]) -> str:
    looks = "".join(f"{name}{{{look}}}" for name, look in _LOOKS.items())
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">'
        f'<style>{looks}{style}</style><rect width="100%" height="100%" rx="8" fill="{GROUND}"/>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


class _Rows:
    """The rows of all frames, each drawn once: most of a screen stays as it was."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def of(self, frame: Frame, top: int) -> str:
        """Return the uses of a frame's rows."""
        uses = []
        for at, row in _full(frame):
            name = self._names.setdefault(_row(row), f"r{len(self._names)}")
            uses.append(f'<use href="#{name}" y="{top + at * LINE}"/>')
        return "".join(uses)

    def defined(self) -> str:
        """Return the rows that are used."""
        return "".join(f'<g id="{name}">{row}</g>' for row, name in self._names.items())


def _full(frame: Frame) -> list[tuple[int, Row]]:
    return [(at, list(row)) for at, row in enumerate(frame.rows) if any(_seen(*one) for one in row)]


def _seen(look: Look, text: str) -> bool:
    return look.reverse or bool(look.ground) or bool(text.strip())


def _row(row: Row) -> str:
    drawn, at = [], 0
    for look, text in row:
        if _seen(look, text):
            drawn.append(_piece(look, text, at))
        at += cells(text)
    return "".join(drawn)


def _piece(look: Look, text: str, at: int) -> str:
    whole = look.reverse or bool(look.ground)
    letters = text if whole else text.rstrip()
    at += 0 if whole else len(letters) - len(letters.lstrip())
    letters = letters if whole else letters.lstrip()
    x, length = f"{LEFT + at * CELL:.1f}", f"{cells(letters) * CELL:.1f}"
    colour = look.colour if look.colour in COLOURS else ""
    names = " ".join(filter(None, (look.bold and "b", look.italic and "i", colour)))
    block, ground = "", f"#{look.ground}" if look.ground else ""
    if look.reverse:
        names = f"{names} r"
        ground = COLOURS.get(look.colour, PLAIN)
    if ground:
        block = f'<rect x="{x}" y="{TOP - 13}" width="{length}" height="{LINE}" fill="{ground}"/>'
    told = f' class="{names.strip()}"' if names else ""
    said = escape(letters, quote=False)
    return f'{block}<text x="{x}" y="{TOP}" textLength="{length}"{told}>{said}</text>'


def shown(svg: str) -> list[list[Row]]:
    """Return what the frames of a picture show, without its looks: the reverse of drawing."""
    tree = ET.fromstring(svg)
    defined = {f"#{one.get('id')}": one for one in tree.iter(f"{_SVG}g") if one.get("id")}
    frames = []
    for number, frame in enumerate(tree.iterfind(f".//{_SVG}g[@class='frame']")):
        rows = [""] * ROWS
        for one in frame:
            moved = one.get("y") or re.sub(r".*,|\)", "", one.get("transform", ""))
            top = int(moved) - (number * HEIGHT if one.get("y") else 0)
            rows[top // LINE] = _letters(defined.get(one.get("href", ""), one))
        frames.append([[(Look(), row)] for row in rows])
    return frames


def _letters(row: ET.Element) -> str:
    text = ""
    for piece in row.iter(f"{_SVG}text"):
        text = text.ljust(round((float(piece.get("x", "0")) - LEFT) / CELL)) + (piece.text or "")
    return text


def make() -> None:
    """Play the demo as a person does, and write both pictures."""
    with Program(slowly=True) as program:
        frames = list(play(program))
    STILL.write_text(still(queue()), encoding="utf-8")
    MOVING.write_text(moving(frames), encoding="utf-8")


if __name__ == "__main__":
    make()
