"""A Python hook script's facts: its input, its waits, and the facts of the other modules."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crabhook.data_files import names
from crabhook.lint import script
from crabhook.lint.discover import shebang
from crabhook.lint.python.exits import exits, lapses
from crabhook.lint.python.output_calls import Output, output_of
from crabhook.lint.python.tree import Tree

MAX_FIELDS = 1000

_STDIN = frozenset({"sys.stdin", "sys.stdin.buffer", "sys.__stdin__"})
_CATCHING = frozenset({"Exception", "BaseException", "ValueError", "json.JSONDecodeError"})
_CATCHING |= {"json.decoder.JSONDecodeError"}
_PASSING = frozenset({"read", "decode", "strip", "read_text", "readline"})

# Libraries whose `timeout` is in seconds.
_SECONDS = tuple(
    names(
        "subprocess. requests. httpx. urllib. socket. http.client. select. queue. asyncio. "
        "concurrent.futures."
    )
)
_METHODS = frozenset({"communicate", "wait", "join"})


def readings(tree: Tree) -> Iterator[tuple[ast.Call, script.InputRead]]:
    """Yield the calls that read the input, and how."""
    for node in tree.nodes:
        if isinstance(node, ast.Call) and (source := _source(tree, node)):
            yield node, script.InputRead(tree.place(node), source, _guarded(tree, node, ()))


def asked(tree: Tree, inputs: Sequence[ast.Call]) -> tuple[list[script.Named], list[script.Named]]:
    """Return the names that the script asks its input for, and its environment variables."""
    fields, variables, followed = list[script.Named](), list[script.Named](), 0
    for node in tree.nodes:
        owner, key = _asked(tree, node)
        if owner is None or not key:
            continue
        if tree.dotted(owner) in {"os.environ", "os.getenv"}:
            variables.append(script.Named(tree.place(node), key))
        elif followed < MAX_FIELDS:
            followed += 1
            if any(expression in inputs for expression in tree.follow(owner)):
                fields.append(script.Named(tree.place(node), key))
    return fields, variables


def _source(tree: Tree, call: ast.Call) -> script.Source | None:
    name = tree.called(call)
    if name in {"input", "builtins.input"}:
        return script.Source.LINES
    if name in {"json.load", "json.loads"} and call.args:
        origins = {_origin(tree, expression) for expression in tree.follow(call.args[0])}
        return next((source for source in script.Source if source in origins), None)
    return None


def _origin(tree: Tree, node: ast.expr) -> script.Source | None:
    """Return the origin of a text, or of a file that is read."""
    while True:
        if tree.dotted(node) in _STDIN:
            return script.Source.JSON
        if tree.called(node) == "input":
            return script.Source.LINES
        if tree.called(node) in {"open", "io.open", "pathlib.Path"}:
            return script.Source.FILE
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _PASSING:
                node = value
            case ast.Subscript(value=value) if tree.dotted(value) == "sys.argv":
                return script.Source.ARGUMENTS
            case _:
                return None


def _guarded(tree: Tree, node: ast.AST, seen: tuple[str, ...]) -> bool:
    """Whether an error in `node` is handled, here or by all callers."""
    handlers = (handler for attempt in tree.tried(node) for handler in attempt.handlers)
    if any(tree.caught(handler) & _CATCHING for handler in handlers):
        return True
    function = tree.scope(node)
    if isinstance(function, ast.Module) or function.name in seen:
        return False
    calls = tree.calls.get(function.name, [])[:20]
    return bool(calls) and all(_guarded(tree, call, (*seen, function.name)) for call in calls)


def _asked(tree: Tree, node: ast.AST) -> tuple[ast.expr | None, str]:
    """Return the object whose member a node reads, and the member's name."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as key), ctx=ast.Load()):
            return value, key
        case ast.Call(func=func, args=[ast.Constant(value=str() as key), *_]):
            if isinstance(func, ast.Attribute) and func.attr == "get":
                return func.value, key
            return (func, key) if tree.called(node) == "os.getenv" else (None, "")
    return None, ""


def waits(tree: Tree) -> Iterator[script.Wait]:
    """Yield the waits whose length is written in the script."""
    for node in tree.nodes:
        if isinstance(node, ast.Call) and (length_and_name := _given(tree, node)) is not None:
            length, what = length_and_name
            if (seconds := _number(tree.constant(length))) is not None:
                rounds = _rounds(tree, node) if what == "sleep" else 1
                yield script.Wait(tree.place(node), seconds * rounds, what)


def _given(tree: Tree, call: ast.Call) -> tuple[ast.expr, str] | None:
    """Return the expression of a wait's seconds, and what waits."""
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


def _rounds(tree: Tree, node: ast.AST) -> float:
    """Return how often the loops around a node run, if the script says."""
    rounds = 1.0
    for parent in tree.inside(node):
        if isinstance(parent, ast.For) and tree.called(parent.iter) == "range":
            arguments = parent.iter.args if isinstance(parent.iter, ast.Call) else []
            times = _number(tree.constant(arguments[0])) if len(arguments) == 1 else None
            rounds *= times or 1
    return rounds


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e9 else None


def read_python(text: str) -> script.HookScript:
    """Return what a Python script's text says it does. Raises CannotParseError."""
    try:
        return _read(Tree(text), text)
    except RecursionError as error:
        raise script.CannotParseError("it is nested deeper than can be read") from error


def _read(tree: Tree, text: str) -> script.HookScript:
    output = output_of(tree)
    inputs = dict(readings(tree))
    agents = [call for call, reading in inputs.items() if reading.source is script.Source.JSON]
    fields, variables = asked(tree, agents)
    left = tuple(exits(tree, output))
    return script.HookScript(
        language=script.Language.PYTHON,
        shebang=shebang(text),
        answers=tuple(_answers(tree, output)),
        chatter=tuple(output.chatter.values()),
        exits=left,
        lapses=tuple(lapses(tree)),
        waits=tuple(waits(tree)),
        readings=tuple(inputs.values()),
        fields=tuple(fields),
        variables=tuple(variables),
        words=frozenset(tree.words()),
        speaks=output.speaks or any(way_out.code == 1 and way_out.refusing for way_out in left),
    )


def _answers(tree: Tree, output: Output) -> Iterator[script.HookAnswer]:
    """Yield the answers, with plain text that surely comes before them."""
    for call, answers in output.answers.items():
        before = (getattr(statement, "value", None) for statement in tree.before(call))
        behind = next(
            (output.chatter[statement] for statement in before if statement in output.chatter), None
        )
        yield from (replace(answer, behind=behind) for answer in answers)
