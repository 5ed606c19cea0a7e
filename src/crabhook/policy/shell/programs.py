"""What well-known programs do with given files, and which of them print only numbers.

`programs.toml` has every name that the reader of lines knows.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from crabhook.data_files import names, tables
from crabhook.datatypes import late_pattern
from crabhook.policy.shell.script import NUMBER, Atom, OutputShape, ShellWord, SimpleCommand

_TABLES = tables(__file__, "programs")


def listed(table: str, key: str) -> frozenset[str]:
    """Return one of the lists of names in `programs.toml`."""
    return names(_TABLES[table][key])


def patterns(table: str) -> Mapping[str, re.Pattern[str]]:
    """Return one of the tables of patterns there, by each of the programs that they are of."""
    rows = _TABLES[table].items()
    return {name: late_pattern(text) for listed_, text in rows for name in listed_.split()}


SYSTEM_PROGRAM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[^/]+")
"""The path of a program that the system's administrator installed."""

PRINTERS = listed("files", "printers")
READERS = PRINTERS | listed("files", "readers")
WRITERS = listed("files", "writers")
FLAGS_ALONE = listed("files", "flags_alone")
OPENERS = (READERS - PRINTERS) | WRITERS | listed("files", "openers")
SCRIPT_FIRST = listed("files", "script_first")
MOVES = listed("files", "moves")
VERSION_CONTROL = listed("files", "version_control")
RECURSIVE = listed("files", "recursive")
UNPACKERS = listed("files", "unpackers")
SEARCH_HERE = listed("files", "search_here")
READ_NOTHING = listed("files", "read_nothing")
NAMES_ONLY = listed("files", "names_only")
CONTENT_READERS = (READERS - PRINTERS - NAMES_ONLY) | listed("files", "content_readers")
NUMBER_PRINTERS = listed("files", "number_printers")
_LAST_WRITTEN = listed("files", "last_written")
_GIT_READERS, _GIT_WRITERS = listed("files", "git_readers"), listed("files", "git_writers")
_WRITING = patterns("writing")
_NO_FILE = re.compile(r"-.+|[+]?(?:0x[0-9a-fA-F]+|\d+)")
_ALWAYS_DEEP = listed("files", "always_deep")
_DEEP_OPTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    name: (row["letters"], tuple(row["long"].split()))
    for row in _TABLES["deep"]
    for name in row["names"].split()
}
_DEEP = re.compile(
    r"\b(?:" + "|".join((*RECURSIVE, *_ALWAYS_DEEP, "diff", "xargs", "parallel")) + r")\b|[*?$`\[]"
)
_FOLLOWING = ("--follow", "--dereference", "--copy-links", "--copy-unsafe-links")
_FOLLOWING_LETTERS: Mapping[str, str] = {
    name: letters for text, letters in _TABLES["following"].items() for name in text.split()
}


def reads_deep(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command does what it does to a folder with all that is in it."""
    if program == "git":
        return "grep" in words[1:]
    if program in _DEEP_OPTIONS:
        letters, long = _DEEP_OPTIONS[program]
        return any(_is_option(word, letters, long) for word in words[1:])
    return program in _ALWAYS_DEEP or program in RECURSIVE


def may_read_deep(line: str) -> bool:
    """Whether a shell line may read a folder, or files of a folder that it does not name."""
    return _DEEP.search(line) is not None


def follows_links(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command goes where links in a folder lead."""
    letters = _FOLLOWING_LETTERS.get(program, "")
    return any(_is_option(word, letters, _FOLLOWING) for word in words[1:])


def _is_option(word: str, letters: str, long: tuple[str, ...]) -> bool:
    """Whether a word may be one of the options: by a letter, or by a shortened name."""
    if not word.startswith("-"):
        return False
    name = word.partition("=")[0]
    if len(name) > 2 and any(option.startswith(name) or name.startswith(option) for option in long):
        return True
    return not word.startswith("--") and any(letter in word for letter in letters)


def writes(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command is known to change or make a file that it is given."""
    if program in WRITERS or (program == "git" and not _GIT_WRITERS.isdisjoint(words[1:2])):
        return True
    if program in _LAST_WRITTEN:
        return len([word for word in words[1:] if not _NO_FILE.fullmatch(word)]) > 1
    form = _WRITING.get(program)
    return form is not None and any(map(form.match, words[1:]))


def only_reads(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command leaves alone the files that it names."""
    is_reader = words[1:2] and words[1] in _GIT_READERS if program == "git" else program in READERS
    return bool(is_reader) and not writes(program, words)


_ONLY_DROP, _LISTS, _READS_NAMES = map(patterns, ("only_drop", "lists", "reads_names"))
BRING_WORDS = frozenset({"xargs", "parallel"})
_WIDENS_FIND = frozenset({"-o", "-or", "-not", "!", ",", "-printf", "-fprintf", "-exec", "-ok"})


def _fits(forms: Mapping[str, re.Pattern[str]], texts: Sequence[str]) -> bool:
    form = forms.get(texts[0])
    return form is not None and bool(form.fullmatch("".join(f" {text}" for text in texts[1:])))


def only_drops(texts: Sequence[str]) -> bool:
    """Whether a command prints some of the lines that it reads, and nothing else."""
    return _fits(_ONLY_DROP, texts)


def lists_names(texts: Sequence[str]) -> bool:
    """Whether a command prints names of files that are below what it is given, or drops some."""
    return only_drops(texts) or _fits(_LISTS, texts)


def reads_names(program: str, texts: Sequence[str]) -> bool:
    """Whether a command opens files whose names it reads from a file or from its input."""
    return _fits(_READS_NAMES, (program, *texts[1:]))


def globs_told(texts: Sequence[str]) -> list[str]:
    """Return globs for all names that `find` or `git ls-files` prints."""
    if texts[0] == "find" and not _WIDENS_FIND.intersection(texts):
        return [after for before, after in pairwise(texts) if before in ("-name", "-iname")]
    if texts[:2] == ["git", "ls-files"] and not any(text[:1] == "-" for text in texts):
        return list(texts[2:])
    return []


_FORMS = tuple(map(late_pattern, _TABLES["numbers"]["commands"]))
_SIZES = tuple(tuple(text.split()) for text in _TABLES["numbers"]["sizes"])
_GREP_COUNTS = re.compile(r"-[ivwxEFsa]*c[ivwxEFsa]*|--count")
_GREP_OPTION = re.compile(r"-[ivwxEFsa]+|" + _GREP_COUNTS.pattern)
_OPERATORS = frozenset({"+", "-", "*", "/", "%"})


def counts(shape: OutputShape) -> tuple[Atom, ...]:
    """Return what must be digits for commands of this form to print digits; nothing if none do."""
    if shape.last is None or not shape.last.words or shape.mixed or shape.last.assignments:
        return ()
    words = shape.last.words
    if all(word.fixed and " " not in word.text for word in words):
        text = " ".join(word.text for word in words)
        if any(form.fullmatch(text) for form in _FORMS):
            return (NUMBER,)
    return (NUMBER,) if _counts_matches(words) or _is_size(words) else _computes(words)


def _counts_matches(words: tuple[ShellWord, ...]) -> bool:
    """Whether it is `grep -c` of at most one file, which prints no file name."""
    if words[0].text not in ("grep", "egrep", "fgrep") or not all(word.fixed for word in words):
        return False
    options = [word.text for word in words[1:] if word.raw.startswith("-")]
    others = words[1 + len(options) :]
    if any("-" in (word.raw[:1], word.text[:1]) or not _is_one(word) for word in others):
        return False
    counts_ = any(map(_GREP_COUNTS.fullmatch, options))
    return 1 <= len(others) <= 2 and counts_ and all(map(_GREP_OPTION.fullmatch, options))


def _is_size(words: tuple[ShellWord, ...]) -> bool:
    head, last = tuple(word.text if word.fixed else "" for word in words[:-1]), words[-1]
    return head in _SIZES and _is_one(last) and last.raw[:1] not in "-$`\"'"


def _computes(words: tuple[ShellWord, ...]) -> tuple[Atom, ...]:
    """Return the operands of `seq` or `expr`: from numbers these make numbers."""
    if len(words) < 2 or not words[0].fixed or words[0].text not in ("seq", "expr"):
        return ()
    operands = [word for word in words[1:] if not (word.fixed and word.text in _OPERATORS)]
    if not all(word.atoms and not word.glob and not word.parts for word in operands):
        return ()
    return tuple(atom for word in operands for atom in word.atoms)


def _is_one(word: ShellWord) -> bool:
    return not word.glob and not word.parts and all(atom.joined for atom in word.atoms)


_TELL_A_PATH = {("command", "-v"), ("type", "-p"), ("type", "-P")}


def printed(command: SimpleCommand) -> tuple[str, ...]:
    """Return what a command is likely to print: a guess, to deny by."""
    name, *texts = (word.text for word in command.words)
    rest: list[str] = []
    if name in ("which", "echo") or (name, *texts[:1]) in _TELL_A_PATH:
        rest = [text for text in texts if not text.startswith("-")]
    elif name == "printf":
        rest = [text for text in texts if text not in ("--", "%s", "%s\\n")]
    return (" ".join(rest),) if rest else ()
