"""A text of several lines being edited; it is kept letter for letter, only shown made safe."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

LONGEST = 1_000_000  # letters; a longer text is for another editor than this one
_KEPT_BLANKS = "\n\t"


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a text: the line, and the letter it stands before, both from 0."""

    line: int = 0
    letter: int = 0


class Editor:
    """The lines, and the cursor among them.

    What is typed or pasted lets in nothing that a terminal would act on; what
    was there from the start stays until it is deleted.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._line = self._letter = 0

    def __repr__(self) -> str:
        return f"<Editor {len(self._lines)} lines at {self._line}:{self._letter}>"

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self._lines)

    @property
    def lines(self) -> list[str]:
        """The text line by line; not to be changed."""
        return self._lines

    @property
    def cursor(self) -> Spot:
        """Where the next letter goes."""
        return Spot(self._line, self._letter)

    def replace(self, text: str) -> None:
        """Put another text in place of all of it."""
        self._lines = text.split("\n")
        self._line = self._letter = 0

    def insert(self, text: str) -> None:
        """Put text in at the cursor; what cannot be seen is left out."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        seen = "".join(one for one in text if one.isprintable() or one in _KEPT_BLANKS)
        here = self._lines[self._line]
        before, after = here[: self._letter], here[self._letter :]
        first, *more = seen[: max(LONGEST - self._size(), 0)].split("\n")
        added = [before + first, *more]
        self._letter = len(added[-1])
        added[-1] += after
        self._lines[self._line : self._line + 1] = added
        self._line += len(more)

    def press(self, key: str) -> bool:
        """Take in a key of editing; return whether it was one."""
        edit = _EDITS.get(key)
        if edit is not None:
            edit(self)
        elif len(key) == 1:
            self.insert(key)
        return edit is not None or len(key) == 1

    def _size(self) -> int:
        return sum(map(len, self._lines)) + len(self._lines) - 1

    def _go(self, line: int, letter: int) -> None:
        self._line = min(max(line, 0), len(self._lines) - 1)
        self._letter = min(max(letter, 0), len(self._lines[self._line]))

    def _step(self, step: int) -> None:
        """Move a letter on or back, past the ends of lines."""
        letter = self._letter + step
        if letter < 0 and self._line > 0:
            self._go(self._line - 1, len(self._lines[self._line - 1]))
        elif letter > len(self._lines[self._line]) and self._line + 1 < len(self._lines):
            self._go(self._line + 1, 0)
        else:
            self._go(self._line, letter)

    def _cut(self, start: Spot, end: Spot) -> None:
        """Take out what stands between two places, and stand there."""
        before, after = self._lines[start.line][: start.letter], self._lines[end.line][end.letter :]
        self._lines[start.line : end.line + 1] = [before + after]
        self._line, self._letter = start.line, start.letter

    def _delete(self, step: int) -> None:
        """Take out the letter before the cursor (-1) or behind it (+1), line ends as well."""
        here = self.cursor
        self._step(step)
        first, last = sorted((here, self.cursor), key=lambda spot: (spot.line, spot.letter))
        self._cut(first, last)

    def _word_start(self) -> Spot:
        before = self._lines[self._line][: self._letter].rstrip(" ")
        return Spot(self._line, before.rfind(" ") + 1)

    def _line_end(self) -> Spot:
        return Spot(self._line, len(self._lines[self._line]))


PAGE = 10  # lines

_EDITS: Mapping[str, Callable[[Editor], None]] = {
    "enter": lambda it: it.insert("\n"),
    "tab": lambda it: it.insert("\t"),
    "left": lambda it: it._step(-1),  # noqa: SLF001 - the table of its own methods
    "right": lambda it: it._step(+1),  # noqa: SLF001
    "up": lambda it: it._go(it._line - 1, it._letter),  # noqa: SLF001
    "down": lambda it: it._go(it._line + 1, it._letter),  # noqa: SLF001
    "pageup": lambda it: it._go(it._line - PAGE, it._letter),  # noqa: SLF001
    "pagedown": lambda it: it._go(it._line + PAGE, it._letter),  # noqa: SLF001
    "home": lambda it: it._go(it._line, 0),  # noqa: SLF001
    "c-a": lambda it: it._go(it._line, 0),  # noqa: SLF001
    "end": lambda it: it._go(it._line, len(it._lines[it._line])),  # noqa: SLF001
    "c-e": lambda it: it._go(it._line, len(it._lines[it._line])),  # noqa: SLF001
    "backspace": lambda it: it._delete(-1),  # noqa: SLF001
    "delete": lambda it: it._delete(+1),  # noqa: SLF001
    "c-u": lambda it: it._cut(Spot(it._line, 0), it.cursor),  # noqa: SLF001
    "c-k": lambda it: it._cut(it.cursor, it._line_end()),  # noqa: SLF001
    "c-w": lambda it: it._cut(it._word_start(), it.cursor),  # noqa: SLF001
}
EDITOR_KEYS = frozenset(_EDITS)
