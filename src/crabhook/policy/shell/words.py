"""Words of a line, read byte by byte: quotes, backslashes, and the shell's replacements.

A word unknown until the line runs is not `fixed`; its values are guesses, good enough for denials.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from crabhook.policy.shell import expansion, script
from crabhook.policy.shell.line import Line, UnreadableError
from crabhook.policy.shell.programs import counts, printed
from crabhook.policy.shell.script import (
    ANY,
    KNOWN,
    NUMBER,
    PRINTED,
    WRITTEN,
    Atom,
    AtomKind,
    ShellWord,
    written,
)

_PLAIN = re.compile(r"[^ \t\n;&|<>()'\"\\$`]+")
_QUOTED_PLAIN = re.compile(r'[^"\\$`]+')
_DOCUMENT_PLAIN = re.compile(r"[^\\$`]+")
_ANSI = re.compile(r"((?:[^'\\]|\\.)*)'", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL = re.compile(r"[@*#?$!-]|[0-9]")
_COUNTS = frozenset("#?$!")
# What may follow a plain dollar sign.
_AFTER_LONE = frozenset(" \t\n;|&)/")
_AFTER_LONE_QUOTED = frozenset(" \t\n\"|/.,);:%]'\\")
_READ_APART = re.compile(r"\[|:[A-Za-z&]")
_GLOB = re.compile(r"[*?]|\[[^\[\] ]*\]")
_BARE_DOLLAR = re.compile(r"\$(?![({'])")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_CLOSED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[[\w.*?!^,@:/~%=-]*\]")
_EQUALS = re.compile(r"=(?!=*$)")  # `=cmd`, however the name is quoted
_LATIN_BLANKS = re.compile(rb"[\x85\xa0]")


def read_word(line: Line, *, value: bool = False, regex: bool = False) -> ShellWord:
    """Take a word, which must be next; `value`: an assigned word, where braces are plain."""
    start = line.at
    atoms: list[Atom] = []
    plain = ""  # the text outside quotes, to look for wildcards and braces
    while _goes_on(line, regex=regex):
        if read := _READERS.get(line.here):
            atoms += read(line)
        elif line.here in "<>":
            atoms.append(_process(line, start))
        elif match := line.match(_PLAIN):
            plain += match[0]
            atoms.append(written(match[0]))
        else:
            line.at += 1
            atoms.append(written(line.text[line.at - 1]))
    if line.at == start:
        raise UnreadableError(f"a word is missing before {line.text[start : start + 12]!r}")
    line.crossed(start)
    raw = line.text[start : line.at]
    _check(line, raw, plain)
    if value or regex:
        word = _joined(raw, atoms, glob=False, braces=())
        if "~" not in raw:
            return word
        others = (atom for atom in word.atoms if atom.kind is not AtomKind.TEXT)
        return replace(word, atoms=(replace(WRITTEN, joined=True), *others))
    glob = set("*?[") & set(plain) and _GLOB.search(raw)
    return _joined(raw, atoms, glob=bool(glob), braces=_braces(line, raw, plain))


def _goes_on(line: Line, *, regex: bool) -> bool:
    if not line.ends_word or line.text[line.at : line.at + 2] in ("<(", ">("):
        return True
    return regex and line.here in ("(", ")", "|")


def _check(line: Line, raw: str, plain: str) -> None:
    """Add troubles where shells may read a whole word differently."""
    if _SUBSCRIPT.match(raw) and not _CLOSED.match(raw):
        line.findings.trouble("a bracket in a word, which the shell may read on to its end")
    if _EQUALS.match(raw):
        line.findings.trouble("a word that zsh may take for a program's path")
    if not plain.isascii() and _LATIN_BLANKS.search(plain.encode("utf-8", "replace")):
        line.findings.trouble("a letter outside quotes that an older shell may take for a blank")


def _joined(raw: str, pieces: Sequence[Atom], *, glob: bool, braces: Sequence[str]) -> ShellWord:
    atoms, values = tuple(pieces), script.values_of(pieces)
    certain = all(atom.kind is AtomKind.TEXT for atom in atoms)
    if braces:
        values = tuple(dict.fromkeys((*values, *braces)))
        number = certain and not glob and all(text.isdigit() for text in braces)
        atoms = (NUMBER if number else WRITTEN if certain else ANY,)
    elif glob:
        atoms = (WRITTEN if certain else ANY,)
    tilde = raw.startswith("~")
    fixed = certain and not glob and not braces
    if tilde and fixed and not (raw == "~" or raw.startswith("~/")):
        atoms = (replace(WRITTEN, joined=True),)
    return ShellWord(raw, values, fixed, tilde, glob, tuple(braces), atoms)


def _braces(line: Line, raw: str, bare: str) -> tuple[str, ...]:
    if "{" not in bare or not ("," in raw or ".." in raw):
        return ()
    try:
        choices = expansion.braces(raw) or ()
    except OverflowError:
        line.findings.trouble("its braces make too many words to look at")
        return ()
    if choices and _BARE_DOLLAR.search(raw):
        line.findings.trouble("braces beside a variable, which may make another variable's name")
    return tuple(expansion.unescape(re.sub(r"(?<!\\)['\"]", "", choice)) for choice in choices)


def _escaped(line: Line) -> Atom:
    line.at += 2
    letter = line.text[line.at - 1 : line.at]
    if not letter:
        raise UnreadableError("a backslash at the very end")
    if letter == "\n":
        if line.here not in (" ", "\t", "\n"):
            line.findings.trouble("a line's end inside a word")
        return written("")
    return written(letter)


def read_quoted(line: Line) -> list[Atom]:
    """Take double quotes with all that is in them."""
    line.expect('"')
    atoms = [written("")]
    while not line.take('"'):
        if not line.here:
            raise UnreadableError("a quote that does not close")
        atoms.append(_in_quotes(line, _QUOTED_PLAIN))
    return atoms


def read_document(line: Line) -> None:
    """Take all of a here-document's text, in which the shell expands as in double quotes."""
    while line.here:
        if line.ahead("\\\n"):
            line.findings.trouble("a line's end that a here-document takes back")
        _in_quotes(line, _DOCUMENT_PLAIN)


def _in_quotes(line: Line, plain: re.Pattern[str]) -> Atom:
    if match := line.match(plain):
        return written(match[0])
    if line.here == "$":
        return dollar(line, quoted=True)
    if line.here == "`":
        return backquoted(line, quoted=True)
    line.at += 1
    letter = line.here
    if letter and letter in '$`"\\\n':
        line.at += 1
        return written("" if letter == "\n" else letter)
    return written("\\")


def dollar(line: Line, *, quoted: bool = False) -> Atom:
    """Take a dollar sign and its construct."""
    line.at += 1
    if line.take("(("):
        expansion.read_arithmetic(line, "))")
        atom = NUMBER
    elif line.take("("):
        atom = _substitution(line, quoted=quoted)
    elif line.take("{"):
        atom = expansion.read_expansion(line, quoted=quoted)
    elif match := line.match(_NAME):
        atom = _variable(line, match[0], quoted=quoted)
    elif match := line.match(_SPECIAL):
        atom = _special(line, match[0], quoted=quoted)
    else:
        atom = _lone(line, quoted=quoted)
    if line.ahead("\\\n"):
        line.findings.trouble("a line's end that may be taken back inside a name")
    return atom


def _lone(line: Line, *, quoted: bool) -> Atom:
    if line.here == "'" and not quoted:
        line.at += 1
        match = line.match(_ANSI)
        if not match:
            raise UnreadableError("a quote that does not close")
        if "\\'" in match[1]:
            line.findings.trouble("a quote inside $'…', which dash ends there")
        return written(expansion.ansi(match[1]))
    if line.here == "[":
        raise UnreadableError("arithmetic in brackets, $[…]")
    if line.here == '"' and not quoted:
        line.findings.trouble('a translated string, $"…"')
    elif line.here and line.here not in (_AFTER_LONE_QUOTED if quoted else _AFTER_LONE):
        line.findings.trouble(f"a dollar sign before {line.here!r}, which shells read apart")
    return written("$")


def _variable(line: Line, name: str, *, quoted: bool) -> Atom:
    values = line.findings.variables.values(name)
    if line.here == "[":
        line.findings.trouble(f"a bracket right after ${name}, which shells read apart")
    if _READ_APART.match(line.text, line.at) or name in line.findings.variables.arrays:
        return Atom(AtomKind.ANY, joined=quoted, values=values)
    return Atom(AtomKind.NAME, name, quoted, values)


def _special(line: Line, letter: str, *, quoted: bool) -> Atom:
    after = line.here
    more = letter in "#$" and (after.isalnum() or after in tuple("{@*(_"))
    if after == "[" or (letter.isdigit() and after.isdigit()) or more:
        line.findings.trouble(f"${letter}{after}, which shells read apart")
    return NUMBER if letter in _COUNTS else Atom(AtomKind.ANY, joined=quoted and letter != "@")


def _substitution(line: Line, *, quoted: bool) -> Atom:
    """Take a command substitution after `$(`: its commands count as the line's."""
    start, outer = line.at, line.pending
    line.pending = []
    before = len(line.findings.commands)
    with line.nested(substitution=True):
        shape = line.readers.commands(line, frozenset({")"}))
    line.expect_no_document()
    line.pending = outer
    line.expect(")")
    line.crossed(start)
    return _printed(line, before, shape, quoted=quoted)


def _printed(line: Line, before: int, shape: script.OutputShape, *, quoted: bool) -> Atom:
    """Return what the commands' output may be."""
    commands = line.findings.commands[before:]
    guess: tuple[str, ...] = ()
    if len(commands) == 1 and commands[0].words:
        guess = printed(commands[0])
    if operands := counts(shape):
        choices = [(operand,) for operand in operands]
        return line.findings.variables.either(*choices, joined=False, values=("0", ""))
    if texts := _told_by_words(commands):
        return replace(KNOWN, joined=quoted, values=texts)
    words = [word.text for command in commands for word in command.words if word.fixed]
    if len(commands) == 1 and words in (["pwd"], ["git", "rev-parse", "--show-toplevel"]):
        return _folder_here(line, quoted=quoted, above=words[0] == "git")
    return replace(PRINTED, joined=quoted, values=(*guess, ""))


def _folder_here(line: Line, *, quoted: bool, above: bool) -> Atom:
    """Return the folder that the line is in, or one above it."""
    variables, here = line.findings.variables, Atom(AtomKind.NAME, "PWD")
    texts = [text for text in variables.values("PWD") if text]
    tops = [text.rsplit("/", n)[0] for text in texts for n in range(1, text.count("/") + 1)]
    choices = [(here,), *((written(top or "/"),) for top in tops if above)]
    return variables.either(*choices, joined=quoted, values=(*texts, *(tops if above else ()), ""))


_MAKES_A_FILE = re.compile(r"mktemp(?: -[dq]+)*")


def _told_by_words(commands: Sequence[script.SimpleCommand]) -> tuple[str, ...]:
    """Return all that a command can print, where its words tell that.

    `mktemp` names a file that was not there before, so any name that no rule knows stands for it.
    """
    if len(commands) != 1 or commands[0].assignments:
        return ()
    words = commands[0].words
    texts = [word.text for word in words]
    if not words or not all(word.fixed for word in words):
        return ()
    if _MAKES_A_FILE.fullmatch(" ".join(texts)):
        return ("/tmp/new",)  # noqa: S108 - a name for rules, and no file
    if len(texts) == 2 and texts[0] in ("dirname", "basename") and texts[1][:1] != "-":
        path = texts[1].rstrip("/") or "/"
        return (
            posixpath.basename(path) if texts[0] == "basename" else posixpath.dirname(path) or ".",
        )
    return ()


def backquoted(line: Line, *, quoted: bool = False) -> Atom:
    """Take a command substitution in backquotes, in which nothing may be escaped."""
    line.at += 1
    start, end = line.at, line.text.find("`", line.at)
    if end < 0:
        raise UnreadableError("a backquote that does not close")
    text = line.text[start:end]
    if "\\" in text:
        line.findings.trouble("backslashes between backquotes")
    if quoted and '"' in text:
        line.findings.trouble("quotes between backquotes between quotes")
    before = len(line.findings.commands)
    inner = line.inner(text)
    shape = inner.readers.commands(inner, frozenset())
    inner.expect_no_document()
    line.at = end + 1
    line.crossed(start)
    return _printed(line, before, shape, quoted=quoted)


def _process(line: Line, start: int) -> Atom:
    """Take `<(…)` or `>(…)`, which must be a whole word."""
    whole, mark = line.at == start, line.findings.mark
    line.at += 2
    _substitution(line, quoted=False)
    line.findings.run_until_the_end(mark)
    if not whole or not line.ends_word:
        line.findings.trouble("a process substitution inside a word")
    return Atom(AtomKind.ANY)


_READERS: Mapping[str, Callable[[Line], list[Atom]]] = {
    "'": lambda line: [expansion.single_quoted(line)],
    '"': read_quoted,
    "\\": lambda line: [_escaped(line)],
    "$": lambda line: [dollar(line)],
    "`": lambda line: [backquoted(line)],
}
