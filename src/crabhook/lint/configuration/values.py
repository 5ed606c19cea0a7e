"""A configuration's values, each with its place in the file, from JSON or from TOML.

JSON is read by the reader that the installer edits settings with.  Codex's TOML is read by the
standard library, and its places are found by its lines.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from crabhook.lint.finding import START, CannotParseError, Place
from crabhook.model.document import Node, Number, parse
from crabhook.model.errors import DocumentError
from crabhook.model.jsontext import Value

_JSON_ERROR = re.compile(r"line (\d+), column (\d+): (.*)", re.DOTALL)
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*+")|//[^\n]*|/\*.*?\*/', re.DOTALL)

KeyPath: TypeAlias = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]#]+?)\s*\]")
_TOML_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")
_TOML_ERROR = re.compile(r"(.*) \(at line (\d+), column (\d+)\)$", re.DOTALL)
MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Item:
    """One value: as plain Python, and with its members or its items."""

    place: Place
    value: Value
    members: "Mapping[str, Item]" = field(default_factory=dict)
    items: "tuple[Item, ...]" = ()
    key_places: Mapping[str, Place] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return the member of that name where it is a text; nothing for anything else."""
        member = self.members.get(key)
        return member.value if member is not None and isinstance(member.value, str) else ""

    def where(self, key: str) -> Place:
        """Return the place of a member's key, or where it is missing, of the whole."""
        return self.key_places.get(key, self.place)


def read_json(text: str, *, comments: bool = False) -> Item:
    """Return what a JSON file says; `comments`: its agent reads JSON with comments.

    Raises CannotParseError, with the place.
    """
    text = _COMMENT.sub(_blank, text) if comments else text
    try:
        document = parse(text)
    except DocumentError as error:
        found = _JSON_ERROR.match(str(error))
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
        place, value = self.place(node.start), node.value
        inner = [(one.key, self.item(one.node)) for one in node.elements]
        if isinstance(value, list):
            return Item(place, [one.value for _, one in inner], items=tuple(i for _, i in inner))
        if isinstance(value, dict):
            keys = {one.key: self.place(one.start) for one in node.elements}
            return Item(place, {key: one.value for key, one in inner}, dict(inner), key_places=keys)
        return Item(place, _number(value.literal) if isinstance(value, Number) else value)


def _number(literal: str) -> int | float:
    """Return a number; one of more digits than any timeout has is read as a double is."""
    return int(literal) if len(literal) < 20 and literal.lstrip("-").isdigit() else float(literal)


def read_toml(text: str) -> Item:
    """Return what a TOML file says.  Raises CannotParseError, with the place where it is known."""
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = _TOML_ERROR.match(str(error))
        place = Place(int(found[2]), int(found[3])) if found else START
        raise CannotParseError(f"it is not TOML: {found[1] if found else error}", place) from error
    return _toml_item(values, (), _places(text), START)


def _toml_item(value: object, path: KeyPath, places: Mapping[KeyPath, Place], outer: Place) -> Item:
    if len(path) > MAX_DEPTH:
        raise CannotParseError(f"it is nested deeper than {MAX_DEPTH} levels", outer)
    place = places.get(path, outer)
    if isinstance(value, dict):
        members = {key: _toml_item(one, (*path, key), places, place) for key, one in value.items()}
        keys = {key: item.place for key, item in members.items()}
        return Item(place, {k: m.value for k, m in members.items()}, members, key_places=keys)
    if isinstance(value, list):
        items = tuple(_toml_item(one, (*path, n), places, place) for n, one in enumerate(value))
        place = places.get(path, items[0].place if items else outer)
        return Item(place, [item.value for item in items], items=items)
    return Item(place, value if isinstance(value, bool | int | float | str) else str(value))


def _places(text: str) -> Mapping[KeyPath, Place]:
    """Return where tables and keys are written; inline ones are where their line is."""
    found: dict[KeyPath, Place] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _table(header[2].split("."), counts, listed=header[1] == "[[")
            found.setdefault(table, Place(number, header.start(1) + 1))
            found.setdefault(table[:1], Place(number, header.start(1) + 1))
        elif key := _TOML_KEY.match(line):
            found.setdefault((*table, key[1].strip("\"'")), Place(number, key.start(1) + 1))
    return found


def _table(names: list[str], counts: dict[KeyPath, int], *, listed: bool) -> KeyPath:
    """Return the path of a header's table, with the numbers of the lists that it goes through."""
    path: KeyPath = ()
    for place, name in enumerate(names):
        path = (*path, name.strip().strip("\"'"))
        if listed and place == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path
