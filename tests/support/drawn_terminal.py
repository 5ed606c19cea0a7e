"""A program in a terminal that pyte draws: what a person would see, letter by letter, with its looks."""

from __future__ import annotations

import codecs
import io
import os
import pty
import select
import subprocess
import termios
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from prompt_toolkit.application import Application, create_app_session
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import DummyInput
from prompt_toolkit.layout import Layout, UIContent, UIControl, Window
from prompt_toolkit.output.vt100 import Vt100_Output

from crabhook.ui.text.style import Theme, class_of, style
from tests.support.isolation import ending_with_us

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from tests.support.sitting import Sitting

KEYS = {
    "enter": "\r",
    "down": "\x1b[B",
    "up": "\x1b[A",
    "end": "\x1b[F",
    "esc": "\x1b",
    "space": " ",
    "ctrl-s": "\x13",
}
"""What a terminal sends for a key that is no letter."""

ALTERNATE = 1049
"""The mode of a terminal that has a second screen; pyte knows one screen alone."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a letter looks: its colour by pyte's name ("default" is the terminal's own), and weight.

    `ground` is the colour behind the letter, as six hexadecimal digits; empty for the terminal's.
    """

    colour: str = "default"
    bold: bool = False
    italic: bool = False
    reverse: bool = False
    ground: str = ""


Row = list[tuple[Look, str]]
"""A row of a screen: pieces of text that look alike."""


def emulator(columns: int, rows: int) -> tuple[Any, Callable[[str], None]]:
    """Return a screen of pyte's, and what draws a program's output on it."""
    from pyte import Screen, Stream

    class Emulated(Screen):  # type: ignore[misc, unused-ignore] - pyte has no types
        def reset_mode(self, *modes: int, **how: Any) -> None:
            super().reset_mode(*modes, **how)
            if ALTERNATE in modes and how.get("private"):
                self.erase_in_display(2)
                self.cursor_position()

    screen = Emulated(columns, rows)
    return screen, Stream(screen).feed


def rows_of(screen: Any) -> list[Row]:
    """Return what is on a screen of pyte's, row by row."""
    return [_row(screen.buffer[at], screen.columns) for at in range(screen.lines)]


def _row(cells: Mapping[int, Any], columns: int) -> Row:
    pieces: Row = []
    for at in range(columns):
        cell = cells[at]
        ground = cell.bg if len(cell.bg) == len("16181d") else ""
        look = Look(cell.fg, cell.bold, cell.italics, cell.reverse, ground)
        if pieces and pieces[-1][0] == look:
            pieces[-1] = (look, pieces[-1][1] + cell.data)
        else:
            pieces.append((look, cell.data))
    return pieces


def text_of(rows: Sequence[Row]) -> list[str]:
    """Return the letters of rows, without the blanks at their ends."""
    return ["".join(text for _, text in row).rstrip() for row in rows]


def on_a_terminal(sitting: Sitting) -> list[Row]:
    """Return a picture of the painter's as a terminal shows what prompt_toolkit makes of it."""
    screen, feed = emulator(sitting.columns, sitting.rows)
    sent = io.StringIO()
    size = Size(sitting.rows, sitting.columns)
    lines = sitting.draw().lines
    control = Painting(
        lambda row: [(class_of(name), text) for name, text in lines[row]], len(lines)
    )
    with create_app_session(input=DummyInput()):
        application: Application[None] = Application(
            Layout(Window(control)),
            style=style(Theme.DARK),
            output=Vt100_Output(sent, lambda: size, term="xterm-256color"),
            full_screen=True,
        )
        with set_app(application):
            application.renderer.render(application, application.layout)
    feed(sent.getvalue())
    return rows_of(screen)


@dataclass
class Painting(UIControl):
    """A picture that is drawn already."""

    line: Callable[[int], StyleAndTextTuples]
    count: int

    def create_content(self, width: int, height: int) -> UIContent:  # noqa: ARG002 - drawn already
        return UIContent(self.line, self.count)


class DrawnTerminal:
    """A program on a pseudoterminal of `columns` x `rows`; it is ended with its block."""

    def __init__(
        self, command: list[str], environment: Mapping[str, str], *, columns: int, rows: int
    ) -> None:
        self._command, self._environment = command, dict(environment)
        self._size = rows, columns
        self._screen, self._feed = emulator(columns, rows)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, self._size)
        self._process = subprocess.Popen(
            ending_with_us(["setsid", "--ctty", "--wait", *self._command]),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self._environment,
            start_new_session=True,
        )
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._master)  # the program is hung up on
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(60)

    def rows(self) -> list[Row]:
        """Return what is on the screen now."""
        return rows_of(self._screen)

    def press(self, key: str) -> None:
        """Press a key by its name, or type a letter."""
        os.write(self._master, (KEYS[key] if len(key) > 1 else key).encode())

    def look_for(self, seconds: float, seen: Callable[[str], bool] = lambda _: False) -> bool:
        """Watch the screen for so long, or until its text is what is looked for; return whether."""
        end = time.monotonic() + seconds
        while not (found := seen("\n".join(self._screen.display))):
            left = end - time.monotonic()
            if left <= 0:
                break
            if not select.select([self._master], [], [], left)[0]:
                continue
            try:
                self._feed(self._decode(os.read(self._master, 1 << 16)))
            except OSError:  # the program has ended
                break
        return found
