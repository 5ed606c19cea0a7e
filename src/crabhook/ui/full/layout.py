"""One picture of the screen: status, queue, what is looked at, and the foot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crabhook.model.card import Card, FeedEntry, State
from crabhook.ui.cards.context import alarm_lines, below_rows
from crabhook.ui.cards.summary import outcome
from crabhook.ui.full.dialogs.edit import cursor_place
from crabhook.ui.full.dialogs.orders import orders_line
from crabhook.ui.full.dialogs.question import tab_line
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.keys import line_keys
from crabhook.ui.full.panes.card import OVER_THE_CARD, head_lines, help_line, view_of
from crabhook.ui.full.panes.help import empty_lines, offer_lines, palette_lines
from crabhook.ui.full.panes.rows import CardRow, WordsOfCards, card_row, feed_rows
from crabhook.ui.full.screen import Screen
from crabhook.ui.secrets import ASCII_COVER, COVER
from crabhook.ui.text.clock import Clock
from crabhook.ui.text.layout import Line, Sheet, clip_line, ends
from crabhook.ui.text.safe import safe
from crabhook.ui.text.width import Mask, cells, clip, own_ascii, safe_ascii, wrapped

LEAST_COLUMNS, LEAST_ROWS = 24, 7


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows each part of the screen gets."""

    queue: int
    detail: int
    feed: int
    ruled: bool


def divide(rows: int) -> Rows:
    """Divide so many rows; the parts never move while the size stays, whatever arrives."""
    queue = max((rows + 1) // 5, 1 if rows < 9 else 2)
    feed = 0 if rows < 16 else min(rows // 10, 6)
    ruled = rows >= 14
    detail = rows - queue - feed - (3 if ruled else 1) - 3  # status, notice and help
    return Rows(min(queue, 12), detail + max(queue - 12, 0), feed, ruled)


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the screen.

    `cursor` is the column and the row of the typing cursor.  `shows_card`
    tells whether the selected card, or the page keys act on, could be read.
    """

    lines: list[Line]
    cursor: tuple[int, int] | None = None
    shows_card: bool = False


class Painter:
    """Draws a screen, each time as it is then; only rows in view cost anything."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._ascii = screen.options.ascii
        self._bare = safe_ascii if screen.options.ascii else safe
        self._spell = Mask(self._bare, ASCII_COVER if screen.options.ascii else COVER)
        self._words = WordsOfCards(self._spell)

    def frame(self, columns: int, rows: int, clock: Clock) -> Frame:
        """Draw the screen at this size."""
        if columns < LEAST_COLUMNS or rows < LEAST_ROWS:
            return Frame(self._finish([[("warning", "too small to decide in")]], columns, rows))
        if self._screen.fills:
            return self._page(columns, rows, clock)
        parts = divide(rows)
        queue, more = self._queue(parts.queue, columns, clock)
        detail, shows_card = self._detail(parts.detail, columns, clock)
        foot, column = self._foot(columns, parts.feed, clock)
        lines = [self._status(columns, clock), *([_rule(columns)] if parts.ruled else [])]
        lines += [*queue, _rule(columns, more), *detail]
        lines += [_rule(columns, self._scrolled(detail))] if parts.ruled else []
        cursor = None if column is None else (column, len(lines))
        return Frame(self._finish([*lines, *foot], columns, rows), cursor, shows_card)

    def _page(self, columns: int, rows: int, clock: Clock) -> Frame:
        """Draw a page that fills the screen."""
        foot, column = self._foot(columns, 0, clock)
        detail, _ = self._detail(rows - len(foot) - 1, columns, clock)
        lines = [self._status(columns, clock), *detail]
        cursor = None if column is None else (column, len(lines))
        return Frame(self._finish([*lines, *foot], columns, rows), cursor)

    def _finish(self, lines: list[Line], columns: int, rows: int) -> list[Line]:
        """Return exactly so many lines, none too wide."""
        cut = [clip_line(line, columns) for line in _filled(lines, rows)]
        if self._ascii:
            cut = [[(style, own_ascii(text)) for style, text in line] for line in cut]
        return cut

    def _status(self, columns: int, clock: Clock) -> Line:
        screen = self._screen
        queue, sessions = screen.selection.queue, screen.desk.sessions()
        waiting, aside = len(queue.cards()), queue.aside
        wrong = " · ".join(screen.desk.troubles())
        left: Line = [
            ("warning", f" ! {clip(self._spell(wrong), columns // 3)} ·" if wrong else ""),
            ("", " "),
            *orders_line(screen.desk.orders(), clock, self._spell),
            ("title", "crabhook"),
            ("", " · "),
            ("count" if waiting else "", f"{waiting} waiting"),
            ("dim", f" · {aside} aside" if aside else ""),
            ("chosen", f" · {len(screen.marks)} marked" if screen.marks else ""),
            ("", f" · {sessions} session{'' if sessions == 1 else 's'}"),
        ]
        if screen.title:
            left += [("dim", f" · {self._spell(screen.title)}")]
        return ends(left, [("", f" {clock.of_day(clock.now)} ")], columns)

    def _queue(self, height: int, columns: int, clock: Clock) -> tuple[list[Line], str]:
        """Return the queue's rows, and what to say of those out of view."""
        if self._screen.focus.mode is Mode.PALETTE:
            return _filled(palette_lines(self._screen, height, columns), height), ""
        if self._screen.focus.offers:
            lines = offer_lines(self._screen, height, columns, self._spell)
            return _filled(lines, height), "the reasons you gave last, and your own"
        armed = self._screen.armed()
        window = self._screen.selection.window(height)
        lines = [
            card_row(self._standing(card, armed=armed), self._words.of(card), clock, columns)
            for card in window.cards
        ]
        counts = ((window.above, "above"), (window.below, "below"))
        more = " · ".join(f"{count} more {where}" for count, where in counts if count)
        return _filled(lines, height), more

    def _standing(self, card: Card, *, armed: bool) -> CardRow:
        screen, number = self._screen, card.number
        return CardRow(
            card,
            selected=screen.card is not None and number == screen.card.number,
            armed=armed,
            held=screen.answers.held(number),
            marked=number in screen.marks,
        )

    def _detail(self, height: int, columns: int, clock: Clock) -> tuple[list[Line], bool]:
        """Return the rows of what is looked at, and whether it is what keys act on."""
        screen = self._screen
        card, head = None if screen.alone else screen.card, []
        if card is not None:
            head = self._head(card, columns, clock)[: max(height - 2, 1)]
        room = height - len(head)
        view, below, body = view_of(screen), list[Line](), list[Line]()
        if card is None and not screen.alone:
            body = empty_lines(screen)
        else:
            sheet = self._sheet(columns)
            for below in self._below(room, sheet):  # what says least gives way to what is asked
                body = view.rows(sheet, room - len(below))
                if not (view.above or view.below):
                    break
            if screen.focus.mode is Mode.EDIT and screen.focus.edit:
                view.reveal_row(*cursor_place(screen.focus.edit, sheet))
                body = view.rows(sheet, room - len(below))
        lines = [*head, *([("", " "), *line] for line in [*body, *below])]
        return _filled(lines, height), room > 0 and (bool(head) or screen.alone)

    def _below(self, height: int, sheet: Sheet) -> Sequence[list[Line]]:
        """Return what may stand below what a card asks: all of it, or where that is long less."""
        screen, card = self._screen, self._screen.card
        if card is None or screen.alone or screen.focus.mode in OVER_THE_CARD:
            return ([],)
        stays, rest = below_rows(card, screen.work.surroundings.of(card), sheet)
        return [[], *stays, *rest][: height // 2], [*stays][: height // 2]

    def _sheet(self, columns: int) -> Sheet:
        """Return what a card is laid out on; its secrets are covered unless they are to be seen.

        Nobody can edit what is covered, or see what an edit changed in it.
        """
        screen = self._screen
        uncovered = screen.card is not None and screen.work.bare == screen.card.number
        bare = screen.focus.editing or uncovered
        return Sheet(columns - 2, self._bare if bare else self._spell)

    def _head(self, card: Card, columns: int, clock: Clock) -> list[Line]:
        screen, work, sheet = self._screen, self._screen.work, self._sheet(columns)
        standing = self._standing(card, armed=screen.armed())
        lines = [[("", " "), *line] for line in head_lines(standing, sheet, clock)]
        lines += alarm_lines(card, sheet)
        if card.state is State.WAITING and (error := work.forms.error(card)):
            lines.append([("warning", f" these questions cannot be read: {self._spell(error)}")])
        if message := work.messages.get(card.number):
            said = [("held", " goes with it, to the agent's user: "), ("", self._spell(message))]
            lines.append(said)
        if card.number in work.quiet:
            lines.append([("held", " goes with it: suppressOutput")])
        if screen.form is not None:
            lines.append(tab_line(screen.form, columns, self._spell))
        return lines

    def _scrolled(self, body: list[Line]) -> str:
        """Return what there is to see beyond the rows in view: above, below, and under a cover."""
        view = view_of(self._screen)
        covered = any(self._spell.cover in text for line in body for _, text in line)
        secret = ["secrets covered: s"] if covered and not self._ascii else []
        above, below = ["more above"] * view.above, ["more below"] * view.below
        paging = ["PgUp PgDn"] * (view.above or view.below)
        return " · ".join([*secret, *above, *below, *paging])

    def _foot(self, columns: int, feed: int, clock: Clock) -> tuple[list[Line], int | None]:
        """Draw what is typed or was just said, so many rows of what went by, and the keys for now.

        A notice that needs more than its row covers what went by, then the keys.
        Return with the rows the column of the typing cursor, which stands in the first of them.
        """
        screen = self._screen
        top: list[Line] = []
        cursor = None
        if screen.focus.field is not None and screen.focus.mode is not Mode.EDIT:
            typed, cursor = self._typed(columns)
            top.append(typed)
        if notice := screen.notice.text:
            rows = wrapped(notice, columns - 2, self._spell, words=True)
            top += [[("notice", f" {row}")] for row in rows]
        top = top[: feed + 2] or [[]]
        room = max(feed + 1 - len(top), 0)
        news = feed_rows(self._feed(room), clock, columns, room, self._spell)
        keys = help_line(line_keys(screen.key_context()), columns)
        return [*top, *_filled(news, room), keys][: feed + 2], cursor

    def _feed(self, count: int) -> list[FeedEntry]:
        """Return the last lines of what went by; what became of a card in words for people."""
        feed, lines = self._screen.desk.feed(), list[FeedEntry]()
        for entry in feed[max(len(feed) - count, 0) :]:
            card = None if entry.number is None else self._screen.desk.card(entry.number)
            if card is not None and card.outcome:
                said = entry.text.replace(card.outcome, outcome(card), 1)
                lines.append(replace(entry, text=said))
            else:
                lines.append(entry)
        return lines

    def _typed(self, columns: int) -> tuple[Line, int]:
        """Return the line being typed, as much of it as fits around its cursor."""
        typing, box = self._screen.focus.typing, self._screen.focus.field
        said, text, at = " :" if self._screen.focus.mode is Mode.PALETTE else " /", "", 0
        if box is not None:
            text, at = box.text, box.cursor_position
        if typing is not None:
            ended = typing.number is not None and self._screen.selection.ended
            said = f" {typing.ended_prompt if ended else typing.prompt}"
        prompt, before, after = self._spell(said), self._spell(text[:at]), self._spell(text[at:])
        room = columns - cells(prompt) - 2
        while cells(before) > max(room, 0):
            before = before[max((len(before) - room) // 2, 1) :]
        return [("prompt", prompt), ("typed", before + after)], cells(prompt) + cells(before)


def _filled(lines: list[Line], rows: int) -> list[Line]:
    """Return exactly so many lines, the last of them empty where there are fewer."""
    return [*lines[:rows], *([] for _ in range(rows - len(lines)))]


def _rule(columns: int, said: str = "") -> Line:
    words = f" {said} ──" if said else ""
    return [("rule", "─" * (columns - cells(words)) + words)]
