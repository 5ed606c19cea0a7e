"""Where a Python script ends itself and how, and the `except`s that do not end it."""

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from crabhook.lint.python.output_calls import Output
from crabhook.lint.python.tree import Function, Tree, own
from crabhook.lint.script import Exit, Remark, named_for_refusing, refuses

MAX_EXITS = 200
_ENDS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
_BLOCKS = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
MAX_DEPTH = 8  # functions whose returns are returned by another
MAX_LOOKED_BACK = 8  # statements of the same block
MAX_LAPSES = 200

_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "builtins.exit"})


# A statement that ends the script, or a return that does, and the code it gives.
_Site: TypeAlias = tuple[ast.AST, ast.expr | None]


def exits(tree: Tree, output: Output) -> Iterator[Exit]:
    """Yield the script's ways out."""
    scopes = map(tree.scope, output.answers)
    answering = {scope.name for scope in scopes if isinstance(scope, Function)}
    for end, argument in islice(_sites(tree), MAX_EXITS):
        code, text = _code(tree, argument)
        failing = any(isinstance(above, ast.ExceptHandler) for above in tree.inside(end))
        words = [text, *_words(tree, output, end)]
        function = tree.scope(end)
        named = isinstance(function, Function) and named_for_refusing(function.name)
        refusing = any(refuses(word, first=failing) for word in words) or (named and not failing)
        answered = any(
            node in output.answers or tree.called(node) in answering
            for statement in tree.before(end)
            for node in (statement, *own(statement))
        )
        yield Exit(tree.place(end), code, refusing, answered, failing)


def _sites(tree: Tree) -> Iterator[_Site]:
    for node in tree.nodes:
        ends = node.exc if isinstance(node, ast.Raise) else node
        names = _EXITS if ends is node else {"SystemExit"}
        if isinstance(ends, ast.Call) and tree.called(ends) in names:
            code = ends.args[0] if ends.args else None
            function = _own_function(tree, code)
            yield from [(node, code)] if function is None else _returns(tree, function)
        elif ends is not None and ends is not node and tree.dotted(ends) in names:
            yield node, None


def _own_function(tree: Tree, code: ast.expr | None) -> Function | None:
    return tree.functions.get(tree.called(code)) if code is not None else None


def _returns(tree: Tree, function: Function, seen: frozenset[str] = frozenset()) -> Iterator[_Site]:
    """Yield what a function returns, through calls of the script's other functions."""
    seen |= {function.name}
    for node in own(function):
        if isinstance(node, ast.Return):
            inner = _own_function(tree, node.value)
            if inner is None or inner.name in seen or len(seen) > MAX_DEPTH:
                yield node, node.value
            else:
                yield from _returns(tree, inner, seen)


def _code(tree: Tree, code: ast.expr | None) -> tuple[int | None, str]:
    """Return the exit code, and what Python prints for a text."""
    if code is None:
        return 0, ""
    if isinstance(code, ast.JoinedStr):
        return 1, " ".join(str(v.value) for v in code.values if isinstance(v, ast.Constant))
    value = tree.constant(code)
    if isinstance(value, str):
        return 1, value
    if isinstance(code, ast.Constant) and value is None:
        return 0, ""
    return (int(value), "") if isinstance(value, int) else (None, "")


def _words(tree: Tree, output: Output, node: ast.AST) -> Iterator[str]:
    """Yield what the same block writes before `node`."""
    for statement in islice(tree.before(node, enclosing=False), MAX_LOOKED_BACK):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield output.words.get(statement.value, "")


def lapses(tree: Tree) -> Iterator[Remark]:
    """Yield each `except` that raises again, or after which the script ends.

    An outer handler or a caller may prevent both; only sure exits are yielded.
    """
    handlers = (node for node in tree.nodes if isinstance(node, ast.ExceptHandler))
    going_on = (handler for handler in handlers if not tree.caught(handler) & _ENDS)
    for handler in islice(going_on, MAX_LAPSES):
        if any(_raises_on(tree, inner) for inner in own(handler)):
            yield Remark(tree.place(handler), "raises again")
        elif _just_ends(tree, handler):
            yield Remark(tree.place(handler), "just ends")


def _raises_on(tree: Tree, node: ast.AST) -> bool:
    """Whether a statement raises an error that surely nothing handles."""
    if not isinstance(node, ast.Raise):
        return False
    raised = node.exc
    if raised is not None and (tree.called(raised) or tree.dotted(raised)) in _ENDS:
        return False
    return not _may_be_handled(tree, node, frozenset())


def _may_be_handled(tree: Tree, node: ast.AST, seen: frozenset[str]) -> bool:
    if any(attempt.handlers for attempt in tree.tried(node)):
        return True
    function = tree.scope(node)
    if isinstance(function, ast.Module):
        return False
    calls = _calls(tree, function, seen)
    return not calls or any(_may_be_handled(tree, call, seen | {function.name}) for call in calls)


def _just_ends(tree: Tree, handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    if isinstance(last, ast.Return):
        function = tree.scope(handler)
        return isinstance(function, Function) and _is_last_step(tree, function, frozenset())
    if _leaves(tree, handler.body) or any(_may_leave(tree, node) for node in own(handler)):
        return False
    return _nothing_follows(tree, handler, frozenset())


def _may_leave(tree: Tree, node: ast.AST) -> bool:
    return isinstance(node, ast.Return | ast.Raise) or tree.called(node) in _EXITS


def _nothing_follows(tree: Tree, node: ast.AST, seen: frozenset[str]) -> bool:
    """Whether the script ends after a statement without saying how."""
    child = node
    for parent in tree.above(node):
        if isinstance(parent, _LOOPS):
            return False
        if isinstance(parent, ast.Try | ast.TryStar):
            if child in parent.body and parent.orelse:
                return False
            last = [node for statement in parent.finalbody for node in ast.walk(statement)]
            if child not in parent.finalbody and any(_may_leave(tree, node) for node in last):
                return False
        for block in _BLOCKS:
            listed = getattr(parent, block, None)
            if isinstance(listed, list) and child in listed:
                after = listed[listed.index(child) + 1 :]
                if not all(isinstance(statement, Function | ast.ClassDef) for statement in after):
                    return False
        if isinstance(parent, Function):
            return _is_last_step(tree, parent, seen)
        child = parent
    return True


def _is_last_step(tree: Tree, function: Function, seen: frozenset[str]) -> bool:
    """Whether nothing follows any call of a function."""
    calls = _calls(tree, function, seen)
    return bool(calls) and all(
        isinstance(statement := tree.parents[call], ast.Expr)
        and _nothing_follows(tree, statement, seen | {function.name})
        for call in calls
    )


def _calls(tree: Tree, function: Function, seen: frozenset[str]) -> list[ast.Call]:
    """Return the calls of a function; none if some may be unknown."""
    last_of_its_name = tree.functions.get(function.name) is function
    if not last_of_its_name or function.name in seen or len(seen) > MAX_DEPTH:
        return []
    return tree.calls.get(function.name, [])[:20]


def _leaves(tree: Tree, block: list[ast.stmt]) -> bool:
    """Whether a block's last statement surely leaves the block."""
    last = block[-1]
    match last:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.Expr(value=ast.Call() as call):
            function = tree.functions.get(tree.called(call))
            return tree.called(call) in _EXITS or (
                function is not None and any(_may_leave(tree, node) for node in own(function))
            )
    return False
