"""A text being edited, drawn line by line, and the difference that it would make."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from crabhook.ui.full.code import plain_rows, wrap_line
from crabhook.ui.full.detail import Item
from crabhook.ui.full.diff import edit_rows
from crabhook.ui.full.edits import Edit
from crabhook.ui.full.framed import framed
from crabhook.ui.full.letters import Speller
from crabhook.ui.full.paper import Line, Sheet
from crabhook.ui.safe import TAB

_CURSOR = "cursor"
_AGAINST = "! the rules are against it as you changed it; after a yes you are asked again:"
_ANYWAY = "! SEND IT ALL THE SAME? The rules are against it:"


@dataclass(frozen=True, slots=True)
class EditContent:
    """The lines of the text, the cursor standing out in one of them."""

    edit: Edit

    @property
    def key(self) -> Hashable:
        """The edit of which card."""
        return self.edit.number, "edit"

    @property
    def count(self) -> int:
        """An item a line."""
        return len(self.edit.editor.lines)

    def item(self, place: int) -> Item:
        """Return a line."""
        editor = self.edit.editor
        text = editor.lines[place]
        letter = editor.cursor.letter if editor.cursor.line == place else None
        return Item(
            (self.edit.number, "edit", text, letter), lambda sheet: _line_rows(text, letter, sheet)
        )

    def cursor_place(self, sheet: Sheet) -> tuple[int, int]:
        """Return the cursor's item and its row in it."""
        here = self.edit.editor.cursor
        rows = _line_rows(self.edit.editor.lines[here.line], here.letter, sheet)
        found = (place for place, row in enumerate(rows) if any(span[0] == _CURSOR for span in row))
        return here.line, next(found, 0)


def _line_rows(text: str, letter: int | None, sheet: Sheet) -> Iterator[Line]:
    line: Line = [("", _shown(text, sheet.spell))]
    if letter is not None:
        before, here, after = text[:letter], text[letter : letter + 1] or " ", text[letter + 1 :]
        parts = (("", before), (_CURSOR, here), ("", after))
        line = [(style, _shown(part, sheet.spell)) for style, part in parts if part]
    yield from framed((place == 0, row) for place, row in enumerate(wrap_line(line, sheet.inner)))


def _shown(text: str, spell: Speller) -> str:
    return spell(text.replace("\t", TAB))


@dataclass(frozen=True, slots=True)
class DifferenceContent:
    """What an edit takes out of what the agent sent and puts in, and what the rules say to it.

    `against`: what a denial or a protected place says.  `again`: the operator
    has said yes to that once, and is asked a second time.
    """

    number: int
    subject: str
    old: str
    new: str
    against: tuple[str, ...] = ()
    again: bool = False

    @property
    def key(self) -> Hashable:
        """The difference itself, so that another one has to be looked at anew."""
        return self.number, "difference", self.new, self.against, self.again

    @property
    def count(self) -> int:
        """One item: it is read as a whole."""
        return 1

    def item(self, _place: int) -> Item:
        """Return the difference."""
        return Item((self.key, self.old), self._rows)

    def _rows(self, sheet: Sheet) -> Iterator[Line]:
        if self.against:
            yield [("warning", _ANYWAY if self.again else _AGAINST)]
            for said in self.against:
                rows = plain_rows(said, sheet.inner, sheet.spell, style="warning", words=True)
                yield from framed(rows)
        yield [("heading", f"the {self.subject} as it will be sent")]
        yield from framed(edit_rows(self.old, self.new, sheet.inner, sheet.spell))
