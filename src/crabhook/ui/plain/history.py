"""`history` at the plain desk: what ended, the newest first, and one entry whole.

A number is that of its record, or of the end itself where no record is kept.
"""

from collections.abc import Callable, Iterator

from crabhook.desk.commands import AskEntry, AskHistory, Outcome
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Past
from crabhook.ui.cards.past import facts, is_wanted, line
from crabhook.ui.cards.summary import as_allowed, is_question
from crabhook.ui.plain.output import WHOLE_CHARACTERS, WHOLE_LINES
from crabhook.ui.plain.request import given_rows
from crabhook.ui.secrets import covered
from crabhook.ui.text.rows import Row, bounded

SHOWN = 20  # entries
LOOKED_AT = 5_000  # entries that one line looks through
_LONGEST = 400  # letters of a line


class Histories:
    """Prints what ended as soon as it has been read.  `wall` returns the wall clock."""

    def __init__(
        self, desk: Replica, say: Callable[[str], None], wall: Callable[[], float]
    ) -> None:
        self._desk, self._say, self._wall = desk, say, wall

    def follow(self, rest: str) -> None:
        """Print the last entries that tell what is wanted, or the entry of that number."""
        if rest.isdecimal():
            number = int(rest[:15])
            self._desk.submit(AskEntry(number), lambda _: self._tell(number))
        else:
            self._read(0, rest, [], 0)

    def _read(self, before: int, wanted: str, found: list[Past], looked: int) -> None:
        def then(outcome: Outcome) -> None:
            page = self._desk.page(before)
            found.extend(one for one in page.entries if is_wanted(one, wanted))
            seen, wrong = looked + len(page.entries), outcome.why or page.why
            if wrong or len(found) >= SHOWN or not page.goes_on or seen >= LOOKED_AT:
                more = bool(page.goes_on) or len(found) > SHOWN
                self._list(found[:SHOWN], wrong, more=more, looked=seen)
            else:
                self._read(page.goes_on, wanted, found, seen)

        self._desk.submit(AskHistory(before), then)

    def _list(self, found: list[Past], wrong: str, *, more: bool, looked: int) -> None:
        now = self._wall()
        lines = [Row(f"{one.id:>6}  ", line(one, now)).cut(_LONGEST).line for one in found]
        if wrong:
            lines.append(f"! {covered(wrong)}")
        elif not found:
            lines.append(
                "· nothing has ended yet" if not looked else f"· none of the last {looked}"
            )
        elif more:
            lines.append("· these are the newest; a filter finds older ones")
        self._say("\n".join(lines))

    def _tell(self, number: int) -> None:
        entry = self._desk.entry(number)
        if entry is None:
            self._say(f"! there is no entry {number}, or it is no longer kept; history lists them")
            return
        rows = bounded(_rows(entry), WHOLE_LINES, WHOLE_CHARACTERS)
        self._say("\n".join([f"history {number}", *(row.line for row in rows), ""]))


def _rows(entry: Past) -> Iterator[Row]:
    """Yield how an entry ended, what was asked, and what was allowed in its place."""
    for label, text in facts(entry):
        if text:
            yield Row(f"  {label}: " if label else "  ", text.replace("\n", " "))
    event, allowed = entry.card.event, as_allowed(entry.card)
    if allowed is not event:
        yield Row("  as it was answered:" if is_question(event) else "  as it was allowed:")
        yield from given_rows(allowed, WHOLE_CHARACTERS)
        yield Row("  as it was asked:")
    yield from given_rows(event, WHOLE_CHARACTERS)
