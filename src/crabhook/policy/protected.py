"""Files that always reach a person, even if rules allow them, until the user unlists them.

No agent may write an entry's files without asking, nor read the files of a secret entry. The list
rather asks too often: a name anywhere is enough.

Some commands always ask too, since no rule is offered for them. They are written as rules and
matched like denials: in any spelling, behind any wrapper. This module also finds what an allowing
rule gives away besides its words.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import takewhile
from posixpath import basename, dirname
from typing import Any

from crabhook.data_files import names, tables
from crabhook.datatypes import frozen
from crabhook.policy.calls.parts import CommandPart, FilePart, Part, Use, command_tools
from crabhook.policy.calls.shell_call import Call
from crabhook.policy.command_pattern import CommandPattern, command_pattern
from crabhook.policy.matcher import CommandMatcher, Matcher, ToolMatcher, file_hit, may_be_meant
from crabhook.policy.paths import (
    Anchor,
    Bases,
    NamedFile,
    PathPattern,
    PathSet,
    certain_parts,
    own_pattern,
)
from crabhook.policy.rule import Rule
from crabhook.policy.shell.programs import PRINTERS, RECURSIVE, SYSTEM_PROGRAM, UNPACKERS, listed
from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.starting import is_understood
from crabhook.policy.shell.unfold import lines, unfold
from crabhook.policy.shell.wrappers import unwrapped
from crabhook.vocabulary import vocabulary

NOTHING = PathSet(())
# They reach all that is in a folder, or put into it what an archive holds.
_WHOLE = RECURSIVE | UNPACKERS
# Every reader of a project may read the project's own rules, so a search need not ask.
_SHOWN = PathSet((own_pattern(".crabhook"),))


@frozen(slots=False)
class ProtectedEntry:
    """One entry of `protected.toml`."""

    name: str
    what: str
    paths: PathSet
    secret: bool = False
    commands: tuple[CommandPattern, ...] = ()
    free: PathSet = NOTHING
    changed: bool = False

    def concerns(self, part: Part, bases: Bases) -> bool:
        """Whether the part touches what the entry protects."""
        if not isinstance(part, FilePart) or part.program in PRINTERS:
            return False
        writes = part.use is Use.WRITE or part.writes
        if not (writes if self.changed else self.secret or part.use is not Use.READ):
            return False
        if self.free.patterns and all(self.free.hits(place, bases) for place in part.places):
            return False
        if file_hit(self.paths, part, bases):
            return True
        return part.program in _WHOLE and self._is_inside(part, bases)

    def _is_inside(self, part: FilePart, bases: Bases) -> bool:
        """Whether the part is a folder above a protected file, taken with all its content."""
        names = {name for place in part.places for name in place.both}
        if self._at_home and not names.isdisjoint((bases.home, dirname(bases.home), "/")):
            return True
        # A look at the folder says of a secret whether it is there.
        if not self.secret and not names.isdisjoint(self._folders_above(bases.home)):
            return True
        return any(name.endswith(above) for name in names for above in self._above)

    @cached_property
    def _at_home(self) -> bool:
        return any(pattern.anchor is Anchor.HOME for pattern in self.paths.patterns)

    def _folders_above(self, home: str) -> frozenset[str]:
        """Return the absolute folders that have something protected somewhere in them."""
        if home not in self._above_by_home:
            fixed = {Anchor.HOME: home, Anchor.ROOT: ""}
            whole = (
                f"{fixed[pattern.anchor]}{pattern.pattern}"
                for pattern in self.paths.patterns
                if pattern.anchor in fixed
            )
            certain = ("/".join(certain_parts(text)) for text in whole)
            self._above_by_home[home] = frozenset(
                above for text in certain for above in _ancestors(text)
            )
        return self._above_by_home[home]

    @cached_property
    def _above_by_home(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _above(self) -> tuple[str, ...]:
        """The ends of names of folders with something protected, as `/.github`."""
        parts = [pattern.pattern.split("/") for pattern in self.paths.patterns if pattern.loose]
        return tuple("/" + "/".join(some[:n]) for some in parts for n in range(1, len(some)))


def _ancestors(path: str) -> Iterator[str]:
    """Yield every folder above an absolute path but the root."""
    while len(path := dirname(path)) > 1:
        yield path


def _paths(texts: Iterable[str]) -> PathSet:
    return PathSet(tuple(map(own_pattern, texts)))


# What the agents' own tables name, in entries of ours: files, and commands that change them.
_OF_AGENTS = {
    "agent-settings": (vocabulary().settings, vocabulary().commands),
    "cloud": (vocabulary().credentials, ()),
}


def _entry(row: Mapping[str, Any]) -> ProtectedEntry:
    files, commands = _OF_AGENTS.get(row["name"], ((), ()))
    return ProtectedEntry(
        row["name"],
        row["what"],
        _paths((*files, *row["paths"].split())),
        secret=row.get("secret", False),
        commands=tuple(map(command_pattern, (*row.get("commands", ()), *commands))),
        free=_paths(row.get("free", "").split()),
        changed=row.get("changed", False),
    )


ENTRIES = tuple(map(_entry, tables(__file__, "protected")["entry"]))
ENTRY_NAMES = tuple(entry.name for entry in ENTRIES)


@frozen(slots=False)
class Protected:
    """The list in force.

    `own`: absolute folders and files of crabhook itself, as the settings place them. `off`: entries
    that the user has taken off. `program`: absolute folders and files that crabhook is run from.
    """

    own: tuple[str, ...] = ()
    off: frozenset[str] = frozenset()
    program: tuple[str, ...] = ()

    @cached_property
    def entries(self) -> tuple[ProtectedEntry, ...]:
        """The entries that are in force, crabhook's own places among them."""
        return tuple(self._with_own(entry) for entry in ENTRIES if entry.name not in self.off)

    def without(self, names: Iterable[str]) -> "Protected":
        """Return the list with these entries taken off too."""
        return replace(self, off=self.off | frozenset(names))

    def concerned(self, part: Part, bases: Bases, *, but: str = "") -> ProtectedEntry | None:
        """Return the first entry that the part touches, leaving out the entry named `but`."""
        if isinstance(part, CommandPart):
            return self._of_command(part.lines)
        if not isinstance(part, FilePart):
            return None
        # Most files are in no entry, and soon told.
        whole = part.glob or part.program in _WHOLE
        if not (whole or any(self._all_paths.hits(place, bases) for place in part.places)):
            return None
        others = (entry for entry in self.entries if entry.name != but)
        return next((entry for entry in others if entry.concerns(part, bases)), None)

    def may_be_meant(self, part: FilePart, bases: Bases) -> ProtectedEntry | None:
        """Return the first entry that may hold a file whose name only the running line knows."""
        return next(
            (
                entry
                for entry in self.entries
                if entry.secret or part.writes
                if may_be_meant(entry.paths, part, bases)
            ),
            None,
        )

    def _of_command(self, lines: frozenset[str]) -> ProtectedEntry | None:
        words = {line.partition(" ")[0] for line in lines} | {""}
        numbered = (pair for word in words for pair in self._by_first_word.get(word, ()))
        hit = [at for at, pattern in numbered if any(map(pattern.hits_text, lines))]
        return self.entries[min(hit)] if hit else None

    @cached_property
    def _by_first_word(self) -> dict[str, list[tuple[int, CommandPattern]]]:
        """The command patterns by first word, each with its entry's place."""
        by_word: dict[str, list[tuple[int, CommandPattern]]] = {}
        for at, entry in enumerate(self.entries):
            for pattern in entry.commands:
                by_word.setdefault(pattern.first_word, []).append((at, pattern))
        return by_word

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Words; a command without any of them changes nothing on the list."""
        patterns = [pattern for entry in self.entries for pattern in entry.commands]
        fixed = (pattern.first_word or " ".join(pattern.written.parts) for pattern in patterns)
        return frozenset(word for text in fixed for word in text.split())

    @cached_property
    def _all_paths(self) -> PathSet:
        return PathSet(tuple(pattern for entry in self.entries for pattern in entry.paths.patterns))

    def may_be_shown(self, target: NamedFile, bases: Bases) -> bool:
        """Whether a search may show the file, though it may not be written and is asked about."""
        return _SHOWN.hits(target, bases) and not self._kept.hits(target, bases)

    @cached_property
    def _kept(self) -> PathSet:
        """Crabhook's own files outside of projects, and the secrets beside them."""
        return PathSet(
            tuple(pattern for pattern in self.secret.patterns if pattern not in _SHOWN.patterns)
        )

    @cached_property
    def secret(self) -> PathSet:
        """What may not be read either."""
        secret = (entry for entry in self.entries if entry.secret)
        return PathSet(tuple(pattern for entry in secret for pattern in entry.paths.patterns))

    def _with_own(self, entry: ProtectedEntry) -> ProtectedEntry:
        places = {"own-files": self.own, "own-program": self.program}.get(entry.name, ())
        if not places:
            return entry
        escaped = (re.sub(r"[\\*?\[\]! #]", r"\\\g<0>", path) for path in places)
        own = tuple(PathPattern(Anchor.ROOT, path) for path in escaped)
        return replace(entry, paths=PathSet((*entry.paths.patterns, *own)))


_TABLES = tables(__file__, "never_remember")
_HANDLING = [f"{program} *" for program in vocabulary().programs]
_PATTERNS = tuple(map(command_pattern, (*_TABLES["commands"], *_HANDLING)))
_ANYTHING_GOES = tuple(map(command_pattern, _TABLES["anything_goes"]))
_SHELLS, _INTERPRETERS = names(_TABLES["shells"]), names(_TABLES["interpreters"])
_HELD_BY_EXACTNESS = names(_TABLES["held_by_exactness"])
_OPTIONS: Mapping[str, str] = _TABLES["options"]
_VERSION = "0123456789."
_TAKES_SUBCOMMAND = listed("subcommands", "taken")


def is_never_remembered(call: Call) -> bool:
    """Whether the call has a command, hidden or not, for which no rule is offered."""
    commands = (part for part in call.parts if isinstance(part, CommandPart))
    return any(_is_never_line(line) for part in commands for line in part.lines)


def _is_never_line(line: str) -> bool:
    name, _, rest = line.partition(" ")
    plain = name.rstrip(_VERSION)  # python3.12 is python
    if name in _SHELLS or (plain in _INTERPRETERS and rest in ("", "-")):
        return True
    spellings = (line, f"{plain} {rest}") if plain in _INTERPRETERS else (line,)
    return any(pattern.hits_text(spelling) for spelling in spellings for pattern in _PATTERNS)


def reaches_never(matcher: Matcher) -> bool:
    """Whether no rule is offered with this matcher, because it takes in too much or too vaguely.

    A star in the first word may be the end of any name.
    """
    open_name = isinstance(matcher, CommandMatcher) and " " not in matcher.pattern.written.parts[0]
    exact = isinstance(matcher, CommandMatcher) and matcher.pattern.written.exact
    return takes_in_never(matcher) or (open_name and not exact)


def takes_in_never(matcher: Matcher) -> bool:
    """Whether an allow by this matcher would include a command never remembered.

    `python3 *` includes `python3 -c ...`, `git log *` nothing of the kind. Free arguments that can
    be any command or address count too. A command that may have such an option anywhere does not.
    """
    if not isinstance(matcher, CommandMatcher):
        return False
    return any(map(_takes_in_never, patterns_run(matcher.pattern)))


_ANY_WORD = "ANYWORDATALL"  # replaces a pattern's star while the pattern is read as a line
_STAR_LENGTHS = (1, 3)  # words for which a star is tried: `timeout *` may be `timeout 5 rm`


@lru_cache(maxsize=1024)
def patterns_run(pattern: CommandPattern) -> tuple[CommandPattern, ...]:
    """Return the pattern, and a pattern for each command that it would run.

    The denials' reader reads the pattern as a shell line: `timeout 5 rm *` gives `rm *` too, and
    `git -C sub push *` gives `git push *`.
    """
    patterns = {pattern: None}
    first = basename(pattern.written.parts[0].partition(" ")[0])
    if first in _HELD_BY_EXACTNESS and not pattern.exact:
        return (pattern,)  # no command that these run is covered by a star
    for length in _STAR_LENGTHS:
        star = " ".join([_ANY_WORD] * length)
        text = star.join(pattern.written.parts)
        for command in unfold(text, read_script(text, {}), {}).commands:
            for line in lines(command):
                written = line.replace("*", "\\*").replace(_ANY_WORD, "*")
                patterns[command_pattern(written)] = None
    return tuple(patterns)


def _takes_in_never(pattern: CommandPattern) -> bool:
    if pattern.written.exact:
        lines = (pattern.written.parts[0], pattern.unquoted.parts[0])
        bare = (re.sub("^[^ ]*/", "", text) for text in lines)
        return pattern.everything or any(map(_is_never_line, bare))
    begins = pattern.written.parts[0]
    name, blank, rest = begins.partition(" ")
    name = basename(name)
    if not blank:
        runs = (*_SHELLS, *_INTERPRETERS)
        return any(text.startswith(name) for text in runs) or _meets_any(name)
    if name in _SHELLS or name.rstrip(_VERSION) in _INTERPRETERS:
        return True
    return name not in _HELD_BY_EXACTNESS and _meets_any(f"{name} {rest}")


def _meets_any(begins: str) -> bool:
    """Whether a text with such a beginning can match one of the patterns."""
    fixed = filter(None, (pattern.written.parts[0] for pattern in (*_PATTERNS, *_ANYTHING_GOES)))
    return any(begins.startswith(text) or text.startswith(begins) for text in fixed)


def never_made(rule: Rule) -> tuple[str, ...]:
    """Return the matchers of an allow that take in a command of which no rule is offered."""
    if rule.verdict.restricts:
        return ()
    return tuple(
        text
        for text, matcher in rule.pairs
        if takes_in_never(matcher)
        or (isinstance(matcher, ToolMatcher) and any(map(matcher.name.matches, command_tools())))
    )


def options_given(rule: Rule) -> tuple[str, ...]:
    """Return what to know of an allow with a star, in words: options that run something else.

    Of a program whose arguments are not understood that is said.
    """
    if rule.verdict.restricts:
        return ()
    return tuple(dict.fromkeys(warning for matcher in rule.matchers for warning in _given(matcher)))


def misread(rule: Rule) -> tuple[str, ...]:
    """Return, in words, which matchers are read otherwise than their writer is likely to mean."""
    return tuple(
        f"in {text} the `:*` is a colon and any text, since it is not at the end, so it does not "
        f"match `{inside.replace(':*', ' x', 1)}`. For any arguments there write ` *`"
        for text, matcher in rule.pairs
        if isinstance(matcher, CommandMatcher)
        and ":*" in (inside := text.partition("(")[2].removesuffix(")")).removesuffix(":*")
    )


def _given(matcher: Matcher) -> Iterator[str]:
    if not isinstance(matcher, CommandMatcher) or matcher.pattern.exact:
        return
    has_options = False
    for pattern in patterns_run(matcher.pattern):
        begins = pattern.written.parts[0]
        for words, options in _OPTIONS.items():
            if begins.startswith(f"{words} "):
                has_options = True
                yield (
                    f"with any arguments `{words}` also takes {options}, and so runs something else"
                )
    if not has_options and (program := _not_understood(matcher.pattern)):
        yield f"crabhook does not know what {program} does with its arguments"


def _not_understood(pattern: CommandPattern) -> str:
    """Return the program, with its subcommand, whose arguments a rule leaves open unknown."""
    script = read_script(_ANY_WORD.join(pattern.written.parts), {})
    for command in script.commands:
        texts = [word.text for word in unwrapped(command)[-1]] if command.words else [_ANY_WORD]
        own = "/" in texts[0] and not SYSTEM_PROGRAM.fullmatch(texts[0])
        texts[0] = texts[0] if own else basename(texts[0])
        if _ANY_WORD in texts[0] or texts[0] in _HELD_BY_EXACTNESS or is_understood(texts):
            continue
        fixed = list(takewhile(lambda text: _ANY_WORD not in text and text[:1] != "-", texts))
        return " ".join(fixed[: 2 if texts[0] in _TAKES_SUBCOMMAND else 1])
    return ""
