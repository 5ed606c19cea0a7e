"""The desk's help, from the table of keys: the keys of the card, the palette, how to begin."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from crabhook.present.safe import Speller
from crabhook.present.summary import asked_label
from crabhook.ui.full.dialog import Dialog, KeyRow
from crabhook.ui.full.dialogs.card import FormPage, TextPage
from crabhook.ui.full.dialogs.help import KeySearch, KeysPage, Palette
from crabhook.ui.full.dialogs.lists import EntryPage, HistoryView, SessionsView
from crabhook.ui.full.dialogs.mcp_form import FillPage
from crabhook.ui.full.dialogs.plan import NotesPage
from crabhook.ui.full.dialogs.prompts import InputLine
from crabhook.ui.full.dialogs.question import ReviewPage
from crabhook.ui.full.keys import KEYS, LISTED, Listed, listed
from crabhook.ui.full.screen import Screen
from crabhook.ui.options import DeskOptions, PageToOpen
from crabhook.ui.text.layout import Content, Line, Sheet, clip_line
from crabhook.ui.text.layout import page as text_page
from crabhook.ui.text.width import fit, wrapped

_KEY_CELLS = 18
_LAWS = (
    "A new card never takes the keys.",
    "A card can be decided once it has been in view for a moment. Until then its mark is hollow.",
    "An allow is held for a moment before it is sent, so that u can take it back.",
    "What had ended before your answer came is not changed by it, and you are told so.",
    "No opinion is never an allow: the agent goes on as if crabhook were not there.",
)
_WHERE: Mapping[type[Dialog], str] = {
    TextPage: ", in its text",
    FormPage: ", in its form",
    ReviewPage: ", before its answers are sent",
    FillPage: ", in its form",
    NotesPage: ", on the lines of its plan",
}

_OF_A_VIEW: Mapping[type[Dialog], str] = {
    SessionsView: "the sessions",
    HistoryView: "the history",
    EntryPage: "an entry of the history",
}


def help_content(screen: Screen, page: KeysPage) -> Content:
    """Return the keys of the dialog below, or all keys, or those that match the search."""
    below, sought = screen.stack.below, page.words
    now = listed([(group.theme, group.now(below)) for group in below.KEYS])

    def rows(sheet: Sheet) -> Iterator[Line]:
        if isinstance(page, KeySearch) or sought:
            fitting = [key for key in LISTED if _fits(key.row, sought, key.theme)]
            yield [("heading", f" keys with: {sheet.spell(' '.join(sought))}")]
            yield from key_rows(fitting, sheet)
            if not fitting:
                yield [("dim", " no key's words have all of this")]
        elif page.all_keys:
            yield [("heading", " all keys")]
            yield from key_rows(LISTED, sheet)
            yield []
            for law in _LAWS:
                for row in wrapped(law, sheet.columns - 2, str, words=True):
                    yield [("", f" {row}")]
        else:
            yield [("heading", f" keys for {_whose(screen, below, sheet)}")]
            yield from key_rows(now, sheet)

    card = screen.card and screen.card.number
    whose = type(below), card, screen.selection.ended
    return text_page(("help", page.all_keys, sought, whose, tuple(now)), rows)


def _whose(screen: Screen, below: Dialog, sheet: Sheet) -> str:
    """Return whose keys the page lists."""
    if view := _OF_A_VIEW.get(type(below)):
        return view
    if (card := screen.card) is None:
        return "the desk: nobody waits"
    ended = ", which has ended" if screen.selection.ended else ""
    where = _WHERE.get(type(below), "")
    return f"#{card.number} {asked_label(card.event, sheet.spell)}{where}{ended}"


def key_rows(keys: Iterable[Listed], sheet: Sheet) -> Iterator[Line]:
    """Return keys, theme by theme."""
    theme = ""
    for key in keys:
        if key.theme != theme:
            theme = key.theme
            yield [("label", f" {theme}")]
        shown = key.row.shown
        for row in wrapped(key.row.does, sheet.columns - _KEY_CELLS - 4, str, words=True):
            yield [("key", f"   {shown:<{_KEY_CELLS}} "), ("", row)]
            shown = ""


def _fits(row: KeyRow[Any], words: Sequence[str], theme: str = "") -> bool:
    text = f"{row.shown} {row.name} {row.does} {theme}".lower()
    return all(word in text for word in words)


# The palette.


class PaletteCommand(NamedTuple):
    """A row of keys, what it is called, and whether it makes sense now."""

    row: KeyRow[Any]
    name: str
    now: bool


def commands(screen: Screen, palette: Palette) -> Sequence[PaletteCommand]:
    """Return the commands that match the typed words: by name first, then by other words.

    Commands that make sense now come first. Digits are left out: each chooses something else. A
    row without a name is called by what it does.
    """
    words, now = palette.finder.words, {id(row) for row in screen.stack.below.rows()}
    every = (PaletteCommand(row, row.name.rstrip("…") or row.does, id(row) in now) for row in KEYS)
    fitting = [each for each in every if len(each.row.keys) < 9 and _fits(each.row, words)]

    def order(command: PaletteCommand) -> tuple[bool, bool]:
        return not command.now, not all(word in command.name.lower() for word in words)

    return sorted((command for command in fitting if words or command.now), key=order)


def marked(screen: Screen, palette: Palette) -> PaletteCommand | None:
    """Return the command that enter would run."""
    matching = commands(screen, palette)
    return matching[palette.finder.row(len(matching))] if matching else None


def palette_lines(screen: Screen, palette: Palette, height: int, columns: int) -> list[Line]:
    """Return the commands that match, the marked command among them."""
    matching = commands(screen, palette)
    if not matching:
        return [[("dim", "   no command has all of these words")]]
    at = palette.finder.row(len(matching))
    top = max(at - height + 1, 0)
    return [
        clip_line(_command_line(command, here=place == at), columns)
        for place, command in enumerate(matching[top : top + height], top)
    ]


def _command_line(command: PaletteCommand, *, here: bool) -> Line:
    style = "chosen" if here else "" if command.now else "dim"
    later = "" if command.now else " (not now)"
    does = f"{later}  {command.row.does}" if command.row.name else ""
    return [
        ("mark", " ▸ " if here else "   "),
        ("key" if command.now else "dim", f"{command.row.shown.split(' ')[0]:<9} "),
        (style, command.name),
        ("dim", does or later),
    ]


# Reasons to choose from.

_TWO_COLUMNS = 76  # columns of a screen from which there are two


def offer_lines(line: InputLine, height: int, columns: int, spell: Speller) -> list[Line]:
    """Return the offered reasons with their digits, as many as there is room for."""
    beside = 2 if columns >= _TWO_COLUMNS else 1
    offers = line.offers[: height * beside]
    line.offers_seen, width = len(offers), columns // beside
    lines: list[Line] = []
    for row in range(min(height, len(offers))):
        offered: Line = []
        for place in range(row, len(offers), height):
            offered += [
                ("key", f"   {place + 1} "),
                ("", fit(spell(offers[place]), width - 5)),
            ]
        lines.append(offered)
    return lines


# A desk where nobody waits.


_NAMED = 3  # agents; more would not fit a small terminal


def empty_lines(screen: Screen, columns: int, height: int) -> list[Line]:
    """Return the page for an empty queue: how to begin, what happened today, and the web page."""
    unhooked = screen.options.unhooked
    connected = ", ".join(agent for agent in DeskOptions().unhooked if agent not in unhooked)
    facts: list[tuple[str, str, str]] = []
    if connected:
        facts.append(("connected", connected, "  a session that starts now asks here"))
    if unhooked:
        what = "connect another" if connected else "connect an agent"
        others, rest = unhooked[1:_NAMED], len(unhooked) - _NAMED
        more = f" and {rest} more" if rest > 0 else ""
        named = f"  (or {', '.join(others)}{more})" if others else ""
        facts.append((what, f"crabhook install {unhooked[0]}", named))
    facts.append(("try it", "crabhook demo", "  an agent that is a script"))
    # The help line of a narrow terminal has no room for it.
    facts.append(("leave", "q", "  or Ctrl-C twice"))
    facts.append(("today", "", screen.desk.house().today or "nothing was decided yet"))
    rows: list[Line] = [[], [("dim", "   Nothing needs you")], []]
    rows += [
        [("label", f"   {what:<18}"), ("strong", command), ("dim" if command else "", rest)]
        for what, command, rest in facts
    ]
    if page := screen.options.page:
        beside = len(page.address) + 21 <= columns
        rows += [[], [("label", f"   {'the page':<18}"), ("strong", page.address * beside)]]
        if not beside:
            rows += [[("strong", f"   {row}")] for row in wrapped(page.address, columns - 4, str)]
        for hint in page.hints:
            rows += [[("dim", f"   {row}")] for row in wrapped(hint, columns - 4, str, words=True)]
        if not screen.options.ascii:  # a code is drawn with blocks
            rows += _code_lines(page, columns, height - len(rows))
    return rows


def _code_lines(page: PageToOpen, columns: int, height: int) -> list[Line]:
    """Return the code of a page, where all of it has room: a part of it leads nowhere."""
    if not page.code:
        return []
    lines: list[Line] = [[("", "   "), ("code", row)] for row in page.code]
    if len(lines) + 1 <= height and len(page.code[0]) + 3 <= columns:
        return [[], *lines]
    wanted = f"{len(lines) + 1 - height} rows more" if len(lines) >= height else "a wider window"
    return [[("dim", f"   With {wanted} there is a code for a phone here.")]]
