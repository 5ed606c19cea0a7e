"""How the sessions and the history are drawn: a row for each, and the selected row in full."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from crabhook.desk.updates import Past
from crabhook.model.event import Event
from crabhook.model.session import SessionView
from crabhook.present import past
from crabhook.present.body import body
from crabhook.present.card import card_document
from crabhook.present.document import Questions
from crabhook.present.phrases import Clock, ago
from crabhook.present.safe import Speller
from crabhook.present.sentence import MARKS
from crabhook.present.summary import (
    as_allowed,
    brief,
    called,
    is_question,
    machine,
    outcome,
    project,
)
from crabhook.ui.full.dialogs.lists import EntryPage, HistoryView, SessionsView
from crabhook.ui.full.panes.request import asked_rows
from crabhook.ui.full.panes.rows import QueueRow, machine_cell, machine_width
from crabhook.ui.full.panes.views import HistoryList
from crabhook.ui.full.screen import Screen
from crabhook.ui.text.code import field_rows, paragraph, quoted, value_rows
from crabhook.ui.text.layout import Content, Line, Sheet, ends, framed, page
from crabhook.ui.text.width import cells, clip, fit, in_words

_WIDE, _NARROW = 100, 60  # columns from which rows show more
_FATE, _WHOM = 15, 28  # cells at most


def session_lines(
    shown: Sequence[tuple[SessionView, bool]], now: float, columns: int, spell: Speller
) -> list[Line]:
    """Return a row for each session: whose it is, and what its main agent does."""
    places = [past.place_of(view, spell) for view, _ in shown]
    titles = [brief(view.title, spell) for view, _ in shown]
    machines = [brief(view.machine, spell) for view, _ in shown]
    most = 24 if columns >= _WIDE else 12
    widths = [min(max(map(cells, column), default=0), 16) for column in (titles, places)]
    machine_cells = machine_width(machines, most)
    rows: list[Line] = []
    for (view, here), host, *cells_of_text in zip(shown, machines, titles, places, strict=True):
        main = next((agent.doing for agent in view.agents if not agent.id), None)
        style = "selected" if here else ""
        cards = f"{len(view.waiting)} waiting" if view.waiting else ""
        names = " ".join(
            fit(text, width) for text, width in zip(cells_of_text, widths, strict=True)
        )
        behind = (
            ("warning", "SAME FILE" if view.shared else ""),
            ("count", past.waiting(view) if columns >= _WIDE else cards),
            ("dim", f"{ago(now - view.heard)} ago" if columns >= _NARROW else ""),
        )
        right: Line = [span for look, text in behind if text for span in (("", " "), (look, text))]
        left: Line = [
            ("mark", "▸" if here else " "),
            (style, f"{names} {machine_cell(host, machine_cells)}" if machine_cells else names),
            ("dim", f" {spell(view.session[: past.ID_SHOWN])} " if columns >= _NARROW else " "),
            (style, in_words(spell)(past.doing(main, now))),
        ]
        rows.append(ends(left, right, columns))
    return rows


def past_lines(
    shown: Sequence[tuple[Past, bool]], clock: Clock, columns: int, spell: Speller
) -> list[Line]:
    """Return a row for each entry: when and how it ended, what it was, and by whom."""
    times = [past.moment(entry.at, clock.wall) for entry, _ in shown]
    fates = [outcome(entry.card) for entry, _ in shown]
    places = [project(entry.card.event, spell) for entry, _ in shown]
    machines = [machine(entry.card.event, spell) for entry, _ in shown]
    machine_cells = machine_width(machines, 24 if columns >= _WIDE else 12)
    columns_of_text = (times, fates, places)
    most = (17, _FATE, 16 if columns >= _WIDE else 12 if columns >= _NARROW else 0)
    needed = (max(map(cells, each), default=0) for each in columns_of_text)
    widths = list(map(min, needed, most))
    rows: list[Line] = []
    for (entry, here), host, at, ended, place in zip(
        shown, machines, *columns_of_text, strict=True
    ):
        card, style = entry.card, "selected" if here else ""
        risk_look, risk = MARKS[card.risk.level]
        left: Line = [
            ("mark", "▸" if here else " "),
            ("dim", fit(at, widths[0]) + " "),
            ("dim" if card.decision is None else past.look(card), fit(ended, widths[1])),
            (risk_look, f" {risk:>2} "),
            (style, fit(place, widths[2]) + " " if widths[2] else ""),
            (style, machine_cell(host, machine_cells) + " " if machine_cells else ""),
            (style, called(as_allowed(card), spell)),
        ]
        right: Line = [("warning", " NOT DELIVERED")] if card.delivered is False else []
        if columns >= _NARROW:
            whom = brief(past.by_whom(entry), spell)
            right.append(("dim", f" {clip(whom, min(_WHOM, columns // 5))}" if whom else ""))
        rows.append(ends(left, right, columns))
    return rows


def view_rows(
    screen: Screen, height: int, columns: int, clock: Clock, spell: Speller
) -> tuple[list[QueueRow], int, int]:
    """Return the rows of a view that are seen, and how many are above and below them."""
    history, sessions = screen.history, screen.sessions
    names: list[Hashable]
    if isinstance(screen.stack.view, HistoryView):
        entries, above, below = history.window(height)
        names = [history.key(entry) for entry, _ in entries]
        lines = past_lines(entries, clock, columns, spell)
        nothing = _nothing(history, spell)
    else:
        live, above, below = sessions.window(height)
        names = [sessions.key(view) for view, _ in live]
        lines = session_lines(live, clock.now, columns, spell)
        nothing = "no session was heard of yet: agents are heard of by their hooks"
    if not names:
        return [QueueRow([("dim", f"   {nothing}")])], 0, 0
    return list(map(QueueRow, lines, names)), above, below


def _nothing(history: HistoryList, spell: Speller) -> str:
    if history.reading:
        return "reading…"
    if history.why:
        return brief(history.why, spell)
    if not history.wanted:
        return "nothing has ended yet"
    so_far = "" if not history.goes_on else " so far. ↓ looks further"
    return f"none of {history.looked_at} that ended tells that{so_far}"


def view_title(screen: Screen, spell: Speller) -> str:
    """Return the title of a view: its content and how much of it there is."""
    history = screen.history
    if not isinstance(screen.stack.view, HistoryView):
        return f"Sessions · {len(screen.sessions.rows())} live"
    count = f"{len(history.rows())}{'+' if history.goes_on else ''}"
    wanted = f" · /{spell(history.wanted)} {count} of {history.looked_at}" if history.wanted else ""
    wrong = f" · ! {brief(history.why, spell)}" if history.why else ""
    return f"History · newest first{wanted}{wrong}"


def view_content(screen: Screen) -> Content | None:
    """Return the whole of the selected row."""
    if isinstance(screen.stack.view, SessionsView):
        view = screen.sessions.chosen
        return None if view is None else _session(view, screen.desk.now())
    whole = screen.history.whole if isinstance(screen.stack.top, EntryPage) else None
    entry = whole or screen.history.chosen
    return None if entry is None else _entry(entry, whole=whole is not None)


def _session(view: SessionView, now: float) -> Content:
    paragraphs = (past.head(view, now), *past.details(view, now))

    def rows(sheet: Sheet) -> Iterator[Line]:
        for place, text in enumerate(paragraphs):
            yield from paragraph(text, sheet, "" if place else "heading")

    return page(("session", view.key), rows, paragraphs)


def _answers(event: Event, sheet: Sheet) -> Iterator[Line]:
    asked = next(iter(body(event).of(Questions)), None)
    if asked is None or asked.unreadable:
        yield from framed(value_rows(event.tool.input if event.tool else None, sheet.inner))
        return
    for question in asked.questions:
        yield from paragraph(question.text, sheet)
        options = " · ".join(option.label for option in question.options)
        answer = asked.answers.get(question.text)
        words = options if answer is None else f"answered: {answer}"
        style = "dim" if answer is None else "answered"
        yield from quoted(words, sheet, style=style, words=True) if words else ()


def _entry(entry: Past, *, whole: bool) -> Content:
    """Return an entry's end and its request: all of it, or the start."""

    def rows(sheet: Sheet) -> Iterator[Line]:
        card, style = entry.card, "heading"
        for label, text in past.facts(entry):
            if text:
                yield from paragraph(f"{label}: {text}" if label else text, sheet, style)
            style = ""
        asked, allowed = replace(card, decided=None), as_allowed(card)
        if is_question(allowed):
            yield from _answers(allowed, sheet)
            return
        if allowed is not card.event:
            yield [("label", "as it was allowed")]
            leg = replace(card.requests[0], event=allowed)
            allowed_alone = card_document(replace(asked, requests=(leg,)))
            yield from asked_rows(allowed_alone, sheet, whole=True)
            yield [("label", "as it was asked")]
        yield from asked_rows(card_document(asked), sheet, whole=True)
        if card.event.tool is None and not card.event.tells:
            yield [("label", brief(card.event.name, sheet.spell) or "an event")]
            yield from framed(field_rows(card.event.fields, sheet.inner))
        if not whole:
            yield [("dim", "enter: all of it")]

    return page(("entry", entry.id, whole), rows, entry.card.delivered)
