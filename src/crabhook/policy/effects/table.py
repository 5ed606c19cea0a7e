"""What programs do, read from the two files beside this module, which explain their format.

Bad data raises TableError; a test reads the shipped files.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import Any

from crabhook.data_files import names, tables
from crabhook.datatypes import frozen
from crabhook.model.card import Level, Where

_VERSION = re.compile(r"(?:@|==)(?:latest|[\d.]+)$")
_FROM_ELSEWHERE = (
    *("--from", "--package", "--index-url", "--registry", "--spec"),
    *("--default-index", "--extra-index-url", "--with", "--userconfig", "--find-links"),
)


class TableError(ValueError):
    """The data is wrong; the text says where."""


@frozen
class EffectKind:
    """An effect: its words, and its level for a file in each place.

    `file`: its object is a file. `quiet`: only shown for a file outside the project. `instead`:
    effects that it replaces.
    """

    name: str
    words: str
    bare: str
    levels: Mapping[Where, Level]
    file: bool = False
    quiet: bool = False
    instead: frozenset[str] = frozenset()

    def worded(self, subject: str) -> str:
        """Return the effect on a subject, or without one, in words."""
        return self.words.replace("{}", subject) if subject else self.bare


@frozen
class EffectForm:
    """One way to call a program, and its effects: pairs of an effect's name and object.

    `verbs`: globs for each word of the subcommand. `options`: groups; the call must have one of
    each. `holding`: groups of globs; one of each must match a word.
    """

    verbs: tuple[tuple[str, ...], ...]
    options: tuple[tuple[str, ...], ...]
    holding: tuple[tuple[str, ...], ...]
    effects: tuple[tuple[str, str], ...]

    @property
    def weight(self) -> int:
        """How many conditions it has."""
        return len(self.verbs) + len(self.options) + len(self.holding)

    def fits(self, call: "CallWords") -> int:
        """Return how many operands are the subcommand; -1 where the form does not fit."""
        at = next((at for at in call.starts if self._fits_at(call.operands, at)), -1)
        if at < 0 or not all(any(map(call.has, group)) for group in self.options):
            return -1
        held = (any(call.holds(glob) for glob in group) for group in self.holding)
        return at + len(self.verbs) if all(held) else -1

    def _fits_at(self, operands: Sequence[str], at: int) -> bool:
        if len(operands) < at + len(self.verbs):
            return False
        return all(
            any(fnmatchcase(operands[at + place], glob) for glob in globs)
            for place, globs in enumerate(self.verbs)
        )


@frozen
class InterpreterProgram:
    """A program that runs other programs' texts; `verbs`: words before the name of the file."""

    title: str
    code: frozenset[str] = frozenset()
    module: str = ""
    valued: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    shell: bool = False


@frozen(slots=False)
class Table:
    """All programs by name. `protected`: the effect of changing a protected file.

    `places`: words for where a form's command runs. `common`: well-known packages. `modules`:
    Python's own that only show or check. `looks`: globs for harmless lines of dangerous programs.
    """

    kinds: Mapping[str, EffectKind]
    forms: Mapping[str, Sequence[EffectForm]]
    interpreters: Mapping[str, InterpreterProgram]
    valued: Mapping[str, frozenset[str]]
    protected: Mapping[str, EffectKind]
    tools: Mapping[str, tuple[tuple[str, str], ...]]
    places: Mapping[str, str]
    common: frozenset[str]
    modules: frozenset[str]
    looks: tuple[str, ...]

    @cached_property
    def carriers(self) -> frozenset[str]:
        """The programs that run what their words say in another place."""
        named = ((name, form) for name, forms in self.forms.items() for form in forms)
        return frozenset(n for n, form in named if any(e in self.places for e, _ in form.effects))

    def name_of(self, program: str) -> str:
        """Return a program's name in the table, also for `python3.12`; empty if unknown."""
        for name in (program, program.rstrip("0123456789.")):
            if name in self.forms or name in self.interpreters:
                return name
        return ""

    def is_common(self, call: "CallWords", skip: int) -> bool:
        """Whether a call fetches a package that everybody runs, by its plain name."""
        fetched = call.operands[skip : skip + 1]
        plain = _VERSION.sub("", fetched[0]) if fetched else ""
        return plain in self.common and not any(map(call.has, _FROM_ELSEWHERE))


@frozen(slots=False)
class CallWords:
    """A command's words after the program; `valued`: options that take the next word.

    `operands` are neither options nor their values. After an unknown option this is unsure:
    `starts` are the operands with which the subcommand may begin.
    """

    words: Sequence[str]
    valued: frozenset[str]
    operands: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])

    def __post_init__(self) -> None:
        at, ended = 0, False
        while at < len(self.words):
            word = self.words[at]
            if ended or len(word) < 2 or word[0] != "-":
                self.operands.append(word)
                self.places.append(at)
            elif word == "--":
                ended = True
            elif word in self.valued:
                at += 1
            elif "=" not in word and len(self.operands) < len(self.starts):
                self.starts.append(len(self.operands) + 1)
            at += 1

    def has(self, option: str) -> bool:
        """Whether an option is there: whole, cut short, with its value, or among letters."""
        return any(self._is(word, option) for word in self.words)

    def _is(self, word: str, option: str) -> bool:
        if word == option or (len(option) > 2 and word.startswith(f"{option}=")):
            return True
        if not word.startswith("-"):
            return False
        if word.startswith("--"):
            name = word.partition("=")[0]
            return len(name) > 4 and option.startswith(name)
        if len(option) == 2 and option[1] != "-":
            for letter in word[1:]:
                if letter == option[1]:
                    return True
                if f"-{letter}" in self.valued or not letter.isalnum():
                    return False
        return False

    def brings_pattern(self, program: str) -> bool:
        """Whether an option brings what a search looks for, so that no word does."""
        return program in _PATTERNED and any(map(self.has, _PATTERN_OPTIONS))

    def holds(self, glob: str) -> bool:
        """Whether some word fits a glob; capitals do not count."""
        return any(
            fnmatchcase(word, glob) or fnmatchcase(word.lower(), glob.lower())
            for word in self.words
        )

    def values(self, options: str) -> Iterator[str]:
        """Yield the words that belong to any of the options, parted by `|`."""
        for option in options.split("|"):
            if option == ".":
                continue
            for at, word in enumerate(self.words):
                if word == option:
                    yield from self.words[at + 1 : at + 2]
                elif option.startswith("--") and word.startswith(f"{option}="):
                    yield word.partition("=")[2]
                elif not word.startswith("--") and self._is(word, option):
                    rest = word[word.find(option[1]) + 1 :] if len(option) == 2 else ""
                    yield from [rest] if rest else self.words[at + 1 : at + 2]


def chosen_words(designation: str, operands: Sequence[str]) -> Sequence[str]:
    """Return the operands that a designation of the table means."""
    chosen: Mapping[str, Sequence[str]] = {
        "paths": operands,
        "first": operands[:1],
        "rest": operands[1:],
        "last": operands[-1:] if len(operands) > 1 or "\x1f" in operands[:1] else [],
        "before": operands[:-1],
    }
    return chosen[designation]


DESIGNATIONS = frozenset(
    {"", "paths", "first", "rest", "last", "before", "host", "to", "remote", "names", "form"}
    | {"find", "alone", "rest|.", "paths|."}
)
_PATTERNED = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ugrep"})
_PATTERN_OPTIONS = ("-e", "-f", "--regexp", "--file")


class Aside(StrEnum):
    """A fact that a form reports of a call beside effects; see programs.toml."""

    READS_ALL = "reads-all"
    SEARCHES = "searches"
    ONLY_NAMES = "only-names"
    AS = "as"


@cache
def table() -> Table:
    """Return the table that crabhook is shipped with."""
    return read_table(tables(__file__, "kinds"), tables(__file__, "programs"))


def read_table(of_kinds: Mapping[str, Any], data: Mapping[str, Any]) -> Table:
    """Return the table of the two files' data, or raise TableError."""
    try:
        kinds = {name: _kind(name, row) for name, row in of_kinds.items()}
        places = dict(data["places"])
        forms = _forms(data["forms"], {*kinds, *places, *Aside})
        for name in names(data["harmless"]["programs"]):
            forms.setdefault(name, [])
        return Table(
            kinds,
            forms,
            {
                name: _interpreter(**row)
                for listed, row in data["interpreters"].items()
                for name in listed.split("|")
            },
            {name: names(options) for name, options in data["valued"].items()},
            {name: kinds[kind] for name, kind in data["protected"].items()},
            {name: _effects(text, kinds, name) for name, text in data["tools"].items()},
            places,
            names(data["harmless"]["packages"]),
            names(data["harmless"]["modules"]),
            tuple(data["harmless"]["lines"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TableError(f"the table of effects is wrong: {error!r}") from error


def _kind(name: str, row: Mapping[str, Any]) -> EffectKind:
    rest = dict(row)
    words, level, instead = rest["words"], rest.pop("level"), names(rest.pop("instead", ""))
    levels = {where: Level(rest.pop(where.name.lower(), level)) for where in Where}
    bare = rest.pop("bare", words.replace(": {}", "").replace(" {}", ""))
    return EffectKind(name, bare=bare, levels=levels, instead=instead, **rest)


def _forms(listed: Mapping[str, str], kinds: Collection[str]) -> dict[str, list[EffectForm]]:
    forms_of: dict[str, list[EffectForm]] = {}
    for key, text in listed.items():
        programs, *tokens = key.split()
        groups: tuple[list[tuple[str, ...]], ...] = ([], [], [])
        for token in tokens:
            sort = 1 if token.startswith("-") else 2 if token.startswith("@") else 0
            groups[sort].append(tuple(token.removeprefix("@").split("|")))
        verbs, options, holding = map(tuple, groups)
        form = EffectForm(verbs, options, holding, _effects(text, kinds, key))
        for program in programs.split("|"):
            forms_of.setdefault(program, []).append(form)
    return forms_of


def _effects(text: str, kinds: Collection[str], where: str) -> tuple[tuple[str, str], ...]:
    effects = []
    for piece in filter(None, map(str.strip, text.split(","))):
        name, _, designation = piece.partition(" ")
        is_designation = (
            designation in DESIGNATIONS or designation[:1] == "-" or designation[-1:] == "="
        )
        if name not in kinds or not is_designation:
            raise TableError(f"{where!r} has {piece!r}")
        effects.append((name, designation))
    return tuple(effects)


def _interpreter(
    *,
    code: str = "",
    valued: str = "",
    verbs: str = "",
    **rest: Any,  # noqa: ANN401 - of a table
) -> InterpreterProgram:
    return InterpreterProgram(code=names(code), valued=names(valued), verbs=names(verbs), **rest)
