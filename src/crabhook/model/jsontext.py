"""JSON as agents write it: read strictly and within bounds, written back without loss.

Agents are JavaScript and Rust programs, so `json` keeps the meaning of their numbers. NaN, Infinity
and numbers past a double's range are errors here, never other values.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from crabhook.model.errors import PayloadError

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

# Made once: `json.dumps` with options makes a new encoder at every call.
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_COMPACT_UTF8 = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_CANONICAL = json.JSONEncoder(separators=(",", ":"), sort_keys=True)
_LITERAL = json.JSONEncoder(ensure_ascii=False)
_PRETTY = json.JSONEncoder(indent=2, ensure_ascii=False)


def compact(value: Value | Mapping[str, Value]) -> str:
    """Return a value as one line of JSON, in ASCII, so that no reader can mistake its encoding."""
    return _COMPACT.encode(value)


def compact_utf8(value: Value | Mapping[str, Value]) -> str:
    """Return what `compact` does, for a reader of UTF-8: about as long as the agent's own text.

    Half of a surrogate pair, which UTF-8 cannot hold, is escaped as in ASCII.
    """
    text = _COMPACT_UTF8.encode(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def canonical(value: Value) -> str:
    """Return the same text for equal values, with any order of their keys."""
    return _CANONICAL.encode(value)


_INF = float("inf")

MAX_DEPTH = 200  # deeper than any tool's input; the bound keeps every later walk within the stack
CUT = "…"  # at the end of a text that goes on
LONG = 1 << 16  # bytes; in a longer text numbers are looked at together, not one by one
MAX_CONTAINERS = 500_000  # lists and objects: each costs memory far beyond its two bytes
WRITTEN_DEPTH = MAX_DEPTH + 20  # of what we wrote ourselves, an agent's value somewhere inside it


def parse_object(text: bytes, deepest: int = MAX_DEPTH) -> dict[str, Value]:
    """Return the single JSON object of `text`; PayloadError, in words, for anything else."""
    value = parse_value(text, deepest)
    if not isinstance(value, dict):
        raise PayloadError(f"it is a JSON {type(value).__name__}, not an object")
    return value


def parse_value(text: bytes, deepest: int = MAX_DEPTH) -> Value:
    """Return the single JSON value of `text`.

    Raises PayloadError, in words for a person, for broken UTF-8 or JSON, nesting past `deepest`,
    more than MAX_CONTAINERS.
    """
    if text.count(b"[") + text.count(b"{") > deepest:
        _check_nesting(text, deepest)
    try:
        value: Value = (_STRICT if len(text) < LONG else _LATER).decode(
            text.removeprefix(BOM_UTF8).decode()
        )
    except UnicodeDecodeError as error:
        raise PayloadError(f"it is not UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise PayloadError(f"it is not JSON ({error.msg}, {where})") from error
    except RecursionError as error:
        raise PayloadError(f"it is nested deeper than {deepest} levels") from error
    except ValueError as error:  # a number of more digits than Python reads
        raise PayloadError(f"it holds a number that cannot be read ({error})") from error
    if len(text) >= LONG:
        _check_finite(value)
    return value


def compact_with(value: Mapping[str, Value], key: str, text: str) -> str:
    """Return what `compact` does, where `text` is already the JSON of the value under `key`."""
    pairs = (f"{compact(k)}:{text if k == key else compact(v)}" for k, v in value.items())
    return "{" + ",".join(pairs) + "}"


PIECE = 1 << 18  # letters, about, that are written in one go
_FEW = 16  # items of a list or object that is written item by item
_TOGETHER, _PLAIN = 4096, {int, float, bool, type(None)}  # items of a list


def in_pieces(
    value: Value | Mapping[str, Value], write: Callable[[Value], str] = compact
) -> Iterator[str]:
    """Yield the text that `write`, `compact` or `canonical`, makes of a value, in pieces.

    Between pieces other threads can run; the encoder alone lets none.
    """
    if isinstance(value, str) and len(value) > PIECE:
        parts = (write(value[at : at + PIECE])[1:-1] for at in range(0, len(value), PIECE))
        yield from ('"', *parts, '"')
    elif isinstance(value, dict):
        in_order = ((key, value[key]) for key in sorted(value))
        yield "{"
        yield from _parts(in_order if write is canonical else value.items(), write, named=True)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for at in range(0, len(value), _TOGETHER):
            items = value[at : at + _TOGETHER]
            yield "," if at else ""
            if _PLAIN.issuperset(map(type, items)):
                yield write(items)[1:-1]
            else:
                yield from _parts((("", item) for item in items), write, named=False)
        yield "]"
    else:
        yield write(value)  # type: ignore[arg-type]


def _parts(
    items: Iterable[tuple[str, Value]], write: Callable[[Value], str], *, named: bool
) -> Iterator[str]:
    """Yield the text of items, with short items together."""
    first, size = True, 0
    short: list[tuple[str, Value]] = []

    def flushed() -> Iterator[str]:
        if short:
            text = write(dict(short) if named else [item for _, item in short])
            yield ("" if first else ",") + text[1:-1]
            short.clear()

    for key, item in items:
        weight = _weight(item)
        if weight:
            short.append((key, item))
            size += weight + len(key)
        if size > PIECE or not weight:
            yield from flushed()
            first, size = first and not weight and not size, 0
        if not weight:
            yield ("" if first else ",") + (f"{write(key)}:" if named else "")
            yield from in_pieces(item, write)
            first = False
    yield from flushed()


def _weight(item: Value) -> int:
    """Return the approximate length of a value's text; 0 for one to write in pieces."""
    if isinstance(item, str):
        return len(item) + 2 if len(item) <= PIECE else 0
    if not isinstance(item, dict | list):
        return 8
    if len(item) > _FEW:
        return 0
    weight = 2
    for inner in item.values() if isinstance(item, dict) else item:
        if isinstance(inner, dict | list) or (isinstance(inner, str) and len(inner) > PIECE):
            return 0
        weight += len(inner) + 4 if isinstance(inner, str) else 8
    return weight + sum(map(len, item)) if isinstance(item, dict) else weight


def literal(text: str) -> str:
    """Return `text` as a JSON string the way JavaScript writes one: letters stay letters."""
    return _LITERAL.encode(text)


def pretty(value: Value) -> str:
    """Return `value` for a person to read: indented, letters as letters."""
    return _PRETTY.encode(value)


def text_at(fields: Mapping[str, Value], key: str) -> str:
    """Return the text under a key; empty where there is none, or another type of value."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def first_text(fields: Mapping[str, Value], keys: Iterable[str]) -> tuple[str, str]:
    """Return the first of the keys under which a text says something, and the text; or nothing."""
    for key in keys:
        if key in fields and (text := text_at(fields, key)).strip():
            return key, text
    return "", ""


def object_at(fields: Mapping[str, Value], key: str) -> dict[str, Value]:
    """Return the object under a key; empty where there is none, or another type of value."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


Path: TypeAlias = tuple[str | int, ...]
"""The keys and places that lead to a part of a JSON value; none lead to all of it."""


def at(value: Value, path: Path) -> Value:
    """Return what is at that place of a value; None if there is none."""
    for step in path:
        match step, value:
            case str(key), dict(fields):
                value = fields.get(key)
            case int(place), list(items) if place < len(items):
                value = items[place]
            case _:
                return None
    return value


def put(value: Value, path: Path, new: Value) -> Value:
    """Return a copy of a value with `new` at that place."""
    match path, value:
        case [str(key), *rest], dict(fields):
            return {**fields, key: put(fields.get(key), (*rest,), new)}
        case [int(place), *rest], list(items):
            return [*items[:place], put(items[place], (*rest,), new), *items[place + 1 :]]
    return new


START = 2_000  # letters


def start_of(value: Value, letters: int = START) -> Value:
    """Return the start of a value, with about so many letters in all.

    Later and deeply nested parts are left out; a cut text ends with CUT. A short value is returned
    itself.
    """
    return _start(value, [letters], 4)


def _start(value: Value, left: list[int], levels: int) -> Value:
    if isinstance(value, str):
        room = max(left[0], 0)
        left[0] -= len(value)
        return value if len(value) <= room else value[:room] + CUT
    left[0] -= 1
    if not isinstance(value, dict | list):
        return value
    kept: dict[Any, Value] = {}
    whole = True
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        left[0] -= len(key) if isinstance(key, str) else 0
        if left[0] <= 0 or not levels:
            break
        if isinstance(item, str) and len(item) <= left[0]:  # as most are: no call for each
            left[0] -= len(item)
            kept[key] = item
            continue
        start = _start(item, left, levels - 1)
        if isinstance(value, list) and not start and item:
            break  # nothing is left, and an empty one would be another value
        kept[key] = start
        whole = whole and start is item
    if whole and len(kept) == len(value):
        return value
    return kept if isinstance(value, dict) else list(kept.values())


def _refuse_constant(name: str) -> Value:
    raise PayloadError(f"it holds {name}, which JSON does not know")


def _finite(literal: str) -> float:
    number = float(literal)
    if number in (_INF, -_INF):
        raise PayloadError(f"it holds a number out of range ({literal[:20]})")
    return number


# Made once, as above; the second one leaves numbers to `_check_finite`.
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_LATER = json.JSONDecoder(parse_constant=_refuse_constant)


def _check_finite(value: Value) -> None:
    """Refuse numbers out of range, as `_finite` does, without a call for each."""
    todo: list[Value] = [[value]]
    while todo:
        inner = todo.pop()
        if isinstance(inner, dict | list):
            items = inner.values() if isinstance(inner, dict) else inner
            if _INF in items or -_INF in items:
                raise PayloadError("it holds a number out of range")
            todo += [item for item in items if item.__class__ in (dict, list)]


def _check_nesting(text: bytes, deepest: int) -> None:
    """Refuse lists and objects that are too many or too deep, before they are made.

    Without strings, the innermost pairs of brackets are removed again and again: fast for
    megabytes. The reader refuses what is no JSON.
    """
    brackets = _STRING.sub(b"", text).translate(_AS_ONE_KIND, _NO_BRACKET)
    if len(brackets) > 2 * MAX_CONTAINERS:
        raise PayloadError(f"it holds more than {MAX_CONTAINERS} lists and objects")
    for _ in range(deepest):
        inner = brackets.replace(b"[]", b"")
        if len(inner) == len(brackets):
            return
        brackets = inner
    if b"[]" in brackets:
        raise PayloadError(f"it is nested deeper than {deepest} levels")


_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_AS_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
