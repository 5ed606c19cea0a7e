"""Where a Python script ends itself, with which code, and what it said just before."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from crabhook.lint.python.follow import Follower
from crabhook.lint.python.tree import Function, Tree, own
from crabhook.lint.python.written import Output
from crabhook.lint.refusal import named_for_refusing, refuses
from crabhook.lint.script import Exit

MAX_EXITS = 200
MAX_DEPTH = 8  # functions whose returns are returned by another
MAX_LOOKED_BACK = 8  # statements of the same block

_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "builtins.exit"})


@dataclass(frozen=True, slots=True)
class _Site:
    """A statement that ends the script, or a return that does, and the code it gives."""

    node: ast.AST
    code: ast.expr | None


def exits(tree: Tree, follower: Follower, output: Output) -> Iterator[Exit]:
    """Yield the script's ways out."""
    answering = _answering(tree, output)
    for number, site in enumerate(_sites(tree)):
        if number == MAX_EXITS:
            return
        code, said = _code(follower, site.code)
        failing = tree.handler(site.node) is not None
        words = [said, *_words(tree, output, site.node)]
        function = tree.scope(site.node)
        named = not isinstance(function, ast.Module) and named_for_refusing(function.name)
        refusing = any(refuses(one, first=failing) for one in words) or (named and not failing)
        answered = any(
            node in output.answers or tree.called(node) in answering
            for statement in tree.before(site.node)
            for node in (statement, *own(statement))
        )
        yield Exit(tree.place(site.node), code, refusing, answered, failing)


def _sites(tree: Tree) -> Iterator[_Site]:
    for node in tree.nodes:
        if tree.called(node) in _EXITS and isinstance(node, ast.Call):
            code = node.args[0] if node.args else None
            function = _own_function(tree, code)
            if function is None:
                yield _Site(node, code)
            else:
                yield from _returns(tree, function)
        elif isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc
            if tree.called(raised) == "SystemExit" and isinstance(raised, ast.Call):
                code = raised.args[0] if raised.args else None
                function = _own_function(tree, code)
                yield from [_Site(node, code)] if function is None else _returns(tree, function)
            elif tree.dotted(raised) == "SystemExit":
                yield _Site(node, None)


def _own_function(tree: Tree, code: ast.expr | None) -> Function | None:
    return tree.functions.get(tree.called(code)) if code is not None else None


def _returns(tree: Tree, function: Function, seen: frozenset[str] = frozenset()) -> Iterator[_Site]:
    """Yield what a function returns; where that is what another of the script returns, that."""
    seen |= {function.name}
    for node in own(function):
        if isinstance(node, ast.Return):
            inner = _own_function(tree, node.value)
            if inner is None or inner.name in seen or len(seen) > MAX_DEPTH:
                yield _Site(node, node.value)
            else:
                yield from _returns(tree, inner, seen)


def _code(follower: Follower, code: ast.expr | None) -> tuple[int | None, str]:
    """Return the exit code, and what Python prints by itself where it is given a text."""
    if code is None:
        return 0, ""
    if isinstance(code, ast.JoinedStr):
        return 1, " ".join(str(v.value) for v in code.values if isinstance(v, ast.Constant))
    value = follower.constant(code)
    if isinstance(value, str):
        return 1, value
    if isinstance(code, ast.Constant) and value is None:
        return 0, ""
    return (int(value), "") if isinstance(value, int) else (None, "")


def _words(tree: Tree, output: Output, node: ast.AST) -> Iterator[str]:
    """Yield what is written in the same block before `node`."""
    for number, statement in enumerate(tree.before(node, enclosing=False)):
        if number == MAX_LOOKED_BACK:
            return
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield output.words.get(statement.value, "")


def _answering(tree: Tree, output: Output) -> frozenset[str]:
    """Return the names of the functions that write an answer."""
    scopes = (tree.scope(call) for call in output.answers)
    return frozenset(scope.name for scope in scopes if not isinstance(scope, ast.Module))
