"""Arithmetic: numbers, plain variables that are numbers, and what prints a number."""

import re

from crabhook.policy.shell.line import Line, UnreadableError
from crabhook.policy.shell.script import NUMBER, Atom, Kind
from crabhook.policy.shell.variables import NUMBERS
from crabhook.policy.shell.wrappers import is_plain

_NUMERIC = re.compile(
    r"[ \t\n]+|0[xX][0-9a-fA-F]+|[0-9]+#?|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|[-+*/%<>=!&|^~?:,]"
)
_SETS = re.compile(r"[ \t]*(?:=(?!=)|(?:[-+*/%&|^]|<<|>>)=|\+\+|--)")
_WHERE = "arithmetic"


def read_arithmetic(line: Line, end: str) -> None:
    """Take an expression up to `end`, which is taken too: `))`, `;`, or nothing for all of it."""
    opened, before = 0, ""
    with line.nested():
        while True:
            if not opened and (line.take(end) if end else not line.here):
                return
            if line.take("("):
                opened += 1
            elif opened and line.take(")"):
                opened -= 1
            elif line.here == "$":
                atom, _ = line.readers.dollar(line)
                line.found.variables.must_count((atom,), _WHERE)
            elif match := line.match(_NUMERIC):
                if name := match["name"]:
                    _name(line, name, before)
                before = match[0] if match[0].strip() else before
            elif line.here == "`":
                line.found.trouble("backquotes in arithmetic")
                line.readers.backquoted(line)
            else:
                raise UnreadableError("arithmetic with more than numbers and plain variables")


def _name(line: Line, name: str, before: str) -> None:
    variables = line.found.variables
    if name not in NUMBERS and not is_plain(name):
        line.found.trouble(f"arithmetic over {name}, which may be a command or change what runs")
    if line.here == "[":
        raise UnreadableError("arithmetic over parts of arrays")
    variables.must_count((Atom(Kind.NAME, name),), _WHERE)
    if _SETS.match(line.text, line.at) or before in ("+", "-"):
        variables.sets(name, (NUMBER,), ("0",))
