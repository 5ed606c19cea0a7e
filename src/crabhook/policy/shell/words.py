"""Words of the grammar's tree, read as what the shell may make of them.

Whatever is only known when the shell runs makes a word not `fixed`; its
values are then guesses, good enough to deny by.  What could run a command, or
change how the rest of the line is read, is reported as a trouble.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, ClassVar

from tree_sitter import Node

from crabhook.policy.shell import checks, literal
from crabhook.policy.shell.script import Word

MAX_VALUES = 16

# What `${name…}` may do to a value without running or setting anything.
_HARMLESS = frozenset(
    {":-", "-", ":+", "+", ":?", "?", "%", "%%", "#", "##", "/", "//", "/#", "/%"}
    | {"^", "^^", ",", ",,", "${", "}"}
)
_UNWORDLY = re.compile(r"(?<!\\)[()\s;&|<>]")
_ECHO = re.compile(
    r"(?:\$\(|`)\s*(?:echo(?:\s+-[neE]+)*|printf(?:\s+(?:--|['\"]?%s['\"]?))?|which|command\s+-v"
    r"|type\s+-[pP])\s+(?P<quote>['\"]?)(?P<text>[\w./~ -]+?)(?P=quote)\s*[`)]"
)
_ARITHMETIC = frozenset({"number", "binary_expression", "unary_expression"})
_ARITHMETIC |= {"parenthesized_expression", "ternary_expression"}


@dataclass(frozen=True, slots=True)
class _Piece:
    values: tuple[str, ...]
    fixed: bool = True
    glob: bool = False


class WordReader:
    """Reads words; what it meets besides goes to `nested` and `troubled`.

    `known` are the values that variables may have, as far as the line tells.
    `nested` takes a node of commands inside a word, `troubled` a reason.
    """

    def __init__(
        self,
        known: Mapping[str, Sequence[str]],
        nested: Callable[[Node], None],
        troubled: Callable[[str], None],
    ) -> None:
        self._known = known
        self._nested = nested
        self._troubled = troubled

    def word(self, node: Node) -> Word:
        """Return what the shell may make of a node that stands where a word does."""
        raw = source(node)
        piece = self._piece(node)
        parts: tuple[str, ...] = ()
        if "{" in raw and node.type in {"word", "concatenation", "brace_expression"}:
            parts = self._parts(raw)
        tilde = raw.startswith("~") and not raw.startswith("~\\")
        fixed = piece.fixed and not parts and not piece.glob
        values = tuple(dict.fromkeys((*piece.values, *parts)))
        return Word(raw, values, fixed, tilde, piece.glob, parts)

    def _parts(self, raw: str) -> tuple[str, ...]:
        try:
            return tuple(map(_unquote_plainly, literal.braces(raw) or ()))
        except OverflowError:
            self._troubled("its braces make too many words to look at")
            return ()

    def _piece(self, node: Node) -> _Piece:
        read = self._readers.get(node.type)
        if read is None:
            self._troubled(f"a {node.type.replace('_', ' ')} where a word should be")
            self._search(node)
            return _Piece((source(node),), fixed=False)
        return read(self, node)

    def _plain(self, node: Node) -> _Piece:
        text = source(node)
        if node.child_count:  # a number in another base, with an expansion inside
            self._search(node)
            return _Piece(("",), fixed=False)
        if _UNWORDLY.search(text):
            self._troubled("a word that the grammar may have cut wrongly")
        self._unread(text)
        return _Piece((literal.unescape(text),), glob=literal.has_wildcard(text))

    def _unread(self, text: str) -> None:
        if checks.unread(text):
            self._troubled("an expansion that the grammar did not see")

    def _raw(self, node: Node) -> _Piece:
        return _Piece((source(node)[1:-1],))

    def _ansi(self, node: Node) -> _Piece:
        return _Piece((literal.ansi(source(node)[2:-1]),))

    def _translated(self, node: Node) -> _Piece:
        self._troubled('a translated string, $"…"')
        return self._joined([self._piece(child) for child in node.named_children])

    def _regex(self, node: Node) -> _Piece:
        self._unread(source(node))
        return _Piece((source(node),), fixed=False)

    def _string(self, node: Node) -> _Piece:
        """Read double quotes: the text between what is expanded is nobody's node, so cut it out."""
        if any(child.is_missing for child in node.children):
            self._troubled("a quote that does not close")
        pieces, at = [], 1
        text = node.text or b""
        for child in node.named_children:
            start, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
            if child.type == "string_content":
                continue
            pieces += [self._quoted(text[at:start]), self._piece(child)]
            at = end
        return self._joined([*pieces, self._quoted(text[at:-1])])

    def _quoted(self, text: bytes) -> _Piece:
        inside = text.decode(errors="replace")  # a string that does not close may end in a letter
        self._unread(inside)
        return _Piece((literal.unescape_quoted(inside),))

    def _concatenation(self, node: Node) -> _Piece:
        return self._joined([self._piece(child) for child in node.children])

    def _joined(self, pieces: Sequence[_Piece]) -> _Piece:
        combinations = islice(product(*(piece.values for piece in pieces)), MAX_VALUES)
        values = tuple(dict.fromkeys("".join(parts) for parts in combinations))
        glob = any(piece.glob for piece in pieces)
        return _Piece(values or ("",), all(piece.fixed for piece in pieces), glob)

    def _variable(self, node: Node) -> _Piece:
        return _Piece(self._values(source(node)[1:]), fixed=False)

    def _values(self, name: str) -> tuple[str, ...]:
        """Return what a variable may hold: what the line sets it to, or nothing."""
        return (*self._known.get(name, ()), "")

    def _expansion(self, node: Node) -> _Piece:
        """Read `${…}`: the variable's values, and those of the word that may stand in for it."""
        name, values = "", [""]
        if not checks.plain_expansion(node):
            self._troubled("quotes or braces inside ${…}, which shells and the grammar read apart")
        for place, child in enumerate(node.children):
            if child.type == "variable_name" and not name:
                name = source(child)
                values = list(self._values(name))
                if place > 1 and source(node.children[1]) == "!":
                    self._troubled("${!…} names its variable only when it runs")
            elif child.is_named and child.type not in {"variable_name", "special_variable_name"}:
                values.extend(self._stand_in(child))
            elif not child.is_named and child.type not in _HARMLESS:
                self._troubled(f"${{…{source(child)}…}} is more than a variable's value")
        return _Piece(tuple(dict.fromkeys(values))[:MAX_VALUES], fixed=False)

    def _stand_in(self, node: Node) -> tuple[str, ...]:
        if node.type in {"subscript", "binary_expression", "array"}:
            self._troubled("${…[…]} computes its subscript when it runs")
            self._search(node)
            return ()
        return self._piece(node).values

    def _substitution(self, node: Node) -> _Piece:
        self._nested(node)
        guess = _ECHO.fullmatch(source(node))
        return _Piece((guess["text"], "") if guess else ("",), fixed=False)

    def _arithmetic(self, node: Node) -> _Piece:
        if any(child.type not in _ARITHMETIC for child in _named(node)):
            self._troubled("arithmetic over variables, whose values may be commands")
        self._search(node)
        return _Piece(("0", ""), fixed=False)

    def _array(self, node: Node) -> _Piece:
        pieces = [self._piece(child) for child in node.named_children]
        values = [value for piece in pieces for value in piece.values]
        return _Piece(tuple(dict.fromkeys(values)) or ("",), fixed=False)

    def _search(self, node: Node) -> None:
        """Hand on every command inside a node that is not read as a word."""
        for child in node.children:
            if child.type in {"command_substitution", "process_substitution"}:
                self._nested(child)
            else:
                self._search(child)

    # Made once, not for every line: from a node's type to the method that reads it.
    _readers: ClassVar[Mapping[str, Callable[[Any, Node], _Piece]]] = {
        "word": _plain,
        "number": _plain,
        "variable_name": _plain,
        "test_operator": _plain,
        "raw_string": _raw,
        "ansi_c_string": _ansi,
        "translated_string": _translated,
        "regex": _regex,
        "extglob_pattern": _regex,
        "string": _string,
        "concatenation": _concatenation,
        "simple_expansion": _variable,
        "expansion": _expansion,
        "command_substitution": _substitution,
        "process_substitution": _substitution,
        "arithmetic_expansion": _arithmetic,
        "brace_expression": _plain,
        "array": _array,
    }


def source(node: Node) -> str:
    """Return a node's own text."""
    return (node.text or b"").decode(errors="replace")


def _named(node: Node) -> list[Node]:
    todo, found = list(node.named_children), []
    while todo:
        child = todo.pop()
        found.append(child)
        todo.extend(child.named_children)
    return found


def _unquote_plainly(text: str) -> str:
    return literal.unescape(re.sub(r"(?<!\\)['\"]", "", text))
