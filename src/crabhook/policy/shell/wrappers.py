"""Wrappers that an allow may look through, and leading assignments that it may skip.

Source: the hook protocol's section 10. A wrapper is skipped only with options that surely leave its
command alone; otherwise a rule must name the wrapper.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from posixpath import basename

from crabhook.policy.shell.hidden import NAMES_A_PROGRAM, RUNNERS
from crabhook.policy.shell.programs import BRING_WORDS, listed, patterns
from crabhook.policy.shell.script import Assignment, ShellWord, SimpleCommand

_FORMS = patterns("stripped")  # of the words between a wrapper and its command
_OPTION = re.compile(r"[\w.=-]+")
_SAFE = listed("variables", "safe")
_LOCALE = re.compile(r"LC_[A-Z]+")
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TIED, _NOUNS = listed("variables", "tied"), listed("variables", "nouns")
_MEANT = re.compile(r"npm_|.*_proxy$|pip_|git_|ld_|bash_")
_OF_THE_SHELL = listed("builtins", "of_the_shell")
WRAPPED = _FORMS.keys() | RUNNERS

# Past these no person writes a line, and reading it would cost more than its length.
_DEEPEST = 8  # wrappers in wrappers; a denial looks no deeper either
_MOST_OPTIONS = 24  # words of one wrapper's options


def is_safe(assignment: Assignment) -> bool:
    """Whether an allow may skip the assignment before a command."""
    return _is_safe_name(assignment.name) and assignment.value.fixed


def _is_safe_name(name: str) -> bool:
    return name in _SAFE or _LOCALE.fullmatch(name) is not None


def is_plain(name: str) -> bool:
    """Whether a line may use the name for its own variable without changing anything else."""
    if _is_safe_name(name) or all(noun in _NOUNS for noun in name.split("_")):
        return True
    return bool(_PLAIN_NAME.fullmatch(name)) and name not in _TIED and not _MEANT.match(name)


def may_stand_before(assignment: Assignment, words: Sequence[ShellWord]) -> bool:
    """Whether an assignment before this command leaves the shell itself as it is."""
    name = words[0].text
    if assignment.array:
        return False
    if name == "read":
        return assignment.name == "IFS" or is_plain(assignment.name)
    return is_plain(assignment.name) or name not in _OF_THE_SHELL


def unwrapped(command: SimpleCommand) -> list[Sequence[ShellWord]]:
    """Return the words of the command as an allow may read them: whole, and inside each wrapper."""
    words: Sequence[ShellWord] = command.words
    readings = [words]
    while len(readings) < _DEEPEST and (rest := _strip(words)):
        readings.append(rest)
        words = rest
    return readings


def is_brought_words(command: SimpleCommand) -> bool:
    """Whether words are put behind those of the command, as `xargs` does."""
    return any(basename(words[0].text) in BRING_WORDS for words in unwrapped(command))


_GIT_RUNS = listed("running", "git_runs")
_TOLD_BY_OPTIONS = patterns("told_by_options")


def runs_the_unknown(command: SimpleCommand) -> bool:
    """Whether what the command is, or what it runs in its turn, is only known when it runs."""
    if not command.words[0].fixed:
        return True
    readings = unwrapped(command)
    words = readings[-1]
    fed = any(basename(words[0].text) == "xargs" and _feeds_a_program(words) for words in readings)
    if fed or len(readings) == _DEEPEST:
        return True
    return not all(word.fixed for word in words) and _is_told_what_to_run(words)


def _is_told_what_to_run(words: Sequence[ShellWord]) -> bool:
    """Whether a word unknown until the line runs may tell the program what to run."""
    name = basename(words[0].text)
    if name in RUNNERS or (name == "git" and any(word.text in _GIT_RUNS for word in words[1:])):
        return True
    option = _TOLD_BY_OPTIONS.get(name)
    return option is not None and any(
        not word.fixed and (option.match(word.raw) or option.fullmatch(before.text))
        for before, word in pairwise(words)
    )


def names_the_unknown(assignment: Assignment) -> bool:
    """Whether a variable tells a program to run something unknown until the line runs."""
    return not assignment.value.fixed and bool(NAMES_A_PROGRAM.fullmatch(assignment.name))


# Options of `xargs`: those that take the next word, and those that name a stand-in for its input.
_XARGS_VALUED = re.compile(r"-[0oprtx]*[adEIJLnPRSs]|--(?:a|d|max-[acp]|p)[a-z-]*")
_XARGS_STAND_IN = re.compile(r"(?:-[0oprtx]*(?:[IJ]|i=?)|--r[a-z]*=?)(?P<given>.*)", re.DOTALL)


def read_xargs(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return what stands in for the input of `xargs`, empty for nothing, and the words it runs."""
    at, stand_in = 1, ""
    while at < len(words) and words[at].startswith("-"):
        option, valued = words[at], _XARGS_VALUED.fullmatch(words[at])
        at += 2 if valued else 1
        if match := _XARGS_STAND_IN.fullmatch(option):
            after = "".join(words[at - 1 : at])
            stand_in = match["given"] or (after if valued else "{}")
    return stand_in, words[at:]


def _feeds_a_program(words: Sequence[ShellWord]) -> bool:
    """Whether the input of `xargs` may become a program, or a part of a script."""
    stand_in, texts = read_xargs([word.text for word in words])
    if stand_in and any(stand_in in text for text in texts[:1]):
        return True
    if not texts or basename(texts[0]) not in RUNNERS:
        return False
    if stand_in:
        return any(stand_in in text for text in texts)
    return {"-c", "-ec", "-euc"}.isdisjoint(texts)


def _strip(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    if len(words) < 2 or words[0].raw not in _FORMS:
        return ()
    texts = []
    for word in words[1 : 1 + _MOST_OPTIONS]:  # a quoted or expanded word ends the options
        if word.raw != word.text or not _OPTION.fullmatch(word.text):
            break
        texts.append(word.text)
    match = _FORMS[words[0].text].match("".join(f"{text} " for text in texts))
    if match is None:
        return ()
    rest = words[1 + match[0].count(" ") :]
    dashed = not rest or not rest[0].fixed or rest[0].text.startswith("-")
    return () if dashed else rest
