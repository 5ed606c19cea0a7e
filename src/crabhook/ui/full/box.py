"""The one-line input box: a line of the operator's own text, its cursor, and lines typed before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

LONGEST = 20_000  # letters, so that a slip of the clipboard cannot fill the screen's memory
KEPT = 100  # earlier lines


class History:
    """What was typed into boxes of one kind, the newest last."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __repr__(self) -> str:
        return f"<History {len(self._lines)} lines>"

    def keep(self, text: str) -> None:
        """Keep a line, unless it says nothing or is there already as the last."""
        if text.strip() and self._lines[-1:] != [text]:
            self._lines = [*self._lines, text][-KEPT:]

    def lines(self) -> tuple[str, ...]:
        """Return the lines kept."""
        return tuple(self._lines)


class Box:
    """A line being typed.  Letters a terminal would act on are never let in."""

    def __init__(self, history: History, text: str = "") -> None:
        self.text = text
        self.cursor = len(text)
        self._history = history
        self._lines = [*history.lines(), text]
        self._line = len(self._lines) - 1

    def __repr__(self) -> str:
        return f"<Box {self.text!r} at {self.cursor}>"

    def insert(self, text: str) -> None:
        """Put text in at the cursor; a line break becomes a space, what cannot be seen goes."""
        spaced = " ".join(text.split("\n")) if "\n" in text else text
        seen = "".join(letter for letter in spaced.replace("\t", " ") if letter.isprintable())
        seen = seen[: LONGEST - len(self.text)]
        self.text = self.text[: self.cursor] + seen + self.text[self.cursor :]
        self.cursor += len(seen)

    def replace(self, text: str) -> None:
        """Put another text in place of the line."""
        self.text, self.cursor = "", 0
        self.insert(text)

    def press(self, key: str) -> bool:
        """Take in a key of editing; return whether it was one."""
        edit = _EDITS.get(key)
        if edit is not None:
            edit(self)
        elif len(key) == 1:
            self.insert(key)
        return edit is not None or len(key) == 1

    def leave(self) -> str:
        """Return the text, and keep it among the lines typed before."""
        self._history.keep(self.text)
        return self.text

    def _cut(self, start: int, end: int) -> None:
        start, end = max(start, 0), min(end, len(self.text))
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start

    def _go(self, place: int) -> None:
        self.cursor = min(max(place, 0), len(self.text))

    def _word_start(self) -> int:
        before = self.text[: self.cursor].rstrip(" ")
        return before.rfind(" ") + 1

    def recall(self, step: int) -> None:
        """Show the line typed before (-1) or after (+1) the one shown."""
        self._lines[self._line] = self.text
        self._line = min(max(self._line + step, 0), len(self._lines) - 1)
        self.text = self._lines[self._line]
        self.cursor = len(self.text)


_EDITS: Mapping[str, Callable[[Box], None]] = {
    "left": lambda box: box._go(box.cursor - 1),  # noqa: SLF001 - the table of its own methods
    "right": lambda box: box._go(box.cursor + 1),  # noqa: SLF001
    "home": lambda box: box._go(0),  # noqa: SLF001
    "end": lambda box: box._go(len(box.text)),  # noqa: SLF001
    "c-a": lambda box: box._go(0),  # noqa: SLF001
    "c-e": lambda box: box._go(len(box.text)),  # noqa: SLF001
    "backspace": lambda box: box._cut(box.cursor - 1, box.cursor),  # noqa: SLF001
    "delete": lambda box: box._cut(box.cursor, box.cursor + 1),  # noqa: SLF001
    "c-u": lambda box: box._cut(0, box.cursor),  # noqa: SLF001
    "c-k": lambda box: box._cut(box.cursor, len(box.text)),  # noqa: SLF001
    "c-w": lambda box: box._cut(box._word_start(), box.cursor),  # noqa: SLF001
}
EDITING_KEYS = frozenset(_EDITS)


class Purpose(StrEnum):
    """What a line is typed for; its value is what the box says before it, `{}` whom it is about."""

    NOTE = "allow {}, and tell the model: "
    REASON = "deny {}, the model reads why: "
    INTERRUPT = "deny {} and end the turn, the model reads why: "
    KEEP_GOING = "keep {} going, tell it how to go on: "
    HALT = "stop the session of {}, its user reads why: "
    MESSAGE = "{}, a word to the agent's user, sent with your decision: "
    WORDS = "{}, in your own words: "
    REMARK = "{}, a note beside the answer: "
    FIELD = "{}, in this field: "
    NOTE_ON_PLAN = "{}, what to change here: "
    FOR_HOW_LONG = "{} for how long (30s, 10m, 2h): "
    KEEP_GOING_TIMES = "{}: how often (1 to 8), and tell it how to go on: "


# What is kept when it is entered, and goes with something that is sent later.
_KEPT = frozenset(
    {Purpose.MESSAGE, Purpose.WORDS, Purpose.REMARK, Purpose.FIELD, Purpose.NOTE_ON_PLAN}
)


@dataclass(frozen=True, slots=True)
class Typing:
    """A line being typed, whatever is selected or arrives meanwhile.

    `number` is the card it is about, None for a line about no single card;
    `subject` is whom the prompt names.  `then` is told the line when it is
    entered; what must not be empty says why in `needs`.
    """

    purpose: Purpose
    number: int | None
    box: Box
    then: Callable[[str], object]
    subject: str = ""
    needs: str = ""

    @property
    def keeps(self) -> bool:
        """Whether the line is only kept when it is entered."""
        return self.purpose in _KEPT

    @property
    def prompt(self) -> str:
        """What the box says before the line."""
        return self.purpose.value.format(self.subject or f"#{self.number}")

    @property
    def ended_prompt(self) -> str:
        """What it says once the card has ended."""
        return f"#{self.number} has ended, nothing will be sent: "
