"""A shell script's syntax tree, parsed within a bound of work, and its words as plain text."""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from crabhook.lint.finding import CannotParseError, Place
from crabhook.lint.loose_json import HOLE

MAX_WORK = 40_000  # the parser's own reports of progress; 1 MiB of sound shell makes 20 000
CHUNK = 512  # bytes; the parser copies one whenever a node's text is asked for
MAX_NODES = 400_000
MAX_DEPTH = 200  # a person's script has twenty

# The grammar's scanner, which is C, looks letters up in a table of 256; one from far
# beyond would end the process.  No rule here turns on which letter it was.
_BEYOND, _STAND_IN = re.compile(r"[^\x00-\xff]"), "\xbf"
_ESCAPED = re.compile(r'\\([$`"\\])')
_LANGUAGE = Language(tree_sitter_bash.language())
_HOLES = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution"}
    | {"arithmetic_expansion"}
)


class ShellTree:
    """One parsed script.  Raises CannotParseError where the grammar cannot make sense of it."""

    def __init__(self, text: str) -> None:
        content = _BEYOND.sub(_STAND_IN, text).encode("utf-8", "replace")
        self._lines = content.split(b"\n")
        self._parents: dict[int, Node] = {}
        self._children: dict[int, list[Node]] = {}
        self._order: dict[int, int] = {}
        self.unread: list[Node] = []
        self.nodes = tuple(self._walk(_parse(content)))

    def above(self, node: Node) -> Iterator[tuple[Node, Node]]:
        """Yield what a node stands in, from near to far, each with its child on the way."""
        while (parent := self._parents.get(node.id)) is not None:
            yield parent, node
            node = parent

    def earlier(self, node: Node, parent: Node, most: int) -> Iterator[Node]:
        """Yield so many of the nodes before `node` in its parent, nearest first."""
        place = self._order[node.id]
        siblings = self._children[parent.id]
        for at in range(place - 1, max(-1, place - 1 - most), -1):
            yield siblings[at]

    def is_last(self, node: Node, parent: Node) -> bool:
        """Whether a node is its parent's last."""
        return self._order[node.id] == len(self._children[parent.id]) - 1

    def parent(self, node: Node) -> Node | None:
        """Return what a node stands in."""
        return self._parents.get(node.id)

    def _walk(self, root: Node) -> Iterator[Node]:
        """Yield the nodes from first to last; what the grammar did not understand is `unread`."""
        todo = [(root, 0)]
        for _ in range(MAX_NODES):
            if not todo:
                return
            node, depth = todo.pop()
            if node.is_error and node.id != root.id:
                self.unread.append(node)
                continue
            if depth > MAX_DEPTH:
                raise CannotParseError(f"it is nested deeper than {MAX_DEPTH} levels")
            yield node
            children = node.named_children
            self._children[node.id] = children
            for order, child in enumerate(children):
                self._parents[child.id] = node
                self._order[child.id] = order
            todo.extend((child, depth + 1) for child in reversed(children))
        raise CannotParseError("it has more parts than any shell script should")

    def place(self, node: Node, offset: int = 0) -> Place:
        """Return where a node begins, or the place `offset` characters on in its text."""
        before = source(node)[:offset]
        row = node.start_point.row + before.count("\n")
        if "\n" in before:
            return Place(row + 1, offset - before.rfind("\n"))
        line = self._lines[row] if row < len(self._lines) else b""
        column = len(line[: node.start_point.column].decode("utf-8", "replace"))
        return Place(row + 1, column + 1 + offset)


def words(command: Node) -> list[Node]:
    """Return the words of a simple command, its name first."""
    found = []
    for child in command.named_children:
        if child.type == "command_name":
            found.append(child.children[0] if child.children else child)
        elif child.type not in {"variable_assignment", "file_redirect", "herestring_redirect"}:
            found.append(child)
    return found


def plain(node: Node) -> str:
    """Return a word as the shell makes it, with a hole for what is only known when it runs."""
    if node.type == "raw_string":
        return source(node)[1:-1]
    if node.type in _HOLES:
        return HOLE
    if node.type == "string":
        return _ESCAPED.sub(r"\1", filled(node)[1:-1])
    return filled(node) if node.child_count else source(node)


def filled(node: Node) -> str:
    """Return a node's text, quotes and all, with what is expanded in it as holes."""
    content = node.text or b""
    pieces, at = [], 0
    for child in node.named_children:
        kept = child.type in {"string_content", "heredoc_content"}
        pieces.append(content[at : child.start_byte - node.start_byte])
        pieces.append((source(child) if kept else plain(child)).encode())
        at = child.end_byte - node.start_byte
    return b"".join([*pieces, content[at:]]).decode("utf-8", "replace")


def heredoc(node: Node) -> Node | None:
    """Return the body of the here-document that a redirected statement reads."""
    for child in node.named_children:
        if child.type == "heredoc_redirect":
            return next((one for one in child.named_children if one.type == "heredoc_body"), None)
    return None


def source(node: Node) -> str:
    """Return a node's text as it is written."""
    return (node.text or b"").decode("utf-8", "replace")


def _parse(content: bytes) -> Node:
    reports = 0

    def too_much(_offset: int, _error: bool) -> bool:  # noqa: FBT001 - the parser's signature
        nonlocal reports
        reports += 1
        return reports > MAX_WORK

    try:
        tree = Parser(_LANGUAGE).parse(
            lambda offset, _: content[offset : offset + CHUNK], progress_callback=too_much
        )
    except ValueError as error:
        raise CannotParseError("it takes more work to read than any shell script should") from error
    return tree.root_node
