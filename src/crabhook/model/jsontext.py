"""JSON as agents write it: read strictly and within bounds, written back without loss.

The agents are JavaScript and Rust programs, so every number they write is one
that `json` gives back with the same meaning.  What JSON does not know (NaN,
Infinity, a number past a double's range) is an error here rather than
something that would be written back as another value.
"""

import json
from collections.abc import Mapping
from typing import TypeAlias

from crabhook.model.errors import PayloadError

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

# Made once: `json.dumps` with options of its own makes an encoder at every call.
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_CANONICAL = json.JSONEncoder(separators=(",", ":"), sort_keys=True)
_LITERAL = json.JSONEncoder(ensure_ascii=False)
_PRETTY = json.JSONEncoder(indent=2, ensure_ascii=False)

MAX_DEPTH = 200  # deeper than any tool's input; the bound keeps every later walk within the stack
WRITTEN_DEPTH = MAX_DEPTH + 20  # of what we wrote ourselves, an agent's value somewhere inside it


def parse_object(text: bytes, deepest: int = MAX_DEPTH) -> dict[str, Value]:
    """Return the one JSON object that `text` holds.

    Raises PayloadError, in words for a person, for anything else; see `parse_value`.
    """
    value = parse_value(text, deepest)
    if not isinstance(value, dict):
        raise PayloadError(f"it is a JSON {type(value).__name__}, not an object")
    return value


def parse_value(text: bytes, deepest: int = MAX_DEPTH) -> Value:
    """Return the one JSON value that `text` holds.

    Raises PayloadError, in words for a person, for anything else: broken
    UTF-8, broken JSON, nesting past `deepest`.
    """
    try:
        value: Value = json.loads(
            text.decode("utf-8-sig"), parse_constant=_refuse_constant, parse_float=_finite
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
    if text.count(b"[") + text.count(b"{") > deepest and _depth(value) > deepest:
        raise PayloadError(f"it is nested deeper than {deepest} levels")
    return value


def compact(value: Value | Mapping[str, Value]) -> str:
    """Return `value` as one line of JSON, in ASCII, so that no reader can mistake its encoding."""
    return _COMPACT.encode(value)


def canonical(value: Value) -> str:
    """Return the same text for equal values, whatever the order of their keys."""
    return _CANONICAL.encode(value)


def literal(text: str) -> str:
    """Return `text` as a JSON string the way JavaScript writes one: letters stay letters."""
    return _LITERAL.encode(text)


def pretty(value: Value) -> str:
    """Return `value` for a person to read: indented, letters as letters."""
    return _PRETTY.encode(value)


def _refuse_constant(name: str) -> Value:
    raise PayloadError(f"it holds {name}, which JSON does not know")


def _finite(literal: str) -> float:
    number = float(literal)
    if number in (float("inf"), float("-inf")):
        raise PayloadError(f"it holds a number out of range ({literal[:20]})")
    return number


def _depth(value: Value) -> int:
    """Return how deeply `value` is nested, without recursion."""
    deepest, todo = 0, [(value, 1)]
    while todo:
        inner, depth = todo.pop()
        deepest = max(deepest, depth)
        if isinstance(inner, dict):
            todo.extend((item, depth + 1) for item in inner.values())
        elif isinstance(inner, list):
            todo.extend((item, depth + 1) for item in inner)
    return deepest
