"""Any value that crosses a desk's door, made from its type: what agents may write is in every text.

They are made by a seed: a card has hundreds of parts, for which Hypothesis takes seconds each.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import Flag
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from crabhook.desk.commands import Command
from crabhook.model.ballot import Vote
from crabhook.model.card import Because, Card, Leg
from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.remote.codec import BOUNDED

if TYPE_CHECKING:
    from random import Random

HOSTILE = (
    "",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "\udcff\x00",
    "é",
    "👩‍👩",
    "None",
    "null",
    "0",
    "x" * 300,
)
NUMBERS = (0, 1, 1.0, -0.0, 0.1, 1e300, 5e-324, 2**70, -1, True, False)
FLOATS = (0.0, -0.0, 0.1, 1e10, 5e-324, 1784.25, -1e10, -1.5)
ZONES = (UTC, timezone(timedelta(hours=5, minutes=45)))
NAMES = ("PreToolUse", "Stop", "BeforeTool", "never heard of", "\ud800")


def text(draw: Random) -> str:
    """Any text; two halves of a pair side by side are the letter, as every reader of JSON has it."""
    halves = "".join(draw.choices(HOSTILE, k=draw.randrange(3))).encode("utf-16", "surrogatepass")
    return halves.decode("utf-16", "surrogatepass")


def json(draw: Random, depth: int = 3) -> Any:
    match draw.randrange(6 if depth else 4):
        case 0:
            return None
        case 1:
            return text(draw)
        case 2 | 3:
            return draw.choice(NUMBERS)
        case 4:
            return [json(draw, depth - 1) for _ in range(draw.randrange(3))]
    return an_object(draw, depth - 1)


def an_object(draw: Random, depth: int = 3) -> dict[str, Any]:
    return {text(draw): json(draw, depth) for _ in range(draw.randrange(3))}


def event(draw: Random) -> Event:
    platform, name = draw.choice(["", *PLATFORMS, text(draw)]), draw.choice(NAMES)
    told, tool = an_object(draw), None
    if draw.randrange(2):
        tool_input = json(draw)
        told |= {"tool_input": tool_input} if draw.randrange(2) else {}
        comments = frozenset(text(draw) for _ in range(draw.randrange(3)))
        tool = ToolCall(text(draw), tool_input, text(draw), comments)
    rest = [text(draw) for _ in range(5)]
    known = PLATFORMS[platform].events[name].tells if platform in PLATFORMS else {}
    return Event(platform, name, *rest, tool=tool, fields=told, tells=known)


_LEAVES: Mapping[Any, Callable[[Random], Any]] = {
    str: text,
    bytes: lambda draw: draw.randbytes(draw.randrange(4)),
    bool: lambda draw: bool(draw.randrange(2)),
    int: lambda draw: draw.choice((0, 1, 7, 2**31)),
    float: lambda draw: draw.choice(FLOATS),
    datetime: lambda draw: datetime(2026, 1, 1, 2, 3, 4, draw.randrange(10**6), draw.choice(ZONES)),
    type(None): lambda _: None,
    Event: event,
}


@cache
def maker(hint: Any) -> Callable[[Random], Any]:
    """How to make any value of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _LEAVES:
        made = _LEAVES[hint]
    elif origin in (Union, types.UnionType):
        made = json if {bool, str} <= set(inner) else _one_of(inner)
    elif origin is tuple and inner[-1] is not ...:
        made = _each(tuple, *map(maker, inner))
    elif origin in (tuple, frozenset):
        made = _some(origin, maker(inner[0]))
    elif origin is not None and issubclass(origin, Mapping):
        made = an_object
    elif is_dataclass(hint) and isinstance(hint, type):
        made = _built(hint)
    elif issubclass(hint, Flag):
        made = _some(lambda flags: reduce(or_, flags, hint(0)), lambda draw: draw.choice([*hint]))
    else:
        made = lambda draw: draw.choice([*hint])  # noqa: E731 - a member of an enumeration
    return made


def _one_of(kinds: tuple[Any, ...]) -> Callable[[Random], Any]:
    return lambda draw: maker(draw.choice(kinds))(draw)


def _each(whole: Any, *parts: Callable[[Random], Any]) -> Callable[[Random], Any]:
    return lambda draw: whole(part(draw) for part in parts)


def _some(whole: Any, part: Callable[[Random], Any]) -> Callable[[Random], Any]:
    return lambda draw: whole([part(draw) for _ in range(draw.randrange(3))])


def _cut(part: Callable[[Random], Any], most: int) -> Callable[[Random], Any]:
    return lambda draw: part(draw)[:most]


def _built(kind: type[Any]) -> Callable[[Random], Any]:
    hints = get_type_hints(kind)
    parts = {one.name: maker(hints[one.name]) for one in fields(kind)}
    if issubclass(kind, Command):
        parts["id"] = lambda draw: f"{draw.randrange(2**64):x}"
    for name, most in BOUNDED.get(kind.__name__, {}).items():  # what is longer is cut on its way
        parts[name] = _cut(parts[name], most)
    if issubclass(kind, Because):  # on the wire, `full` is told where it is other than `words`
        parts["full"] = lambda draw: draw.choice(("", f"more than {text(draw)}"))
    if issubclass(kind, Vote):  # no desk is told what others signed
        parts["signed"] = lambda _: ()
    if issubclass(kind, Card):
        some, leg = parts["requests"], maker(Leg)
        parts["requests"] = lambda draw: (leg(draw), *some(draw))
    return lambda draw: kind(**{name: part(draw) for name, part in parts.items()})


def exact(value: Any) -> object:
    """Return what is equal for values that are the same to the letter: 1, 1.0 and True are three."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [part.name for part in fields(value) if part.compare]
        return type(value), [exact(getattr(value, name)) for name in names]
    if isinstance(value, Mapping):
        return dict, [(key, exact(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [exact(item) for item in value]
    return type(value), value if isinstance(value, frozenset) else repr(value)
