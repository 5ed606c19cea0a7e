"""Secrets that a program takes: behind an option, as an argument, or from its input.

`programs.toml` says which programs take one, and where. Only the words of a text are compared with
the programs' names, so a text that names none costs one look.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import groupby
from typing import Any

from crabhook.data_files import tables
from crabhook.secrets.context import SecretSpan, is_placeholder, places

_PROGRAMS = tables(__file__, "programs")

# The words that may be a program's name.
_WORD = re.compile(r"[a-z0-9][a-z0-9_-]+")
_EXECUTABLE = r"(?:\.exe|\.cmd|\.bat|\.jar)?(?=[\s\"'`)]|\Z)"

# What parts two words: blanks, a line that goes on, or what parts them in a list of a program.
_BLANK = r"\s*\\\r?\n\s*|[ \t]+"
_GAP = rf"(?:{_BLANK}|[\"'],\s*(?=[\"']))(?:[\"'](?=[\w.:/@=+-]*[\"']))?"
_FLAGS = rf"(?:-\S*{_GAP}(?:(?![-\s])\S+{_GAP}(?=[^-\s|;&<>#)](?!>)))?)*"

# A command up to its end: quotes, what a backslash takes away, and all but what ends it.
_COMMAND = re.compile(
    r"(?>(?:\\.|(?<=[\s=:])(?:'[^']{0,2000}'|\"(?:\\.|[^\"\\]){0,2000}\")|<<<|[^\n|;&\\]){0,4000})",
    re.DOTALL,
)
_BEGINS = re.compile(
    r"(?:(?:^|[\n;|&({`\"'$=])\s*|\b(?:sudo|npx|bunx|exec|env|time|do|else|nohup|command|dlx|xargs)\s+"
    r"|\b\w+=\S*\s+)(?:[\w./~-]*/)?\Z"
)
_BARE = r"(?:[^\s\"'`;|&<>()\\]|\\[^\s\"'nrt])"


def _spelt(pattern: str) -> str:
    """Return a pattern of the table with its blanks and its <flags> spelt out."""
    return pattern.replace(" ", _GAP).replace("<flags>", _FLAGS)


# What follows a plain word in a sentence is a secret only if it looks like no word.
_MIXED = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])\S{6}")
_BEFORE_OPTION = " \t\n\"'"


class _Option:
    """What a program takes behind an option, or as an argument: a row of `option`."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.programs: list[str] = row["programs"].split()
        self.needs: str = row.get("needs", "")
        self._row = row

    @cached_property
    def _within(self) -> re.Pattern[str] | None:
        return re.compile(_spelt(self._row["within"])) if "within" in self._row else None

    @cached_property
    def _option(self) -> re.Pattern[str]:
        return re.compile(
            _spelt(self._row["option"])
        )  # a first letter that is plain makes it quick

    @cached_property
    def _value(self) -> re.Pattern[str]:
        prefix = self._row.get("prefix", "")
        outer = r"(?P<outer>\\?[\"'])?"
        inner = r"(?:(?(outer)(?!(?P=outer)))(?P<inner>\\?[\"']))?(?(outer)|(?(inner)|(?!-)))"
        inside = "(?(inner)(?!(?P=inner))[^\\r\\n]|(?(outer)(?!(?P=outer))[^\\r\\n]|" + _BARE + "))"
        of_prefix = rf"{outer}{prefix}{inner}(?P<secret>{inside}{{1,4096}})"
        return re.compile(self._row.get("value", of_prefix))

    def in_command(self, text: str, start: int, stop: int) -> Iterator[SecretSpan]:
        """Return the secrets of the command whose program ends at `start`."""
        in_prose = self._row.get("begins", False) and not _begins(text, start)
        within = self._within.search(text, start, stop) if self._within else None
        if self._within and not within:
            return
        for option in self._option.finditer(text, start, stop):
            if text[option.start() - 1] not in _BEFORE_OPTION:
                continue
            value = self._value.match(text, option.end())
            if not value or (in_prose and not _MIXED.match(value["secret"])):
                continue
            if not is_placeholder(value["secret"]):
                yield SecretSpan(*value.span("secret"), self._row.get("kind", "password"))


def _begins(text: str, end: int) -> bool:
    """Whether the word that ends at `end` stands where a command begins."""
    start = max(text.rfind(blank, max(0, end - 60), end) for blank in " \t\n;|&({`\"'$=/") + 1
    return _BEGINS.search(text[max(0, start - 60) : start]) is not None


# What is printed into a program, and what a program is given as text or as a document.
_PRINTED = re.compile(
    r"\b(?:echo|printf)\s+(?:-\w+\s+)*(?:(?P<form>[\"'])%[sb](?:\\+n)?(?P=form)\s+)?"
    r"\$?(?P<quote>\\?[\"'])?(?P<secret>(?(quote)(?!(?P=quote))[^\r\n]|[^\s\"'|;&<>]){1,400}?)"
    r"(?:\\+n)?(?(quote)(?P=quote))\s*\|\s*(?:(?:sudo|env|exec|npx|command)\s+|\w+=\S*\s+|-\S+\s+)*(?:[\w./~-]*/)?\Z"
)
_TEXT = re.compile(
    r"(?:<<<\s*|<\s*<\(\s*(?:echo|printf)\s+(?:-\w+\s+)*)\$?(?P<quote>[\"'])?(?P<secret>(?(quote)(?!(?P=quote))[^\r\n]|[^\s\"'`;|&<>()]){1,400})"
)
_DOCUMENT = re.compile(
    r"(?<!<)<<-?\s*\\?(?P<quote>[\"']?)(?P<end>\w+)(?P=quote)[^\n]*\n(?P<secret>(?:[^\n]*\n){1,40}?)\s*(?P=end)\b"
)
# Letters before a program in which what is printed into it begins.
_PRINTED_WITHIN = 1000


class _InputProgram:
    """A program that reads a secret from its input: a row of `input`."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.programs: list[str] = row["programs"].split()
        self.needs: str = row.get("needs", "")
        self._row = row

    @cached_property
    def _reads(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?<=[\s\"'=]){_spelt(self._row['reads'])}" if "reads" in self._row else ""
        )

    def in_command(self, text: str, start: int, stop: int) -> Iterator[SecretSpan]:
        """Return the secrets that the program which ends at `start` is given."""
        is_given = "|" in text or "<<" in text or "<(" in text
        if not is_given or not self._reads.search(text, start, stop):
            return
        begun = max(text.rfind(blank, max(0, start - 60), start) for blank in " \t\n;|&({`\"'/") + 1
        first = max(0, begun - _PRINTED_WITHIN)
        spans = [
            *_spans(_PRINTED.finditer(text[first:begun]), first),
            *_spans(_TEXT.finditer(text, start, stop)),
        ]
        if document := _DOCUMENT.search(text, start, min(len(text), stop + 4000)):
            spans += _spans(iter([document]))
        yield from spans


def _spans(values: Iterator[re.Match[str]], offset: int = 0) -> Iterator[SecretSpan]:
    for value in values:
        if not is_placeholder(value["secret"]):
            start, stop = value.span("secret")
            yield SecretSpan(offset + start, offset + stop, "password")


def _by_program() -> dict[str, list[_Option | _InputProgram]]:
    rows: list[_Option | _InputProgram] = [
        *map(_Option, _PROGRAMS["option"]),
        *map(_InputProgram, _PROGRAMS["input"]),
    ]
    named = sorted(
        ((name, place) for place, row in enumerate(rows) for name in row.programs),
    )
    return {
        name: [rows[place] for _, place in pairs]
        for name, pairs in groupby(named, key=lambda pair: pair[0])
    }


_ROWS = _by_program()
_NAMES = frozenset(_ROWS)


def secrets_of_programs(text: str, lower: str) -> Iterator[SecretSpan]:
    """Return the secrets that programs take in `text`; `lower` is the same in lower case."""
    named = _NAMES.intersection(_WORD.findall(lower))
    for name in sorted(named) if named else ():
        end = 0
        for place in places(lower, name):
            behind = place + len(name)
            if place < end or not _is_word(lower, place, behind):
                continue
            rows = [row for row in _ROWS[name] if row.needs in text]
            command = _COMMAND.match(text, behind) if rows else None
            end = command.end() if command else behind
            for row in rows:
                yield from row.in_command(text, behind, end)


_BEHIND_NAME = re.compile(_EXECUTABLE)


def _is_word(lower: str, start: int, stop: int) -> bool:
    before = lower[start - 1] if start else " "
    return not (before.isalnum() or before in "_-.") and _BEHIND_NAME.match(lower, stop) is not None
