"""A shell hook script's facts."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from tree_sitter import Node

from crabhook.lint.file import shebang
from crabhook.lint.finding import Place
from crabhook.lint.loose import HOLE, read_object
from crabhook.lint.refusal import named_for_refusing, refuses
from crabhook.lint.script import Answer, Exit, Language, Named, Script, Wait, Written
from crabhook.lint.shell.prints import (
    Print,
    captured_functions,
    function_of,
    goes_elsewhere,
    is_to_error,
    prints,
)
from crabhook.lint.shell.tree import ShellTree, plain, source, words

MAX_LOOKED_BACK = 8
MAX_SIBLINGS = 500
MAX_COMMANDS = 400  # that print or exit; a hook has ten

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
_LENGTH = re.compile(r"(\d{1,7}(?:\.\d{1,3})?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_VALUED = frozenset({"-k", "-s"})
_CURL = frozenset({"-m", "--max-time"})
_BLOCKS = frozenset({"program", "compound_statement", "do_group", "if_statement", "elif_clause"})
_BLOCKS |= {"else_clause", "case_item", "subshell"}
_BRANCHES = frozenset({"elif_clause", "else_clause"})


def read_shell(text: str) -> Script:
    """Return what a shell script's text says it does.  Raises CannotParseError."""
    return _Reader(ShellTree(text)).script(text)


class _Reader:
    """Sorts the commands of one tree."""

    def __init__(self, tree: ShellTree) -> None:
        self._tree = tree
        self._commands = [(node, words(node)) for node in tree.nodes if node.type == "command"]
        self._prints = {one.node.id: one for one in list(prints(tree))[:MAX_COMMANDS]}
        self._captured = captured_functions(tree)
        self._answers = dict(self._all_answers())
        self._answering = {
            name for node, _ in self._answers.values() if (name := function_of(self._tree, node))
        }

    def script(self, text: str) -> Script:
        """Return the facts."""
        chatter = {
            one.node.id: self._tree.place(one.node)
            for one in self._prints.values()
            if not one.error and one.text.strip()[:1] not in {"", "{", HOLE}
        }
        return Script(
            language=Language.SHELL,
            shebang=shebang(text),
            answers=tuple(self._placed(chatter)),
            chatter=tuple(chatter.values()),
            exits=tuple(self._exits()),
            waits=tuple(self._waits()),
            variables=tuple(self._variables()),
            words=frozenset(self._words()),
            unread=tuple(map(self._tree.place, self._tree.unread[:1])),
            speaks=">&2" in text or "/dev/stderr" in text,
        )

    def _placed(self, chatter: dict[int, Place]) -> Iterator[Answer]:
        """Yield the answers, with the plain text that surely comes before them."""
        for node, one in self._answers.values():
            before = (chatter.get(earlier.id) for earlier in self._before(node))
            behind = next((place for place in before if place), None)
            yield Answer(one.place, one.written, one.shapes, behind)

    def _all_answers(self) -> Iterator[tuple[int, tuple[Node, Answer]]]:
        for one in self._prints.values():
            if not one.error and (answer := self._printed(one)) is not None:
                yield one.node.id, (one.node, answer)
        for node, said in self._commands:
            if said and plain(said[0]) == "jq" and (answer := self._made(node, said)) is not None:
                yield node.id, (node, answer)

    def _printed(self, one: Print) -> Answer | None:
        """Return the answer that a text is, or is meant to be."""
        text = one.text.strip()
        if not (text.startswith("{") and text.endswith("}")):
            return None
        place = self._tree.place(one.node)
        shape = read_object(text, lambda _: place)
        if HOLE not in text and "\\" not in text:
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                return Answer(place, Written.BROKEN, (shape,) if shape else ())
        return Answer(place, Written.JSON, (shape,) if shape else ())

    def _made(self, command: Node, said: Sequence[Node]) -> Answer | None:
        """Return the answer that `jq` makes, where its program is one object."""
        if goes_elsewhere(self._tree, command, self._captured) or is_to_error(self._tree, command):
            return None
        for word in said[1:]:
            if word.type in {"raw_string", "string"}:
                shape = read_object(plain(word), partial(self._inside, word))
                if shape is not None:
                    return Answer(self._tree.place(command), Written.JSON, (shape,))
        return None

    def _inside(self, word: Node, offset: int) -> Place:
        """Return where a part of a quoted word is."""
        return self._tree.place(word, offset + 1)

    def _exits(self) -> Iterator[Exit]:
        ways = [(node, said) for node, said in self._commands if said and plain(said[0]) == "exit"]
        for node, said in ways[:MAX_COMMANDS]:
            code = plain(said[1]) if len(said) > 1 else ""
            number = int(code) if re.fullmatch(r"[0-9]{1,3}", code) else None
            block = list(self._before(node, enclosing=False))[:MAX_LOOKED_BACK]
            told = [self._prints[one.id].text for one in block if one.id in self._prints]
            function = function_of(self._tree, node)
            if function and any(HOLE in text for text in told):
                told += self._given(function)
            refusing = any(map(refuses, told)) or named_for_refusing(function)
            yield Exit(self._tree.place(node), number, refusing, self._answered(node))

    def _given(self, function: str) -> Iterator[str]:
        """Yield what a function of the script is called with: it may print its arguments."""
        for _, said in self._commands[:MAX_COMMANDS]:
            if said and plain(said[0]) == function:
                yield " ".join(map(plain, said[1:]))

    def _answered(self, node: Node) -> bool:
        for one in self._before(node):
            said = words(one)
            if one.id in self._answers or (said and plain(said[0]) in self._answering):
                return True
        return False

    def _before(self, node: Node, *, enclosing: bool = True) -> Iterator[Node]:
        """Yield the commands that surely ran before `node`, nearest first."""
        for parent, child in self._tree.above(node):
            if parent.type == "function_definition":
                return
            if parent.type in _BLOCKS and child.type not in _BRANCHES:
                for statement in self._tree.earlier(child, parent, MAX_SIBLINGS):
                    yield from _simple(statement)
                if not enclosing:
                    return

    def _waits(self) -> Iterator[Wait]:
        for node, parts in self._commands:
            said = [plain(word) for word in parts]
            length = ""
            if said[:1] in (["sleep"], ["timeout"]):
                length = _first(said[1:])
            elif said[:1] == ["curl"]:
                length = _after(said, _CURL)
            elif said[:1] == ["read"]:
                length = _after(said, frozenset({"-t"}))
            if found := _LENGTH.fullmatch(length):
                yield Wait(self._tree.place(node), float(found[1]) * _UNITS[found[2]], said[0])

    def _variables(self) -> Iterator[Named]:
        for node in self._tree.nodes:
            parent = self._tree.parent(node) if node.type == "variable_name" else None
            if parent is not None and parent.type in {"simple_expansion", "expansion"}:
                yield Named(self._tree.place(node), source(node))

    def _words(self) -> Iterator[str]:
        for node in self._tree.nodes:
            if node.type != "comment" and not node.named_child_count:
                yield from _WORD.findall(source(node))


def _simple(node: Node) -> Iterator[Node]:
    """Yield the command that a statement surely runs."""
    while node.type == "redirected_statement" and node.named_children:
        node = node.named_children[0]
    if node.type == "command":
        yield node


def _first(said: Sequence[str]) -> str:
    """Return the first word that is no option, and no value of one (of `timeout`)."""
    rest = iter(said)
    for word in rest:
        if word in _VALUED:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _after(said: Sequence[str], options: frozenset[str]) -> str:
    """Return the word after one of these options."""
    for option, value in pairwise(said):
        if option in options:
            return value
    return ""
