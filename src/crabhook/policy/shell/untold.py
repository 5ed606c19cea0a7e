"""Programs that a line starts though no word of it names them.

A program text (`python3 -c`, `awk`) can put a program's name together from
letters, and so can a script that the line writes before it runs it.  Where a
rule denies programs, such a line is not allowed, unless its text is of a closed
list that starts none.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from posixpath import basename

from crabhook.policy.names import names
from crabhook.policy.shell.hidden import RUNNERS, SHELLS
from crabhook.policy.shell.script import Command, Flow, Redirect, Word
from crabhook.policy.shell.wrappers import unwrapped

_INTERPRETERS = re.compile(
    r"(?:python|perl|ruby|node|nodejs|php|lua|luajit|deno|bun|tclsh|wish|expect|Rscript|osascript"
    r"|pypy|guile|racket|ghci?|julia|elixir|erl|swipl|gdb|lldb)[0-9.]*"
)
_TEXT_OPTION = re.compile(
    r"-[A-Za-z]*[ceErpBRFnx]\S*|--(?:eval|print|execute|exec|code|run|batch|ex).*"
)
_SCRIPT_FROM_FILE = re.compile(r"-m.*|--(?:version|help|check|test)|-[vVh]")
_EDITORS = names("vi vim nvim view ex ed emacs")
_AWK = names("awk gawk mawk nawk")
# What awk starts programs by; what is not a pipe for sure is taken away before.
_AWK_STARTS = re.compile(r"system|[|@`]")
_AWK_HARMLESS = re.compile(r"\|\||/[^/\s\"';{}|]*(?:\|[^/\s\"';{}|]+)+/")
_SED_OPTION = re.compile(r"-[nEris]+|-i\S*|--(?:quiet|silent|regexp-extended|in-place\S*|separate)")
_ADDRESS = r"(?:[0-9$]+(?:~[0-9]+)?|/(?:[^/\\\n]|\\.)*/I?)"
_PIECE = r"(?:[^{0}\\\n]|\\.)*"
_SUBSTITUTION = "|".join(
    f"s{re.escape(one)}{_PIECE.format(one)}{re.escape(one)}{_PIECE.format(one)}{re.escape(one)}"
    "[gpIiM0-9]*"
    for one in "/|#,@!:%"
)
_SED_COMMAND = (
    rf"(?:{_ADDRESS}(?:,\+?{_ADDRESS})?)? ?!? ?(?:[pdqD=nNPxhHgGl]|{_SUBSTITUTION}|[aic]\\?[^\n;]*)"
)
_SED = re.compile(rf"\s*{_SED_COMMAND}(?:\s*[;\n]\s*{_SED_COMMAND})*\s*;?\s*", re.DOTALL)
# They put what they read, or what they are told, into a file.
_FILLERS = names(
    "tee cp mv ln install dd rsync scp patch sed perl tar unzip curl wget sponge split"
)


def starts_untold(
    commands: Sequence[Command], redirects: Iterable[Redirect], *, given: bool
) -> str:
    """Return why programs may start that no word names, in words for a person; nothing if none.

    `given`: some command of the line finds a text of the line on its standard input.
    """
    readings = [unwrapped(command)[-1] for command in commands if command.words]
    given = given or any(command.fed for command in commands)
    for words in readings:
        if _is_program_text(words, given=given):
            return f"what a program given to {words[0].text} starts is only known when it runs"
    written = _written(readings, redirects)
    for words in readings:
        if _runs_one_of(words, written):
            return f"{words[0].text} runs a script that the same line writes"
    return ""


def _is_program_text(words: Sequence[Word], *, given: bool) -> bool:
    """Whether a program is given in the words, or on standard input, that may start others."""
    name, rest = basename(words[0].text), words[1:]
    texts = [word.text for word in rest]
    if name in _AWK:
        return any(map(_awk_starts, rest))
    if name == "sed":
        return not _sed_is_harmless(rest)
    if name in _EDITORS:
        return given or any(text[:1] in ("-", "+") for text in texts)
    return _INTERPRETERS.fullmatch(name) is not None and _is_given_text(name, texts, given=given)


def _is_given_text(name: str, texts: Sequence[str], *, given: bool) -> bool:
    """Whether an interpreter with these words runs a text of the line, and no file or module."""
    if any(map(_SCRIPT_FROM_FILE.fullmatch, texts[:1])):
        return False
    options = list(takewhile(lambda text: text[:1] == "-", texts))
    if "-" in options or any(map(_TEXT_OPTION.fullmatch, options)):
        return True
    rest = texts[len(options) :]
    return (not rest and given) or (name in ("deno", "bun") and rest[:1] == ["eval"])


def _awk_starts(word: Word) -> bool:
    if not word.fixed and not word.glob:
        return not word.raw.startswith(("$", '"$')) and bool(_AWK_STARTS.search(word.raw))
    return bool(_AWK_STARTS.search(_AWK_HARMLESS.sub("", word.text)))


def _sed_is_harmless(words: Sequence[Word]) -> bool:
    """Whether each script given to sed is of the closed list of commands that start nothing."""
    scripts: list[Word] = []
    given, waits = False, False
    operands: list[Word] = []
    for word in words:
        if waits:
            scripts.append(word)
            waits = False
        elif word.text in ("-e", "--expression", "-ne", "-Ee", "-nEe"):
            given = waits = True
        elif word.text[:1] == "-" and len(word.text) > 1:
            if not _SED_OPTION.fullmatch(word.text):
                return False
        else:
            operands.append(word)
    if not given:  # an empty first one may be an option's: `sed -i '' s/a/b/`
        scripts += operands[: 1 if operands and operands[0].text else 2]
    return all(word.fixed and (_SED.fullmatch(word.text) or not word.text) for word in scripts)


def _written(readings: Iterable[Sequence[Word]], redirects: Iterable[Redirect]) -> frozenset[str]:
    """Return the last parts of the names of all files that the line may put something into."""
    found = {
        basename(text)
        for one in redirects
        if one.flow is not Flow.READ and one.target.text != "/dev/null"
        for text in (*one.target.values, *one.settled)
    }
    for words in readings:
        if basename(words[0].text) in _FILLERS:
            texts = [text for word in words[1:] for text in (*word.values, *word.parts)]
            found.update(basename(text.rpartition("=")[2].rstrip("/")) for text in texts)
    return frozenset(found - {"", "."})


def _runs_one_of(words: Sequence[Word], written: frozenset[str]) -> bool:
    if not written:
        return False
    name = basename(words[0].text)
    if "/" in words[0].text and name in written:
        return True
    if not (name in RUNNERS or name in SHELLS or _INTERPRETERS.fullmatch(name)):
        return False
    return any(basename(text) in written for word in words[1:] for text in word.values)
