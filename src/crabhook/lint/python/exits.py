"""Where a Python script ends itself and how, and the `except`s that do not end it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from crabhook.lint.python.tree import Follower, Function, Tree, own
from crabhook.lint.python.written import Output
from crabhook.lint.script import Exit, Lapse, named_for_refusing, refuses

MAX_EXITS = 200
_ENDS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
_BLOCKS = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MAX_DEPTH = 8  # functions whose returns are returned by another
MAX_LOOKED_BACK = 8  # statements of the same block
MAX_LAPSES = 200

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


def lapses(tree: Tree) -> Iterator[Lapse]:
    """Yield each `except` that raises again, or after which the script just ends.

    What is raised may be handled further out, and a function's caller may go
    on: only what surely comes to one of the two is yielded.
    """
    number = 0
    for node in tree.nodes:
        if isinstance(node, ast.ExceptHandler) and not _is_about_ending(tree, node):
            number += 1
            if number > MAX_LAPSES:
                return
            if any(_raises_on(tree, inner) for inner in own(node)):
                yield Lapse(tree.place(node), "raises again")
            elif _just_ends(tree, node):
                yield Lapse(tree.place(node), "just ends")


def _is_about_ending(tree: Tree, handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is not None and tree.dotted(kind) in _ENDS for kind in kinds)


def _raises_on(tree: Tree, node: ast.AST) -> bool:
    """Whether a statement raises an error that surely nothing handles."""
    if not isinstance(node, ast.Raise):
        return False
    raised = node.exc
    if raised is not None and (tree.called(raised) or tree.dotted(raised)) in _ENDS:
        return False
    return not _may_be_handled(tree, node, frozenset())


def _may_be_handled(tree: Tree, node: ast.AST, seen: frozenset[str]) -> bool:
    child = node
    for parent in tree.above(node):
        if isinstance(parent, ast.Try | ast.TryStar) and child in parent.body and parent.handlers:
            return True
        if isinstance(parent, _FUNCTIONS):
            calls = _calls(tree, parent, seen)
            return not calls or any(
                _may_be_handled(tree, call, seen | {parent.name}) for call in calls
            )
        child = parent
    return False


def _just_ends(tree: Tree, handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    if isinstance(last, ast.Return):
        last_of_all = tree.scope(handler)
        return isinstance(last_of_all, _FUNCTIONS) and _is_last_step(tree, last_of_all, frozenset())
    if _leaves(tree, handler.body) or any(_may_leave(tree, node) for node in own(handler)):
        return False
    return _nothing_follows(tree, handler, frozenset())


def _may_leave(tree: Tree, node: ast.AST) -> bool:
    return isinstance(node, ast.Return | ast.Raise) or tree.called(node) in _EXITS


def _nothing_follows(tree: Tree, node: ast.AST, seen: frozenset[str]) -> bool:
    """Whether the script is over after a statement, with no word of how."""
    child = node
    for parent in tree.above(node):
        if isinstance(parent, _LOOPS):
            return False
        if isinstance(parent, ast.Try | ast.TryStar):
            if child in parent.body and parent.orelse:
                return False
            if child not in parent.finalbody and parent.finalbody and _leaves_at_all(tree, parent):
                return False
        for block in _BLOCKS:
            listed = getattr(parent, block, None)
            if isinstance(listed, list) and child in listed:
                after = listed[listed.index(child) + 1 :]
                if any(not isinstance(one, (*_FUNCTIONS, ast.ClassDef)) for one in after):
                    return False
        if isinstance(parent, _FUNCTIONS):
            return _is_last_step(tree, parent, seen)
        child = parent
    return True


def _leaves_at_all(tree: Tree, node: ast.Try | ast.TryStar) -> bool:
    return any(_may_leave(tree, one) for statement in node.finalbody for one in ast.walk(statement))


def _is_last_step(tree: Tree, function: Function, seen: frozenset[str]) -> bool:
    """Whether each call of a function is a statement of its own after which nothing follows."""
    calls = _calls(tree, function, seen)
    return bool(calls) and all(
        isinstance(statement := tree.parents[call], ast.Expr)
        and _nothing_follows(tree, statement, seen | {function.name})
        for call in calls
    )


def _calls(tree: Tree, function: Function, seen: frozenset[str]) -> list[ast.Call]:
    """Return the calls of a function; none where they cannot all be known."""
    known = tree.functions.get(function.name) is function
    if not known or function.name in seen or len(seen) > MAX_DEPTH:
        return []
    return tree.calls.get(function.name, [])[:20]


def _leaves(tree: Tree, block: list[ast.stmt]) -> bool:
    """Whether a block's last statement surely goes elsewhere."""
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
