"""A plan drawn: its lines and the notes on them, what changed since another, the denial itself."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from crabhook.broker.card import Card
from crabhook.ui.full.code import plain_rows
from crabhook.ui.full.detail import Item
from crabhook.ui.full.diff import unified_rows
from crabhook.ui.full.draw import request_rows
from crabhook.ui.full.framed import framed
from crabhook.ui.full.markdown import mark_rows
from crabhook.ui.full.paper import Line, Sheet
from crabhook.ui.full.plans import PlanNotes

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class NotesContent:
    """The plan line by line, the notes below their lines, and the note on the whole plan."""

    card: Card
    notes: PlanNotes

    @property
    def key(self) -> Hashable:
        """The notes on which card."""
        return self.card.number, "notes", len(self.notes.plan)

    @property
    def count(self) -> int:
        """The lines, and the note on the whole."""
        return len(self.notes.lines) + 1

    def item(self, place: int) -> Item:
        """Return a line with its note, or the note on the whole."""
        here, note = self.notes.at == place, self.notes.note_at(place)
        return Item(
            (self.card.number, "note", place, here, note),
            lambda sheet: self._line(sheet, place, here=here),
        )

    def _line(self, sheet: Sheet, place: int, *, here: bool) -> Iterator[Line]:
        head = "▸" if here else " "
        if place < len(self.notes.lines):
            mark = self.notes.lines[place]
            for begins, row in mark_rows(mark, sheet.inner - 1, sheet.spell):
                yield [("mark", head if begins else " "), *next(framed([(begins, row)]))]
        else:
            if not self.notes.whole:
                yield [("warning", " the plan is longer: note on the rest here")]
            yield [("mark", head), ("label", "on the whole plan")]
        if note := self.notes.note_at(place):
            yield from _note(note, sheet)


def _note(note: str, sheet: Sheet) -> Iterator[Line]:
    rows = plain_rows(note, sheet.columns - 8, sheet.spell, style="noted", words=True)
    for place, (_, row) in enumerate(rows):
        yield [("noted", "  note: " if place == 0 else " " * 8), *row]


@dataclass(frozen=True, slots=True)
class DenialContent:
    """Exactly what the model would read of a plan rejected with notes."""

    card: Card
    notes: PlanNotes

    @property
    def key(self) -> Hashable:
        """The denial of which card."""
        return self.card.number, "denial"

    @property
    def count(self) -> int:
        """One item: it is read as a whole."""
        return 1

    def item(self, _place: int) -> Item:
        """Return the denial."""
        return Item((self.card.number, "denial", self.notes.reason()), self._rows)

    def _rows(self, sheet: Sheet) -> Iterator[Line]:
        yield [("heading", "the plan is denied, and the model reads:")]
        yield from framed(plain_rows(self.notes.reason(), sheet.inner, sheet.spell, words=True))


@dataclass(frozen=True, slots=True)
class ChangesContent:
    """What changed since the plan that was denied before, then the request in full."""

    card: Card
    before: str
    plan: str

    @property
    def key(self) -> Hashable:
        """The changes of which card."""
        return self.card.number, "changes"

    @property
    def count(self) -> int:
        """One item: it is read as a whole."""
        return 1

    def item(self, _place: int) -> Item:
        """Return the changes and the request."""
        return Item((self.key, len(self.plan), len(self.before)), self._rows)

    def _rows(self, sheet: Sheet) -> Iterator[Line]:
        yield [("label", "since the plan that was denied before")]
        if self.before == self.plan:
            yield [("warning", "nothing changed: it is the same plan again")]
        else:
            yield from framed(unified_rows(self.before, self.plan, sheet.inner, sheet.spell))
        yield []
        yield [("label", "the request in full")]
        yield from request_rows(self.card, sheet)
