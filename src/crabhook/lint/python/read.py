"""A Python hook script's facts, from all the readers of its tree."""

import ast
import dataclasses

from crabhook.lint.errors import CannotParseError
from crabhook.lint.file import shebang
from crabhook.lint.finding import Place
from crabhook.lint.python.exits import exits, lapses
from crabhook.lint.python.follow import Follower
from crabhook.lint.python.inputs import fields, readings, variables
from crabhook.lint.python.tree import Tree
from crabhook.lint.python.waits import waits
from crabhook.lint.python.written import Output, written
from crabhook.lint.script import Answer, Language, Script, Source


def read_python(text: str) -> Script:
    """Return what a Python script's text says it does.  Raises CannotParseError."""
    try:
        return _read(Tree(text), text)
    except RecursionError as error:
        raise CannotParseError("it is nested deeper than can be read") from error


def _read(tree: Tree, text: str) -> Script:
    follower = Follower(tree)
    output = written(tree, follower)
    inputs = dict(readings(tree, follower))
    agents = [call for call, reading in inputs.items() if reading.source is Source.JSON]
    left = tuple(exits(tree, follower, output))
    return Script(
        language=Language.PYTHON,
        shebang=shebang(text),
        answers=tuple(_answers(tree, output)),
        chatter=tuple(output.chatter.values()),
        exits=left,
        lapses=tuple(lapses(tree)),
        waits=tuple(waits(tree, follower)),
        readings=tuple(inputs.values()),
        fields=tuple(fields(tree, follower, agents)),
        variables=tuple(variables(tree)),
        words=tree.words,
        speaks=output.speaks or any(one.code == 1 and one.refusing for one in left),
    )


def _answers(tree: Tree, output: Output) -> list[Answer]:
    found = []
    for call, answers in output.answers.items():
        behind = _behind(tree, output, call)
        found += [dataclasses.replace(answer, behind=behind) for answer in answers]
    return found


def _behind(tree: Tree, output: Output, call: ast.AST) -> Place | None:
    """Return where plain text is written that surely comes before an answer."""
    for statement in tree.before(call):
        value = getattr(statement, "value", None)
        if value in output.chatter:
            return output.chatter[value]
    return None
