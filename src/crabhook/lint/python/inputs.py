"""Where a Python script takes its input from, and what it asks it for."""

import ast
from collections.abc import Iterator, Sequence

from crabhook.lint.python.follow import Follower
from crabhook.lint.python.tree import Tree
from crabhook.lint.script import Named, Reading, Source

MAX_FIELDS = 1000

_STDIN = frozenset({"sys.stdin", "sys.stdin.buffer", "sys.__stdin__"})
_CATCHING = frozenset({"Exception", "BaseException", "ValueError", "json.JSONDecodeError"})
_CATCHING |= {"json.decoder.JSONDecodeError"}
_PASSING = frozenset({"read", "decode", "strip", "read_text", "readline"})


def readings(tree: Tree, follower: Follower) -> Iterator[tuple[ast.Call, Reading]]:
    """Yield the calls that read the input, and how."""
    for node in tree.nodes:
        if isinstance(node, ast.Call) and (source := _source(tree, follower, node)):
            yield node, Reading(tree.place(node), source, _guarded(tree, node, ()))


def fields(tree: Tree, follower: Follower, inputs: Sequence[ast.Call]) -> Iterator[Named]:
    """Yield the names that the script asks its input for."""
    asked = 0
    for node in tree.nodes:
        owner, key = _asked(node)
        if owner is not None and key and asked < MAX_FIELDS:
            asked += 1
            if any(one in inputs for one in follower.follow(owner)):
                yield Named(tree.place(node), key)


def variables(tree: Tree) -> Iterator[Named]:
    """Yield the environment variables that the script asks for."""
    for node in tree.nodes:
        key: object = None
        if isinstance(node, ast.Subscript) and tree.dotted(node.value) == "os.environ":
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        elif tree.called(node) in {"os.environ.get", "os.getenv"} and isinstance(node, ast.Call):
            first = node.args[0] if node.args else None
            key = first.value if isinstance(first, ast.Constant) else None
        if isinstance(key, str):
            yield Named(tree.place(node), key)


def _source(tree: Tree, follower: Follower, call: ast.Call) -> Source | None:
    name = tree.called(call)
    if name in {"input", "builtins.input"}:
        return Source.LINES
    if name in {"json.load", "json.loads"} and call.args:
        found = {_behind(tree, one) for one in follower.follow(call.args[0])}
        return next((source for source in Source if source in found), None)
    return None


def _behind(tree: Tree, node: ast.expr) -> Source | None:
    """Return where a text, or a file that is read, comes from."""
    while True:
        if tree.dotted(node) in _STDIN:
            return Source.JSON
        if tree.called(node) == "input":
            return Source.LINES
        if tree.called(node) in {"open", "io.open", "pathlib.Path"}:
            return Source.FILE
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _PASSING:
                node = value
            case ast.Subscript(value=value) if tree.dotted(value) == "sys.argv":
                return Source.ARGUMENTS
            case _:
                return None


def _guarded(tree: Tree, node: ast.AST, seen: tuple[str, ...]) -> bool:
    """Whether an error in `node` is handled, here or by all that call its function."""
    child = node
    for parent in tree.above(node):
        if isinstance(parent, ast.Try) and child in parent.body and _catches(tree, parent):
            return True
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            calls = tree.calls.get(parent.name, ())
            if parent.name in seen or not calls:
                return False
            return all(_guarded(tree, call, (*seen, parent.name)) for call in calls[:20])
        child = parent
    return False


def _catches(tree: Tree, node: ast.Try) -> bool:
    for handler in node.handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(kind is None or tree.dotted(kind) in _CATCHING for kind in kinds):
            return True
    return False


def _asked(node: ast.AST) -> tuple[ast.expr | None, str]:
    """Return the object that a node asks for a member, and the member's name."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as key), ctx=ast.Load()):
            return value, key
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[first, *_]):
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                return value, first.value
    return None, ""
