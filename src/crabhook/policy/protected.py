"""What always reaches a person, whatever the rules allow, until the user takes it off the list.

An entry's files may not be written unasked; a secret one's not read either.
The list errs on the side of asking: a name is enough, wherever it stands.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from posixpath import dirname
from typing import Any

from crabhook.policy.calls.parts import CommandPart, FilePart, Part, Use
from crabhook.policy.command_pattern import CommandPattern, command_pattern
from crabhook.policy.matcher import file_hit
from crabhook.policy.paths import Anchor, Bases, PathPattern, PathSet, Place, own_pattern
from crabhook.policy.shell.programs import PRINTERS, RECURSIVE, WRITERS
from crabhook.tables import tables
from crabhook.vocabulary import vocabulary

NOTHING = PathSet(())
# Every reader of a project may read the project's own rules, so a search need not ask.
_SHOWN = PathSet((own_pattern(".crabhook"),))


@dataclass(frozen=True)
class Entry:
    """One line of the list, as `protected.toml` writes it."""

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
        writes = part.use is Use.WRITE or part.program in WRITERS
        if not (writes if self.changed else self.secret or part.use is not Use.READ):
            return False
        if self.free.patterns and all(self.free.hits(one, bases) for one in part.places):
            return False
        if file_hit(self.paths, part, bases):
            return True
        return part.program in RECURSIVE and self._is_inside(part, bases)

    def _is_inside(self, part: FilePart, bases: Bases) -> bool:
        """Whether the part is a folder above what is protected, handled with all that is in it."""
        names = {name for place in part.places for name in place.both}
        at_home = any(one.anchor is Anchor.HOME for one in self.paths.patterns)
        if at_home and not names.isdisjoint((bases.home, dirname(bases.home), "/")):
            return True
        return any(name.endswith(above) for name in names for above in self._above)

    @cached_property
    def _above(self) -> tuple[str, ...]:
        """The ends of names of folders that hold something protected, as `/.github`."""
        parts = [one.pattern.split("/") for one in self.paths.patterns if one.loose]
        return tuple("/" + "/".join(some[:n]) for some in parts for n in range(1, len(some)))


def _paths(texts: Iterable[str]) -> PathSet:
    return PathSet(tuple(map(own_pattern, texts)))


# What the agents' own tables name, in entries of ours: files, and commands that change them.
_OF_AGENTS = {
    "agent-settings": (vocabulary().settings, vocabulary().commands),
    "cloud": (vocabulary().credentials, ()),
}


def _entry(row: Mapping[str, Any]) -> Entry:
    files, commands = _OF_AGENTS.get(row["name"], ((), ()))
    return Entry(
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


@dataclass(frozen=True)
class Protected:
    """The list in force.

    `own`: absolute folders and files of crabhook itself, wherever the
    settings put them.  `off`: names of entries the user has taken off.
    """

    own: tuple[str, ...] = ()
    off: frozenset[str] = frozenset()

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The entries that are in force, crabhook's own places among them."""
        return tuple(self._with_own(entry) for entry in ENTRIES if entry.name not in self.off)

    def without(self, names: Iterable[str]) -> "Protected":
        """Return the list with these entries taken off too."""
        return Protected(self.own, self.off | frozenset(names))

    def concerned(self, part: Part, bases: Bases) -> Entry | None:
        """Return the first entry that the part touches."""
        if isinstance(part, CommandPart):
            return self._of_command(part.lines)
        if not isinstance(part, FilePart):
            return None
        # Most files are in no entry, and soon told.
        whole = part.glob or part.program in RECURSIVE
        if not (whole or any(self._all_paths.hits(one, bases) for one in part.places)):
            return None
        return next((entry for entry in self.entries if entry.concerns(part, bases)), None)

    def _of_command(self, lines: frozenset[str]) -> Entry | None:
        words = {line.partition(" ")[0] for line in lines} | {""}
        found = (one for word in words for one in self._by_first_word.get(word, ()))
        hit = [at for at, pattern in found if any(map(pattern.hits_text, lines))]
        return self.entries[min(hit)] if hit else None

    @cached_property
    def _by_first_word(self) -> dict[str, list[tuple[int, CommandPattern]]]:
        """The patterns of commands, each with the place of its entry."""
        found: dict[str, list[tuple[int, CommandPattern]]] = {}
        for at, entry in enumerate(self.entries):
            for pattern in entry.commands:
                found.setdefault(pattern.first_word, []).append((at, pattern))
        return found

    @cached_property
    def _all_paths(self) -> PathSet:
        return PathSet(tuple(one for entry in self.entries for one in entry.paths.patterns))

    def may_be_shown(self, target: Place, bases: Bases) -> bool:
        """Whether a search may show the file, though it may not be written and is asked about."""
        return _SHOWN.hits(target, bases) and not self._kept.hits(target, bases)

    @cached_property
    def _kept(self) -> PathSet:
        """Crabhook's own files outside of projects, and what is secret beside them."""
        return PathSet(tuple(one for one in self.secret.patterns if one not in _SHOWN.patterns))

    @cached_property
    def secret(self) -> PathSet:
        """What may not be read either."""
        secret = (entry for entry in self.entries if entry.secret)
        return PathSet(tuple(one for entry in secret for one in entry.paths.patterns))

    def _with_own(self, entry: Entry) -> Entry:
        if entry.name != "own-files":
            return entry
        escaped = (re.sub(r"[\\*?\[\]! #]", r"\\\g<0>", path) for path in self.own)
        own = tuple(PathPattern(Anchor.ROOT, path) for path in escaped)
        return replace(entry, paths=PathSet((*entry.paths.patterns, *own)))
