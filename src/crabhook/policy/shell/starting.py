"""Options by which programs start others, and whose arguments are understood (`starting.toml`).

An option is met by an abbreviation too, and an option with a single dash by a longer word. Programs
differ in how they read both, and a guess too many only costs a question.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from crabhook.data_files import names, tables
from crabhook.datatypes import frozen, late_pattern
from crabhook.policy.shell.programs import PRINTERS, READERS, listed
from crabhook.policy.shell.script import ShellWord

_TABLES = tables(__file__, "starting")
_NEVER = re.compile(r"(?!)")
_SHORTEST = 3  # letters of an abbreviated option, its dashes among them


@frozen
class Starting:
    """Options by which some programs start others; `starting.toml` says what each field is."""

    verbs: frozenset[str]
    letters: str
    long: tuple[str, ...]
    but: tuple[str, ...]
    first: re.Pattern[str]
    words: re.Pattern[str]
    whole: bool
    open: bool
    only: str

    def is_of(self, texts: Sequence[str]) -> bool:
        """Whether the command has one of the subcommands."""
        return not self.verbs or not self.verbs.isdisjoint(texts[1:])

    def has(self, texts: Sequence[str]) -> bool:
        """Whether one of the words is such an option."""
        if texts[1:] and self.first.fullmatch(texts[1]):
            return True
        rest = (text for text in texts[1:] if text not in self.verbs)
        return any(self.words.fullmatch(text) or self._is_option(text) for text in rest)

    def _is_option(self, text: str) -> bool:
        name = text.partition("=")[0]
        if text[:1] != "-" or len(text) < 2:
            return False
        if not name.startswith("--") and any(letter in name for letter in self.letters):
            return True
        if len(name) < _SHORTEST or name.startswith(self.but):
            return name in self.long
        single = not name.startswith("--")  # whose value may stand right behind it
        return any(
            option.startswith(name) or (single and name.startswith(option)) for option in self.long
        )


def _starting(row: Mapping[str, Any]) -> Starting:
    return Starting(
        names(row.get("verbs", "")),
        row.get("letters", ""),
        tuple(row.get("long", "").split()),
        tuple(row.get("but", "\0").split(" ")),
        late_pattern(row["first"]) if "first" in row else _NEVER,
        late_pattern(row["words"]) if "words" in row else _NEVER,
        whole=row.get("whole", False),
        only=row.get("only", ""),
        open=row.get("open", False) or row.get("whole", False),
    )


def _by_program() -> dict[str, list[Starting]]:
    rows: dict[str, list[Starting]] = {}
    for row in _TABLES["row"]:
        for name in row["programs"].split():
            rows.setdefault(name, []).append(_starting(row))
    return rows


_ROWS = _by_program()
_UNDERSTOOD = names(_TABLES["understood"]["programs"]) | listed("running", "data")
_UNDERSTOOD_VERBS = {name: listed("running", f"data_of_{name}") for name in ("git",)}


def starts_another(program: str, texts: Sequence[str], *, apart: str = "") -> bool:
    """Whether a program that is known for something else starts another program, by an option.

    `apart`: the rows that hold for this `only` do not count.
    """
    return any(row.has(texts) for row in _rows(program, texts, apart))


def _rows(program: str, texts: Sequence[str], apart: str) -> list[Starting]:
    rows = _ROWS.get(program, ())
    return [row for row in rows if (not apart or row.only != apart) and row.is_of(texts)]


def may_start_another(
    program: str, words: Sequence[ShellWord], *, fed: bool, beside: bool = False
) -> bool:
    """Whether a command does so by one of its words, or may by a word that may be any option.

    `fed`: `xargs` adds words. `beside`: it is asked beside a denial, and not for a rule's star.
    """
    if program not in _ROWS:
        return False
    texts = [word.text for word in words]
    rows = _rows(program, texts, "rules" if beside else "beside")
    if any(row.open and (row.letters or row.long or row.words is not _NEVER) for row in rows):
        options = takewhile(lambda word: word.raw != "--", words[1:])
        if fed or any(word.begins_open for word in options):
            return True
    return any(row.has(texts) for row in rows)


def is_understood(texts: Sequence[str]) -> bool:
    """Whether it is known of all that this program may be given what it does with that."""
    program = texts[0]
    if program in _UNDERSTOOD_VERBS:
        rows = [row for row in _ROWS.get(program, ()) if row.verbs and row.is_of(texts)]
        verb = next((text for text in texts[1:] if text[:1] != "-"), "")
        return verb in _UNDERSTOOD_VERBS[program] or any(row.whole for row in rows)
    if rows := _ROWS.get(program, []):
        return any(row.whole for row in rows)
    return program in _UNDERSTOOD or program in PRINTERS or program in READERS
