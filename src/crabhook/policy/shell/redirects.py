"""Redirects, here-documents, comments and the ends of lines."""

import re

from crabhook.policy.shell.line import Heredoc, Line, UnreadableError
from crabhook.policy.shell.script import Flow, Redirect, Word
from crabhook.policy.shell.words import read_document, read_word

_OPERATOR = re.compile(r"(?P<fd>[0-9]*)(?P<op><<<|<<-|<<|<>|<&|>&|>>|>\||>|<)|(?P<both>&>>|&>)")
_COPY = re.compile(r"(?:[0-9]|-)(?=[ \t\n;&|<>()]|$)")
_PLAIN_TARGET = re.compile(r"[\w./+@%:=,-]*[A-Za-z_./][\w./+@%:=,-]*(?=[ \t\n;&|<>()]|$)", re.ASCII)
_END = re.compile(
    r"(?:'(?P<raw>[\w. -]+)'|\"(?P<quoted>[\w. -]+)\"|(?P<back>\\?)(?P<bare>[\w.-]+))"
    r"(?=[ \t\n;&|<>()]|$)"
)
_FLOWS = {"<": Flow.READ, "<>": Flow.BOTH}


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
        line.found.trouble("a comment inside $(…) with letters that older shells read")
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
        return _named_descriptor(line)
    operator, digits = match["op"] or match["both"], match["fd"] or ""
    if operator in ("<", ">") and line.text[match.end() : match.end() + 1] == "(":
        if not digits:
            return False  # `<(…)` is a word
        raise UnreadableError("a redirect that shells read apart")
    if len(digits) > 1:
        line.found.trouble("a descriptor of two digits, which zsh takes for a word")
    start = line.at
    line.at = match.end()
    line.blanks()
    line.ended |= operator.startswith("&")
    if operator.startswith("<<") and operator != "<<<":
        _announce(line, operator)
    elif operator == "<<<":
        word = read_word(line)
        line.found.given += word.values
        line.found.given_varies |= not word.fixed
    else:
        _to_file(line, operator, start, digits)
    return True


_NAMED = re.compile(r"\{[^ \t\n{}]*\}[<>]|\{\w+\[")  # a subscript may hold blanks and brackets


def _named_descriptor(line: Line) -> bool:
    if _NAMED.match(line.text, line.at):
        raise UnreadableError("a redirect that sets a variable")
    return False


def _to_file(line: Line, operator: str, start: int, digits: str) -> None:
    if operator in (">&", "<&"):
        if line.match(_COPY):
            return
        if line.here == "-":
            raise UnreadableError("a word that touches a closed descriptor")
        if operator == "<&" or digits or not _PLAIN_TARGET.match(line.text, line.at):
            line.found.trouble("a copy of a descriptor that is only known when it runs")
    if line.text[line.at : line.at + 2] in ("<(", ">(") and operator in ("<", ">", ">>"):
        read_word(line)
        return
    if line.here == "!":
        line.found.trouble("a ! after a redirect, which shells read apart")
    target = read_word(line)
    flow = _FLOWS.get(operator, Flow.WRITE if operator != "<&" else Flow.BOTH)
    if line.found.variables.is_sure(target.atoms):
        line.found.settling.add(len(line.found.redirects))
    line.found.redirects.append(Redirect(flow, target, line.text[start : line.at]))


def _announce(line: Line, operator: str) -> None:
    """Take the word that will end a here-document."""
    match = line.match(_END)
    if not match:
        line.found.trouble("a here-document with an end that rules do not know")
        word: Word = read_word(line)
        line.pending.append(
            Heredoc(word.text, quoted=word.raw != word.text, tabs=operator == "<<-")
        )
        return
    end = match["raw"] or match["quoted"] or match["bare"]
    line.pending.append(
        Heredoc(end, quoted=match["bare"] is None or bool(match["back"]), tabs=operator == "<<-")
    )


def _documents(line: Line) -> None:
    """Take the lines of the here-documents that were announced."""
    waiting, line.pending = line.pending, []
    for document in waiting:
        body = _body(line, document)
        line.found.given.append(body)
        if line.within and _closes_early(body):
            line.found.trouble(
                "a bracket in a here-document inside $(…), where older shells end it"
            )
        if not document.quoted:
            line.found.given_varies |= not set(body).isdisjoint("$`")
            inner = line.inner(body)
            read_document(inner)


def _closes_early(body: str) -> bool:
    depth = 0
    for letter in re.findall(r"[()]", body):
        depth += 1 if letter == "(" else -1
        if depth < 0:
            return True
    return False


def _body(line: Line, document: Heredoc) -> str:
    start = line.at
    while line.here:
        end = line.text.find("\n", line.at)
        end = end if end >= 0 else len(line.text)
        text = line.text[line.at : end]
        if (text.lstrip("\t") if document.tabs else text) == document.end:
            body = line.text[start : line.at]
            line.at = end
            if line.here:
                line.at += 1
            return body
        line.at = min(end + 1, len(line.text))
    line.found.trouble("a here-document without its end line")
    return line.text[start:]
