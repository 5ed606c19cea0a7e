"""JSON varied as a tree: keys twice, numbers past every range, depths, halves of letters."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.fuzz.mutation import plain
from tests.fuzz.target import Mutation

_HOSTILE = "\x1b]52;c;QUFB\x07\x1b[2J\u202eevil\u2066\u200b\x9b31m\r\0\x7f\U000e0041"
_TEXTS = (
    "", " ", "\n", "a\nb\r\n\tc", _HOSTILE, "日本語 שלום", "e\u0301\u0301\u0301", "\ud800", "\udc00\ud800",
    "\U0001f468\u200d\U0001f469", "x" * 300, "../../etc/passwd", "~/.ssh/id_rsa", "rm -rf / # x", "#1 decided",
    "  answer with: a", "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch", "```\n# x\n- y",
)  # fmt: skip
_RAW = (
    "NaN", "Infinity", "-Infinity", "1e400", "-0", "-0.0", "1E5", "1e-400", "9" * 30, "9" * 5000,
    "9007199254740993", "0.1", "01", "1.", "'x'", "tru", '"\\ud83d"', '"\\u0000"', '"\\x"', "[" * 40, "{}{}", "//",
)  # fmt: skip


class Pairs(list[Any]):
    """An object as its members in order, so that a key can be in it twice."""


class Raw(str):
    """What stands in the text as it is, JSON or not."""

    __slots__ = ()


def read(data: bytes) -> Any:
    """Return the tree in a text; raise ValueError where there is none."""
    return json.loads(data.decode(), object_pairs_hook=Pairs)


def written(tree: Any) -> str:
    """Return a tree as text."""
    if isinstance(tree, Raw):
        return str(tree)
    if isinstance(tree, Pairs):
        return "{" + ",".join(f"{json.dumps(key)}:{written(one)}" for key, one in tree) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(written, tree)) + "]"
    return json.dumps(tree)


def of(**chosen: tuple[Any, ...]) -> Mutation:
    """Return the mutation of JSON; `chosen` are the values that a key of that name is given."""

    def mutated(data: bytes, chance: Random) -> bytes:
        try:
            tree = [read(data)]
            written(tree)  # what is nested too deeply for us is varied as bytes
        except (ValueError, RecursionError):
            return plain.mutated(data, chance)
        for _ in range(chance.choice((1, 1, 2, 4))):
            _change(tree, chance, chosen)
        text = written(tree[0]).encode("utf-8", "surrogatepass")
        return plain.mutated(text, chance) if chance.random() < 0.1 else text

    return mutated


def _change(tree: list[Any], chance: Random, chosen: dict[str, tuple[Any, ...]]) -> None:
    holders = list(_holders(tree))
    holder = chance.choice(holders[1:] or holders) if chance.random() < 0.95 else tree
    if not holder:
        holder.append(("new", _value(chance)) if isinstance(holder, Pairs) else _value(chance))
        return
    at = chance.randrange(len(holder))
    if not isinstance(holder, Pairs):
        _in_list(holder, at, chance, holders)
        return
    key, value = holder[at]
    way = chance.random()
    if key in chosen and way < 0.6:
        holder[at] = key, chance.choice(chosen[key])
    elif way < 0.75:
        holder[at] = key, _other(value, chance, holders)
    elif way < 0.82:
        del holder[at]
    elif way < 0.88:
        holder.append((key, _other(value, chance, holders)))
    elif way < 0.94:
        holder.append((_a_key(chance, holders), _other(value, chance, holders)))
    else:
        holder[at] = chance.choice((*_TEXTS, _a_key(chance, holders))), value


def _in_list(holder: list[Any], at: int, chance: Random, holders: list[Any]) -> None:
    way = chance.random()
    if way < 0.6:
        holder[at] = _other(holder[at], chance, holders)
    elif way < 0.75 and len(holder) > 1:
        del holder[at]
    else:
        holder.insert(at, _other(holder[at], chance, holders))


def _other(value: Any, chance: Random, holders: list[Any]) -> Any:
    """Return something else for a place: hostile, wrapped, from elsewhere in the tree, or deep."""
    way = chance.random()
    if way < 0.3 and isinstance(value, str) and not isinstance(value, Raw):
        at = chance.randint(0, len(value))
        return value[:at] + chance.choice(_TEXTS) + value[at:]
    if way < 0.6:
        return _value(chance)
    if way < 0.7:
        return chance.choice(([value], Pairs([("x", value)]), [value] * 3))
    if way < 0.75:
        depth = chance.choice((3, 50, 198, 201, 900))
        return Raw("[" * depth + "]" * depth)
    from_there = chance.choice(holders)
    copied = written(from_there[0] if isinstance(from_there, list) and from_there else from_there)
    return Raw(copied) if not isinstance(from_there, Pairs) else value


def _value(chance: Random) -> Any:
    kind = chance.random()
    if kind < 0.45:
        return chance.choice(_TEXTS)
    if kind < 0.7:
        return chance.choice((None, True, False, 0, 1, -1, 0.5, [], Pairs(), 2**31, 2**63))
    return Raw(chance.choice(_RAW))


def _a_key(chance: Random, holders: list[Any]) -> str:
    keys = [member[0] for holder in holders if isinstance(holder, Pairs) for member in holder]
    return str(chance.choice(keys)) if keys else "key"


def _holders(tree: list[Any]) -> list[Any]:
    """Return every list and object in the tree."""
    found, todo = [], [tree]
    while todo:
        holder = todo.pop()
        found.append(holder)
        inner = [one for _, one in holder] if isinstance(holder, Pairs) else holder
        todo.extend(one for one in inner if isinstance(one, list))
    return found
