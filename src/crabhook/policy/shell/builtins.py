"""A closed list of forms in which shells' builtins are accepted.

A builtin can evaluate its arguments, or change what the rest of the line runs. A builtin or
argument outside the list leads to a question.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from crabhook.policy.shell.conditions import plain_test
from crabhook.policy.shell.expansion import read_arithmetic
from crabhook.policy.shell.line import Line, UnreadableError
from crabhook.policy.shell.programs import NUMBER_PRINTERS, OPENERS, READERS, listed, patterns
from crabhook.policy.shell.script import ANY, PRINTED, Atom, ShellWord, SimpleCommand
from crabhook.policy.shell.wrappers import WRAPPED, is_plain, unwrapped

DECLARING = listed("builtins", "declaring")
_FLAGS = patterns("flags")  # of those that declare
_MAY_EXPORT = re.compile(r"[A-Z][A-Z0-9_]*|[a-z][a-z0-9_]*")
_FORMAT = re.compile(
    r"[^%\\]|\\.|%%|%[-+ 0#]*\d*(?:\.\d+)?(?P<letter>[sbqcdiuxXofegEG])", re.DOTALL
)
_SIGNALS = re.compile(r"[A-Z0-9]+")
_SET = re.compile(r"[-+][euxvC]+|[-+][euxv]*o")
_SET_OPTIONS = listed("builtins", "set_options")
_READ_OPTION = re.compile(r"-(?:[rs]+|[rs]*[pdntN])")
_JOB = re.compile(r"-n|%\d+").fullmatch  # what `wait` may be given beside numbers
_DIGITS = re.compile(r"\d+(?:\.\d+)?")

_ASKED = listed("builtins", "asked")  # whose every use is asked about

MAX_SCRIPTS = 3  # in one another

_Form = Callable[[Sequence[ShellWord], Line], str]


def builtin_trouble(command: SimpleCommand, line: Line) -> Iterator[str]:
    """Yield why the command, or what its wrappers run, is no use of a builtin that rules know."""
    for words in unwrapped(command):
        name = words[0].text
        if name in _ASKED:
            yield f"{name}, which may change what runs, or run what it is given"
        elif (form := _FORMS.get(name)) and (trouble := form(words, line)):
            yield trouble


def is_taken(name: str) -> bool:
    """Whether a function of this name would take the place of something that the reader knows."""
    groups = (_FORMS, _ASKED, DECLARING, OPENERS, READERS, WRAPPED, NUMBER_PRINTERS)
    return any(name in group for group in groups)


def _numbers(words: Sequence[ShellWord], line: Line) -> str:
    """`exit 1`, `shift $n`: zsh computes the arguments."""
    for word in words[1:]:
        line.findings.variables.must_count(word.atoms or (ANY,), words[0].text)
    return ""


def _unknown(words: Sequence[ShellWord]) -> str:
    return f"{words[0].text} in a form that rules do not know"


def _declare(words: Sequence[ShellWord], line: Line) -> str:
    """`export A=1`: literal names, none that changes what runs, no evaluated value."""
    variables, name = line.findings.variables, words[0].text
    rest, flags = list(words[1:]), ""
    while rest and rest[0].fixed and rest[0].raw.startswith("-"):
        option = rest.pop(0).raw
        if name not in _FLAGS or not _FLAGS[name].fullmatch(option):
            return f"{name} {option}, which may change what runs"
        flags += option
    for word in rest:
        assigned = word.assigns
        target = assigned.name if assigned else word.raw
        if assigned is None and not (
            word.fixed and word.raw == word.text and _MAY_EXPORT.fullmatch(target)
        ):
            return _unknown(words)
        if not is_plain(target):
            return f"it sets {target}, which may change what runs"
        array = bool(set(flags) & {"a", "A"})
        if assigned is None:
            variables.arrays |= {target} if array else set()
            variables.sets(target, ())
            continue
        if not assigned.array:
            if array or target in variables.arrays or assigned.value.text.startswith("("):
                return f"{name} of an array by a word, which the shell evaluates"
            variables.declared.add(target)
        variables.sets(target, assigned.atoms, assigned.value.values)
    return ""


def _read(words: Sequence[ShellWord], line: Line) -> str:
    """`read -r a b`: options without names, then literal names."""
    rest = list(words[1:])
    while rest and rest[0].raw.startswith("-"):
        option = rest.pop(0)
        if option.raw == "-a" or re.fullmatch(r"-r?a", option.raw):
            if rest:
                line.findings.variables.arrays.add(rest[0].text)
            continue
        if not _READ_OPTION.fullmatch(option.raw):
            return _unknown(words)
        if option.raw[-1] in "pdntN":
            if not rest or not rest[0].fixed:
                return _unknown(words)
            # To zsh, what is no number behind these is a name: `read -t PATH y`.
            if option.raw[-1] in "ntN" and not _DIGITS.fullmatch(rest[0].text):
                return _unknown(words)
            rest.pop(0)
    return _sets(words, rest, line, (PRINTED,))


def _sets(
    words: Sequence[ShellWord],
    targets: Sequence[ShellWord],
    line: Line,
    atoms: tuple[Atom, ...] = (ANY,),
    values: Sequence[str] = (),
) -> str:
    for word in targets:
        if not (word.fixed and word.raw == word.text and is_plain(word.text)):
            return _unknown(words)
        line.findings.variables.sets(word.text, atoms, values)
    return ""


def _mapfile(words: Sequence[ShellWord], line: Line) -> str:
    rest = [word for word in words[1:] if word.raw != "-t"]
    if rest and rest[0].raw == "-d" and len(rest) > 1 and rest[1].fixed:
        rest = rest[2:]
    if len(rest) != 1:
        return _unknown(words)
    line.findings.variables.arrays.add(rest[0].text)
    return _sets(words, rest, line)


def _printf(words: Sequence[ShellWord], line: Line) -> str:
    """`printf '%s' …`: a literal format; arguments for numbers must be numbers."""
    rest = list(words[1:])
    if len(rest) > 1 and rest[0].raw == "-v":
        if trouble := _sets(words, rest[1:2], line):
            return trouble
        rest = rest[2:]
    if rest and rest[0].raw == "--":
        rest = rest[1:]
    if not rest or not rest[0].fixed or rest[0].text.startswith("-"):
        return _unknown(words)
    pieces = list(_FORMAT.finditer(rest[0].text))
    if "".join(piece[0] for piece in pieces) != rest[0].text:
        return _unknown(words)
    letters = "".join(piece["letter"] or "" for piece in pieces)
    if set(letters) - set("sbqc"):
        return _numbers_given(letters, rest[1:], line)
    return ""


def _numbers_given(letters: str, arguments: Sequence[ShellWord], line: Line) -> str:
    """Require a number wherever one is printed; a word may become several."""
    whole = all(word.fixed or all(atom.joined for atom in word.atoms) for word in arguments)
    for at, word in enumerate(arguments):
        if not whole or letters[at % len(letters)] not in "sbqc":
            if word.fixed and _DIGITS.fullmatch(word.text):
                continue
            line.findings.variables.must_count(word.atoms or (ANY,), "printf")
    return ""


def _trap(words: Sequence[ShellWord], line: Line) -> str:
    """`trap 'commands' EXIT`: the commands count as the line's."""
    rest = words[1:]
    if not rest or not all(word.fixed for word in rest):
        return _unknown(words)
    script, *signals = [word.text for word in rest]
    if not signals or not all(map(_SIGNALS.fullmatch, signals)):
        return _unknown(words)
    mark = line.findings.mark
    trouble = "" if script in ("-", "") else _script(script, line)
    line.findings.run_until_the_end(mark, again=True)
    return trouble


def _eval(words: Sequence[ShellWord], line: Line) -> str:
    if len(words) < 2 or not all(word.fixed for word in words):
        return "eval of what is only known when it runs"
    return _script(" ".join(word.text for word in words[1:]), line)


def _script(text: str, line: Line) -> str:
    inner = line.inner(text)
    inner.scripts += 1
    if inner.scripts > MAX_SCRIPTS:
        return "a script in a script in a script"
    try:
        inner.readers.commands(inner, frozenset())
        if inner.here or inner.pending:
            return "a script in a word, which is not well-formed"
    except UnreadableError as error:
        return f"a script in a word, which is not well-formed: {error}"
    return ""


def _let(words: Sequence[ShellWord], line: Line) -> str:
    for word in words[1:]:
        if not word.fixed:
            return _unknown(words)
        try:
            read_arithmetic(line.inner(word.text), "")
        except UnreadableError as error:
            return str(error)
    return ""


def _set(words: Sequence[ShellWord], _line: Line) -> str:
    rest = list(words[1:])
    while rest and rest[0].fixed and rest[0].raw[:1] in ("-", "+") and rest[0].raw != "--":
        option = rest.pop(0).raw
        if not _SET.fullmatch(option):
            return f"set {option}, which may change how the line is read"
        if option.endswith("o") and (not rest or rest.pop(0).raw not in _SET_OPTIONS):
            return _unknown(words)
    if rest and rest[0].raw != "--":
        return _unknown(words)
    return ""


def _source(words: Sequence[ShellWord], line: Line) -> str:
    line.findings.variables.forgotten = True
    if len(words) < 2 or not words[1].fixed:
        return "a script whose name is only known when it runs"
    if words[1].text.startswith(("/dev/", "/proc/", "-")):
        return "a script that the line itself may give"
    return ""


def _as_written(pattern: str) -> _Form:
    """Return the form of a builtin whose literal words match the pattern."""
    fits = re.compile(pattern).fullmatch
    return lambda words, _line: (
        "" if fits(" ".join(word.raw for word in words[1:])) else _unknown(words)
    )


_FORMS: Mapping[str, _Form] = {
    **dict.fromkeys(listed("builtins", "anything"), lambda _words, _line: ""),
    **dict.fromkeys(listed("builtins", "numbers"), _numbers),
    **dict.fromkeys(
        listed("builtins", "literal"),
        lambda words, _: "" if all(word.fixed for word in words) else _unknown(words),
    ),
    **dict.fromkeys(DECLARING, _declare),
    **dict.fromkeys(("[", "test"), lambda words, line: plain_test(words, line.findings.variables)),
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    **dict.fromkeys(("source", "."), _source),
    "wait": lambda words, line: _numbers([word for word in words if not _JOB(word.raw)], line),
    "unset": lambda words, line: _sets(
        words, [word for word in words[1:] if word.raw not in ("-v", "-f")], line, (), ("",)
    ),
    "read": _read,
    "printf": _printf,
    "trap": _trap,
    "eval": _eval,
    "let": _let,
    "set": _set,
    "shopt": _as_written(f"-[su](?: (?:{'|'.join(listed('builtins', 'shopt'))}))+"),
    "hash": _as_written("-r"),
}
