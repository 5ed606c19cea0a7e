"""What comes beside a command's words: redirects, here-documents, assignments, comments."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from crabhook.policy.shell.builtins import DECLARING
from crabhook.policy.shell.expansion import subscript
from crabhook.policy.shell.line import Heredoc, Line, UnreadableError
from crabhook.policy.shell.script import ANY, Assignment, Flow, Redirect, ShellWord
from crabhook.policy.shell.words import read_document, read_word

_OPERATOR = re.compile(r"(?P<fd>[0-9]*)(?P<op><<<|<<-|<<|<>|<&|>&|>>|>\||>|<)|(?P<both>&>>|&>)")
_COPY = re.compile(r"(?:[0-9]|-)(?=[ \t\n;&|<>()]|$)")
_PLAIN_TARGET = re.compile(r"[\w./+@%:=,-]*[A-Za-z_./][\w./+@%:=,-]*(?=[ \t\n;&|<>()]|$)", re.ASCII)
_END = re.compile(
    r"(?:'(?P<raw>[\w. -]+)'|\"(?P<quoted>[\w. -]+)\"|(?P<back>\\?)(?P<bare>[\w.-]+))"
    r"(?=[ \t\n;&|<>()]|$)"
)
_NAMED = re.compile(r"\{[^ \t\n{}]*\}[<>]|\{\w+\[")  # a subscript may hold blanks and brackets
_FLOWS = {"<": Flow.READ, "<>": Flow.BOTH}

ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
# Text that is a key as it stands, of an array that is surely one of names.
_NAME_KEY = re.compile(r"\[(?:[\w.-]+|\"[\w ./:-]+\"|'[\w ./:-]+')\]=", re.ASCII)
_BY_NAMES = re.compile(r"-[rxgl]*A[Arxgl]*")


def skip_lines(line: Line) -> None:
    """Take blanks, comments and line ends; a here-document's lines are read where they begin."""
    while True:
        line.blanks()
        if line.here == "#":
            skip_comment(line)
        elif line.here == "\n":
            line.at += 1
            _documents(line)
        else:
            return


def skip_comment(line: Line) -> None:
    """Take a comment, up to the line's end."""
    end = line.text.find("\n", line.at)
    text = line.text[line.at : end if end >= 0 else len(line.text)]
    if line.within and set(text) & set("'\"`()\\"):
        line.findings.trouble("a comment inside $(…) with letters that older shells read")
    line.at += len(text)


def after_compound(line: Line) -> None:
    """Take the redirects after a compound command."""
    line.blanks()
    while read(line):
        line.blanks()


def read(line: Line) -> bool:
    """Take a redirect if there is one."""
    match = _OPERATOR.match(line.text, line.at)
    if not match:
        if _NAMED.match(line.text, line.at):
            raise UnreadableError("a redirect that sets a variable")
        return False
    operator, digits = match["op"] or match["both"], match["fd"] or ""
    if operator in ("<", ">") and line.text[match.end() : match.end() + 1] == "(":
        if not digits:
            return False  # `<(…)` is a word
        raise UnreadableError("a redirect that shells read apart")
    if len(digits) > 1:
        line.findings.trouble("a descriptor of two digits, which zsh takes for a word")
    start = line.at
    line.at = match.end()
    line.blanks()
    line.ended |= operator.startswith("&")
    if operator.startswith("<<") and operator != "<<<":
        _announce(line, operator)
    elif operator == "<<<":
        word = read_word(line)
        line.findings.inputs += word.values
        line.findings.inputs_vary |= not word.fixed
    else:
        _to_file(line, operator, start, digits)
    return True


def _to_file(line: Line, operator: str, start: int, digits: str) -> None:
    if operator in (">&", "<&"):
        if line.match(_COPY):
            return
        if line.here == "-":
            raise UnreadableError("a word that touches a closed descriptor")
        if operator == "<&" or digits or not _PLAIN_TARGET.match(line.text, line.at):
            line.findings.trouble("a copy of a descriptor that is only known when it runs")
    if line.text[line.at : line.at + 2] in ("<(", ">(") and operator in ("<", ">", ">>"):
        read_word(line)
        return
    if line.here == "!":
        line.findings.trouble("a ! after a redirect, which shells read apart")
    target = read_word(line)
    flow = _FLOWS.get(operator, Flow.WRITE if operator != "<&" else Flow.BOTH)
    if line.findings.variables.is_sure(target.atoms):
        line.findings.settling.add(len(line.findings.redirects))
    line.findings.redirects.append(Redirect(flow, target, line.text[start : line.at]))


def _announce(line: Line, operator: str) -> None:
    if match := line.match(_END):
        end = match["raw"] or match["quoted"] or match["bare"]
        quoted = match["bare"] is None or bool(match["back"])
    else:
        line.findings.trouble("a here-document with an end that rules do not know")
        word = read_word(line)
        end, quoted = word.text, word.raw != word.text
    line.pending.append(Heredoc(end, quoted=quoted, tabs=operator == "<<-"))


def _documents(line: Line) -> None:
    waiting, line.pending = line.pending, []
    for document in waiting:
        body = _body(line, document)
        line.findings.inputs.append(body)
        depths = accumulate(1 if bracket == "(" else -1 for bracket in re.findall(r"[()]", body))
        if line.within and min(depths, default=0) < 0:
            line.findings.trouble(
                "a bracket in a here-document inside $(…), where older shells end it"
            )
        begun = any(text.lstrip("\t").startswith(document.end) for text in body.split("\n"))
        if line.within and begun:  # bash ends it at `E)`
            line.findings.trouble("a line of a here-document inside $(…) that begins like its end")
        if not document.quoted:
            line.findings.inputs_vary |= not set(body).isdisjoint("$`")
            read_document(line.inner(body))


def _body(line: Line, document: Heredoc) -> str:
    start = line.at
    while line.here:
        began, end = line.at, line.text.find("\n", line.at)
        end = end if end >= 0 else len(line.text)
        text = line.text[began:end]
        line.at = min(end + 1, len(line.text))
        if (text.lstrip("\t") if document.tabs else text) == document.end:
            return line.text[start:began]
    line.findings.trouble("a here-document without its end line")
    return line.text[start:]


def is_assignment(line: Line, words: Sequence[ShellWord]) -> bool:
    """Whether an assignment comes next, behind these words of the command."""
    if words and not (words[0].fixed and words[0].raw in DECLARING):
        return False
    match = ASSIGNED.match(line.text, line.at)
    if not match or match[2] != "[":
        return match is not None
    close = line.text.find("]", match.end())
    return close > 0 and line.text.startswith(("=", "+="), close + 1)


def read_assignment(line: Line, words: Sequence[ShellWord]) -> tuple[Assignment, ShellWord]:
    """Take `name=value`; return it, and the word that it is to `export` or `declare`.

    `words`: those of the command before it.
    """
    start = line.at
    match = line.match(ASSIGNED)
    name, array = (match[1], False) if match else ("", False)
    if match and match[2] == "[":
        line.at -= 1
        subscript(line)
        array = True
        if not (line.take("=") or line.take("+=")):
            raise UnreadableError("a part of an array that is not set")
    if line.here == "(":
        value = _array(line, by_names=_makes_names(words))
        array = True
    elif line.ends_word and line.text[line.at : line.at + 2] not in ("<(", ">("):
        value = ShellWord("", ("",))
    else:
        value = read_word(line, value=True)
    if array:
        line.findings.variables.arrays.add(name)
    elif match and match[2] == "+=":
        value = replace(value, values=line.findings.variables.appends(name, value.values))
    line.findings.assigned += (value.raw, *value.values)
    assigned, raw = Assignment(name, value, array), line.text[start : line.at]
    return assigned, ShellWord(raw, (raw,), value.fixed and not array, assigns=assigned)


def _makes_names(words: Sequence[ShellWord]) -> bool:
    """Whether these words of a command surely make an array whose keys are names: `declare -A`."""
    if not words or words[0].raw not in ("declare", "typeset", "local"):
        return False
    options = [word.raw for word in words[1:] if word.raw.startswith("-")]
    return any(map(_BY_NAMES.fullmatch, options)) and not any("a" in option for option in options)


def _key(line: Line, *, by_names: bool) -> bool:
    """Take `[key]=`; whether no value follows."""
    if not (by_names and line.match(_NAME_KEY)):
        subscript(line)
        if not line.take("="):
            line.findings.trouble("a bracket in an array that is no key")
    return line.here in (" ", "\t", "\n", ")")


def _array(line: Line, *, by_names: bool) -> ShellWord:
    """Take `(…)`: the values, and keys, which a shell computes unless they are names."""
    start = line.at
    line.expect("(")
    values: list[str] = []
    with line.nested():
        while True:
            skip_lines(line)
            if line.take(")"):
                break
            if line.here == "[" and _key(line, by_names=by_names):
                continue
            values += read_word(line).values
    if line.here and line.here not in " \t\n;&|<>)":
        raise UnreadableError("a word that touches an array's end")  # `a=()#` begins no comment
    raw = line.text[start : line.at]
    return ShellWord(raw, tuple(dict.fromkeys(values)) or ("",), fixed=False, atoms=(ANY,))
