"""The page of all keys, made from the table of keys."""

from collections.abc import Hashable, Iterator, Sequence

from crabhook.ui.full.keyrow import Key
from crabhook.ui.full.keys import TABLE
from crabhook.ui.text.layout import Item, Line, Sheet
from crabhook.ui.text.width import cells, wrapped

_KEY_CELLS = 18
_LAWS = (
    "A new card never takes the keys.",
    "A card can be decided once it has been in view for a moment; until then its mark is hollow.",
    "An allow is held for a moment before it is sent, so that u can take it back.",
    "What had ended before your answer came is not changed by it, and you are told so.",
    "No opinion is never an allow: the agent goes on as if crabhook were not there.",
)


class HelpContent:
    """All keys, group by group."""

    key: Hashable = "help"
    count = 1

    def item(self, _place: int) -> Item:
        """Return the page."""
        return Item("help", _rows)


def _rows(sheet: Sheet) -> Iterator[Line]:
    for group in sorted(TABLE, key=lambda group: not group.first):
        if group.title:
            yield [("label", f" {group.title}")]
        for key in group.keys:
            yield from _key_rows(key, sheet)
    yield []
    for law in _LAWS:
        for row in wrapped(law, sheet.columns - 2, str, words=True):
            yield [("", f" {row}")]


def _key_rows(key: Key, sheet: Sheet) -> Iterator[Line]:
    for place, row in enumerate(wrapped(key.does, sheet.columns - _KEY_CELLS - 4, str, words=True)):
        shown = key.shown if place == 0 else ""
        yield [("key", f"   {shown:<{_KEY_CELLS}} "), ("", row)]


def help_line(keys: Sequence[Key], columns: int) -> Line:
    """Return the keys that make sense now in one line; the last of them always has room."""
    *others, last = [[("key", _first(key)), ("", f" {key.name}")] for key in keys] or [[]]
    end = sum(cells(text) for _, text in last)
    line: Line = [("", " ")]
    used = 1
    for one in others:
        need = sum(cells(text) for _, text in one) + 2
        if used + need + end > columns:
            break
        line += [*one, ("", "  ")]
        used += need
    return [*line, *last]


def _first(key: Key) -> str:
    return key.shown if key.shown == "1-9" else key.shown.split(" ")[0]
