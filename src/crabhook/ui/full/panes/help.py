"""The desk's help, from the table of keys: the keys of the card, the palette, how to begin."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crabhook.present.safe import Speller
from crabhook.present.summary import tool_label
from crabhook.ui.full.filters import KeyContext, Mode
from crabhook.ui.full.keyrow import Group, Key
from crabhook.ui.full.keys import KEYS, TABLE
from crabhook.ui.full.screen import Screen
from crabhook.ui.options import DeskOptions
from crabhook.ui.text.layout import Content, Line, Sheet, clip_line, page
from crabhook.ui.text.width import fit, wrapped

_KEY_CELLS = 18
_LAWS = (
    "A new card never takes the keys.",
    "A card can be decided once it has been in view for a moment; until then its mark is hollow.",
    "An allow is held for a moment before it is sent, so that u can take it back.",
    "What had ended before your answer came is not changed by it, and you are told so.",
    "No opinion is never an allow: the agent goes on as if crabhook were not there.",
)
_WHERE = {
    Mode.TEXT: ", in its text",
    Mode.FORM: ", in its form",
    Mode.REVIEW: ", before its answers are sent",
    Mode.FILL: ", in its form",
    Mode.NOTES: ", on the lines of its plan",
}

_OF_A_VIEW = {
    Mode.SESSIONS: "the sessions",
    Mode.HISTORY: "the history",
    Mode.ENTRY: "an entry of the history",
}


def help_content(screen: Screen) -> Content:
    """Return the keys of the selected card, or all keys, or those that match the search."""
    focus, card = screen.focus, screen.card
    context = _beneath(screen)
    sought = focus.finder.words if focus.finder else ()

    def rows(sheet: Sheet) -> Iterator[Line]:
        if focus.mode is Mode.SEARCH or sought:
            found = list(_some(lambda title, key: _fits(key, sought, title)))
            yield [("heading", f" keys with: {sheet.spell(' '.join(sought))}")]
            yield from key_rows(found, sheet)
            if not found:
                yield [("dim", " no key's words have all of this")]
        elif focus.all_keys:
            yield [("heading", " all keys")]
            yield from key_rows(TABLE, sheet)
            yield []
            for law in _LAWS:
                for row in wrapped(law, sheet.columns - 2, str, words=True):
                    yield [("", f" {row}")]
        else:
            whose = _OF_A_VIEW.get(context.mode, "the desk: nobody waits")
            if card is not None and context.mode not in _OF_A_VIEW:
                ended = ", which has ended" if screen.selection.ended else ""
                where = _WHERE.get(context.mode, "")
                whose = f"#{card.number} {tool_label(card.event, sheet.spell)}{where}{ended}"
            yield [("heading", f" keys for {whose}")]
            yield from key_rows(_some(lambda _, key: key.when(context)), sheet)

    return page(("help", focus.all_keys, sought, context), rows)


def _beneath(screen: Screen) -> KeyContext:
    """Return the keys of the mode below the help page."""
    return replace(screen.key_context(), mode=screen.focus.below)


def _some(wanted: Callable[[str, Key], bool]) -> Iterator[Group]:
    title, first = "", False
    for group in TABLE:
        if group.title:
            title, first = group.title, group.first
        if keys := tuple(key for key in group.keys if wanted(title, key)):
            yield Group(title, keys, first)


def key_rows(groups: Iterable[Group], sheet: Sheet) -> Iterator[Line]:
    """Return keys, group by group, those to know first at the start."""
    told = ""
    for group in sorted(groups, key=lambda group: not group.first):
        if group.title and group.title != told:
            told = group.title
            yield [("label", f" {told}")]
        for key in group.keys:
            shown = key.shown
            for row in wrapped(key.does, sheet.columns - _KEY_CELLS - 4, str, words=True):
                yield [("key", f"   {shown:<{_KEY_CELLS}} "), ("", row)]
                shown = ""


def _fits(key: Key, words: Sequence[str], title: str = "") -> bool:
    told = f"{key.shown} {key.name} {key.does} {title}".lower()
    return all(word in told for word in words)


# The palette.


class Command(NamedTuple):
    """A key, what it is called, and whether it makes sense now."""

    key: Key
    name: str
    now: bool


def commands(screen: Screen) -> Sequence[Command]:
    """Return the commands that match the typed words: by name first, then by other words.

    Commands that make sense now come first. Digits are left out: each chooses something else. A
    row without a name is called by what it does.
    """
    finder, context = screen.focus.finder, _beneath(screen)
    words = finder.words if finder else ()
    every = (Command(key, key.name.rstrip("…") or key.does, key.when(context)) for key in KEYS)
    found = [one for one in every if len(one.key.keys) < 9 and _fits(one.key, words)]

    def order(one: Command) -> tuple[bool, bool]:
        return not one.now, not all(word in one.name.lower() for word in words)

    return sorted((one for one in found if words or one.now), key=order)


def marked(screen: Screen) -> Command | None:
    """Return the command that enter would run."""
    found, finder = commands(screen), screen.focus.finder
    return found[finder.row(len(found))] if finder and found else None


def palette_lines(screen: Screen, height: int, columns: int) -> list[Line]:
    """Return the commands that match, the marked one among them."""
    found, finder = commands(screen), screen.focus.finder
    if finder is None or not found:
        return [[("dim", "   no command has all of these words")]]
    at = finder.row(len(found))
    top = max(at - height + 1, 0)
    return [
        clip_line(_command_line(one, here=place == at), columns)
        for place, one in enumerate(found[top : top + height], top)
    ]


def _command_line(one: Command, *, here: bool) -> Line:
    style = "chosen" if here else "" if one.now else "dim"
    does = f"{'' if one.now else ' (not now)'}  {one.key.does}" if one.key.name else ""
    return [
        ("mark", " ▸ " if here else "   "),
        ("key" if one.now else "dim", f"{one.key.shown.split(' ')[0]:<9} "),
        (style, one.name),
        ("dim", does or ("" if one.now else " (not now)")),
    ]


# Reasons to choose from.

_TWO_COLUMNS = 76  # columns of a screen from which there are two


def offer_lines(screen: Screen, height: int, columns: int, spell: Speller) -> list[Line]:
    """Return the offered reasons with their digits, as many as there is room for."""
    focus, beside = screen.focus, 2 if columns >= _TWO_COLUMNS else 1
    offers = focus.offers[: height * beside]
    focus.offers_seen, width = len(offers), columns // beside
    lines: list[Line] = []
    for row in range(min(height, len(offers))):
        line: Line = []
        for place in range(row, len(offers), height):
            line += [("key", f"   {place + 1} "), ("", fit(spell(offers[place]), width - 5))]
        lines.append(line)
    return lines


# A desk where nobody waits.


def empty_lines(screen: Screen) -> list[Line]:
    """Return the page for an empty queue: how to begin, and what happened today."""
    unhooked = screen.options.unhooked
    connected = ", ".join(one for one in DeskOptions().unhooked if one not in unhooked)
    told: list[tuple[str, str, str]] = []
    if connected:
        told.append(("connected", connected, "  a session that starts now asks here"))
    if unhooked:
        what = "connect another" if connected else "connect an agent"
        others = f"  (or {', '.join(unhooked[1:])})" if len(unhooked) > 1 else ""
        told.append((what, f"crabhook install {unhooked[0]}", others))
    told.append(("try it", "crabhook demo", "  an agent that is a script"))
    told.append(("today", "", screen.desk.house().today or "nothing was decided yet"))
    rows: list[Line] = [[], [("dim", "   nobody waits for you")], []]
    rows += [
        [("label", f"   {what:<18}"), ("strong", command), ("dim" if command else "", rest)]
        for what, command, rest in told
    ]
    return rows
