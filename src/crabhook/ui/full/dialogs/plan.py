"""The dialog for a plan: notes on its lines, a denial made of them, what changed since another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.present.plan import LABELS, denial_of, denied_before, plan_of
from crabhook.present.safe import EMPTY_SHOWN
from crabhook.ui.full.dialog import Go, always, closes, group, row
from crabhook.ui.full.dialogs.help import KEYS_AND_LEAVE
from crabhook.ui.full.dialogs.page import (
    ARMED,
    BEGIN,
    COPY,
    FAR_AWAY,
    FREE,
    LOOKING,
    QUIT,
    SCROLLING,
    WHOLE,
    ScreenPage,
)
from crabhook.ui.full.dialogs.prompts import Purpose, YesPage, ask_and_keep
from crabhook.ui.full.effects import Effects, Give, Say, reveal
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.text.code import Mark, mark_rows, marks_of, plain_rows, quoted
from crabhook.ui.text.diff import unified_rows
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, hung, page

MOST_LINES = 5_000  # of a plan to go through; nobody reads a longer plan line by line


class PlanNotes:
    """Notes on a plan's lines; the stop behind the last line has the note on the whole plan."""

    def __init__(self, plan: str) -> None:
        self.plan = plan
        self.at = 0
        self._notes: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<PlanNotes {self.count} on {len(self.lines)} lines>"

    @cached_property
    def lines(self) -> Sequence[Mark]:
        """The plan's lines; where a plan is too long, the last line holds the rest."""
        return list(islice(marks_of(self.plan), MOST_LINES))

    def folded(self, place: int, sheet: Sheet) -> Mark | None:
        """Return a line as shown, with runs of blanks folded; None if a mark before counts it."""
        line, began = self.lines[place], self._empty.get(place)
        if began is None or not sheet.folds:
            return replace(line, text=sheet.fold(line.text), words=sheet.fold(line.words))
        if began != place:
            return None
        count = sum(begins == began for begins in self._empty.values())
        mark = sheet.fold("\n" * count).rstrip("\n")
        return replace(line, text=mark, words=mark, head="")

    @cached_property
    def _empty(self) -> Mapping[int, int]:
        begins_at: dict[int, int] = {}
        begins = 0
        for place, line in enumerate(self.lines):
            if line.text.strip():
                begins = place + 1
            elif place - begins >= EMPTY_SHOWN:
                begins_at |= dict.fromkeys((place, *range(begins, begins + EMPTY_SHOWN)), begins)
        return begins_at

    @property
    def whole(self) -> bool:
        """Whether the operator can go to every line of the plan."""
        return len(self.lines) < MOST_LINES

    def move(self, step: int) -> None:
        """Stand on another line that is not blank; a long way leads to an end."""
        last = len(self.lines)
        if abs(step) > last:
            self.at = 0 if step < 0 else last
            return
        ways = range(self.at + step, last + 1 if step > 0 else -1, step)
        self.at = next((at for at in ways if at == last or self.lines[at].text.strip()), self.at)

    def note_at(self, place: int) -> str:
        """Return the note on a line, or on the whole plan."""
        return self._notes.get(place, "")

    def write(self, text: str) -> None:
        """Note this on the operator's line; an empty text takes the note back."""
        self._notes.pop(self.at, None)
        if text.strip():
            self._notes[self.at] = text.strip()

    @property
    def count(self) -> int:
        """How many notes there are."""
        return len(self._notes)

    def reason(self) -> str:
        """Return the denial's reason: each line that has a note, quoted, and the note."""
        return denial_of([line.text for line in self.lines], self._notes)


class PlanWork:
    """The notes on a card's plan, and the plan that was denied before it."""

    def __init__(self, _: Card, desk: Replica) -> None:
        self._desk = desk
        self._notes: PlanNotes | None = None
        self._before: str | None = None

    def notes(self, card: Card) -> PlanNotes | None:
        """Return the notes on the plan, if there is one; a plan that changed has none."""
        plan = plan_of(card)
        if self._notes is None or self._notes.plan != plan:
            self._notes = PlanNotes(plan) if plan else None
        return self._notes

    def before(self, card: Card) -> str:
        """Return the plan that was denied before; empty where none was."""
        if self._before is None:
            self._before = denied_before(card, self._desk)
        return self._before


def notes_of(screen: Screen) -> PlanNotes | None:
    """Return the notes on the selected card's plan, if it asks about one."""
    card = screen.card
    return None if card is None else screen.work.begun(card, PlanWork).notes(card)


def plan_before(screen: Screen) -> str:
    """Return the plan that was denied before the selected card's plan, or nothing."""
    card = screen.card
    return "" if card is None else screen.work.begun(card, PlanWork).before(card)


def begin(notes: PlanNotes) -> Effects:
    """Go into the plan, to its lines."""
    return Go(), Go(NotesPage), reveal(notes.at)


def note(notes: PlanNotes) -> Effects:
    """Type a note on the line."""
    return (ask_and_keep(Purpose.NOTE_ON_PLAN, notes.write, notes.note_at(notes.at), LABELS),)


def send(card: Card, notes: PlanNotes) -> Effects:
    """Show the denial that the notes make, to be confirmed."""
    if not notes.count:
        return (Say("there is no note yet: c makes one on the marked line"),)

    def deny() -> Effects:
        return (Give(Decision(Verdict.DENY, reason=notes.reason())),)

    return (YesPage(lambda: denial_page(card, notes), deny, card.number),)


def with_notes(
    do: Callable[[PlanNotes], Effects | None],
) -> Callable[[ScreenPage, str], Effects | None]:
    """Return the handler for the notes on the selected card's plan."""
    return lambda page, _: None if (notes := notes_of(page.screen)) is None else do(notes)


def _send(page: ScreenPage, _: str) -> Effects:
    notes = notes_of(page.screen)
    return () if page.card is None or notes is None else send(page.card, notes)


class NotesPage(ScreenPage):
    """The plan, line by line, while notes are made on it."""

    LETS_GO = True

    def move(self, step: int) -> Effects:
        """Go down a line of the plan, or up."""
        if (notes := notes_of(self.screen)) is None:
            return super().move(step)
        notes.move(step)
        return (reveal(notes.at),)

    def far(self, step: int) -> Effects:
        """Go to the first line, or behind the last."""
        return self.move(step * FAR_AWAY)

    # fmt: off
    KEYS = (
        group(KeyTheme.NOTES, lambda page: page.waits and notes_of(page.screen) is not None,
            row("c enter", "note…", "note on the marked line what to change there",
                ARMED, with_notes(note)),
            row("s", "send back with the notes…",
                "see what the agent will read, then send the plan back", BEGIN, _send),
            row("backspace delete", "take note back", "take the note on the line back",
                BEGIN, with_notes(lambda notes: notes.write("")))),
        LOOKING,
        group(KeyTheme.FIELDS, always,
            row("escape", "queue", "back to the queue, and keep the notes", FREE, closes)),
        *SCROLLING, WHOLE, COPY, KEYS_AND_LEAVE, QUIT,
    )
    # fmt: on


def _turn_changes(page: ScreenPage, _: str) -> None:
    page.screen.work.changes.turn(page.card)


# fmt: off
WHAT_CHANGED = row("v", "what changed", "the changes since the plan denied before, or the plan",
    FREE, _turn_changes)
# fmt: on


def has_changes(page: ScreenPage) -> bool:
    """Whether the selected card has a plan, and its agent had one denied before."""
    return notes_of(page.screen) is not None and bool(plan_before(page.screen))


def notes_content(card: Card, notes: PlanNotes) -> Content:
    """Return the plan line by line, the notes below their lines, and the note on the whole plan."""

    def item(place: int) -> Item:
        here, note = notes.at == place, notes.note_at(place)
        key = (card.number, "note", place, here, note)
        return Item(key, lambda sheet: _line(notes, place, sheet, here=here))

    return Content((card.number, "notes", len(notes.plan)), len(notes.lines) + 1, item)


def _line(notes: PlanNotes, place: int, sheet: Sheet, *, here: bool) -> Iterator[Line]:
    head = "▸" if here else " "
    if place < len(notes.lines):
        shown = notes.folded(place, sheet)
        for begins, row in mark_rows(shown, sheet.inner.less(1)) if shown else ():
            yield [("mark", head if begins else " "), *next(framed([(begins, row)]))]
    else:
        if not notes.whole:
            yield [("warning", " the plan is longer: note on the rest here")]
        yield [("mark", head), ("label", "on the whole plan")]
    if note := notes.note_at(place):
        rows = plain_rows(note, sheet.less(8), style="noted", words=True)
        yield from hung("  note: ", rows, "noted")


def denial_page(card: Card, notes: PlanNotes) -> Content:
    """Return exactly what the model would read of a plan rejected with notes."""
    reason = notes.reason()

    def rows(sheet: Sheet) -> Iterator[Line]:
        yield [("heading", "the plan is denied, and the model reads:")]
        yield from quoted(reason, sheet, words=True)

    return page((card.number, "denial"), rows, reason)


def changes_page(card: Card, before: str, plan: str) -> Content:
    """Return what changed since the last plan."""

    def rows(sheet: Sheet) -> Iterator[Line]:
        yield [("label", "changed since the last plan")]
        if before == plan:
            yield [("warning", "nothing changed: it is the same plan again")]
        else:
            yield from framed(unified_rows(before, plan, sheet.inner))

    return page((card.number, "changes"), rows, (len(plan), len(before)))
