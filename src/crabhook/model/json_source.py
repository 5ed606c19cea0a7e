"""JSON with places: the values of a settings file and where they are in the text.

`json` forgets the text: writing back turns 1.0 into 1, 1e400 into Infinity, and drops one of two
equal keys. Here an edit replaces one value's place only. Strict (RFC 8259), like Claude Code's own
parser.
"""

import json
import re
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.errors import DocumentError

Json: TypeAlias = "bool | Number | str | list[Json] | dict[str, Json] | None"

MAX_DEPTH = 200  # deeper than any settings; keeps the reading within Python's stack

_BLANK = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?>(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"(?:true|false|null)\b")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_CLOSING = {"{": "}", "[": "]"}


@frozen
class Number:
    """A number as it is written: 1.0 and 1 are not the same text."""

    literal: str


@frozen
class Element:
    """One member of an object, or one item of a list (with an empty `key`).

    `start` is the place of the key, or of a list's value.
    """

    start: int
    key: str
    node: "Node"


@frozen
class Node:
    """A value and the half-open range of the text it takes, in characters."""

    start: int
    end: int
    value: Json
    elements: tuple[Element, ...] = ()

    def member(self, key: str) -> "Node | None":
        """Return the value of this object's member `key`, if it has one."""
        return next((e.node for e in self.elements if e.key == key), None)


def parse(text: str) -> Node:
    """Return the single JSON value of `text`, after an optional byte order mark.

    Raises DocumentError, with line and column; also for two equal keys, of which either may count.
    """
    reader = _JsonReader(text)
    node = reader.value(reader.blank(1 if text.startswith("\ufeff") else 0), 0)
    end = reader.blank(node.end)
    if end != len(text):
        raise reader.error(end, "there is something after the end of the settings")
    return node


_COMMENTS = re.compile(r'("(?>(?:[^"\\\n]|\\.)*)")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS = re.compile(r'("(?>(?:[^"\\\n]|\\.)*)")|,(?=\s*[}\]])')


def uncommented(text: str, *, commas: bool = False) -> str:
    """Return JSON with blanks for its comments, each letter in its place.

    `commas`: a comma before the end of a list or an object goes, too.
    """

    def blanked(written: re.Match[str]) -> str:
        return written[1] or re.sub(r"[^\n]", " ", written[0])

    plain = _COMMENTS.sub(blanked, text)
    return _COMMAS.sub(blanked, plain) if commas else plain


def as_json(value: object) -> Json:
    """Return `value`, made of plain Python, as `parse` would have read it."""
    return parse(json.dumps(value)).value


class _JsonReader:
    """Reads one text. Every method takes a place in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def letter(self, at: int) -> str:
        """Return the letter at a place, nothing where the text is over."""
        return self.text[at : at + 1]

    def blank(self, at: int) -> int:
        """Return the first place from `at` on that is not blank."""
        blanks = _BLANK.match(self.text, at)
        return blanks.end() if blanks else at

    def error(self, at: int, what: str) -> DocumentError:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return DocumentError(f"line {line}, column {column}: {what}")

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.error(at, f"nested deeper than {MAX_DEPTH} levels")
        first = self.letter(at)
        if first in _CLOSING:
            return self._container(at, depth)
        if first == '"':
            return self._string(at)
        if match := _NUMBER.match(self.text, at):
            return Node(at, match.end(), Number(match[0]))
        if match := _WORD.match(self.text, at):
            return Node(at, match.end(), _WORDS[match[0]])
        raise self.unexpected(at, "a value")

    def _string(self, at: int) -> Node:
        if match := _STRING.match(self.text, at):
            return Node(at, match.end(), json.loads(match[0]))
        raise self.error(at, "a string that is not closed, or holds what JSON strings cannot")

    def _container(self, start: int, depth: int) -> Node:
        closing, members = _CLOSING[self.text[start]], list[Element]()
        at = self.blank(start + 1)
        while self.letter(at) != closing:
            if members:
                if self.letter(at) != ",":
                    raise self.unexpected(at, f"a comma or {closing}")
                at = self.blank(at + 1)
            members.append(self._element(at, closing, depth))
            at = self.blank(members[-1].node.end)
        elements, end = tuple(members), at + 1
        plain: dict[str, Json] = {element.key: element.node.value for element in elements}
        if self.letter(start) == "[":
            return Node(start, end, [e.node.value for e in elements], elements)
        if len(plain) != len(elements):
            first = {element.key: element for element in reversed(elements)}
            second = next(element for element in elements if first[element.key] is not element)
            raise self.error(second.start, f"the key {second.key!r} is there twice")
        return Node(start, end, plain, elements)

    def _element(self, at: int, closing: str, depth: int) -> Element:
        if closing == "]":
            return Element(at, "", self.value(at, depth + 1))
        if self.letter(at) != '"':
            raise self.unexpected(at, "a key in double quotes")
        key = self._string(at)
        colon = self.blank(key.end)
        if self.letter(colon) != ":":
            raise self.unexpected(colon, "a colon")
        return Element(at, str(key.value), self.value(self.blank(colon + 1), depth + 1))

    def unexpected(self, at: int, wanted: str) -> DocumentError:
        letter = self.letter(at)
        if not letter:
            return self.error(at, f"the file ends where {wanted} should be")
        if letter in "/#":
            return self.error(at, "a comment, which JSON does not have")
        if letter in "}]" and self.text[:at].rstrip(" \t\r\n").endswith(","):
            return self.error(at, "a comma with nothing after it, which JSON does not have")
        return self.error(at, f"{letter!r} where {wanted} should be")
