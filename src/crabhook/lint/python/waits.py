"""How long the steps of a Python script may take by its own account."""

import ast
from collections.abc import Iterator

from crabhook.lint.python.follow import Follower
from crabhook.lint.python.tree import Tree
from crabhook.lint.script import Wait

# Libraries whose `timeout` is in seconds.
_SECONDS = (
    "subprocess.",
    "requests.",
    "httpx.",
    "urllib.",
    "socket.",
    "http.client.",
    "select.",
    "queue.",
    "asyncio.",
    "concurrent.futures.",
)
_METHODS = frozenset({"communicate", "wait", "join"})


def waits(tree: Tree, follower: Follower) -> Iterator[Wait]:
    """Yield the waits whose length is written in the script."""
    for node in tree.nodes:
        if isinstance(node, ast.Call) and (given := _given(tree, node)) is not None:
            length, what = given
            seconds = _number(follower.constant(length))
            if seconds is not None:
                rounds = _rounds(tree, follower, node) if what == "sleep" else 1
                yield Wait(tree.place(node), seconds * rounds, what)


def _given(tree: Tree, call: ast.Call) -> tuple[ast.expr, str] | None:
    """Return the expression of a wait's length in seconds, and what waits."""
    name = tree.called(call)
    if name in {"time.sleep", "asyncio.sleep"} and call.args:
        return call.args[0], "sleep"
    if name == "asyncio.wait_for" and len(call.args) > 1:
        return call.args[1], name
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name.startswith(_SECONDS) or method in _METHODS:
        for keyword in call.keywords:
            if keyword.arg == "timeout":
                return keyword.value, name or method
    return None


def _rounds(tree: Tree, follower: Follower, node: ast.AST) -> float:
    """Return how often the loops around a node go round, where that is written."""
    rounds = 1.0
    for parent in tree.above(node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        if isinstance(parent, ast.For) and tree.called(parent.iter) == "range":
            arguments = parent.iter.args if isinstance(parent.iter, ast.Call) else []
            times = _number(follower.constant(arguments[0])) if len(arguments) == 1 else None
            rounds *= times or 1
    return rounds


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e9 else None
