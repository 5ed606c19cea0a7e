"""The operator's text input, of one line or of several, each a prompt_toolkit Buffer.

The law of this file: typed, pasted or yanked text loses every letter that a terminal would act on.
A text that was there from the start stays, letter for letter, until it is deleted.
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import ClassVar, TypeAlias, cast

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.clipboard import ClipboardData, InMemoryClipboard
from prompt_toolkit.key_binding import KeyPressEvent
from prompt_toolkit.key_binding.bindings.named_commands import get_by_name
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.selection import PasteMode

LONGEST_LINE = 20_000  # letters, so that a slip of the clipboard cannot fill the screen's memory
LONGEST_TEXT = 1_000_000  # letters; a longer text is for another editor than this one
KEPT_LINES = 100  # earlier lines
UNDONE_STEPS, UNDONE_LETTERS = 100, 4_000_000  # kept of one text, for undo
YANKED = 10  # texts that were cut, kept for yank
PAGE = 10  # lines


_Command: TypeAlias = Callable[[KeyPressEvent], object]


def _named(**names: str) -> Mapping[str, _Command]:
    """Return prompt_toolkit's commands by key; each has the name that readline gave it."""
    return {key.replace("_", "-"): get_by_name(name).handler for key, name in names.items()}


def _on_buffer(do: Callable[[Buffer], object]) -> _Command:
    return lambda event: do(event.current_buffer)


def _go(buffer: Buffer, letters: int) -> None:
    buffer.cursor_position += letters  # over the end of a line too, as `cursor_left` does not


_UNDO: _Command = get_by_name("undo").handler
_LINE_COMMANDS: Mapping[str, _Command] = {
    **_named(
        home="beginning-of-buffer",
        c_a="beginning-of-buffer",
        end="end-of-buffer",
        c_e="end-of-buffer",
        c_left="backward-word",
        c_right="forward-word",
        backspace="backward-delete-char",
        delete="delete-char",
        c_u="unix-line-discard",
        c_k="kill-line",
        c_w="unix-word-rubout",
        c_y="yank",
    ),
    "left": _on_buffer(lambda buffer: _go(buffer, -1)),
    "right": _on_buffer(lambda buffer: _go(buffer, +1)),
    "c-z": _UNDO,
    "c-_": _UNDO,
}
_TEXT_COMMANDS: Mapping[str, _Command] = {
    **_LINE_COMMANDS,
    **_named(
        home="beginning-of-line", c_a="beginning-of-line", end="end-of-line", c_e="end-of-line"
    ),
    **_named(c_home="beginning-of-buffer", c_end="end-of-buffer"),
    "enter": _on_buffer(lambda buffer: buffer.insert_text("\n")),
    "tab": _on_buffer(lambda buffer: buffer.insert_text("\t")),
    "up": _on_buffer(Buffer.cursor_up),
    "down": _on_buffer(Buffer.cursor_down),
    "pageup": _on_buffer(lambda buffer: buffer.cursor_up(PAGE)),
    "pagedown": _on_buffer(lambda buffer: buffer.cursor_down(PAGE)),
}
LINE_KEYS, TEXT_KEYS = frozenset(_LINE_COMMANDS), frozenset(_TEXT_COMMANDS)


def _behind_the_last_letter(text: str) -> int:
    """Return where a person begins to edit: what they add leaves a last line end where it is."""
    return len(text.rstrip("\n"))


class _Input(Buffer):
    """A text and a cursor in it: what passes `clean` is let in, and what undo keeps is bounded."""

    commands: ClassVar[Mapping[str, _Command]]
    longest: ClassVar[int]

    def __init__(self, text: str) -> None:
        super().__init__(multiline=True)
        self.text = text
        self.cursor_position = _behind_the_last_letter(text)
        self._cut = InMemoryClipboard(max_size=YANKED)
        self._last = ""

    @staticmethod
    def clean(text: str) -> str:
        """Return what may be let in of a text that is typed, pasted or yanked."""
        raise NotImplementedError

    def insert_text(
        self,
        data: str,
        overwrite: bool = False,  # noqa: FBT001, FBT002 - as in the class it is
        move_cursor: bool = True,  # noqa: FBT001, FBT002 - as above
        fire_event: bool = True,  # noqa: FBT001, FBT002 - as above
    ) -> None:
        """Insert text at the cursor, as much of it as is allowed."""
        seen = self.clean(data)[: max(self.longest - len(self.text), 0)]
        super().insert_text(seen, overwrite, move_cursor, fire_event)

    def paste_clipboard_data(
        self, data: ClipboardData, paste_mode: PasteMode = PasteMode.EMACS, count: int = 1
    ) -> None:
        """Put in what was cut: it may have been there from the start, and is filtered now."""
        del paste_mode
        before = self.document
        self.insert_text(data.text * count)
        self.document_before_paste = before

    def save_to_undo_stack(self, clear_redo_stack: bool = True) -> None:  # noqa: FBT001, FBT002 - as above
        """Keep the text for undo, and forget the oldest beyond the bounds."""
        super().save_to_undo_stack(clear_redo_stack)
        kept = self._undo_stack
        while len(kept) > UNDONE_STEPS or sum(len(text) for text, _ in kept) > UNDONE_LETTERS:
            del kept[0]

    def insert(self, text: str) -> None:
        """Put pasted text in at the cursor; what cannot be seen is left out."""
        self.save_to_undo_stack()
        self.insert_text(text)
        self._last = ""

    def press(self, key: str) -> bool:
        """Take in a key of editing; return whether it was one. Undo takes letters back at once."""
        command = self.commands.get(key)
        if command is None and len(key) != 1:
            return False
        went_on = command is None and len(self._last) == 1
        if command is not _UNDO and not went_on:
            self.save_to_undo_stack()
        if command is None:
            self.insert_text(key)
        else:  # what commands read of a press: there is no application that runs them
            app = SimpleNamespace(clipboard=self._cut, output=DummyOutput())
            again = key == self._last
            press = SimpleNamespace(current_buffer=self, app=app, arg=1, is_repeat=again)
            command(cast("KeyPressEvent", press))
        self._last = key
        return True


class LineInput(_Input):
    """A line being typed; a line break becomes a space.

    `history` has earlier lines, newest last.
    """

    commands = _LINE_COMMANDS
    longest = LONGEST_LINE

    def __init__(self, history: list[str], text: str = "") -> None:
        super().__init__(text)
        self._history = history
        self._lines = [*history, text]
        self._line = len(self._lines) - 1

    @staticmethod
    def clean(text: str) -> str:
        """Return the letters that can be seen, on one line."""
        spaced = text.replace("\n", " ").replace("\t", " ")
        return "".join(letter for letter in spaced if letter.isprintable())

    def replace(self, text: str) -> None:
        """Put another text in place of the line."""
        self.save_to_undo_stack()
        self.text = ""
        self.insert_text(text)

    def recall(self, step: int) -> None:
        """Show the line typed before (-1) or after (+1) the line shown."""
        self._lines[self._line] = self.text
        self._line = min(max(self._line + step, 0), len(self._lines) - 1)
        self.text = self._lines[self._line]
        self.cursor_position = len(self.text)

    def leave(self) -> None:
        """Keep the line among those typed before, unless it is blank or the same as the last."""
        if self.text.strip() and self._history[-1:] != [self.text]:
            self._history.append(self.text)
            del self._history[:-KEPT_LINES]


class TextInput(_Input):
    """A text of several lines being edited."""

    commands = _TEXT_COMMANDS
    longest = LONGEST_TEXT

    @staticmethod
    def clean(text: str) -> str:
        """Return the letters that can be seen, and the line ends and tabs."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")

    def replace(self, text: str) -> None:
        """Replace the whole text, letter for letter."""
        self.save_to_undo_stack()
        self.text = text
        self.cursor_position = _behind_the_last_letter(text)
