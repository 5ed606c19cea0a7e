"""A shell line, read by the shell's own grammar into a Script.

This is a proof, not a search: a line has no trouble only if one of these functions takes every byte
of it. A text that bash and zsh could read differently is a trouble.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from crabhook.policy.shell import compound, redirects, wrappers
from crabhook.policy.shell.builtins import builtin_trouble
from crabhook.policy.shell.expansion import ansi, formatted, read_arithmetic
from crabhook.policy.shell.line import Line, LineFindings, Readers, UnreadableError, Variables
from crabhook.policy.shell.programs import MOVES, listed
from crabhook.policy.shell.script import (
    Assignment,
    Flow,
    OutputShape,
    Redirect,
    Script,
    ShellWord,
    SimpleCommand,
)
from crabhook.policy.shell.words import backquoted, dollar, read_quoted, read_word

MAX_BYTES = 8 * 1024
ODD_LETTER = "a letter that a shell or an eye may read otherwise"

_TIME = re.compile(r"time(?:[ \t]+-p)?(?:[ \t]+--)?(?=[ \t])")
_OPENERS, _CLOSERS = listed("reserved", "openers"), listed("reserved", "closers")
_RESERVED = _OPENERS | _CLOSERS | {"!", "time"}
_ZSH_RESERVED = listed("reserved", "zsh")
_LOOPS = frozenset({"while", "until", "for", "select"})
# `((…))` that dash reads as two harmless groups: a word that sets or counts.
_RUNS_NOTHING_IN_DASH = re.compile(
    r"[ \t\n]*(?:[A-Za-z_]\w*(?:\+\+|--|[-+*/%]?=[^\s;&|<>()`]*)|(?:\+\+|--)[A-Za-z_]\w*)[ \t\n]*"
)
_ENDS = ("", "\n", ";", "&", "|", ")")


def read_script(
    text: str,
    preset: Mapping[str, Sequence[str]],
    inherited: frozenset[str] = frozenset(),
    texts: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Script:
    """Return what the line `text` does; never raises. `preset`: what variables are found set to.

    `inherited`: variables of the script around it whose value may be more than a number; `texts`:
    all that these can be, where that is known.
    """
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        return Script(troubles=(f"the line is {size} bytes long, and up to {MAX_BYTES} are read",))
    findings = LineFindings(preset, inherited, texts)
    if odd := next((letter for letter in text if _is_odd(letter)), None):
        findings.trouble(f"U+{ord(odd):04X}, {ODD_LETTER}")
    line = Line(text, findings, _READERS)
    try:
        read_list(line, frozenset())
        line.expect_end()
    except UnreadableError as error:
        findings.trouble(f"it is not well-formed, or more than rules know: {error}")
    return Script(
        tuple(_told(command, findings) for command in findings.commands),
        tuple(_settled(findings)),
        findings.troubles,
        tuple(findings.inputs),
        findings.inputs_vary,
        tuple(findings.assigned),
        frozenset(
            findings.variables.unfit() | ({"PWD", "OLDPWD"} if findings.variables.moves else set())
        ),
        texts=findings.variables.all_texts(),
    )


def _told(command: SimpleCommand, findings: LineFindings) -> SimpleCommand:
    """Return a command whose words say what they can be, if that is not fixed."""
    if all(word.fixed and "~" not in word.raw for word in command.words):
        return command
    return replace(
        command, words=tuple(_told_word(word, findings.variables) for word in command.words)
    )


def _told_word(word: ShellWord, variables: Variables) -> ShellWord:
    names = variables.names(word)
    if names is not None:
        return replace(word, names=names)
    # What `<(…)` gives is a pipe: its commands are the line's own.
    pipe = word.raw[:2] in ("<(", ">(")
    free = word.fixed or not variables.is_printed(word.atoms)
    return replace(word, computed=not pipe, free=free and not pipe)


def _settled(findings: LineFindings) -> Iterator[Redirect]:
    """Yield redirects with all values of their targets' variables in the whole line."""
    for at, redirect in enumerate(findings.redirects):
        sure = at in findings.settling and not redirect.target.tilde
        texts = findings.variables.settled(redirect.target.atoms) if sure else ()
        target = _told_word(redirect.target, findings.variables)
        yield (
            replace(redirect, settled=texts, target=target)
            if sure
            else replace(redirect, target=target)
        )


def _is_odd(letter: str) -> bool:
    if letter in "\n\t" or " " <= letter <= "~":
        return False
    return unicodedata.category(letter)[0] in "CZ" or letter in "\u115f\u1160\u3164\uffa0\u2800"


def read_list(line: Line, stops: frozenset[str]) -> OutputShape:
    """Take commands up to one of the stops, which stays; return what their form tells."""
    shapes: list[OutputShape] = []
    while True:
        redirects.skip_lines(line)
        if not line.here or _stops(line, stops):
            break
        sure, mark = line.findings.variables.sure, line.findings.mark
        shapes.append(_and_or(line))
        line.blanks()
        if line.ahead(";;") and ";;" in stops:
            break
        if line.take(";"):
            continue
        if line.take("&"):
            if line.here and line.here in "!|&":
                raise UnreadableError("an & that shells read apart")
            line.findings.variables.sure = sure  # set in a subshell
            line.findings.run_until_the_end(mark)
            continue
        if line.here not in ("", "\n") and not _stops(line, stops):
            raise UnreadableError(f"{line.next!r} after a command")
    return shapes[0] if len(shapes) == 1 else OutputShape()


def _stops(line: Line, stops: frozenset[str]) -> bool:
    if line.here == ")":
        return ")" in stops
    if line.ahead(";;"):
        return ";;" in stops
    return bool(stops) and line.plain_word() in stops


def _and_or(line: Line) -> OutputShape:
    """Take pipelines with `&&` and `||`; only the line's own first one surely runs."""
    shape = _pipeline(line, sure=not line.depth)
    alone = True
    while True:
        line.blanks()
        if not (line.take("&&") or line.take("||")):
            return shape if alone else OutputShape()
        alone = False
        redirects.skip_lines(line)
        _pipeline(line, sure=False)


def _pipeline(line: Line, *, sure: bool) -> OutputShape:
    """Take one pipeline; `sure`: it runs, in the line's own shell."""
    _before_pipeline(line)
    mark = line.findings.mark
    last_start = start = mark[0]
    piped, before = False, line.findings.variables.sure
    while True:
        began, element = line.at, len(line.findings.commands)
        written = len(line.findings.redirects)
        command = _command(line, sure=sure and not piped)
        if any(redirect.flow is not Flow.READ for redirect in line.findings.redirects[written:]):
            _keep_printed(line, line.findings.commands[element:])
        mixed = ">&" in line.text[began : line.at]
        line.blanks()
        if line.ahead("||") or not line.take("|"):
            break
        line.take("&")
        piped, line.findings.variables.sure = True, before
        last_start = len(line.findings.commands)
        redirects.skip_lines(line)
    if piped:
        fed = line.findings.commands[start:last_start]
        line.findings.commands[start:last_start] = [replace(command, fed=True) for command in fed]
        _keep_printed(line, fed)
        line.findings.run_together(mark)
    return OutputShape(command, mixed)


def _before_pipeline(line: Line) -> None:
    """Take `!` and `time`, where the shell reads them as keywords."""
    while True:
        line.blanks()
        if line.plain_word() == "!":
            line.take("!")
            if line.here not in (" ", "\t"):
                raise UnreadableError("a ! that shells read apart")
        elif (match := _TIME.match(line.text, line.at)) and _follows_keyword(line, match.end()):
            line.at = match.end()
            line.blanks()
            if line.plain_word() == "!":
                line.findings.trouble("a ! behind time, which shells read apart")
        else:
            return


def _follows_keyword(line: Line, at: int) -> bool:
    """Whether the next text surely makes the `time` before it a keyword."""
    ahead = Line(line.text, line.findings, line.readers, at=at)
    ahead.blanks()
    return (
        ahead.here == "("
        or ahead.plain_word() in _RESERVED
        or redirects.ASSIGNED.match(ahead.text, ahead.at) is not None
    )


def _keep_printed(line: Line, commands: Sequence[SimpleCommand]) -> None:
    """Keep printed text that goes to a pipe or file, as `echo '…' | sh`: it may be a script."""
    for command in commands:
        words = wrappers.unwrapped(command)[-1]
        texts = [word.text for word in words]
        if texts[:1] in (["echo"], ["printf"]):
            printed = [" ".join(texts[1:])]
            if texts[0] == "printf":
                printed += [formatted(texts[1:]), *texts[2:]]
            line.findings.inputs += dict.fromkeys((*printed, *map(ansi, printed)))


def _command(line: Line, *, sure: bool) -> SimpleCommand | None:
    """Take one command of any kind; return it if it is a simple command."""
    line.blanks()
    word, mark, begins = line.plain_word(), line.findings.mark, line.findings.now
    if line.ahead("(("):
        line.at += 2
        start = line.at
        read_arithmetic(line, "))")
        inside = line.text[start : line.at].removesuffix("))")
        if not _RUNS_NOTHING_IN_DASH.fullmatch(inside):
            line.findings.trouble("arithmetic with a word that is a command to dash")
    elif line.take("("):
        with line.nested():
            read_list(line, frozenset({")"}))
        line.expect(")")
    elif word in _OPENERS:
        with line.nested():
            compound.read(line, word)
    elif word in _CLOSERS or word == "!":
        raise UnreadableError(f"{word!r} where a command should be")
    else:
        return _simple(line, sure=sure)
    redirects.after_compound(line)
    line.findings.open_files(mark, begins)
    if word in _LOOPS:
        line.findings.run_together(mark, again=True)
    elif word == "function":
        line.findings.run_until_the_end(mark, again=True)
    return None


def _simple(line: Line, *, sure: bool) -> SimpleCommand | None:
    words: list[ShellWord] = []
    assignments: list[Assignment] = []
    start, end, redirected, mark = -1, line.at, False, line.findings.mark
    line.ended = False
    while True:
        line.blanks()
        if redirects.read(line):
            redirected = True
            continue
        start = line.at if start < 0 else start
        if line.here in _ENDS:
            break
        if line.here == "#":
            redirects.skip_comment(line)
            break
        if line.here == "(":
            if len(words) != 1 or assignments or redirected:
                raise UnreadableError("a bracket inside a command")
            compound.function(line, words[0])
            line.findings.run_until_the_end(mark, again=True)
            return None
        _take(line, words, assignments, redirected=redirected)
        end = line.at
    if not (words or assignments or redirected):
        raise UnreadableError("a command is missing")
    source = line.text[start:end].strip()
    line.findings.open_files(mark, line.findings.now)
    return _finish(line, SimpleCommand(tuple(words), tuple(assignments), source), sure=sure)


def _take(
    line: Line, words: list[ShellWord], assignments: list[Assignment], *, redirected: bool
) -> None:
    if redirects.is_assignment(line, words):
        assigned, word = redirects.read_assignment(line, words)
        if words:
            words.append(word)
        else:
            assignments.append(assigned)
        return
    if not words and (redirected or assignments) and line.plain_word() in _RESERVED:
        raise UnreadableError("a word of the shell's own after a redirect")
    if line.ended:
        line.findings.trouble("a word behind &>, which is a command to dash")
    words.append(read_word(line))
    if words[-1].raw in ("{", "}") or (len(words) == 1 and words[0].raw.startswith("{")):
        line.findings.trouble("a brace that zsh may take for a group's")


def _finish(line: Line, command: SimpleCommand, *, sure: bool) -> SimpleCommand:
    """Keep a simple command, its variables, and its troubles."""
    findings, words = line.findings, command.words
    for assignment in command.assignments:
        if not words and not wrappers.is_plain(assignment.name):
            findings.trouble(f"it sets {assignment.name}, which may change what runs")
        elif words and not wrappers.may_stand_before(assignment, words):
            findings.trouble(f"it sets {assignment.name} for a builtin, which may change what runs")
        if wrappers.names_the_unknown(assignment):
            findings.trouble(
                f"{assignment.name} names a program that is only known when the line runs"
            )
        findings.variables.sets(
            assignment.name, assignment.atoms, assignment.value.values, sure=sure and not words
        )
    if words:
        if words[0].text in _ZSH_RESERVED:
            findings.trouble(f"{words[0].text!r}, which zsh keeps for itself")
        if wrappers.runs_the_unknown(command):
            findings.trouble("what runs is only known when it runs")
        for trouble in builtin_trouble(command, line):
            findings.trouble(trouble)
        findings.variables.moves |= any(map(_moves, wrappers.unwrapped(command)))
    findings.add(replace(command, fed=True) if line.within else command)
    return command


_STAYS = frozenset({"$(pwd)", "$(git rev-parse --show-toplevel)"})


def _moves(words: Sequence[ShellWord]) -> bool:
    """Whether the command goes to another folder than those above its own."""
    return words[0].text in MOVES and [word.raw.strip('"') in _STAYS for word in words[1:]] != [
        True
    ]


_READERS = Readers(read_list, dollar, read_quoted, backquoted)
