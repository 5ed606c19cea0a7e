"""Codex's configuration in TOML: read by the standard library, its places found by its lines."""

import re
import tomllib
from collections.abc import Mapping
from typing import TypeAlias

from crabhook.lint.configuration.item import Item
from crabhook.lint.errors import CannotParseError
from crabhook.lint.finding import START, Place
from crabhook.model.jsontext import Value

Path: TypeAlias = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]#]+?)\s*\]")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")
_WHERE = re.compile(r"(.*) \(at line (\d+), column (\d+)\)$", re.DOTALL)
MAX_DEPTH = 50


def read_toml(text: str) -> Item:
    """Return what a TOML file says.  Raises CannotParseError, with the place where it is known."""
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = _WHERE.match(str(error))
        place = Place(int(found[2]), int(found[3])) if found else START
        raise CannotParseError(f"it is not TOML: {found[1] if found else error}", place) from error
    return _item(values, (), _places(text), START)


def _item(value: object, path: Path, places: Mapping[Path, Place], outer: Place) -> Item:
    if len(path) > MAX_DEPTH:
        raise CannotParseError(f"it is nested deeper than {MAX_DEPTH} levels", outer)
    place = places.get(path, outer)
    if isinstance(value, dict):
        members = {key: _item(one, (*path, key), places, place) for key, one in value.items()}
        keys = {key: item.place for key, item in members.items()}
        return Item(place, {k: m.value for k, m in members.items()}, members, key_places=keys)
    if isinstance(value, list):
        items = tuple(_item(one, (*path, n), places, place) for n, one in enumerate(value))
        place = places.get(path, items[0].place if items else outer)
        return Item(place, [item.value for item in items], items=items)
    return Item(place, _plain(value))


def _plain(value: object) -> Value:
    return value if isinstance(value, bool | int | float | str) else str(value)


def _places(text: str) -> Mapping[Path, Place]:
    """Return where tables and keys are written; inline ones are where their line is."""
    found: dict[Path, Place] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _table(header[2].split("."), counts, listed=header[1] == "[[")
            found.setdefault(table, Place(number, header.start(1) + 1))
            found.setdefault(table[:1], Place(number, header.start(1) + 1))
        elif key := _KEY.match(line):
            found.setdefault((*table, key[1].strip("\"'")), Place(number, key.start(1) + 1))
    return found


def _table(names: list[str], counts: dict[Path, int], *, listed: bool) -> Path:
    """Return the path of a header's table, with the numbers of the lists that it goes through."""
    path: Path = ()
    for place, name in enumerate(names):
        path = (*path, name.strip().strip("\"'"))
        if listed and place == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path
