"""The text of a line while it is read, what was found in it, and the values of its variables.

Two kinds of fault lead to a question. With `Found.trouble` reading can go on, so that a denial may
find more. With `UnreadableError` it cannot. Arithmetic runs what its variables contain. So each
variable must be digits wherever the line sets it, in any order, since loops and functions repeat
(docs/decisions/0009).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from crabhook.datatypes import frozen
from crabhook.policy.shell.programs import listed
from crabhook.policy.shell.script import (
    ANY_TIME,
    KNOWN,
    LAST,
    WRITTEN,
    Atom,
    AtomKind,
    OutputShape,
    Redirect,
    ShellWord,
    SimpleCommand,
    Span,
)
from crabhook.policy.shell.wrappers import is_plain

MAX_KNOWN, MAX_SETTLED = 32, 8  # values of one variable
MAX_TEXTS, MAX_LETTERS = 64, 4096  # of one word that names a file

_DIGITS = re.compile(r"[-+]?\d*")
_TAME = re.compile(r"[\w./:@%+,=-]*", re.ASCII)
NUMBERS, _COUNTED = listed("variables", "numbers"), listed("variables", "counted")

# In bash, a tilde behind the `=` of a word too: `dd if=~-/x`.
_AFAR = re.compile(r"^\w+=~(?![/\s'\"]|$)")
_FOLDERS = frozenset({"PWD", "OLDPWD"})

_Atoms = tuple[Atom, ...]


class Variables:
    """The variables of one line; `preset` are values that it finds them set to, to deny by.

    `inherited`: those that the script around this script may have set to more than a number.
    `texts`: all that these can be, where that is known.
    """

    def __init__(
        self,
        preset: Mapping[str, Sequence[str]],
        inherited: frozenset[str] = frozenset(),
        texts: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._inherited = inherited
        self._texts_before = texts or {}
        self._kept_texts: dict[str, tuple[str, ...] | None] = {}
        self._kept_printed: dict[str, bool] = {}
        self.moves = False  # whether the line goes to another folder
        self.arrays: set[str] = set()
        self.declared: set[str] = set()  # set by a word of `declare` and its like
        self._appended: set[str] = set()
        self._known = {name: list(values) for name, values in preset.items()}
        self._from_outside = frozenset(preset)
        self._set: dict[str, list[_Atoms]] = defaultdict(list)
        # What each is set to by wildcards, braces or a tilde.
        self._written: dict[str, list[str]] = defaultdict(list)
        self.sure: frozenset[str] = frozenset()
        self.forgotten = False  # whether a script may have set any variable
        self.outside: set[str] = set()  # which the line must never set
        self._duties: dict[tuple[str, bool, str], None] = {}

    def values(self, name: str) -> tuple[str, ...]:
        """Return what a variable may hold: what the line sets it to, or nothing."""
        return (*self._known.get(name, ()), "")

    def sets(
        self, name: str, atoms: _Atoms, values: Sequence[str] = (), *, sure: bool = False
    ) -> None:
        """Keep what a variable may be set to; `sure`: it is, before what follows."""
        self._set[name].append(atoms)
        if any(atom.text == WRITTEN.text for atom in atoms if atom.kind is AtomKind.ANY):
            self._written[name] += values
        self.must_count((Atom(AtomKind.NAME, variable) for variable in _COUNTED & {name}), name)
        if sure:
            self.sure |= {name}
        merged = dict.fromkeys((*self._known.get(name, ()), *values))
        self._known[name] = list(merged)[-MAX_KNOWN:]

    def appends(self, name: str, values: Sequence[str]) -> tuple[str, ...]:
        """Return what the variable may hold with this put behind it; its text is not settled."""
        self._appended.add(name)
        before = (self._known.get(name) or [""])[:MAX_SETTLED]
        return tuple(
            f"{beginning}{value}" for beginning in before for value in values[:MAX_SETTLED]
        )

    def either(self, *choices: _Atoms, joined: bool, values: tuple[str, ...]) -> Atom:
        """Return a piece of a word that is one of these."""
        name = f"\0{len(self._set)}"
        self._set[name].extend(choices)
        return Atom(AtomKind.NAME, name, joined, values)

    def must_count(self, atoms: Iterable[Atom], where: str) -> None:
        """Require digits here, or ask: `where` computes with it."""
        self._must(atoms, where, number=True)

    def must_be_tame(self, atoms: Iterable[Atom], where: str) -> None:
        """Keep that this must be one plain word."""
        self._must((atom for atom in atoms if not atom.joined), where, number=False)

    def _must(self, atoms: Iterable[Atom], where: str, *, number: bool) -> None:
        for atom in atoms:
            if atom.kind is AtomKind.NAME or _strays(atom, number=number):
                name = atom.text if atom.kind is AtomKind.NAME else ""
                self._duties[(name, number, where)] = None

    def broken(self) -> list[str]:
        """Return what the line computes with, or hands on, though it may be a command."""
        evaluated = "an array is set by a word of declare, which the shell may evaluate"
        odd = [evaluated] if self.declared & self.arrays else []
        if self.outside & set(self._set):
            odd.append("a test behind ||, which is a command to dash")
        if not self._duties:
            return odd
        unfit = {number: self.unfit(number=number) for number in {key[1] for key in self._duties}}
        broken = []
        for name, number, where in self._duties:
            if not name or name in unfit[number] or not self._is_own(name):
                what = "numbers" if number else "one plain word"
                broken.append(f"{where} takes {what}, and what it is given may be a command")
        return [*odd, *dict.fromkeys(broken)]

    def is_sure(self, atoms: _Atoms) -> bool:
        """Whether the line has set, by now, every variable in these pieces."""
        sure = [
            atom.text in self.sure and atom.joined for atom in atoms if atom.kind is AtomKind.NAME
        ]
        return bool(sure) and all(sure)

    def _is_own(self, name: str) -> bool:
        """Whether a variable is the line's own, or from an environment that no agent controls."""
        return name.startswith("\0") or name in NUMBERS | _COUNTED or is_plain(name)

    def unfit(self, *, number: bool = True) -> set[str]:
        """Return the names that may have other values, through other variables too."""
        copies: dict[str, list[str]] = defaultdict(list)
        todo = []
        for name, choices in self._set.items():
            for atom in (atom for atoms in choices for atom in atoms):
                if atom.kind is AtomKind.NAME:
                    copies[atom.text].append(name)
                    if not self._is_own(atom.text):
                        todo.append(name)
                elif _strays(atom, number=number):
                    todo.append(name)
        unfit: set[str] = set()
        todo += (*self.arrays, *self._inherited)
        while todo:
            name = todo.pop()
            if name not in unfit:
                unfit.add(name)
                todo += copies[name]
        return unfit

    def names(self, word: ShellWord) -> tuple[str, ...] | None:
        """Return every text that a word can be; None where the line does not tell them all.

        Digits that are not known are a `*`, as wildcards are.
        """
        if word.is_afar or _AFAR.search(word.raw):
            return None
        if word.fixed:
            return ()
        own = word.parts or word.values
        return self._texts(word.atoms, own, frozenset())

    def _texts(
        self, atoms: _Atoms, written: Sequence[str], seen: frozenset[str]
    ) -> tuple[str, ...] | None:
        """Return the texts that pieces can make; `written`: what wildcards, braces or `~` make."""
        combined = [""]
        for atom in atoms:
            texts: Sequence[str] | None
            if atom.kind is AtomKind.ANY:
                if atom.text == WRITTEN.text:
                    return tuple(written) if len(atoms) == 1 else None
                texts = atom.values if atom.text == KNOWN.text else None
            elif atom.kind is AtomKind.NAME:
                texts = self._texts_of(atom.text, seen)
            else:
                texts = (atom.text,) if atom.kind is AtomKind.TEXT else ("*",)
            if texts is None or len(combined) * len(texts) > MAX_TEXTS:
                return None
            combined = [f"{before}{text}" for before in combined for text in texts]
            if max(map(len, combined)) > MAX_LETTERS:
                return None
        return tuple(dict.fromkeys(combined))

    def _texts_of(self, name: str, seen: frozenset[str]) -> tuple[str, ...] | None:
        """Return every text of a variable; each is found once, when all of the line is read.

        Who meets itself has no end, and so has what leads there: that may be kept as well.
        """
        if name not in self._kept_texts:
            self._kept_texts[name] = self._find_texts_of(name, seen)
        return self._kept_texts[name]

    def _find_texts_of(self, name: str, seen: frozenset[str]) -> tuple[str, ...] | None:
        """Return every text of a variable, wherever the line sets it, since loops repeat."""
        if (
            name in seen
            or name in self._appended | self.arrays
            or (self.moves and name in _FOLDERS)
        ):
            return None
        inherited = self._texts_before.get(name, ()) if name in self._inherited else ("",)
        if not inherited or (name not in self._set and name in self._inherited):
            return inherited or None
        if name not in self._set:
            return None if self.forgotten else (*self._known.get(name, ()), "")
        texts = dict.fromkeys(inherited if name[:1] != "\0" else ())
        texts |= dict.fromkeys(self._known.get(name, ()) if name in self._from_outside else ())
        for choice in self._set[name]:
            made = self._texts(choice, self._written[name], seen | {name})
            if made is None:
                return None
            texts |= dict.fromkeys(made)
        return tuple(texts) if len(texts) <= MAX_TEXTS else None

    def all_texts(self) -> dict[str, tuple[str, ...]]:
        """Return what each variable of the line can be, save those of which that is not known."""
        texts = {name: self._texts_of(name, frozenset()) for name in self._set if name[0] != "\0"}
        return {name: choices for name, choices in texts.items() if choices is not None}

    def is_printed(self, atoms: Iterable[Atom], seen: frozenset[str] = frozenset()) -> bool:
        """Whether all that the line does not tell of these pieces is what its commands print."""
        return all(
            self._is_name_printed(atom.text, seen)
            if atom.kind is AtomKind.NAME
            else atom.kind is not AtomKind.ANY or bool(atom.text)
            for atom in atoms
        )

    def _is_name_printed(self, name: str, seen: frozenset[str]) -> bool:
        if name not in self._kept_printed:
            choices = self._set.get(name, ())
            other = seen | self._appended | self.arrays | self._inherited | _FOLDERS
            self._kept_printed[name] = self._texts_of(name, frozenset()) is not None or (
                name not in other
                and bool(choices)
                and all(self.is_printed(choice, seen | {name}) for choice in choices)
            )
        return self._kept_printed[name]

    def settled(self, atoms: _Atoms) -> tuple[str, ...]:
        """Return every text that these pieces, found sure, can be; nothing if it cannot be told."""
        combined = [""]
        if self.forgotten:
            return ()
        for atom in atoms:
            if atom.kind is AtomKind.TEXT:
                texts: Sequence[str] = [atom.text]
            elif atom.kind is AtomKind.NAME and atom.text not in self._appended | self.arrays:
                choices = self._set[atom.text]
                if any(atom.kind is not AtomKind.TEXT for choice in choices for atom in choice):
                    return ()
                texts = ["".join(atom.text for atom in choice) for choice in choices]
            else:
                return ()
            combined = list(
                dict.fromkeys(f"{before}{text}" for before in combined for text in texts)
            )
            if len(combined) > MAX_SETTLED:
                return ()
        return tuple(combined)


def _strays(atom: Atom, *, number: bool) -> bool:
    """Whether a piece may be something else than a number, or than one plain word."""
    fits = _DIGITS if number else _TAME
    return atom.kind is AtomKind.ANY or (
        atom.kind is AtomKind.TEXT and not fits.fullmatch(atom.text)
    )


MAX_DEPTH = 40  # a person's line has five
MAX_COMMANDS = 500

_BLANKS = re.compile(r"(?:[ \t]|(?:(?<=[ \t\n])|^)\\\n|\\\n(?=[ \t\n]))*")
_PLAIN = re.compile(r"[^ \t\n;&|<>()'\"\\$`]++(?=[ \t\n;&|<>()]|\Z)")
_DELIMITERS = " \t\n;&|<>()"


class UnreadableError(Exception):
    """What follows belongs to no construct that is read; the text says why, for a person."""


@dataclass(slots=True)
class Heredoc:
    """A here-document whose lines are still to come."""

    end: str
    quoted: bool
    tabs: bool


class LineFindings:
    """What one line came to so far; inner texts of the line share it."""

    def __init__(
        self,
        preset: Mapping[str, Sequence[str]],
        inherited: frozenset[str],
        texts: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.commands: list[SimpleCommand] = []
        self.redirects: list[Redirect] = []
        self.settling: set[int] = set()  # places of redirects to variables that the line has set
        self.inputs: list[str] = []
        self.inputs_vary = False  # some words are unknown until the line runs
        self.assigned: list[str] = []  # texts put into variables: a shell may evaluate each
        self.variables = Variables(preset, inherited, texts)
        self._troubles: dict[str, None] = {}

    def trouble(self, reason: str) -> None:
        """Keep a reason why no rule may allow the line."""
        self._troubles[reason] = None

    @property
    def troubles(self) -> tuple[str, ...]:
        """Every reason, those first that were met first."""
        return (*self._troubles, *self.variables.broken())

    def add(self, command: SimpleCommand) -> None:
        """Keep a command."""
        if len(self.commands) >= MAX_COMMANDS:
            message = f"it has more than {MAX_COMMANDS} commands"
            self.trouble(message)
            raise UnreadableError(message)
        now = self.now + 1
        # Every command comes by here, and `replace` would take three times as long.
        timed = SimpleCommand(
            command.words,
            command.assignments,
            command.source,
            command.hidden,
            command.fed,
            Span(now, now, now, again=False),
        )
        self.commands.append(timed)

    @property
    def now(self) -> int:
        """The moment before the next command; each command takes the odd number behind it."""
        return 2 * len(self.commands)

    @property
    def mark(self) -> tuple[int, int]:
        """How many commands and redirects there are, for what asks of those that follow."""
        return len(self.commands), len(self.redirects)

    def open_files(self, mark: tuple[int, int], begins: int) -> None:
        """Say of the redirects since the mark that have no time yet: from `begins` up to now."""
        for at in range(mark[1], len(self.redirects)):
            if self.redirects[at].span == ANY_TIME:
                span = Span(begins, self.now, self.now, again=False)
                self.redirects[at] = replace(self.redirects[at], span=span)

    def run_together(self, mark: tuple[int, int], *, again: bool = False) -> None:
        """Say of all since the mark that it runs in any order; `again`: several times too."""
        self._widen(mark, 2 * mark[0], self.now, again=again)

    def run_until_the_end(self, mark: tuple[int, int], *, again: bool = False) -> None:
        """Say of all since the mark that it may also run as late as the line's end, or later."""
        self._widen(mark, LAST, LAST, again=again)

    def _widen(self, mark: tuple[int, int], begins: int, ends: int, *, again: bool) -> None:
        def wider(span: Span) -> Span:
            first, last = min(span.begins, begins), max(span.ends, ends)
            return Span(first, last, span.at, again=span.again or again)

        commands, opened = self.commands[mark[0] :], self.redirects[mark[1] :]
        self.commands[mark[0] :] = [
            replace(command, span=wider(command.span)) for command in commands
        ]
        self.redirects[mark[1] :] = [
            replace(redirect, span=wider(redirect.span)) for redirect in opened
        ]


@frozen
class Readers:
    """The readers of nested constructs.

    `commands` takes commands up to one of the given words, `dollar` a dollar sign's construct,
    `quoted` double quotes, `backquoted` backquotes. Two of them are told by `quoted` whether they
    are between double quotes.
    """

    commands: Callable[["Line", frozenset[str]], OutputShape]
    dollar: Callable[..., Atom]
    quoted: Callable[["Line"], list[Atom]]
    backquoted: Callable[..., Atom]


@dataclass
class Line:
    """A text and the place in it."""

    text: str
    findings: LineFindings
    readers: Readers
    depth: int = 0
    within: int = 0  # substitutions around it
    scripts: int = 0  # words around it that are scripts
    at: int = 0
    ended: bool = False  # to dash, which takes the & of `&>` for an end
    pending: list[Heredoc] = field(default_factory=list)

    @property
    def here(self) -> str:
        """The next letter; nothing at the end."""
        return self.text[self.at : self.at + 1]

    @property
    def next(self) -> str:
        """The next letters, for a person."""
        return self.text[self.at : self.at + 12]

    def expect_end(self) -> None:
        """Raise UnreadableError where more than the text must be read."""
        if self.here:
            raise UnreadableError(f"{self.next!r} where no command may begin")
        self.expect_no_document()

    def expect_no_document(self) -> None:
        """Raise UnreadableError where a here-document still waits for its lines."""
        if self.pending:
            raise UnreadableError("a here-document without its lines")

    def ahead(self, text: str) -> bool:
        """Whether the text comes next."""
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Take the text if it comes next."""
        is_next = self.text.startswith(text, self.at)
        self.at += len(text) if is_next else 0
        return is_next

    def expect(self, text: str) -> None:
        """Take the text, which must come next."""
        if not self.take(text):
            what = repr(self.next) if self.here else "its end"
            raise UnreadableError(f"{text!r} is missing before {what}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what the pattern fits here."""
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def blanks(self) -> None:
        """Take blanks, and line ends that a backslash takes back."""
        self.match(_BLANKS)

    def plain_word(self) -> str:
        """Return the next word if it has no quotes and expansions; take nothing."""
        match = _PLAIN.match(self.text, self.at)
        return match[0] if match else ""

    @property
    def ends_word(self) -> bool:
        """Whether no word goes on here."""
        return not self.here or self.here in _DELIMITERS

    @contextmanager
    def nested(self, *, substitution: bool = False) -> Iterator[None]:
        """Hold while something inside something else is read."""
        self.depth += 1
        self.within += substitution
        if self.depth > MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels")
        yield
        self.depth -= 1
        self.within -= substitution

    def inner(self, text: str) -> "Line":
        """Return another text to read into the same findings."""
        if self.depth >= MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels")
        return Line(
            text, self.findings, self.readers, self.depth + 1, self.within + 1, self.scripts
        )

    def crossed(self, start: int) -> None:
        """Say so where a line ended inside a word while a here-document waits for its lines."""
        if self.pending and "\n" in self.text[start : self.at]:
            self.findings.trouble("a here-document whose lines shells look for in different places")
