"""`[ … ]`, `test …` and `[[ … ]]`: literal operators, and words between them.

Computed words must be numbers. Where `[` could take a word for an operator, the word must stay one
word.
"""

import re
from collections.abc import Sequence

from crabhook.policy.shell.line import Line, UnreadableError, Variables
from crabhook.policy.shell.programs import listed
from crabhook.policy.shell.script import ANY, Atom, AtomKind, Flow, Redirect, ShellWord
from crabhook.policy.shell.words import read_word

_UNARY, _BINARY = listed("tests", "unary"), listed("tests", "binary")
_COUNTING = listed("tests", "counting")
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*|[A-Z][A-Z0-9_]*")
_OPERATOR = re.compile(r"(?:==|=~|!=|=|-[a-z]{2}|<|>)(?=[ \t])")
_ALTERNATIVE = re.compile(r"[ \t]*(?:! )?(?:-|\"?\$\{?(?P<name>[A-Za-z]\w*)\}?\"?(?=[ \t]))")
_REGEX = re.compile(r"[^ \t\n;&<>'`]*")


def plain_test(words: Sequence[ShellWord], variables: Variables) -> str:
    """Return why a `[` or `test` may do more than compare; empty if it cannot."""
    name, *rest = words
    if name.text == "[":
        if not rest or rest[-1].raw != "]":
            return "a test without its closing bracket"
        rest = rest[:-1]
    while rest and rest[0].raw == "!":
        rest = rest[1:]
    for word in rest:
        variables.must_be_tame((ANY,) if word.glob or word.parts else word.atoms, name.text)
    if len(rest) == 2:
        return _unary(rest[0], rest[1], variables)
    if len(rest) == 3:
        return _binary(rest[0], rest[1], rest[2], variables)
    return "a test of more than two words, which shells read apart" if len(rest) > 3 else ""


def _unary(operator: ShellWord, operand: ShellWord, variables: Variables) -> str:
    if not operator.fixed:
        return "a test whose operator is only known when it runs"
    if operator.text in _UNARY:
        return ""
    if operator.text == "-v" and operand.fixed and _PLAIN_NAME.fullmatch(operand.text):
        return ""
    if operator.text == "-t":
        variables.must_count(operand.atoms or (Atom(AtomKind.TEXT, operand.text),), "a test")
        return ""
    return f"a test by {operator.raw}, which rules do not know"


def _binary(left: ShellWord, operator: ShellWord, right: ShellWord, variables: Variables) -> str:
    if not operator.fixed:
        return "a test whose operator is only known when it runs"
    if operator.text in _COUNTING:
        variables.must_count((*left.atoms, *right.atoms), "a test")
        return ""
    return "" if operator.text in _BINARY else f"a test by {operator.raw}, which rules do not know"


def double_test(line: Line) -> list[ShellWord]:
    """Take `[[ … ]]`; return its words."""
    words: list[ShellWord] = []
    _own(line, words, "[[")
    with line.nested():
        _either(line, words)
    _own(line, words, "]]")
    if not line.ends_word:
        raise UnreadableError("a word that touches ]]")
    return words


def _own(line: Line, words: list[ShellWord], text: str) -> None:
    """Take a keyword of the test that belongs to the shell."""
    line.expect(text)
    words.append(ShellWord(text, (text,)))


def _either(line: Line, words: list[ShellWord]) -> None:
    while True:
        _one(line, words)
        line.blanks()
        joint = next((operator for operator in ("&&", "||") if line.ahead(operator)), "")
        if not joint:
            return
        _own(line, words, joint)
        # Dash runs what follows `||`: refuse an option, or a variable from outside the line.
        if joint == "||":
            match = _ALTERNATIVE.match(line.text, line.at)
            if not match:
                line.findings.trouble("a test behind ||, which is a command to dash")
            elif match["name"]:
                line.findings.variables.outside.add(match["name"])


def _one(line: Line, words: list[ShellWord]) -> None:
    line.blanks()
    while line.plain_word() == "!":
        _own(line, words, "!")
        line.blanks()
    if line.here == "(":
        _own(line, words, "(")
        with line.nested():
            _either(line, words)
        _own(line, words, ")")
        return
    if line.ahead("]]"):
        raise UnreadableError("a test without a word")
    first = read_word(line)
    words.append(first)
    line.blanks()
    variables = line.findings.variables
    if first.raw.startswith("-") and len(first.raw) == 2:
        if not (line.ahead("]]") or line.ends_word):
            words.append(read_word(line))
            if trouble := _unary(first, words[-1], variables):
                line.findings.trouble(trouble)
    elif match := line.match(_OPERATOR):
        _compare(line, words, first, match[0])


def _compare(line: Line, words: list[ShellWord], first: ShellWord, operator: str) -> None:
    words.append(ShellWord(operator, (operator,)))
    line.blanks()
    if operator == "=~":
        _check_regex(line)
        # zsh puts what the brackets fit into an array of this name.
        line.findings.variables.sets("match", (ANY,))
        words.append(read_word(line, regex=True))
        return
    words.append(read_word(line))
    if operator in "<>":
        # To dash `[[` is a command, and this opens a file.
        flow, source = Flow.READ if operator == "<" else Flow.WRITE, f"{operator} {words[-1].raw}"
        line.findings.redirects.append(Redirect(flow, words[-1], source))
    if trouble := _binary(first, words[-2], words[-1], line.findings.variables):
        line.findings.trouble(trouble)


def _check_regex(line: Line) -> None:
    """Require a regular expression's brackets to close before a blank, with each `|` inside."""
    match = _REGEX.match(line.text, line.at)
    text, depth = match[0] if match else "", 0
    odd = UnreadableError("a regular expression that shells read apart")
    if not text:
        raise odd
    if "$(" in text or "<(" in text:
        line.findings.trouble("a command in a regular expression")
    for at, letter in enumerate(text):
        if at and text[at - 1] == "\\":
            continue
        depth += (letter == "(") - (letter == ")")
        if depth < 0 or (letter == "|" and not depth):
            raise odd
    if depth:
        raise odd
