"""Objects in text that is nearly JSON: JSON with holes in it, and jq programs."""

import json
import re
from collections.abc import Callable

from crabhook.lint.script import UNKNOWN, HookAnswer, Literal, SourcePlace, ValueShape, Written

HOLE = "\ue000"
"""Stands in a text for what is only known when the script runs."""

MAX_DEPTH = 30
MAX_TEXT = 64 * 1024

_BLANK = re.compile(r"\s*")
_STRING = re.compile(r'"((?>(?:[^"\\]|\\.)*))"', re.DOTALL)
_NAME = re.compile(r"\$?[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"(?:true|false|null|-?\d+(?:\.\d+)?)(?=\s*[,}])")
_WORDS: dict[str, Literal] = {"true": True, "false": False, "null": None}
_TOKEN = re.compile(rf"{_STRING.pattern}|.", re.DOTALL)
_OPENING, _CLOSING = "([{", ")]}"
_UNKNOWN_IN_STRING = re.compile(rf"{HOLE}|\\\(")  # jq fills in `\(…)`


def read_object(text: str, place: Callable[[int], SourcePlace]) -> ValueShape | None:
    """Return the object that is all of `text`, else None; `place` turns offsets into places."""
    if len(text) > MAX_TEXT:
        return None
    try:
        reader = _LooseJsonReader(text, place)
        shape, end = reader.object(reader.blank(0), 0)
    except _NotAnObjectError:
        return None
    return shape if reader.blank(end) == len(text) else None


def read_answer(text: str, place: SourcePlace, *, whole: bool) -> HookAnswer:
    """Return the answer in a text in braces, strict or not quite JSON.

    `whole`: the text is all the output, so it must be JSON as it is.
    """
    shape = read_object(text, lambda _: place)
    written = Written.JSON
    if whole:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            written = Written.BROKEN
    return HookAnswer(place, written, (shape,) if shape else ())


class _NotAnObjectError(Exception):
    """The text holds something else; never leaves this module."""


class _LooseJsonReader:
    """Reads objects; of other values it finds the end only."""

    def __init__(self, text: str, place: Callable[[int], SourcePlace]) -> None:
        self._text = text
        self._place = place

    def blank(self, at: int) -> int:
        """Return the first place from `at` on that is not blank."""
        blanks = _BLANK.match(self._text, at)
        return blanks.end() if blanks else at

    def object(self, start: int, depth: int) -> tuple[ValueShape, int]:
        """Read the object that begins at `start`; return it and its end."""
        if depth > MAX_DEPTH or self._letter(start) != "{":
            raise _NotAnObjectError
        members: dict[str, tuple[ValueShape, ...]] = {}
        whole, at = True, self.blank(start + 1)
        while self._letter(at) != "}":
            place = self._place(at)
            key, at = self._key(at)
            value, at = self._value(place, self.blank(at), depth)
            whole &= key is not None
            members |= {key: (value,)} if key is not None else {}
            at = self.blank(at)
            if self._letter(at) == ",":
                at = self.blank(at + 1)
            elif self._letter(at) != "}":
                raise _NotAnObjectError
        return ValueShape(self._place(start), UNKNOWN, members, whole), at + 1

    def _letter(self, at: int) -> str:
        return self._text[at : at + 1]

    def _value(self, place: SourcePlace, at: int, depth: int) -> tuple[ValueShape, int]:
        """Read the value after a key; it may be missing."""
        if self._letter(at) != ":":
            return ValueShape(place), at
        at = self.blank(at + 1)
        literal, end = self._literal(at)
        if literal is not UNKNOWN:
            return ValueShape(place, literal), end
        if self._letter(at) == "{":
            shape, end = self.object(at, depth + 1)
            if self._letter(self.blank(end)) in {",", "}"}:
                return ValueShape(place, UNKNOWN, shape.members, shape.whole), end
        return ValueShape(place), self._skip(at, ",}")

    def _key(self, at: int) -> tuple[str | None, int]:
        if match := _STRING.match(self._text, at):
            key = match[1]
            return (None if _UNKNOWN_IN_STRING.search(key) else key), match.end()
        if match := _NAME.match(self._text, at):
            return match[0].removeprefix("$"), match.end()
        if self._letter(at) in {HOLE, "("}:
            return None, self._skip(at, ":,}")
        raise _NotAnObjectError

    def _literal(self, at: int) -> tuple[Literal, int]:
        if match := _STRING.match(self._text, at):
            end = self.blank(match.end())
            alone = self._letter(end) in {",", "}"}
            if alone and not _UNKNOWN_IN_STRING.search(match[1]):
                return match[1], match.end()
        elif match := _WORD.match(self._text, at):
            word = match[0]
            return (_WORDS[word] if word in _WORDS else float(word)), match.end()
        return UNKNOWN, at

    def _skip(self, at: int, until: str) -> int:
        """Return the end of an expression: one of `until`, outside of brackets and strings."""
        depth = 0
        for token in _TOKEN.finditer(self._text, at):
            piece = token[0]
            if depth == 0 and piece in until:
                if self.blank(at) == token.start():
                    break
                return token.start()
            depth += (piece in _OPENING) - (piece in _CLOSING)
            if depth < 0 or piece == '"':
                break
        raise _NotAnObjectError
