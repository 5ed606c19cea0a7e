"""The JSON that a Python expression comes to, as far as the script's text tells it."""

import ast
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from crabhook.lint.finding import Place
from crabhook.lint.python.follow import Follower
from crabhook.lint.python.tree import Scope, Tree
from crabhook.lint.shape import UNKNOWN, Literal, Shape

MAX_DEPTH = 8  # of objects in objects; an answer has three
MAX_READ = 2000  # expressions of one script; one answer takes ten
MAX_ADDED = 40  # members put into what one name stands for

_GROWING = frozenset({"update", "setdefault"})
_Additions: TypeAlias = "dict[tuple[Scope, str], list[tuple[str | None, ast.expr | None]]]"


class ShapeReader:
    """Reads dict displays, and what is put into them later."""

    def __init__(self, tree: Tree, follower: Follower) -> None:
        self._tree = tree
        self._follower = follower
        self._left = MAX_READ
        self._additions = _additions(tree)

    def shapes(self, node: ast.expr, depth: int = 0) -> tuple[Shape, ...]:
        """Return what `node` may be; at the least one value, known or not."""
        self._left -= 1
        if depth > MAX_DEPTH or self._left < 0:
            return (Shape(self._tree.place(node)),)
        grown = _name(node)
        found = []
        for one in self._follower.follow(node):
            self._left -= 1
            shape = self._shape(one, depth)
            found.append(self._grown(shape, one, grown, depth))
        return tuple(found) or (Shape(self._tree.place(node)),)

    def _shape(self, node: ast.expr, depth: int) -> Shape:
        place = self._tree.place(node)
        match node:
            case ast.Constant(value=value):
                return Shape(place, _literal(value))
            case ast.Dict(keys=keys, values=values):
                return self._display(place, list(zip(keys, values, strict=True)), depth)
            case ast.Call(func=ast.Name(id="dict"), args=args, keywords=keywords):
                named = [(k.arg and ast.Constant(k.arg), k.value) for k in keywords]
                display = self._display(
                    place, [(key or None, value) for key, value in named], depth
                )
                return display if not args else _open(display)
            case ast.BinOp(op=ast.BitOr(), right=ast.Dict() as right):
                return _open(self._shape(right, depth))
        return Shape(place)

    def _display(
        self, place: Place, items: list[tuple[ast.expr | None, ast.expr]], depth: int
    ) -> Shape:
        """Return the object of a dict display; a key of None is `**`."""
        members: dict[str, tuple[Shape, ...]] = {}
        whole = True
        for key, value in items:
            shapes = self.shapes(value, depth + 1)
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                members[key.value] = _placed(shapes, self._tree.place(value))
            elif key is None and all(shape.members is not None for shape in shapes):
                whole &= all(shape.whole for shape in shapes)
                for shape in shapes:
                    for name, values in (shape.members or {}).items():
                        members[name] = (*members.get(name, ()), *values)
            else:
                whole = False
        return Shape(place, UNKNOWN, members, whole)

    def _grown(self, shape: Shape, node: ast.expr, name: str, depth: int) -> Shape:
        """Add to an object what is put into it under the name that it was given."""
        if shape.members is None:
            return shape
        names = {name, *_assigned_names(self._tree.parents.get(node))} - {""}
        if not names:
            return shape
        members, whole = dict(shape.members), shape.whole
        scope = self._tree.scope(node)
        added_to = (one for name in names for one in self._additions.get((scope, name), ()))
        for key, value in islice(added_to, MAX_ADDED):
            if key is None:
                whole = False
            elif value is not None:
                added = self.shapes(value, depth + 1)
                members[key] = (*members.get(key, ()), *_placed(added, self._tree.place(value)))
            else:
                members[key] = tuple(_open(one) for one in members.get(key, ()))
        return Shape(shape.place, UNKNOWN, members, whole)


def _additions(tree: Tree) -> _Additions:
    """Return what is put into an object after it was made, by scope and name."""
    found: _Additions = {}
    for node in tree.nodes:
        for name, key, value in _addition(node):
            if name:
                found.setdefault((tree.scope(node), name), []).append((key, value))
    return found


def _addition(node: ast.AST) -> Iterator[tuple[str, str | None, ast.expr | None]]:
    """Yield the name, the key and the value; None for a key or a value that is not known."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Subscript() as inner)]):
            yield _name(inner.value), _key(inner), None
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            yield _name(target.value), _key(target), value
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)):
            if method in _GROWING:
                yield owner, None, None


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _assigned_names(node: ast.AST | None) -> Sequence[str]:
    match node:
        case ast.Assign(targets=targets):
            return [_name(target) for target in targets]
        case ast.AnnAssign(target=target):
            return [_name(target)]
    return ()


def _key(node: ast.Subscript) -> str | None:
    key = node.slice
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _open(shape: Shape) -> Shape:
    return Shape(shape.place, shape.literal, shape.members, whole=False)


def _placed(shapes: tuple[Shape, ...], place: Place) -> tuple[Shape, ...]:
    """Say of values that they are where they are given, not where they were first written."""
    return tuple(Shape(place, one.literal, one.members, one.whole) for one in shapes)


def _literal(value: object) -> Literal:
    return value if value is None or isinstance(value, str | int | float) else UNKNOWN
