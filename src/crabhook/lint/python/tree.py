"""A Python script's syntax tree, and possible values of its expressions.

`Tree` adds parents, scopes and names, which it follows through assignments, calls and returns.
"""

import ast
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from crabhook.lint.script import START, CannotParseError, SourcePlace

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Scope: TypeAlias = ast.Module | Function

_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

MAX_FOLLOWED = 100  # steps from one expression; a hook's author takes five
MAX_BINDINGS = 40  # of one name, returns of one function, calls of one; more is not known


class Tree:
    """One parsed script; CannotParseError if it is no Python, or nested too deeply."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self.root = _parse(text)
        self.nodes = tuple(ast.walk(self.root))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self._aliases = dict(_aliases(self.nodes))
        functions = [node for node in self.nodes if isinstance(node, Function)]
        counts = Counter(node.name for node in functions)
        # By name; those of a name that is there twice are left out.
        self.functions = {node.name: node for node in functions if counts[node.name] == 1}
        self.calls = defaultdict[str, list[ast.Call]](list)
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self.calls[node.func.id].append(node)
        self._bindings = defaultdict[tuple[Scope, str], list[ast.expr | None]](list)
        for target, value in (pair for node in self.nodes for pair in _assigned(node)):
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    certain = value if name is target else None
                    self._bindings[self.scope(name), name.id].append(certain)

    def place(self, node: ast.AST) -> SourcePlace:
        """Return where a node begins."""
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0)
        if not 0 < line <= len(self._lines):
            return START
        before = self._lines[line - 1].encode("utf-8", "surrogatepass")[:offset]
        return SourcePlace(line, len(before.decode("utf-8", "replace")) + 1)

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
        """Yield the nodes around a node, nearest first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def inside(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, nearest first, up to its function."""
        for parent in self.above(node):
            yield parent
            if isinstance(parent, Function):
                return

    def scope(self, node: ast.AST) -> Scope:
        """Return a node's function, or the module."""
        return next((above for above in self.above(node) if isinstance(above, Function)), self.root)

    def tried(self, node: ast.AST) -> "Iterator[ast.Try | ast.TryStar]":
        """Yield the `try`s of the same function with a node in their body, nearest first."""
        child = node
        for parent in self.inside(node):
            if isinstance(parent, ast.Try | ast.TryStar) and child in parent.body:
                yield parent
            child = parent

    def caught(self, handler: ast.ExceptHandler) -> set[str]:
        """Return the dotted names of what an `except` catches."""
        if handler.type is None:
            return {"BaseException"}
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        return set(map(self.dotted, kinds))

    def before(self, node: ast.AST, *, enclosing: bool = True) -> Iterator[ast.stmt]:
        """Yield statements that surely ran before `node`, nearest first; `enclosing`: outer too."""
        child: ast.AST = node
        for parent in self.inside(node):
            for block in _BLOCKS:
                listed = getattr(parent, block, None)
                if isinstance(listed, list) and child in listed:
                    earlier = listed[: listed.index(child)]
                    yield from (
                        statement
                        for statement in reversed(earlier)
                        if isinstance(statement, ast.stmt)
                    )
                    if not enclosing:
                        return
            child = parent

    def words(self) -> Iterator[str]:
        """Yield the names and the texts in the script."""
        for node in self.nodes:
            match node:
                case ast.Constant(value=str() as word) | ast.Name(id=word):
                    yield word
                case ast.Attribute(attr=word):
                    yield word

    def follow(self, node: ast.expr) -> Sequence[ast.expr]:
        """Return the possible expressions behind `node`; an unknown name or call is itself."""
        seen: set[ast.expr] = set()
        expressions: dict[ast.expr, None] = {}
        todo = [node]
        while todo and len(seen) < MAX_FOLLOWED:
            expression = todo.pop()
            if expression in seen:
                continue
            seen.add(expression)
            behind = self._behind(expression)
            if behind is None:
                expressions[expression] = None
            else:
                todo.extend(behind)
        return tuple(expressions)

    def constant(self, node: ast.expr) -> object:
        """Return the only constant that `node` comes to, or None."""
        values = [
            constant.value for constant in self.follow(node) if isinstance(constant, ast.Constant)
        ]
        return values[0] if len(values) == 1 == len(self.follow(node)) else None

    def _behind(self, node: ast.expr) -> Sequence[ast.expr] | None:
        """Return the value of one expression; None if unknown."""
        match node:
            case ast.IfExp(body=body, orelse=orelse):
                return [body, orelse]
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return [value]
            case ast.BoolOp(op=ast.Or(), values=values):
                return values
            case ast.Name():
                return self._named(node)
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                return _returned(self.functions[name])
        return None

    def _named(self, node: ast.Name) -> Sequence[ast.expr] | None:
        scope = self.scope(node)
        bound = self._bindings.get((scope, node.id), [])
        if not bound and not isinstance(scope, ast.Module):
            arguments = scope.args
            parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            if any(parameter.arg == node.id for parameter in parameters):
                return self._given(scope, node.id)
            bound = self._bindings.get((self.root, node.id), [])
        return _certain(bound)

    def _given(self, function: Function, name: str) -> Sequence[ast.expr] | None:
        """Return what all calls give for a parameter; None if one call hides it."""
        if self.functions.get(function.name) is not function:
            return None
        calls = self.calls.get(function.name, [])[: MAX_BINDINGS + 1]
        return _certain([_argument(function, name, call) for call in calls])


def own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a node, but not in inner functions and classes."""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        inner = todo.pop()
        yield inner
        if not isinstance(inner, Function | ast.ClassDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(inner))


def _parse(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the script's own making, and not ours to show
            return ast.parse(text)
    except SyntaxError as error:
        place = SourcePlace(max(1, error.lineno or 1), max(1, error.offset or 1))
        raise CannotParseError(f"{_PYTHON} cannot read it: {error.msg}", place) from error
    except (RecursionError, MemoryError) as error:
        raise CannotParseError("it is nested deeper than Python itself reads") from error
    except ValueError as error:
        raise CannotParseError(f"{_PYTHON} cannot read it: {error}") from error


def _aliases(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name, alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _certain(values: Sequence[ast.expr | None]) -> Sequence[ast.expr] | None:
    """Return the values if all are known and few."""
    certain = [value for value in values if value is not None]
    return certain if 0 < len(certain) == len(values) <= MAX_BINDINGS else None


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield target, value
        case ast.AnnAssign(target=target, value=ast.expr() as expression):
            yield target, expression
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.withitem(optional_vars=ast.expr() as target):
            yield target, None
        case ast.AugAssign() | ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, None


def _returned(function: Function) -> Sequence[ast.expr] | None:
    """Return what a function returns; None for a generator or for no value."""
    inside = list(own(function))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside):
        return None
    return _certain([node.value for node in inside if isinstance(node, ast.Return) and node.value])


def _argument(function: Function, name: str, call: ast.Call) -> ast.expr | None:
    """Return what a call gives for a parameter, or its default; None if hidden."""
    starred = any(isinstance(arg, ast.Starred) for arg in call.args)
    if starred or any(keyword.arg is None for keyword in call.keywords):
        return None
    arguments = function.args
    positional = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
    keyword_only = [parameter.arg for parameter in arguments.kwonlyargs]
    # The defaults first, and over them what the call gives.
    by_parameter: dict[str | None, ast.expr | None] = {}
    by_parameter |= zip(reversed(positional), reversed(arguments.defaults), strict=False)
    by_parameter |= zip(keyword_only, arguments.kw_defaults, strict=True)
    by_parameter |= zip(positional, call.args, strict=False)
    by_parameter |= {keyword.arg: keyword.value for keyword in call.keywords}
    return by_parameter.get(name)
