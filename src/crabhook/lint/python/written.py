"""What a Python script writes on its standard output and standard error."""

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from crabhook.lint.finding import Place
from crabhook.lint.loose import HOLE, read_object
from crabhook.lint.python.follow import Follower
from crabhook.lint.python.shapes import ShapeReader
from crabhook.lint.python.tree import Tree
from crabhook.lint.script import Answer, Written

MAX_WRITES = 400  # of one script; a hook has ten

_OUT = frozenset({"sys.stdout", "sys.__stdout__"})
_ERR = frozenset({"sys.stderr", "sys.__stderr__"})


@dataclass(frozen=True, slots=True)
class Write:
    """One call that writes; `values` are what it writes, one after the other."""

    call: ast.Call
    error: bool
    values: tuple[ast.expr, ...]


@dataclass(slots=True)
class Output:
    """What is written, sorted: answers and chatter with the calls that write them, and words."""

    answers: dict[ast.Call, list[Answer]] = field(default_factory=dict)
    chatter: dict[ast.Call, Place] = field(default_factory=dict)
    words: dict[ast.Call, str] = field(default_factory=dict)
    speaks: bool = False


def written(tree: Tree, follower: Follower) -> Output:
    """Return all that the script writes, as far as its text tells."""
    reader, output = _Texts(tree, follower, ShapeReader(tree, follower)), Output()
    if _redirects(tree):
        output.speaks = True
        return output
    for number, write in enumerate(_writes(tree)):
        if number == MAX_WRITES:
            break
        output.words[write.call] = " ".join(map(reader.text, write.values)).replace(HOLE, "…")
        output.speaks |= write.error
        if not write.error and write.values:
            answers = [one for value in write.values[:1] for one in reader.answers(value)]
            if answers:
                output.answers[write.call] = answers
            elif reader.is_chatter(write.values[0]):
                output.chatter[write.call] = tree.place(write.call)
    return output


def _redirects(tree: Tree) -> bool:
    """Whether standard output is put elsewhere, so that nothing is known of what is written."""
    for node in tree.nodes:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if tree.called(node).endswith("redirect_stdout") or _OUT & {*map(tree.dotted, targets)}:
            return True
    return False


def _writes(tree: Tree) -> Iterator[Write]:
    for node in tree.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = tree.called(node)
        if name in {"print", "builtins.print"}:
            target = next((tree.dotted(k.value) for k in node.keywords if k.arg == "file"), None)
            if target is None or target in _OUT | _ERR:
                yield Write(node, target in _ERR, tuple(node.args))
        elif name == "json.dump" and len(node.args) > 1 and tree.dotted(node.args[1]) in _OUT:
            yield Write(node, error=False, values=(node,))
        elif name.endswith(".write") and node.args:
            target = name.removesuffix(".write").removesuffix(".buffer")
            if target in _OUT | _ERR:
                yield Write(node, target in _ERR, (node.args[0],))
        elif name.startswith(("logging.", "warnings.warn", "traceback.print")):
            yield Write(node, error=True, values=tuple(node.args))


@dataclass(frozen=True, slots=True)
class _Texts:
    """Reads what is written as text: with a hole for whatever is only known when it runs."""

    tree: Tree
    follower: Follower
    shapes: ShapeReader

    def text(self, node: ast.expr) -> str:
        """Return all the texts that `node` may come to, one after the other."""
        return " ".join(self._one(one) for one in self.follower.follow(node))

    def _one(self, node: ast.expr) -> str:
        text = HOLE
        match node:
            case ast.Constant(value=str() as given):
                text = given
            case ast.Constant(value=bytes() as content):
                text = content.decode("utf-8", "replace")
            case ast.JoinedStr(values=values):
                text = "".join(map(self._one, values))
            case ast.BinOp(op=ast.Add()):
                text = "".join(map(self._one, _summands(node)))
            case ast.BinOp(op=ast.Mod(), left=inner):
                text = self._one(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr="format" | "encode" | "strip")):
                text = self._one(inner)
        return text

    def answers(self, value: ast.expr) -> Iterator[Answer]:
        """Yield the answers that writing `value` may put on standard output."""
        for node in self.follower.follow(value):
            place = self.tree.place(node)
            match node:
                case ast.Call() if self.tree.called(node) in {"json.dumps", "json.dump"}:
                    given = node.args[:1]
                    shapes = self.shapes.shapes(given[0]) if given else ()
                    yield Answer(place, Written.JSON, shapes)
                case ast.Call(func=ast.Attribute(value=inner, attr="encode")):
                    yield from self.answers(inner)
                case ast.Dict():
                    yield Answer(place, Written.REPR, self.shapes.shapes(node))
                case _ if _is_braced(text := self._plain(node)):
                    yield _from_text(text, place)
                case ast.BinOp():
                    for one in _summands(node):
                        if self.tree.called(one) == "json.dumps":
                            yield from self.answers(one)

    def is_chatter(self, value: ast.expr) -> bool:
        """Whether what is written surely begins as plain text."""
        texts = [self._plain(node) for node in self.follower.follow(value)]
        return all(text and text[0] not in {"{", HOLE} for text in texts)

    def _plain(self, node: ast.expr) -> str:
        return self._one(node).strip()


def _is_braced(text: str) -> bool:
    return text.startswith("{") and text.endswith("}")


def _summands(node: ast.expr) -> list[ast.expr]:
    """Return what is added up, from left to right."""
    found: list[ast.expr] = []
    todo = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            todo += [one.right, one.left]
        else:
            found.append(one)
    return found


def _from_text(text: str, place: Place) -> Answer:
    shape = read_object(text, lambda _: place)
    if HOLE not in text:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return Answer(place, Written.BROKEN, (shape,) if shape else ())
    return Answer(place, Written.JSON, (shape,) if shape else ())
