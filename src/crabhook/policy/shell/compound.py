"""Commands made of commands: groups, conditions, loops, functions."""

import re

from crabhook.policy.shell import redirects
from crabhook.policy.shell.builtins import is_taken
from crabhook.policy.shell.conditions import double_test
from crabhook.policy.shell.expansion import read_arithmetic
from crabhook.policy.shell.line import Line, UnreadableError
from crabhook.policy.shell.script import ANY, ShellWord, SimpleCommand
from crabhook.policy.shell.words import read_word
from crabhook.policy.shell.wrappers import is_plain

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?=[ \t\n;]|$)")
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BRACKETS = re.compile(r"[ \t]*\([ \t]*\)")


def read(line: Line, word: str) -> None:
    """Take the compound command that begins with this word of the shell's own."""
    if word == "[[":
        start = line.at
        words = double_test(line)
        line.findings.add(SimpleCommand(tuple(words), source=line.text[start : line.at]))
        return
    line.at += len(word)
    match word:
        case "{":
            _commands(line, "}")
        case "if":
            _if(line)
        case "while" | "until":
            _commands(line, "do")
            _commands(line, "done")
        case "for" | "select":
            _for(line)
        case "case":
            _case(line)
        case "function":
            function(line)
        case _:
            raise UnreadableError(f"{word!r}, which rules do not know")


def _commands(line: Line, *stops: str) -> str:
    """Take commands up to one of the words; take and return that word too."""
    start = line.at
    line.readers.commands(line, frozenset(stops))
    word = line.plain_word()
    if word not in stops:
        raise UnreadableError(f"{' or '.join(stops)} is missing")
    if not line.text[start : line.at].strip(" \t\n"):
        raise UnreadableError(f"nothing before {word!r}")
    line.at += len(word)
    return word


def _if(line: Line) -> None:
    _commands(line, "then")
    while (word := _commands(line, "elif", "else", "fi")) == "elif":
        _commands(line, "then")
    if word == "else":
        _commands(line, "fi")


def _for(line: Line) -> None:
    line.blanks()
    if line.take("(("):
        for end in (";", ";", "))"):
            read_arithmetic(line, end)
        line.blanks()
        line.take(";")
        _loop(line)
        return
    match = line.match(_NAME)
    if not match:
        raise UnreadableError("a loop over no variable")
    name, variables = match[0], line.findings.variables
    if not is_plain(name):
        line.findings.trouble(f"it sets {name}, which may change what runs")
    redirects.skip_lines(line)
    if line.plain_word() == "in":
        line.at += 2
        line.blanks()
        while line.here and line.here not in ";\n#":
            word = read_word(line)
            line.findings.assigned += (word.raw, *word.values, *word.parts)
            variables.sets(name, word.atoms, word.parts or word.values)
            line.blanks()
    else:
        variables.sets(name, (ANY,))
    redirects.skip_lines(line)
    if line.take(";") and line.here == ";":
        raise UnreadableError("two semicolons")
    _loop(line)


def _loop(line: Line) -> None:
    _keyword(line, "do")
    _commands(line, "done")


def _keyword(line: Line, word: str) -> None:
    """Take one of the shell's keywords, which must be next."""
    redirects.skip_lines(line)
    if line.plain_word() != word:
        raise UnreadableError(f"{word} is missing")
    line.at += len(word)


def _case(line: Line) -> None:
    line.blanks()
    read_word(line)
    _keyword(line, "in")
    while True:
        redirects.skip_lines(line)
        if line.plain_word() == "esac":
            line.at += 4
            return
        line.take("(")
        _patterns(line)
        line.readers.commands(line, frozenset({";;", "esac"}))
        redirects.skip_lines(line)
        if not line.take(";;") and line.plain_word() != "esac":
            raise UnreadableError("esac is missing")


def _patterns(line: Line) -> None:
    while True:
        line.blanks()
        if line.here in "<>":
            raise UnreadableError("a pattern that is more than text")
        read_word(line, value=True)
        line.blanks()
        if line.take(")"):
            return
        line.expect("|")


def function(line: Line, name: ShellWord | None = None) -> None:
    """Take a function: its name, where that was not read yet, its brackets and its body."""
    line.blanks()
    named = name is not None
    name = name or read_word(line)
    if not line.match(_BRACKETS) and named:
        raise UnreadableError("a bracket inside a command")
    if not _FUNCTION.fullmatch(name.raw) or is_taken(name.raw):
        line.findings.trouble(f"a function by the name {name.raw}, which is something else already")
    redirects.skip_lines(line)
    if line.ahead("((") or (line.here != "(" and line.plain_word() != "{"):
        raise UnreadableError("a function whose body is no group")
    with line.nested():
        if line.take("("):
            line.readers.commands(line, frozenset({")"}))
            line.expect(")")
        else:
            line.expect("{")
            _commands(line, "}")
    redirects.after_compound(line)
