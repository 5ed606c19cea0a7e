"""What a Python script writes on its standard output and standard error.

An answer is a JSON object; `ValueReader` finds an expression's possible objects in the script's
text.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from crabhook.lint.loose_json import HOLE, read_answer
from crabhook.lint.python.tree import Scope, Tree
from crabhook.lint.script import UNKNOWN, HookAnswer, SourcePlace, ValueShape, Written

MAX_NESTED = 8  # of objects in objects; an answer has three
MAX_READ = 2000  # expressions of one script; one answer takes ten
MAX_ADDED = 40  # members put into one name's object

_GROWING = frozenset({"update", "setdefault"})
_Additions: TypeAlias = "dict[tuple[Scope, str], list[tuple[str | None, ast.expr | None]]]"

MAX_WRITES = 400  # of one script; a hook has ten

_OUT = frozenset({"sys.stdout", "sys.__stdout__"})
_ERR = frozenset({"sys.stderr", "sys.__stderr__"})


class ValueReader:
    """Reads written values: dict displays with later additions, and texts."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._left = MAX_READ
        self._additions = _additions(tree)

    def shapes(self, node: ast.expr, depth: int = 0) -> tuple[ValueShape, ...]:
        """Return the values that `node` may be: at least one, known or not."""
        self._left -= 1
        if depth > MAX_NESTED or self._left < 0:
            return (ValueShape(self._tree.place(node)),)
        grown = _name(node)
        shapes = []
        for expression in self._tree.follow(node):
            self._left -= 1
            shape = self._shape(expression, depth)
            shapes.append(self._grown(shape, expression, grown, depth))
        return tuple(shapes) or (ValueShape(self._tree.place(node)),)

    def _shape(self, node: ast.expr, depth: int) -> ValueShape:
        place = self._tree.place(node)
        match node:
            case ast.Constant(value=None | str() | int() | float() as value):
                return ValueShape(place, value)
            case ast.Dict(keys=keys, values=values):
                return self._display(place, list(zip(keys, values, strict=True)), depth)
            case ast.Call(func=ast.Name(id="dict"), args=args, keywords=keywords):
                named = [(ast.Constant(k.arg) if k.arg else None, k.value) for k in keywords]
                display = self._display(place, named, depth)
                return replace(display, whole=display.whole and not args)
            case ast.BinOp(op=ast.BitOr(), right=ast.Dict() as right):
                return replace(self._shape(right, depth), whole=False)
        return ValueShape(place)

    def _display(
        self, place: SourcePlace, items: Sequence[tuple[ast.expr | None, ast.expr]], depth: int
    ) -> ValueShape:
        """Return the object of a dict display; a key of None is `**`."""
        members: dict[str, tuple[ValueShape, ...]] = {}
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
        return ValueShape(place, UNKNOWN, members, whole)

    def _grown(self, shape: ValueShape, node: ast.expr, name: str, depth: int) -> ValueShape:
        """Add to an object what the script puts into it under its name."""
        if shape.members is None:
            return shape
        names = {name, *_assigned_names(self._tree.parents.get(node))} - {""}
        if not names:
            return shape
        members, whole = dict(shape.members), shape.whole
        scope = self._tree.scope(node)
        added_to = (
            addition for name in names for addition in self._additions.get((scope, name), ())
        )
        for key, value in islice(added_to, MAX_ADDED):
            if key is None:
                whole = False
            elif value is not None:
                added = self.shapes(value, depth + 1)
                members[key] = (*members.get(key, ()), *_placed(added, self._tree.place(value)))
            else:
                members[key] = tuple(
                    replace(member, whole=False) for member in members.get(key, ())
                )
        return ValueShape(shape.place, UNKNOWN, members, whole)

    def text(self, node: ast.expr) -> str:
        """Return all possible texts of `node`, with holes for unknown parts."""
        return " ".join(self._one(expression) for expression in self._tree.follow(node))

    def _one(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.Constant(value=bytes() as content):
                return content.decode("utf-8", "replace")
            case ast.JoinedStr(values=values):
                return "".join(map(self._one, values))
            case ast.BinOp(op=ast.Add()):
                return "".join(map(self._one, _summands(node)))
            case (
                ast.BinOp(op=ast.Mod(), left=inner)
                | ast.Call(func=ast.Attribute(value=inner, attr="format" | "encode" | "strip"))
            ):
                return self._one(inner)
        return HOLE

    def answers(self, value: ast.expr) -> Iterator[HookAnswer]:
        """Yield the answers that writing `value` may put on standard output."""
        for node in self._tree.follow(value):
            place = self._tree.place(node)
            match node:
                case ast.Call() if self._tree.called(node) in {"json.dumps", "json.dump"}:
                    shapes = self.shapes(node.args[0]) if node.args else ()
                    yield HookAnswer(place, Written.JSON, shapes)
                case ast.Call(func=ast.Attribute(value=inner, attr="encode")):
                    yield from self.answers(inner)
                case ast.Dict():
                    yield HookAnswer(place, Written.REPR, self.shapes(node))
                case _ if (text := self._one(node).strip())[:1] == "{" and text[-1:] == "}":
                    yield read_answer(text, place, whole=HOLE not in text)
                case ast.BinOp():
                    for summand in _summands(node):
                        if self._tree.called(summand) == "json.dumps":
                            yield from self.answers(summand)

    def is_chatter(self, value: ast.expr) -> bool:
        """Whether output surely begins as plain text."""
        texts = [self._one(node).strip() for node in self._tree.follow(value)]
        return all(text and text[0] not in {"{", HOLE} for text in texts)


def _additions(tree: Tree) -> _Additions:
    """Return later additions to objects, by scope and name; None for an unknown key or value."""
    additions: _Additions = defaultdict(list)
    added: tuple[str | None, ast.expr | None]
    for node in tree.nodes:
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Subscript() as inner)]):
                owner, added = inner.value, (_key(inner), None)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                owner, added = target.value, (_key(target), value)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _GROWING:
                added = (None, None)
            case _:
                continue
        if name := _name(owner):
            additions[tree.scope(node), name].append(added)
    return additions


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _assigned_names(node: ast.AST | None) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _key(node: ast.Subscript) -> str | None:
    key = node.slice
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _placed(shapes: tuple[ValueShape, ...], place: SourcePlace) -> tuple[ValueShape, ...]:
    """Give values the place where they are used, not where they were written."""
    return tuple(replace(shape, place=place) for shape in shapes)


@dataclass(slots=True)
class Output:
    """What is written, sorted: answers and chatter with the calls that write them, and words."""

    answers: dict[ast.Call, list[HookAnswer]] = field(default_factory=dict)
    chatter: dict[ast.Call, SourcePlace] = field(default_factory=dict)
    words: dict[ast.Call, str] = field(default_factory=dict)
    speaks: bool = False


def output_of(tree: Tree) -> Output:
    """Return all that the script writes, as far as its text tells."""
    if _redirects(tree):
        return Output(speaks=True)
    reader, output = ValueReader(tree), Output()
    for call, error, values in islice(_writes(tree), MAX_WRITES):
        output.words[call] = " ".join(map(reader.text, values)).replace(HOLE, "…")
        output.speaks |= error
        if not error and values:
            if answers := list(reader.answers(values[0])):
                output.answers[call] = answers
            elif reader.is_chatter(values[0]):
                output.chatter[call] = tree.place(call)
    return output


def _redirects(tree: Tree) -> bool:
    """Whether the script redirects standard output, so that its answers are unknown."""
    for node in tree.nodes:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if tree.called(node).endswith("redirect_stdout") or _OUT & {*map(tree.dotted, targets)}:
            return True
    return False


def _writes(tree: Tree) -> Iterator[tuple[ast.Call, bool, Sequence[ast.expr]]]:
    """Yield each writing call, in order: whether on standard error, and what."""
    for node in tree.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = tree.called(node)
        if name in {"print", "builtins.print"}:
            target = next((tree.dotted(k.value) for k in node.keywords if k.arg == "file"), None)
            if target is None or target in _OUT | _ERR:
                yield node, target in _ERR, node.args
        elif name == "json.dump" and len(node.args) > 1 and tree.dotted(node.args[1]) in _OUT:
            yield node, False, [node]
        elif name.endswith(".write") and node.args:
            target = name.removesuffix(".write").removesuffix(".buffer")
            if target in _OUT | _ERR:
                yield node, target in _ERR, node.args[:1]
        elif name.startswith(("logging.", "warnings.warn", "traceback.print")):
            yield node, True, node.args


def _summands(node: ast.expr) -> list[ast.expr]:
    summands: list[ast.expr] = []
    todo = [node]
    while todo:
        expression = todo.pop()
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
            todo += [expression.right, expression.left]
        else:
            summands.append(expression)
    return summands
