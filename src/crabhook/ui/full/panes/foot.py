"""The foot of the screen: the typed line or notice, the feed of events, the keys for now."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from crabhook.desk.replica import Replica
from crabhook.model.card import FeedEntry
from crabhook.present.phrases import Clock
from crabhook.present.safe import Speller
from crabhook.present.sentence import by_another
from crabhook.present.summary import (
    as_allowed,
    asked_label,
    is_question,
    machine,
    outcome,
    project,
    summary,
)
from crabhook.ui.full.dialog import KeyRow
from crabhook.ui.full.dialogs.help import Palette
from crabhook.ui.full.dialogs.prompts import InputLine, YesPage
from crabhook.ui.full.guard import held_against
from crabhook.ui.full.panes.card import view_of
from crabhook.ui.full.panes.rows import machine_cell, machine_width
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.text_input import LineInput
from crabhook.ui.text.layout import Line, Sheet, clip_line, line_cells
from crabhook.ui.text.width import cells, clip, fit, in_words, wrapped

_LOST = (
    "the server does not answer: the screen shows the past, and nothing can be decided. The desk "
    "connects again by itself. On the server's machine `crabhook status` says how it is, and "
    "`crabhook up` starts it. q leaves"
)
_REFUSED = (
    "{}: the server takes this desk no more, and nothing can be decided here. An admin of the "
    "team can invite you again. q leaves"
)
_NEEDED = frozenset({"a", "d"})  # what allows and denies is on every bar
_MACHINE = 16  # cells at most for the machine of an event
_SUBJECT = 16  # cells at least for the subject of an event, before its outcome
_TYPED = 26  # columns at least of the typed line, of a row that is twice as wide


_FATES = {
    "ALLOWED": "allowed",
    "APPROVED": "allowed",
    "ANSWERED": "allowed",
    "ACCEPTED": "allowed",
    "DENIED": "refused",
    "SENT BACK": "refused",
    "DECLINED": "refused",
}
"""How the words look that a decision begins with."""


def foot_lines(
    screen: Screen, sheet: Sheet, feed: int, clock: Clock, edge: Line
) -> tuple[list[Line], int | None]:
    """Return the typed line or notice, rows of the feed, the keys, and the cursor's column.

    The first row is the panels' lower `edge` if there is no notice. A long notice covers the feed,
    but never the keys that decide.
    """
    columns, spell = sheet.columns, sheet.spell
    top: list[Line] = []
    cursor = None
    dialog = screen.stack.top
    if isinstance(dialog.field, LineInput):
        typed, cursor = _typed(screen, sheet)
        top.append(typed)
    if dialog.doubt is not None:
        top = _doubt(in_words(spell)(dialog.doubt.sure), columns - 2, feed + 1)
    elif notice := _link(screen.desk) or screen.notice.text or screen.last_word:
        rows = wrapped(notice, columns - 2, spell, words=True)
        top += [[("notice", f" {row}")] for row in rows]
    top = top[: feed + (2 if cursor is not None else 1)] or [edge]
    room = max(feed + 1 - len(top), 0)
    news = feed_rows(_feed(screen, room), clock, columns, room, spell)
    news += [[] for _ in range(room - len(news))]
    keys = help_line(line_keys(screen), columns)
    return [*top, *news, keys][: feed + 2], cursor


def _link(desk: Replica) -> str:
    """Return what became of the way to the server; empty while it is as it should be."""
    if desk.refused():
        return _REFUSED.format(desk.lost())
    return _LOST if desk.lost() else ""


def _typed(screen: Screen, sheet: Sheet) -> tuple[Line, int]:
    """Return the typed line, as much of it as fits around its cursor."""
    columns, spell = sheet.columns, sheet.spell
    dialog, box = screen.stack.top, screen.stack.top.field
    text, at = ("", 0) if box is None else (box.text, box.cursor_position)
    asked = " :" if isinstance(dialog, Palette) else " /"
    if isinstance(dialog, InputLine):
        asked = f" {dialog.prompt}"
    prompt, before, after = in_words(spell)(asked), spell(text[:at]), spell(text[at:])
    most = columns - min(_TYPED, columns // 2)  # a longer prompt leaves no room for typing
    if cells(prompt) > most:
        prompt = f"{clip(prompt, most - 2)}: "
    room = columns - cells(prompt) - 2
    while cells(before) > max(room, 0):
        before = before[max((len(before) - room) // 2, 1) :]
    return [("prompt", prompt), ("typed", before + after)], cells(prompt) + cells(before)


def _feed(screen: Screen, count: int) -> list[FeedEntry]:
    """Return the last lines of the feed; the ends of cards in words for people."""
    lines: list[FeedEntry] = []
    news = islice(filter(_is_news, reversed(screen.desk.feed())), count)
    for entry in reversed([*news]):
        card = None if entry.number is None else screen.desk.card(entry.number)
        if card is not None and card.outcome:
            by, allowed = by_another(card, screen.desk, str, when=False), as_allowed(card)
            words = " ".join(filter(None, (outcome(card), by)))
            if allowed is not card.event and not is_question(allowed):
                words = f"{words}: {summary(allowed)}"
            lines.append(replace(entry, text=entry.text.replace(card.outcome, words, 1)))
        else:
            lines.append(entry)
    return lines


def _is_news(entry: FeedEntry) -> bool:
    """Whether a line tells a decision, an end, a note or an alarm; the rest only went by."""
    return entry.number is not None or entry.alarm or bool(entry.text)


def _doubt(question: str, room: int, most: int) -> list[Line]:
    """Return what needs a second yes in so many rows; with few rows, the effect alone."""
    rows = list(wrapped(question, room, str, words=True))
    if len(rows) > most:
        rows = list(wrapped(clip(question.rpartition("? ")[0], room * most), room, str))
    return [[("warning", f" {row}")] for row in rows]


def feed_rows(
    entries: Sequence[FeedEntry], clock: Clock, columns: int, count: int, spell: Speller
) -> list[Line]:
    """Return the last `count` lines of what went by, the newest last."""
    some = [entries[-place] for place in range(min(count, len(entries)), 0, -1)]
    machines = machine_width([machine(entry.event, spell) for entry in some], _MACHINE)
    rows = (_feed_row(entry, clock, columns, spell, machines) for entry in some)
    return [clip_line(row, columns) for row in rows]


def _feed_row(
    entry: FeedEntry, clock: Clock, columns: int, spell: Speller, machine_cells: int
) -> Line:
    event, text, about_card = entry.event, entry.text, entry.number is not None
    row: Line = [("dim", f" {clock.of_day(entry.at)} "), ("", fit(project(event, spell), 14) + " ")]
    if machine_cells:
        row.append(("", machine_cell(machine(event, spell), machine_cells) + " "))
    if about_card:
        row.append(("heading", f"#{entry.number} "))
    if event.tool is not None:
        row.append(("", asked_label(event, spell) + " "))
    if not about_card and (subject := summary(event, spell)):
        room = columns // 3 if text else columns
        row.append(("", clip(subject, max(room, _SUBJECT)) + (" · " if text else "")))
    if text:
        look = "warning" if entry.alarm else "outcome" if about_card else "dim"
        word = "" if entry.alarm else next(filter(text.startswith, _FATES), "")
        row += [(_FATES[word], word)] if word else []
        row.append((look, in_words(spell)(text[len(word) :])))
    return row


def line_keys(screen: Screen) -> Sequence[KeyRow[Any]]:
    """Return the keys that do something now and have a name for the help line."""
    dialog, enters = screen.stack.top, screen.stack.top.enters
    if isinstance(dialog, YesPage) and view_of(screen).goes_on():  # as the guard of the keys does
        enters = "last page" if dialog.skimmed else "next page"
    acting = [row for row in dialog.rows() if row.name]
    if screen.card is not None and screen.answers.on_its_way(screen.card.number):
        acting = [row for row in acting if not held_against(screen, row)]
    if not enters:
        return acting
    return [replace(row, name=enters) if "enter" in row.keys else row for row in acting]


def help_line(keys: Sequence[KeyRow[Any]], columns: int) -> Line:
    """Return the keys of now in one line, as many as fit: those that decide, the last, the rest."""
    named: list[Line] = [[("key", key.shown.split(" ")[0]), ("", f" {key.name}")] for key in keys]
    last = len(named) - 1
    needed = [place for place, key in enumerate(keys) if _NEEDED & {*key.keys}]
    others = [place for place in range(last) if place not in needed]
    chosen: set[int] = set()
    room = columns + 1
    for place in (*needed, *([last] if named and last not in needed else ()), *others):
        taken = line_cells(named[place]) + 2
        if chosen and taken > room:
            if place in others:
                break
            continue
        chosen.add(place)
        room -= taken
    line: Line = [("", " ")]
    for place in sorted(chosen):
        line += [*named[place], *([("", "  ")] if place != max(chosen) else [])]
    return line
