"""One picture of the screen: status, queue, card or page, and the foot."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field

from crabhook.datatypes import frozen
from crabhook.model.card import Card, FeedEntry, Level, State
from crabhook.model.errors import QuestionError
from crabhook.model.wording import plural
from crabhook.present.around import calls_before
from crabhook.present.cover import ASCII_COVER, COVER
from crabhook.present.phrases import Clock, ago
from crabhook.present.safe import FOLD, safe
from crabhook.present.sentence import (
    are_looking,
    by_another,
    held_elsewhere,
    looking_elsewhere,
    outlasting,
)
from crabhook.present.summary import as_allowed, is_question
from crabhook.ui.full.arming import Sight
from crabhook.ui.full.dialog import Dialog
from crabhook.ui.full.dialogs.edit import EditPage, cursor_place
from crabhook.ui.full.dialogs.help import Palette
from crabhook.ui.full.dialogs.lists import EntryPage, HistoryView, SessionsView
from crabhook.ui.full.dialogs.orders import orders_in_title, orders_line
from crabhook.ui.full.dialogs.page import COPY, WHOLE, View
from crabhook.ui.full.dialogs.prompts import InputLine, Menu, YesPage
from crabhook.ui.full.dialogs.question import form_of, read_form
from crabhook.ui.full.panes.around import below_rows
from crabhook.ui.full.panes.card import head_lines, tab_line, view_of
from crabhook.ui.full.panes.foot import foot_lines
from crabhook.ui.full.panes.help import empty_lines, offer_lines, palette_lines
from crabhook.ui.full.panes.rows import (
    CardRow,
    QueueRow,
    WordsOfCards,
    call_lines,
    only_marks,
    queue_rows,
    title_of,
)
from crabhook.ui.full.panes.viewed import view_rows, view_title
from crabhook.ui.full.screen import Screen
from crabhook.ui.text.layout import Detail, Line, Panel, Sheet, clip_line, ends, line_cells
from crabhook.ui.text.width import Mask, clip, in_words, own_ascii, safe_ascii

LEAST_COLUMNS, LEAST_ROWS = 24, 7
BESIDE = 140  # columns from which the queue is beside the card
_ROOMY = 20  # rows of the screen from which a command has a frame
_CARD_ROWS = 12  # rows that a card keeps, with the two edges of its panel, however many wait
_TITLE = 6  # the rank of the status line's least part
_MARGIN = 2  # columns of a panel that its card leaves free
_SIDES = 60  # columns from which a panel has sides
_PAGES: Mapping[type[Dialog], str] = {
    Menu: "Choose",
    YesPage: "Confirm",
    SessionsView: "The session",
    HistoryView: "The entry",
    EntryPage: "The entry, whole",
}


@frozen
class Rows:
    """How many rows each part of the screen has inside its panel.

    `ruled`: the queue has a panel. `beside`: the queue is beside the card, not above.
    """

    queue: int
    detail: int
    feed: int
    ruled: bool
    beside: bool = False


def divide(columns: int, rows: int, needed: int) -> Rows:
    """Divide so many rows: the queue gets the rows it needs, as far as the card keeps its own."""
    ruled = rows >= 14
    feed = 0 if rows < 16 else min(rows // 10, 6)
    body = rows - (3 if ruled else 2)  # without the status, the keys, and the queue's upper edge
    if ruled and columns >= BESIDE:
        return Rows(body - feed - 1, body - feed - 1, feed, ruled, beside=True)
    least = max((rows + 1) // 5, 1 if rows < 9 else 2)
    queue = min(max(needed, 1), max(min(rows * 2 // 3, body - _CARD_ROWS), least))
    feed = min(feed, max(body - queue - _CARD_ROWS, 0))
    return Rows(queue, body - queue - feed - 2, feed, ruled)


@frozen
class Frame:
    """One picture of the screen.

    `cursor` is the column and row of the typing cursor. `sight` is what keys can act on: nothing
    where the card or page is not readable. `named` gives the card, session or entry of each row of
    the view, which takes the first `queue_columns` columns.
    """

    lines: list[Line]
    cursor: tuple[int, int] | None = None
    sight: Sight = field(default_factory=Sight)
    named: Mapping[int, Hashable] = field(default_factory=dict)
    queue_columns: int = 0


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
            small = clip_line([("warning", "too small to decide in")], columns)
            return Frame(self._finish([small], rows))
        top = self._screen.stack.top
        if top.FILLS:
            return self._page(columns, rows, clock)
        calls = self._last_calls()
        parts = divide(columns, rows, self._needed(rows, calls))
        listed_keys = isinstance(top, Palette) or bool(_offers(top))
        queueing = listed_keys or (isinstance(top, View) and calls is None)
        sides = parts.ruled and columns >= _SIDES
        left = columns * 2 // 5 if parts.beside else columns
        queue = Panel(left, queueing, sides)
        card = Panel(columns - left if parts.beside else columns, not queueing, sides)
        named, listed, more = self._upper(parts.queue, queue.inner, clock, calls)
        view = view_of(self._screen)
        sheet = self._sheet(card.inner, roomy=rows >= _ROOMY)
        detail, shows_card = self._detail(view, parts.detail, sheet, clock)
        lower = card.edge(self._keys_below(), self._scrolled(view, detail))
        lines = [self._status(columns, clock)]
        lines += [queue.title([("", named)], more)] if parts.ruled else []
        first, above = len(lines), [queue.row(row.line) for row in listed]
        titled = self._titled(card.columns, clock, alone=calls is not None)
        title = card.title(*titled, "╭╮" if parts.beside else "├┤")
        looked_at = [title, *map(card.row, detail)]
        if parts.beside:
            above = [lines.pop(), *above]
            lines += [[*left_row, *other] for left_row, other in zip(above, looked_at, strict=True)]
            lower = [*queue.edge([], []), *lower]
        else:
            lines += [*above, *looked_at]
        foot, column = foot_lines(
            self._screen, Sheet(columns, self._spell), parts.feed, clock, lower
        )
        cursor = None if column is None else (column, len(lines))
        at = {first + place: row.name for place, row in enumerate(listed) if row.name is not None}
        readable = shows_card and not self._screen.desk.lost()
        sight = self._screen.sight() if readable else Sight()
        lines += [clip_line(line, columns) for line in foot]
        return Frame(self._finish(lines, rows), cursor, sight, at, left)

    def _needed(self, rows: int, calls: Sequence[FeedEntry] | None) -> int:
        """Return how many rows show all that the upper part has, of the screen's `rows`."""
        screen, top = self._screen, self._screen.stack.top
        if isinstance(top, Palette):
            return rows
        if offers := _offers(top):
            return len(offers)
        if screen.listing is None:
            return screen.selection.needed if calls is None else max(len(calls), 1)
        # an entry that is opened whole takes the room of the others
        return 1 if isinstance(top, EntryPage) else max(len(screen.listing.rows()), 1)

    def _page(self, columns: int, rows: int, clock: Clock) -> Frame:
        foot, column = foot_lines(self._screen, Sheet(columns, self._spell), 0, clock, [])
        view = view_of(self._screen)
        sheet = self._sheet(columns, roomy=rows >= _ROOMY)
        detail, _ = self._detail(view, rows - len(foot) - 1, sheet, clock)
        lines = [self._status(columns, clock), *detail]
        cursor = None if column is None else (column, len(lines))
        lines = [clip_line(line, columns) for line in (*lines, *foot)]
        return Frame(self._finish(lines, rows), cursor)

    def _finish(self, lines: list[Line], rows: int) -> list[Line]:
        """Return exactly so many lines; each was cut where it was made."""
        cut = _filled(lines, rows)
        if self._screen.desk.lost():  # all but the status line is of before, and the word of that
            for row, line in enumerate(cut[1:], 1):
                cut[row] = [(look if look == "notice" else "dim", text) for look, text in line]
        if self._ascii:
            cut = [[(style, own_ascii(text)) for style, text in line] for line in cut]
        return cut

    def _status(self, columns: int, clock: Clock) -> Line:
        screen = self._screen
        queue, sessions = screen.queue, screen.desk.sessions()
        desks = screen.desk.desks()
        waiting, aside, risky = queue.count, queue.aside, queue.levels[Level.DANGER]
        lost = screen.desk.lost()
        gone = "turned away" if screen.desk.refused() else "not connected"
        missing = (f"{gone}: {lost}",) if lost else ()
        wrong = " · ".join((*missing, *screen.desk.troubles()))
        oldest = ago(clock.now - screen.desk.waiting()[0].asked_at) if waiting else ""
        of_day, ours = clock.of_day(clock.now)[:5], in_words(self._spell)
        state = ours(screen.desk.house().amiss)
        parts: list[tuple[int, Line]] = [  # each with its rank: the highest goes first
            (0, [("", " "), *orders_line(orders_in_title(screen.desk), clock, self._spell)]),
            (2, [("title", "crabhook"), ("", "   " if columns >= _SIDES else " ")]),
            (0, [("count" if waiting else "", f"{waiting} waiting")]),
            (3, [("dim", f" · {aside} aside" if aside else "")]),
            (1, [("chosen", f" · {len(screen.marks)} marked" if screen.marks else "")]),
            (4, [("", f" · {plural(sessions, 'session')}")]),
            (4, [("dim", f" · {desks} desks" if desks > 1 else "")]),
            (0, [("danger", f" · {risky} ▲▲" if risky else "")]),
            (1, [("", f" · oldest {oldest}" if oldest else "")]),
            (_TITLE, [("dim", f" · {ours(screen.title)}" if screen.title else "")]),
        ]
        ends_with: list[tuple[int, Line]] = [
            (5, [("dim", f"  {state}  " if state else "")]),
            (1, [("", f" {of_day} ")]),
        ]
        if wrong:  # where short of room, the state of rules and record comes first
            taken = sum(line_cells(line) for rank, line in (*parts, *ends_with) if rank < _TITLE)
            room = columns - taken - len(" !  ·")
            room = min(room if room >= columns // 5 else columns, columns // 3)
            parts.insert(0, (0, [("warning", f" ! {clip(ours(wrong), room)} ·")]))
        left = right = Line()
        for most in range(_TITLE, -1, -1):
            left, right = (
                [span for rank, line in some if rank <= most for span in line]
                for some in (parts, ends_with)
            )
            if line_cells(left) + line_cells(right) <= columns:
                break
        return ends(left, right, columns)

    def _upper(
        self, height: int, columns: int, clock: Clock, calls: Sequence[FeedEntry] | None
    ) -> tuple[str, list[QueueRow], Line]:
        """Return the title of the upper part, its rows, and how many more there are."""
        screen, above, below = self._screen, 0, 0
        top = screen.stack.top
        if isinstance(top, Palette):
            title = "Commands"
            rows = [QueueRow(line) for line in palette_lines(screen, top, height, columns)]
        elif isinstance(top, InputLine) and top.offers:
            title = "Labels" if top.ask.labels else "The reasons you gave last, and your own"
            offered = offer_lines(top, height, columns, self._spell)
            rows = [QueueRow(line) for line in offered]
        elif screen.listing is not None:
            rows, above, below = view_rows(screen, height, columns, clock, self._spell)
            title = view_title(screen, self._bare)
        elif calls is not None:
            title = "What this session ran before"
            rows = [QueueRow(line) for line in call_lines(calls, clock, columns, self._spell)]
        else:
            window, queue = screen.selection.window(height), screen.queue
            above, below = window.above, window.below
            standings = [self._standing(card) for card in window.cards]
            rows = queue_rows(standings, self._words, window.heads, clock, columns)[:height]
            title = f"Queue · {queue.arranged}"
            if wanted := queue.arranged.wanted:
                title += f" · /{self._bare(wanted)} {len(queue.cards())} of {queue.count}"
        rows += [QueueRow([]) for _ in range(height - len(rows))]
        counts = ((above, "above"), (below, "below"))
        more = " · ".join(f"{count} more {where}" for count, where in counts if count)
        return title, rows, [("dim", more)] if more else []

    def _last_calls(self) -> Sequence[FeedEntry] | None:
        """Return what the only waiting card's session ran before; None where there is a queue.

        A queue of one row says no more than the card's title.
        """
        screen, queue = self._screen, self._screen.queue
        card = None if screen.listing is not None or screen.marks else screen.card
        if card is None or card.state is not State.WAITING or queue.arranged.wanted:
            return None
        alone = (queue.count, queue.aside) == (1, 0)
        return calls_before(card, screen.desk.feed()).calls if alone else None

    def _standing(self, card: Card) -> CardRow:
        screen, number = self._screen, card.number
        selected = screen.card is not None and number == screen.card.number
        held = screen.answers.held(number) or screen.answers.unconfirmed(number)
        return CardRow(
            screen.answers.given(card),
            selected=selected,
            armed=selected and screen.armed(),
            held=held,
            kept=outlasting(card.event, held.decision, self._spell) if held else "",
            marked=number in screen.marks,
            by=by_another(card, screen.desk, self._spell),
        )

    def _titled(self, columns: int, clock: Clock, *, alone: bool) -> tuple[Line, Line]:
        """Return the title of the large part: a page's, or a card's; `alone`: it has no row."""
        screen = self._screen
        if screen.alone or screen.card is None:
            return [("", _PAGES.get(type(screen.stack.top), ""))], []
        standing = self._standing(screen.card)
        title, right = title_of(standing, clock, self._spell, columns)
        return [("", only_marks(standing)), *title] if alone else title, right

    def _detail(
        self, view: Detail, height: int, sheet: Sheet, clock: Clock
    ) -> tuple[list[Line], bool]:
        """Return the rows of the large part, and whether keys act on what it shows."""
        screen = self._screen
        card, head = None if screen.alone else screen.card, []
        if card is not None:
            head = self._head(card, sheet, clock)[: max(height - 2, 1)]
        room = height - len(head)
        below, body = list[Line](), list[Line]()
        if card is None and not screen.alone:
            body = empty_lines(screen, sheet.columns - 1, room)
        else:
            for below in self._below(room, sheet):  # the request has room before the rest
                body = view.rows(sheet, room - len(below))
                if not (view.above or view.below):
                    break
            if isinstance(top := screen.stack.top, EditPage):
                view.reveal_row(*cursor_place(top.edit, sheet))
                body = view.rows(sheet, room - len(below))
        lines = [*head, *([("", " "), *line] for line in [*body, *below])]
        return _filled(lines, height), room > 0 and (bool(head) or screen.alone)

    def _below(self, height: int, sheet: Sheet) -> Sequence[list[Line]]:
        """Return what goes below the request: all of it, or less where the request is long."""
        screen, card = self._screen, self._screen.card
        if card is None or screen.alone or screen.stack.top.COVERS:
            return ([],)
        document = screen.document(card)
        as_given = document.card
        stays, rest = below_rows(document, sheet)
        if stays and as_allowed(as_given) is not as_allowed(card) and not is_question(card.event):
            when = "before your change" if as_given.risk is card.risk else "as you changed it"
            stays = [[("dim", f"its risk, {when}:")], *stays]
        # A risk stands right under what is asked.
        apart: list[Line] = [] if document.risk is not None else [[]]
        return [*apart, *stays, *rest][: height // 2], [*stays][: height // 2]

    def _sheet(self, columns: int, *, roomy: bool) -> Sheet:
        """Return the sheet for a card: it covers secrets and folds long runs of blanks.

        An edit shows everything: nobody can edit covered text.
        """
        screen = self._screen
        number = screen.card.number if screen.card is not None else 0
        edits = any(isinstance(dialog, EditPage) for dialog in screen.stack.dialogs)
        bare = edits or screen.work.bare.number == number
        folds = screen.work.unfolded.number != number
        return Sheet(columns - _MARGIN, self._bare if bare else self._spell, folds, roomy)

    def _head(self, card: Card, sheet: Sheet, clock: Clock) -> list[Line]:
        screen = self._screen
        work = screen.work.about(card)
        lines = [[("", " "), *line] for line in head_lines(self._standing(card), sheet, clock)]
        lines += [[("warning", f"  ! {sheet.spell(alarm)}")] for alarm in card.alarms]
        if held := held_elsewhere(card, screen.desk, self._spell):
            lines.append([("held", f" {held}")])
        others = looking_elsewhere(card.number, screen.desk)
        if card.state is State.WAITING and others:
            lines.append([("noted", f" {are_looking(others, self._spell)}")])
        form = screen.work.begun(card, read_form)
        if card.state is State.WAITING and isinstance(form, QuestionError):
            error = self._spell(str(form))
            lines.append([("warning", f" these questions cannot be read: {error}")])
        if work.message:
            message = self._spell(work.message)
            lines.append([("held", " goes with it, to the agent's user: "), ("", message)])
        if work.quiet:
            lines.append([("held", " goes with it: suppressOutput")])
        if (form := form_of(screen)) is not None and screen.answers_given(card) is None:
            lines.append(tab_line(form, sheet.columns + _MARGIN, self._spell))
        return lines

    def _keys_below(self) -> Line:
        """Return the keys on a card's lower edge: those that show what the card leaves out."""
        screen, keys = self._screen, Line()
        if screen.alone or screen.stack.top.COVERS:
            return keys
        for (row,), does in ((WHOLE.rows, "everything it sent"), (COPY.rows, "copy")):
            if screen.stack.top.row(row.shown) is row:
                keys += [("dim", "─ "), ("key", row.shown), ("dim", f" {does} ")]
        return keys

    def _scrolled(self, view: Detail, body: list[Line]) -> Line:
        """Return what is out of view: rows above, rows below, covered secrets."""
        covered = any(self._spell.cover in text for line in body for _, text in line)
        secret = ["secrets covered: R"] if covered and not self._ascii else []
        folded = any(FOLD.fullmatch(text) for line in body for _, text in line)
        secret += ["blanks folded: F"] if folded else []
        above, below = ["more above"] * view.above, ["more below"] * view.below
        paging = ["PgUp PgDn"] * (view.above or view.below)
        hints = " · ".join([*secret, *above, *below, *paging])
        return [("dim", hints)] if hints else []


def _offers(dialog: Dialog) -> Sequence[str]:
    """Return the reasons that are offered in the upper part."""
    return dialog.offers if isinstance(dialog, InputLine) else ()


def _filled(lines: list[Line], rows: int) -> list[Line]:
    return [*lines[:rows], *([] for _ in range(rows - len(lines)))]
