"""Settings in JSON, by way of the reader that the installer edits them with."""

import re
from bisect import bisect_right

from crabhook.lint.configuration.item import Item
from crabhook.lint.errors import CannotParseError
from crabhook.lint.finding import START, Place
from crabhook.model.document import Json, Node, Number, parse
from crabhook.model.errors import DocumentError
from crabhook.model.jsontext import Value

_WHERE = re.compile(r"line (\d+), column (\d+): (.*)", re.DOTALL)
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*+")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def read_json(text: str, *, comments: bool = False) -> Item:
    """Return what a JSON file says; `comments`: its agent reads JSON with comments.

    Raises CannotParseError, with the place.
    """
    text = _COMMENT.sub(_blank, text) if comments else text
    try:
        document = parse(text)
    except DocumentError as error:
        found = _WHERE.match(str(error))
        place = Place(int(found[1]), int(found[2])) if found else START
        raise CannotParseError(f"it is not JSON: {found[3] if found else error}", place) from error
    return _Placer(text).item(document)


def _blank(found: re.Match[str]) -> str:
    return found[1] or re.sub(r"[^\n]", " ", found[0])


class _Placer:
    """Turns offsets into places."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, offset: int) -> Place:
        line = bisect_right(self._starts, offset)
        return Place(line, offset - self._starts[line - 1] + 1)

    def item(self, node: Node) -> Item:
        place, value = self.place(node.start), _plain(node.value)
        inner = [(element.key, element, self.item(element.node)) for element in node.elements]
        if isinstance(value, list):
            return Item(place, value, items=tuple(item for _, _, item in inner))
        keys = {key: self.place(element.start) for key, element, _ in inner}
        return Item(place, value, {key: item for key, _, item in inner}, key_places=keys)


def _plain(value: Json) -> Value:
    if isinstance(value, Number):
        return _number(value.literal)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


def _number(literal: str) -> int | float:
    """Return a number; one of more digits than any timeout has is read as a double is."""
    return int(literal) if len(literal) < 20 and literal.lstrip("-").isdigit() else float(literal)
