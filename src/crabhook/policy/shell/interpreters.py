"""Interpreters in a closed form: which lines surely run only files that were there before.

A program's text can put the name of any program together. So beside a denial of commands an
interpreter may have only listed options, a fixed name of a file, and that file's arguments. Neither
the line nor its shell may make the file. The options are in `interpreters.toml`. A program that
runs the code of a project (`make`, `npm test`) is held to the same, beside what the line writes.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from posixpath import basename
from typing import TypeAlias

from crabhook.data_files import names, tables
from crabhook.datatypes import frozen, late_pattern
from crabhook.policy.shell.hidden import NAMES_A_PROGRAM, RUNNERS, SHELLS
from crabhook.policy.shell.programs import PRINTERS, READERS, SYSTEM_PROGRAM, listed, writes
from crabhook.policy.shell.script import (
    NUMBER,
    Assignment,
    AtomKind,
    Redirect,
    ShellWord,
    SimpleCommand,
)
from crabhook.policy.shell.starting import may_start_another
from crabhook.policy.shell.wrappers import is_plain, is_safe, unwrapped

_TABLES = tables(__file__, "interpreters")
_NAMES = names(_TABLES["running"]["interpreters"])
_INTERPRETERS = late_pattern(f"(?:{'|'.join(map(re.escape, sorted(_NAMES)))})[0-9.]*(?:-dbg)?")
_EDITORS, _MAKE = (names(_TABLES["running"][key]) for key in ("editors", "make"))
_AWK = listed("running", "awk")
_NEVER = re.compile(r"(?!)")


@frozen
class InterpreterForm:
    """What an interpreter may be given before its file.

    `verbs` may stand before all else. `runs_project` are words that make it run a project's code.
    With an option of `many`, all its arguments are names of files.
    """

    flags: re.Pattern[str] = _NEVER
    valued: re.Pattern[str] = _NEVER
    tells: re.Pattern[str] = _NEVER
    many: re.Pattern[str] = _NEVER
    verbs: frozenset[str] = frozenset()
    runs_project: frozenset[str] = frozenset()


def _form(row: Mapping[str, str]) -> InterpreterForm:
    options = {
        key: late_pattern(row[key]) for key in ("flags", "valued", "tells", "many") if key in row
    }
    words = {key: names(row[key]) for key in ("verbs", "runs_project") if key in row}
    return InterpreterForm(**options, **words)  # type: ignore[arg-type]


_FORMS = {name: _form(row) for row in _TABLES["form"] for name in row["names"].split()}
_NO_OPTIONS = InterpreterForm()
_MODULES = names(_TABLES["modules"]["names"])
_COMPILING = names(_TABLES["modules"]["compiling"])
_ACTING_MODULE = late_pattern(_TABLES["modules"]["acting"])
_OBEYED = late_pattern(_TABLES["variables"]["obeyed"])
_RUNS_PROJECT = names(_TABLES["project"]["runs"])
_INERT, _CODE = (late_pattern(_TABLES["inert"][key]) for key in ("names", "code"))
_MAKES_UNNAMED, _GIT_MAKES_NONE = (names(_TABLES["making"][key]) for key in ("unnamed", "git"))
_MAKES_MORE, _FILLS = (
    {name: late_pattern(text) for name, text in _TABLES[key].items()}
    for key in ("making_more", "filling")
)
_DATA, _FILLERS = listed("running", "data"), listed("files", "fillers")
_RUN_BY = frozenset(
    (first, "run") for first in ("uv", "poetry", "pipenv", "hatch", "rye", "pdm")
) | {("bundle", "exec"), ("npm", "exec"), ("pnpm", "exec"), ("yarn", "exec")}
_PRINTS_NOTHING = names(_TABLES["making"]["prints_nothing"])
_USUAL_WORDS = names(_TABLES["running"]["usual_words"])
_INSTALLERS, _INSTALLS = (names(_TABLES["installing"][key]) for key in ("programs", "verbs"))
_ELSEWHERE = names(_TABLES["installing"]["elsewhere"])
_SEARCHES = ("find", "fd", "fdfind")
_GIT_WRITES = re.compile(r"-o|--ou")
_LEAVES_TEXT = names(_TABLES["making"]["leaves_text"])
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:")
_MODULE = re.compile(r"[A-Za-z_][\w.]*")
_ENV_FLAG = re.compile(r"-i|-|--ignore-environment|--")
_ASSIGNS = re.compile(r"([A-Za-z_]\w*)=")
_MAKE_SETS = re.compile(r"(?!SHELL=|MAKE|\.)[A-Za-z_]\w*[:?+]?=[\w./:@%+,-]*")
_TARGET = re.compile(r"[\w./:@%+,][\w./:@%+,-]*")


IsStream: TypeAlias = Callable[[str], bool]
"""What tells of a file's name, as a line writes it, whether it may be no plain file."""


def no_stream(_name: str) -> bool:
    """Answer for any name that it is a plain file's."""
    return False


def starts_untold(
    commands: Sequence[SimpleCommand],
    redirects: Iterable[Redirect],
    is_stream: IsStream = no_stream,
) -> str:
    """Return why unnamed programs may start, in words for a person; empty if none."""
    calls = [_innermost(command) for command in commands if command.words]
    for call in calls:
        if reason := _why(call, is_stream):
            return reason
    runs = next((call for call in calls if _runs_files(call)), None)
    written = tuple(_written(calls, redirects))
    if runs is not None and not _writes_its_own(calls):
        for name in written:
            is_code = not _INERT.fullmatch(name) or _CODE.fullmatch(name)
            if is_code or name == runs.name:
                return f"{runs.name} runs files, and the same line writes {name}"
        if maker := next((call for call in calls if _makes_unnamed(call)), None):
            return f"{runs.name} runs files, and {maker.name} may write any of them"
    for call in calls if written else ():
        if _is_given_one_of(call, written):
            return f"{call.name} runs a script that the same line writes"
    return ""


def _writes_its_own(calls: Sequence["_InnerCommand"]) -> bool:
    """Whether all that the line may write is what its one command that runs files prints."""
    others = [call for call in calls if not _runs_files(call)]
    return len(calls) - len(others) == 1 and all(call.name in _PRINTS_NOTHING for call in others)


@frozen
class _InnerCommand:
    """A command inside its wrappers, with what is set before it; `fed`: `xargs` adds words."""

    name: str
    words: Sequence[ShellWord]
    assignments: tuple[Assignment, ...] = ()
    fed: bool = False


def _innermost(command: SimpleCommand) -> _InnerCommand:
    """Look through the wrappers that leave their command as it is, `env` among them."""
    assignments = list(command.assignments)
    fed = False
    while True:
        readings = unwrapped(command)
        fed |= any(basename(words[0].text) == "xargs" for words in readings[:-1])
        words = readings[-1]
        rest = _behind_env(words, assignments) or _behind_run(words)
        if not rest:
            return _InnerCommand(basename(words[0].text), words, tuple(assignments), fed)
        command = SimpleCommand(tuple(rest))


def _behind_env(words: Sequence[ShellWord], assignments: list[Assignment]) -> Sequence[ShellWord]:
    """Return what a plain `env` runs, and add what it sets."""
    if basename(words[0].text) != "env":
        return ()
    at = 1
    while at < len(words) and _ENV_FLAG.fullmatch(words[at].text) and words[at].fixed:
        at += 1
    while at < len(words) and (match := _ASSIGNS.match(words[at].text)):
        value = words[at]
        if not value.raw.startswith(match[0]):
            return ()
        assignments.append(Assignment(match[1], value))
        at += 1
    rest = words[at:]
    return () if not rest or not rest[0].fixed or rest[0].text[:1] == "-" else rest


def _behind_run(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Return what `uv run` or a program like it runs, where nothing stands between."""
    if len(words) < 3 or not all(word.fixed for word in words[:3]):
        return ()
    if (basename(words[0].text), words[1].text) not in _RUN_BY or words[2].text[:1] == "-":
        return ()
    return words[2:]


def is_interpreter(name: str) -> bool:
    """Whether a program of this name runs code that it is given."""
    return name in SHELLS or name in (".", "source") or bool(_INTERPRETERS.fullmatch(name))


def _form_of(name: str) -> InterpreterForm:
    plain = re.sub(r"[0-9.]+(?:-dbg)?$", "", name)
    return _FORMS.get(name) or _FORMS.get(plain) or _NO_OPTIONS


def _why(call: _InnerCommand, is_stream: IsStream) -> str:
    """Return why this command may start what no word names."""
    name, words = call.name, call.words
    if not words[0].fixed:
        return ""  # a trouble of its own
    if reason := _why_set(call):
        return reason
    if _is_program(name) or name in (".", "source"):
        closed = _is_in_closed_form(call, is_stream)
    elif may_start_another(name, words, fed=call.fed, beside=True):
        return f"an option of {name} starts a program that is only known when it runs"
    else:
        closed = not _hides_interpreter(call)
    return "" if closed else f"what {name} runs is only known when it runs"


def _is_in_closed_form(call: _InnerCommand, is_stream: IsStream) -> bool:
    """Whether an interpreter of any kind is given what surely starts nothing, or a plain file."""
    name, words = call.name, call.words[1:]
    if name in _AWK:
        return _awk_is_harmless(call, is_stream)
    if name == "sed":
        all_written = bool(words) and not any(word.begins_open for word in words)
        return all_written and sed_is_harmless(words)
    if name in _EDITORS:
        return bool(words) and not any(word.text[:1] in "-+" or word.begins_open for word in words)
    return _make_is_closed(call, is_stream) if name in _MAKE else _is_closed(call, is_stream)


def _why_set(call: _InnerCommand) -> str:
    """Return why a variable that is set before the command may change what it runs."""
    if not call.assignments:
        return ""
    closed = is_interpreter(call.name)
    if not (closed or _runs_files(call) or _is_program(call.name)):
        return ""
    for assignment in call.assignments:
        safe = is_safe(assignment) or _is_read_as_script(assignment)
        if (
            not (safe or is_plain(assignment.name))
            if closed
            else not safe and _OBEYED.fullmatch(assignment.name)
        ):
            return f"{call.name} may obey {assignment.name}, which the line sets"
    return ""


def _is_read_as_script(assignment: Assignment) -> bool:
    """Whether what the variable holds is read as a script of the line: `PS4`, `GIT_PAGER`."""
    named = NAMES_A_PROGRAM.fullmatch(assignment.name) and assignment.name not in (
        "ENV",
        "BASH_ENV",
        "SHELL",
    )
    return bool(named) and assignment.value.fixed


def _is_closed(call: _InnerCommand, is_stream: IsStream) -> bool:
    """Whether an interpreter has known options, a fixed file, and arguments."""
    form, words = _form_of(call.name), call.words[1:]
    first = words[0].text if words and words[0].fixed else ""
    if first in form.runs_project:
        return _all_known(words)
    verb = first in form.verbs
    options = _Options(form, words[1:] if verb else words)
    rest = options.rest
    if options.tells or not rest:  # the input of a shell is read as a script
        return options.tells or options.many or _is_read(call.name)
    if options.many:
        return _all_known(rest)
    text = rest[0].text if rest[0].fixed else ""
    if _is_read(call.name) and _BRINGS_SCRIPT.fullmatch(text):
        return True
    if text == "-m" and form is _FORMS["python"]:
        return _is_known_module(rest[1:], fed=call.fed)
    named = verb or not form.verbs or "." in text  # else a subcommand: `deno eval`
    return named and _is_plain_file(rest[0], is_stream)


_BRINGS_SCRIPT = re.compile(r"-[a-z]*[cs]|-s[a-z]*")


def _is_read(name: str) -> bool:
    """Whether it is a shell in whose language this reader reads."""
    return name in SHELLS and name not in _NAMES


class _Options:
    """The options of a form that words begin with, and the `rest` behind them."""

    def __init__(self, form: InterpreterForm, words: Sequence[ShellWord]) -> None:
        self.tells = self.many = False
        at = 0
        while at < len(words) and words[at].fixed and not self.tells:
            text = words[at].text
            after = words[at + 1].text if words[at + 1 :] and words[at + 1].fixed else "\0"
            self.tells = bool(form.tells.fullmatch(text))
            if form.valued.fullmatch(f"{text} {after}"):
                at += 2
            elif form.flags.fullmatch(text):
                self.many |= bool(form.many.fullmatch(text))
                at += 1
            else:
                break
        self.rest = words[at:]


def _is_known_module(words: Sequence[ShellWord], *, fed: bool) -> bool:
    if not words or not words[0].fixed or not _MODULE.fullmatch(words[0].text):
        return False
    if words[0].text in _COMPILING:
        return True
    is_listed = words[0].text.partition(".")[0] in _MODULES or words[0].text in _MODULES
    return (
        is_listed
        and not fed
        and _all_known(words[1:])
        and not any(_ACTING_MODULE.fullmatch(word.text) for word in words[1:])
    )


def _all_known(words: Iterable[ShellWord]) -> bool:
    """Whether no word may turn out to be an option that the line does not write."""
    return not any(word.begins_open for word in words)


def _is_plain_file(word: ShellWord, is_stream: IsStream) -> bool:
    """Whether the word is surely the name of a file, and no stream."""
    text = word.text
    if not word.fixed or not text or text[:1] in ("-", "+", "@") or _SCHEME.match(text):
        return False
    return "{" not in text and "%" not in text and not is_stream(text)


_MAKE_FILE = re.compile(r"(?:-[fC]|--(?:file|directory|makefile)=)(?P<file>.*)", re.DOTALL)


def _with_digits(word: ShellWord) -> ShellWord:
    """Return the word with digits in place of those that only the running line knows."""
    if word.fixed or len(word.names) != 1 or "*" in word.raw or word.glob:
        return word
    text = word.names[0].replace("*", "1")
    return ShellWord(text, (text,))


def _make_is_closed(call: _InnerCommand, is_stream: IsStream) -> bool:
    """Whether `make` has known options, plain files of rules, targets, and settings of no text."""
    form, words = _FORMS["make"], [_with_digits(word) for word in call.words[1:]]
    if call.fed or not all(word.fixed for word in words):
        return False
    while words:
        text = words.pop(0).text
        after = words[0].text if words else "\0"
        if form.valued.fullmatch(f"{text} {after}"):
            words.pop(0)
        elif match := _MAKE_FILE.fullmatch(text):
            file = match["file"] or (words.pop(0).text if words else "")
            if not file or file == "-" or is_stream(file):
                return False
        elif not (
            form.flags.fullmatch(text)
            or form.tells.fullmatch(text)
            or _MAKE_SETS.fullmatch(text)
            or ("=" not in text and _TARGET.fullmatch(text))
        ):
            return False
    return True


AWK_STARTS = re.compile(r"system|[|@`]")
"""How a text of awk may start programs."""

# What is surely no pipe is removed before: `||`, and a pattern where a value may stand, since
# behind a value a slash divides.
_AWK_HARMLESS = re.compile(
    r"\|\||(?P<before>(?:^|[(,~!{;&\n])\s*)/[^/\s\"';{}|]*(?:\|[^/\s\"';{}|]+)+/"
)
_AWK_FLAG = re.compile(r"-F.*|-v.+|--(?:field-separator|assign)=.*|--(?:posix|re-interval|csv)|-b")
_AWK_VALUED = ("-F", "-v", "--field-separator", "--assign")


def _awk_is_harmless(call: _InnerCommand, is_stream: IsStream) -> bool:
    """Whether each program text of awk is written out and starts nothing, or is in a plain file."""
    words, in_file = [*call.words[1:]], False
    while words and words[0].text[:1] == "-":
        word = words.pop(0)
        if word.text in ("-f", "--file"):
            if not words or not _is_plain_file(words.pop(0), is_stream):
                return False
            in_file = True
        elif word.text in _AWK_VALUED:
            words = words[1:]
        elif word.text == "--":
            break
        elif word.begins_open or not _AWK_FLAG.fullmatch(word.text):
            return word.text in ("--version", "-V", "--help")
    return in_file or (bool(words) and _starts_nothing(words[0]))


def _starts_nothing(word: ShellWord) -> bool:
    """Whether an awk program is known but for numbers, and has no way to start a program."""
    if not word.fixed and not all(
        atom.kind is AtomKind.TEXT or atom == NUMBER for atom in word.atoms
    ):
        return False
    text = word.text if word.fixed else "".join(atom.text or "0" for atom in word.atoms)
    return not AWK_STARTS.search(_AWK_HARMLESS.sub(r"\g<before>1", text))


_SED_OPTION = re.compile(
    r"-[nErisuz]+|-i\S*|--(?:quiet|silent|regexp-extended|in-place\S*|separate|posix)"
)
_ADDRESS = r"(?:[0-9$]+(?:~[0-9]+)?|/(?:[^/\\\n]|\\.)*/I?)"
_PIECE = r"(?:[^{0}\\\n]|\\.)*"
_SUBSTITUTION = "|".join(
    f"s{re.escape(mark)}{_PIECE.format(mark)}{re.escape(mark)}{_PIECE.format(mark)}{re.escape(mark)}"
    "[gpIiM0-9]*"
    for mark in "/|#,@!:%"
)
_SED_COMMAND = (
    rf"(?:{_ADDRESS}(?:,\+?{_ADDRESS})?)? ?!? ?(?:\{{\s*(?:{_ADDRESS} ?!? ?)?)?"
    rf"(?:[pdqD=nNPxhHgGlF]|{_SUBSTITUTION}|[btT]\w*|:\w+|y/{_PIECE.format('/')}/{_PIECE.format('/')}/"
    r"|[aic]\\?[^\n;]*+)(?:\s*+;?\s*+\})?"
)
_SED = late_pattern(
    rf"\s*+{_SED_COMMAND}(?:[^\S\n]*+[;\n]\s*+{_SED_COMMAND})*\s*+;?\s*+", re.DOTALL
)


def sed_is_harmless(words: Sequence[ShellWord]) -> bool:
    """Whether each sed script has only commands that start nothing, from a closed list."""
    scripts: list[ShellWord] = []
    operands: list[ShellWord] = []
    has_script, rest = False, iter(words)
    for word in rest:
        if word.text in ("-e", "--expression", "-ne", "-Ee", "-nEe"):
            has_script = True
            scripts += islice(rest, 1)
        elif word.text[:1] == "-" and len(word.text) > 1:
            if not _SED_OPTION.fullmatch(word.text):
                return False
        else:
            operands.append(word)
    if not has_script:  # an empty first one may be an option's: `sed -i '' s/a/b/`
        scripts += operands[: 1 if operands and operands[0].text else 2]
    return all(word.fixed and (_SED.fullmatch(word.text) or not word.text) for word in scripts)


def _hides_interpreter(call: _InnerCommand) -> bool:
    """Whether a program that is not known to run nothing is told to run an interpreter.

    An interpreter's name alone (`brew install node`) starts none.
    """
    if call.name in _DATA or call.name in PRINTERS | READERS or call.name == "git":
        return False
    if call.name in _ELSEWHERE:
        return False
    if call.name in _INSTALLERS and call.words[1:2] and call.words[1].text in _INSTALLS:
        return False
    able = call.name in RUNNERS or call.name in _SEARCHES
    rest = call.words[1:]
    for word, after in zip_longest(rest, rest[1:]):
        for text in {*word.values, *word.parts}:
            first, *more = text.rpartition("=")[2].split() or [""]
            if able and basename(first) in SHELLS and after and after.text == "-c":
                continue  # that script is read as one
            spelled = {
                basename(program) for program in (first if more or after or able else "", *more)
            }
            if any(map(_is_program, spelled if able else spelled - _USUAL_WORDS)):
                return True
    return False


def _is_program(name: str) -> bool:
    """Whether an interpreter of any kind has such a name."""
    others = name in SHELLS or name in _AWK or name in _MAKE or name in _EDITORS or name == "sed"
    return others or bool(_INTERPRETERS.fullmatch(name))


def _runs_files(call: _InnerCommand) -> bool:
    """Whether the command runs files by their names, or those of the project."""
    name, first = call.name, call.words[0].text
    if "/" in first and not SYSTEM_PROGRAM.fullmatch(first):
        return True
    if name in _AWK:
        return any(word.text in ("-f", "--file") for word in call.words)
    if is_interpreter(name):
        return not _only_tells(call)
    return name in _RUNS_PROJECT or name in _MAKE


def _only_tells(call: _InnerCommand) -> bool:
    if len(call.words) > 1 and _form_of(call.name).tells.fullmatch(call.words[1].text):
        return True
    name = call.name
    texts = [word.text for word in call.words[1:]]
    if name in SHELLS and any(re.fullmatch(r"-[a-z]*[cs][a-z]*", text) for text in texts[:1]):
        return True
    return name in SHELLS and not texts


def _written(calls: Iterable[_InnerCommand], redirects: Iterable[Redirect]) -> Iterator[str]:
    """Yield the last name parts of all files that the line may write."""
    for redirect in redirects:
        yield from (name for name in redirect.written if name)
    for call in calls:
        words = tuple(word.text for word in call.words)
        fills = call.name in _FILLERS or writes(call.name, words)
        if not fills or call.name in _LEAVES_TEXT:
            continue
        texts = [text for word in call.words[1:] for text in (*word.values, *word.parts)]
        only_with = _FILLS.get(call.name)
        if only_with is not None and not any(map(only_with.fullmatch, texts)):
            continue
        named = (
            basename(text.rpartition("=")[2].rstrip("/")) for text in texts if text != "/dev/null"
        )
        yield from (name for name in named if name not in ("", ".") and name[:1] != "-")


def _makes_unnamed(call: _InnerCommand) -> bool:
    """Whether the command may make or change a file that none of its words names."""
    name, texts = call.name, [word.text for word in call.words[1:]]
    if name in _MAKES_MORE and any(map(_MAKES_MORE[name].fullmatch, texts)):
        return True
    if name == "git":
        if any(map(_GIT_WRITES.match, texts)):
            return True
        return next((text for text in texts if text[:1] != "-"), "help") not in _GIT_MAKES_NONE
    if name in _AWK:
        return any(">" in word.text for word in call.words)
    return name in _MAKES_UNNAMED


def _is_given_one_of(call: _InnerCommand, written: Collection[str]) -> bool:
    """Whether the command runs, or hands to an unknown program, a file that the line writes."""
    first = call.words[0].text
    if "/" in first and call.name in written:
        return True
    if call.name not in RUNNERS and not is_interpreter(call.name):
        return False
    return any(basename(text) in written for word in call.words[1:] for text in word.values)
