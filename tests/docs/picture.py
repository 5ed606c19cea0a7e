"""The README's picture of the screen, drawn by the screen itself; run as a module it writes it.

The cards are the demo's.  Only the looks are this file's own: a terminal's
letters as an SVG, in one palette.
"""

import json
import os
import time
from html import escape
from pathlib import Path

from prompt_toolkit.styles import Attrs

from crabhook.model.card import Origin
from crabhook.ui.text.clock import Clock
from crabhook.ui.text.style import Theme, class_of, style
from crabhook.ui.text.width import cells
from tests.support.sitting import Sitting, call, happening

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "terminal.svg"
INPUTS = ROOT / "src" / "crabhook" / "demo" / "inputs"
COLUMNS, ROWS = 104, 30
WIDTH, HEIGHT, TOP, LEFT = 8.4, 17, 25, 12
MOMENT = 1_795_356_660.0  # 22 November 2026
PLAIN = "#c9ced6"
COLOURS = {
    "": PLAIN,
    "ansired": "#e06c75",
    "ansigreen": "#98c379",
    "ansiyellow": "#e5c07b",
    "ansiblue": "#61afef",
    "ansimagenta": "#c678dd",
    "ansicyan": "#56b6c2",
    "ansibrightblack": "#6b7280",
}


def scene() -> Sitting:
    """Return a desk where five agents' cards wait, the edit chosen."""
    sitting = Sitting(columns=COLUMNS, rows=ROWS)
    client = Origin("vm", 22418, "dev")
    for event in ("SessionStart", "UserPromptSubmit"):
        told = happening(event, session_id="460c652e", cwd="/home/dev/uploader", prompt="retry")
        sitting.desk.ask(told, origin=client)
    other = call("Bash", {"command": "npm run build"}, session_id="7d21", cwd="/home/dev/shop")
    inputs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(INPUTS.iterdir())]
    for payload in (*inputs, other):
        sitting.desk.ask(payload, origin=client, wait=3600.0)
        sitting.desk.pass_time(7)
    sitting.sit("unix:/run/crabhook/s")
    sitting.press("down")
    sitting.wait()
    return sitting


def picture() -> str:
    """Return the SVG."""
    sitting, looks = scene(), style(Theme.DARK)
    frame = sitting.painter.frame(COLUMNS, ROWS, _clock(sitting))
    width, height = 2 * LEFT + COLUMNS * WIDTH, TOP + ROWS * HEIGHT
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">'
        '<rect width="100%" height="100%" rx="8" fill="#16181d"/>'
    )
    lines = [head]
    for row, line in enumerate(frame.lines):
        at = 0
        for name, text in line:
            attrs = looks.get_attrs_for_style_str(class_of(name))
            if text.strip():
                lines.append(_text(text, at, row, attrs))
            at += cells(text)
    return "\n".join([*lines, "</svg>", ""])


def _text(text: str, at: int, row: int, attrs: Attrs) -> str:
    looks = {"fill": COLOURS[attrs.color or ""]}
    looks |= {"font-weight": "bold"} if attrs.bold else {}
    looks |= {"font-style": "italic"} if attrs.italic else {}
    told = " ".join(f'{key}="{value}"' for key, value in looks.items())
    place = f'x="{LEFT + at * WIDTH:.1f}" y="{TOP + row * HEIGHT}"'
    length = f'textLength="{cells(text) * WIDTH:.1f}" xml:space="preserve"'
    return f"<text {place} {told} {length}>{escape(text, quote=False)}</text>"


def _clock(sitting: Sitting) -> Clock:
    return Clock(sitting.desk.now(), MOMENT)


def drawn_anywhere() -> str:
    """Return the SVG as it is in any time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        return picture()
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


if __name__ == "__main__":
    PICTURE.write_text(drawn_anywhere(), encoding="utf-8")
