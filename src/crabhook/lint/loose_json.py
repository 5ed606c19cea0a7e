"""Objects in text that is nearly JSON: JSON with holes in it, and jq programs.

The descent is that of `model.document`, which reads JSON alone.
"""

import json
import re
from collections.abc import Callable

from crabhook.lint.finding import Place
from crabhook.lint.script import UNKNOWN, Answer, Literal, Shape, Written
from crabhook.model.document import Descent

HOLE = "\ue000"
"""Stands in a text for what is only known when the script runs."""

MAX_DEPTH = 30
MAX_TEXT = 64 * 1024

_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_NAME = re.compile(r"\$?[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"(?:true|false|null|-?\d+(?:\.\d+)?)(?=\s*[,}])")
_WORDS: dict[str, Literal] = {"true": True, "false": False, "null": None}
_OPENING, _CLOSING = "([{", ")]}"
_UNKNOWN_IN_STRING = re.compile(rf"{HOLE}|\\\(")  # jq fills in `\(…)`


def read_object(text: str, place: Callable[[int], Place]) -> Shape | None:
    """Return the object that is the whole of `text`; None for anything else.

    `place` says where in the file an offset of the text is.
    """
    if len(text) > MAX_TEXT:
        return None
    try:
        reader = _Reader(text, place)
        shape, end = reader.object(reader.blank(0), 0)
    except _NotAnObjectError:
        return None
    return shape if reader.blank(end) == len(text) else None


def read_answer(text: str, place: Place, *, whole: bool) -> Answer:
    """Return the answer that a text in braces is, or is meant to be.

    `whole`: the text is all that is written, so that it has to be JSON as it stands.
    """
    shape = read_object(text, lambda _: place)
    written = Written.JSON
    if whole:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            written = Written.BROKEN
    return Answer(place, written, (shape,) if shape else ())


class _NotAnObjectError(Exception):
    """The text holds something else; never leaves this module."""


class _Reader(Descent[str | None, Shape]):
    """Reads objects alone; of any other value it knows where it ends."""

    blanks = re.compile(r"\s*")
    last_comma = True

    def __init__(self, text: str, place: Callable[[int], Place]) -> None:
        super().__init__(text)
        self._place = place

    def object(self, start: int, depth: int) -> tuple[Shape, int]:
        """Read the object that begins at `start`."""
        if depth > MAX_DEPTH or self.letter(start) != "{":
            raise _NotAnObjectError
        found, end = self.elements(start, depth)
        members = {key: (value,) for _, key, value in found if key is not None}
        whole = all(key is not None for _, key, _ in found)
        return Shape(self._place(start), UNKNOWN, members, whole), end

    def element(self, at: int, _: str, depth: int) -> tuple[str | None, Shape, int]:
        place = self._place(at)
        key, at = self._key(at)
        at = self.blank(at)
        if self.letter(at) != ":":
            return key, Shape(place), at
        at = self.blank(at + 1)
        literal, end = self._literal(at)
        if literal is not UNKNOWN:
            return key, Shape(place, literal), end
        if self.letter(at) == "{":
            shape, end = self.object(at, depth + 1)
            if self.letter(self.blank(end)) in {",", "}"}:
                return key, Shape(place, UNKNOWN, shape.members, shape.whole), end
        return key, Shape(place), self._skip(at, ",}")

    def unexpected(self, _: int, __: str) -> _NotAnObjectError:
        return _NotAnObjectError()

    def _key(self, at: int) -> tuple[str | None, int]:
        if found := _STRING.match(self.text, at):
            key = found[1]
            return (None if _UNKNOWN_IN_STRING.search(key) else key), found.end()
        if found := _NAME.match(self.text, at):
            return found[0].removeprefix("$"), found.end()
        if self.letter(at) in {HOLE, "("}:
            return None, self._skip(at, ":,}")
        raise _NotAnObjectError

    def _literal(self, at: int) -> tuple[Literal, int]:
        if found := _STRING.match(self.text, at):
            end = self.blank(found.end())
            alone = self.letter(end) in {",", "}"}
            if alone and not _UNKNOWN_IN_STRING.search(found[1]):
                return found[1], found.end()
        elif found := _WORD.match(self.text, at):
            word = found[0]
            return (_WORDS[word] if word in _WORDS else float(word)), found.end()
        return UNKNOWN, at

    def _skip(self, at: int, until: str) -> int:
        """Return where an expression ends: at one of `until`, outside of brackets and strings."""
        depth, start = 0, at
        while at < len(self.text):
            letter = self.text[at]
            if depth == 0 and letter in until:
                if self.blank(start) == at:
                    break
                return at
            if letter == '"':
                found = _STRING.match(self.text, at)
                if found is None:
                    break
                at = found.end()
                continue
            depth += (letter in _OPENING) - (letter in _CLOSING)
            if depth < 0:
                break
            at += 1
        raise _NotAnObjectError
