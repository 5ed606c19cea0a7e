"""The two views beside the queue: the live sessions, and the history of ended cards.

The law of this file: a selected row is known by name, not by place, so news moves nothing.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from crabhook.desk.commands import AskEntry, AskHistory, Outcome
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Past
from crabhook.present.past import is_wanted

Row = TypeVar("Row")


class Listing(Generic[Row]):
    """Rows to choose from, and which of them is selected.

    `rows` returns all of them, in their order; `key` what names one.
    """

    def __init__(self, rows: Callable[[], Sequence[Row]], key: Callable[[Row], Hashable]) -> None:
        self.rows, self.key = rows, key
        self._key: Hashable = None
        self._place = self._top = 0
        self._scrolled = False  # away from the selected row, until another one is selected
        self.page = 10  # rows that were in view last

    def place(self) -> int:
        """Return the place of the selected row; of a row that has gone, the place that it had."""
        rows = self.rows()
        here = (at for at, row in enumerate(rows) if self.key(row) == self._key)
        self._place = next(here, max(min(self._place, len(rows) - 1), 0))
        return self._place

    @property
    def chosen(self) -> Row | None:
        """The selected row; None if there is none."""
        rows = self.rows()
        return rows[self.place()] if rows else None

    def move(self, step: int) -> None:
        """Stand on another row; the first and the last are ends."""
        if rows := self.rows():
            self._place = max(min(self.place() + step, len(rows) - 1), 0)
            self._key, self._scrolled = self.key(rows[self._place]), False

    def choose(self, key: Hashable) -> None:
        """Select the row of that name, if it still exists."""
        at = next((at for at, row in enumerate(self.rows()) if self.key(row) == key), None)
        if at is not None:
            self.move(at - self.place())

    def scroll(self, step: int) -> None:
        """Show rows further down, or up; the row stood on stays."""
        self._scrolled, self._top = True, self._top + step

    def window(self, height: int) -> tuple[Sequence[tuple[Row, bool]], int, int]:
        """Return the rows in view, whether each is stood on, and how many are above and below."""
        rows, place = self.rows(), self.place()
        self.page = max(height - 1, 1)
        top = self._top if self._scrolled else max(min(self._top, place), place - height + 1)
        top = self._top = max(min(top, len(rows) - height), 0)
        shown = [(row, at == place) for at, row in enumerate(rows[top : top + height], top)]
        return shown, top, max(len(rows) - top - height, 0)


AT_ONCE = 5_000  # entries that are looked at before the operator goes on
AGAIN_AFTER = 1.0  # seconds between two looks for news


class HistoryList(Listing[Past]):
    """The ended cards read so far, newest first; `wanted` is the filter.

    Near its end the desk reads more. `whole` is the opened entry. `stale`: more has ended.
    """

    def __init__(self, desk: Replica) -> None:
        super().__init__(lambda: self._found, lambda entry: entry.id)
        self._desk = desk
        self._found: list[Past] = []
        self._turn = self._most = self.looked_at = 0
        self._newest: int | None = None
        self.stale, self._looked = False, 0.0
        self._ahead = 10
        self.reading = False
        self.goes_on = 0
        self.wanted = self.why = ""
        self.whole: Past | None = None

    # Reading it.

    def begin(self) -> None:
        """Read it again, from the newest."""
        self._turn, self._found, self.looked_at = self._turn + 1, [], 0
        self._key, self._place, self._top = None, 0, 0
        self._newest, self.stale, self.why = None, False, ""
        self._most, self._looked = AT_ONCE, self._desk.now()
        self._ask(0, self._take)

    def want(self, text: str) -> None:
        """Keep the entries that match the typed words."""
        if (wanted := text.strip()) != self.wanted:
            self.wanted = wanted
            self.begin()

    def move(self, step: int) -> None:
        """Stand on another row, and read on where that comes near the end."""
        super().move(step)
        self._most = self.looked_at + AT_ONCE
        self._read_on()

    def scroll(self, step: int) -> None:
        """Show entries further down, or up, and read on where that comes near the end."""
        super().scroll(step)
        self._most = self.looked_at + AT_ONCE
        self._read_on()

    def window(self, height: int) -> tuple[Sequence[tuple[Past, bool]], int, int]:
        """Return the rows in view; more is read where there is room for more."""
        if height > self._ahead:
            self._ahead = height
            self._read_on()
        return super().window(height)

    def look_again(self) -> None:
        """Read news, at most once in a moment."""
        now = self._desk.now()
        if self.stale and not self.reading and now - self._looked >= AGAIN_AFTER:
            self.stale, self._looked = False, now
            self._ask(0, self._take_new)

    def open(self) -> None:
        """Read the whole selected entry."""
        self.whole = None
        if (entry := self.chosen) is None:
            return

        def then(_: Outcome) -> None:
            if (read := self._desk.entry(entry.id)) is not None:
                self.whole = read

        self._desk.submit(AskEntry(entry.id), then)

    def _ask(self, before: int, take: Callable[[int, str], None]) -> None:
        turn, self.reading = self._turn, True

        def then(outcome: Outcome) -> None:
            if turn == self._turn:
                self.reading = False
                take(before, outcome.why)

        self._desk.submit(AskHistory(before), then)

    def _take(self, before: int, wrong: str) -> None:
        page = self._desk.page(before)
        self.why, self.goes_on = wrong or page.why, page.goes_on
        self.looked_at += len(page.entries)
        if self._newest is None:
            self._newest = max((entry.id for entry in page.entries), default=0)
        self._found += self._wanted(page.entries)
        if self._key is None:
            self.move(0)
        self._read_on()

    def _take_new(self, before: int, wrong: str) -> None:
        """Put new entries above the others, and changed entries in their place."""
        page, newest = self._desk.page(before), self._newest or 0
        if wrong or page.why:
            return
        if page.goes_on and all(entry.id > newest for entry in page.entries):
            self.begin()  # more is new than fits on a page
            return
        changed = {entry.id: entry for entry in page.entries}
        new = self._wanted([entry for entry in page.entries if entry.id > newest])
        self._found = [*new, *(changed.get(entry.id, entry) for entry in self._found)]
        self._newest = max((entry.id for entry in page.entries), default=newest)

    def _wanted(self, entries: Sequence[Past]) -> list[Past]:
        return [entry for entry in entries if is_wanted(entry, self.wanted)]

    def _read_on(self) -> None:
        near = len(self._found) - max(self._place, self._top) < 2 * self._ahead
        if near and self.goes_on and not self.reading and self.looked_at < self._most:
            self._ask(self.goes_on, self._take)
