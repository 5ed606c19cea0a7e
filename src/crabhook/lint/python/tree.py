"""A Python script's syntax tree, with what the tree alone does not tell: parents, scopes, names."""

import ast
import sys
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from crabhook.lint.errors import CannotParseError
from crabhook.lint.finding import START, Place

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Scope: TypeAlias = ast.Module | Function

_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Tree:
    """One parsed script.  Raises CannotParseError where it is no Python, or nested past reading."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self.root = _parse(text)
        self.nodes = tuple(ast.walk(self.root))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self._aliases = dict(_aliases(self.nodes))

    def place(self, node: ast.AST) -> Place:
        """Return where a node begins."""
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0)
        if not 0 < line <= len(self._lines):
            return START
        before = self._lines[line - 1].encode("utf-8", "surrogatepass")[:offset]
        return Place(line, len(before.decode("utf-8", "replace")) + 1)

    def dotted(self, node: ast.AST) -> str:
        """Return a name with its module, as `sys.stdin`, however imported; or nothing."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self._aliases.get(node.id, node.id), *reversed(parts)])

    def called(self, node: ast.AST) -> str:
        """Return the dotted name of what a call calls; nothing for anything else."""
        return self.dotted(node.func) if isinstance(node, ast.Call) else ""

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what a node stands in, from near to far."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def scope(self, node: ast.AST) -> Scope:
        """Return the function that a node stands in, or the module."""
        for parent in self.above(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                return parent
        return self.root

    def handler(self, node: ast.AST) -> ast.ExceptHandler | None:
        """Return the `except` of the same function that a node stands in."""
        for parent in self.above(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                return None
            if isinstance(parent, ast.ExceptHandler):
                return parent
        return None

    def before(self, node: ast.AST, *, enclosing: bool = True) -> Iterator[ast.stmt]:
        """Yield the statements of the same function that surely ran before `node`, nearest first.

        Without `enclosing`, only those of the same block.
        """
        child: ast.AST = node
        for parent in self.above(node):
            for block in _BLOCKS:
                listed = getattr(parent, block, None)
                if isinstance(listed, list) and child in listed:
                    earlier = listed[: listed.index(child)]
                    yield from (one for one in reversed(earlier) if isinstance(one, ast.stmt))
                    if not enclosing:
                        return
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                return
            child = parent

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The script's own functions, by name; those of a name that is there twice are left out."""
        found: dict[str, Function] = {}
        twice: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                twice |= {node.name} & set(found)
                found[node.name] = node
        return {name: node for name, node in found.items() if name not in twice}

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        """The calls of plain names, by name."""
        found: dict[str, list[ast.Call]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found.setdefault(node.func.id, []).append(node)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """The names and the texts in the script."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
        return frozenset(found)


def own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a node, without what is in functions and classes defined there."""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        inner = todo.pop()
        yield inner
        if not isinstance(
            inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        ):
            todo.extend(ast.iter_child_nodes(inner))


def _parse(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the script's own making, and not ours to show
            return ast.parse(text)
    except SyntaxError as error:
        place = Place(max(1, error.lineno or 1), max(1, error.offset or 1))
        raise CannotParseError(f"{_PYTHON} cannot read it: {error.msg}", place) from error
    except (RecursionError, MemoryError) as error:
        raise CannotParseError("it is nested deeper than Python itself reads") from error
    except ValueError as error:
        raise CannotParseError(f"{_PYTHON} cannot read it: {error}") from error


def _aliases(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[str, str]]:
    """Yield what imported names stand for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name, alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
