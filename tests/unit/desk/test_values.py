"""A desk may be on another machine: all that crosses its door can be sent there."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, ForwardRef, Union, get_args, get_origin, get_type_hints

from crabhook.desk import commands, updates
from crabhook.desk.commands import Command

PLAIN = (str, int, float, bool, bytes, datetime, type(None))
COLLECTIONS = (tuple, frozenset, list, dict, Mapping)


def unsendable(kind: Any, path: str, seen: set[type]) -> Iterator[str]:
    """Yield each part of a type that is no value: a function, a clock, an object with a life."""
    origin = get_origin(kind)
    if kind in (..., ForwardRef("Value"), *PLAIN):  # the second: JSON, inside itself
        return
    if origin in (Union, types.UnionType, *COLLECTIONS):
        for part in get_args(kind):
            yield from unsendable(part, path, seen)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        return
    elif is_dataclass(kind) and isinstance(kind, type):
        if kind not in seen:
            seen.add(kind)
            hints = get_type_hints(kind)
            for one in fields(kind):
                yield from unsendable(hints[one.name], f"{path}.{one.name}", seen)
    else:
        yield f"{path}: {kind}"


def every_command(kind: type[Command] = Command) -> Iterator[type[Command]]:
    yield kind
    for one in kind.__subclasses__():
        yield from every_command(one)


def test_all_that_crosses_the_door_is_values_that_can_be_sent() -> None:
    seen: set[type] = set()
    doors = [*every_command(), *get_args(updates.News), *get_args(commands.Outcome)]
    wrong = [said for one in doors for said in unsendable(one, one.__name__, seen)]
    assert wrong == []
    assert len(seen) > 40  # it has looked at all that a card and a session are made of
