"""What a folder holds that rules speak of: which names to look for, and whether any is found.

A search reads all that is in a folder, so it is held to the files there that
a denial, a question or a secret entry of the protected list names.  The look
itself is not made here: it is handed in with the surroundings, bounded.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from crabhook.policy.globs import may_share

_WILD = re.compile(r"[*?\[\\]")
_Tail: TypeAlias = tuple[str, ...]
"""Some last parts of a path, in small letters; an empty first one is the root."""


@dataclass(frozen=True)
class Wanted:
    """The files that a look is for, or folders with all that is below, by the end of their paths.

    `names`: ends of paths, in small letters.  `wild`: ends whose last part is
    gitignore's, for one part of a path.
    """

    names: frozenset[_Tail]
    wild: frozenset[_Tail]

    def __bool__(self) -> bool:
        return bool(self.names or self.wild)

    def knows(self, name: str) -> bool:
        """Whether a file or folder of this name can be meant, wherever it is: soon told."""
        if name.casefold() in self._by_name:
            return True
        return self._any_wild is not None and self._any_wild.fullmatch(name) is not None

    def may_be_in(self, chosen: str) -> bool:
        """Whether a shell's wildcards in this absolute path could choose one of the names."""
        parts = [one for one in chosen.casefold().split("/") if set(one) & set("*?[")]
        return "**" in parts or any(
            may_share(glob, name)
            for glob in parts
            for name in (*self._by_name, *(tail[-1].casefold() for tail in self.wild))
        )

    def means(self, path: str) -> bool:
        """Whether the file or folder at this absolute path may be one that a rule speaks of."""
        name = path[path.rfind("/") + 1 :]
        tails = self._by_name.get(name.casefold(), ())
        if self._any_wild is not None and self._any_wild.fullmatch(name):
            tails = (*tails, *(tail for one, tail in self._each_wild if one.fullmatch(name)))
        return any(_ends(path, tail) for tail in tails)

    @cached_property
    def _by_name(self) -> dict[str, tuple[_Tail, ...]]:
        found: dict[str, tuple[_Tail, ...]] = {}
        for *before, name in self.names:
            found[name] = (*found.get(name, ()), tuple(before))
        return found

    @cached_property
    def _each_wild(self) -> tuple[tuple[re.Pattern[str], _Tail], ...]:
        return tuple(
            (re.compile(_widest(last), re.IGNORECASE | re.DOTALL), tuple(before))
            for *before, last in self.wild
        )

    @cached_property
    def _any_wild(self) -> re.Pattern[str] | None:
        texts = "|".join(f"(?:{one.pattern})" for one, _ in self._each_wild)
        return re.compile(texts, re.IGNORECASE | re.DOTALL) if texts else None


def _ends(path: str, before: _Tail) -> bool:
    """Whether the parts before a path's last one end like this."""
    if not before:
        return True
    parts = path.casefold().split("/")[:-1]
    return tuple(parts[-len(before) :]) == before and (before[0] != "" or parts[0] == "")


@dataclass(frozen=True, slots=True)
class Below:
    """What a look below a folder found.

    `found`: absolute names of files there that were wanted, or lie in a
    wanted folder, or are links to such.  `whole`: nothing was left out.
    `leads_out`: a link there leads to a folder elsewhere, which was not
    looked into.  `odd`: a name there is more than one word to a shell or to `xargs`.
    """

    found: tuple[str, ...] = ()
    whole: bool = True
    leads_out: bool = False
    odd: bool = False


Look: TypeAlias = Callable[[str, Wanted], Below]
"""What is handed in: an absolute folder and the names that are wanted, to what was found."""

ODD_NAME = re.compile(r"[\s'\"\\*?\[]")
NOT_LOOKED = Below(whole=False)


def not_looked(_folder: str, _wanted: Wanted) -> Below:
    """Say of any folder that nobody knows what it holds."""
    return NOT_LOOKED


def wanted_by(patterns: Iterable[str], rooted: Iterable[str] = ()) -> Wanted:
    """Return what finds every file that one of gitignore's patterns means, whatever it is below.

    `rooted` are those that are relative to the root of the file system.  Each
    pattern gives the last part of it that is more than stars, and the plain
    parts right before that.
    """
    names: set[_Tail] = set()
    wild: set[_Tail] = set()
    for pattern, at_root in (*((one, False) for one in patterns), *((one, True) for one in rooted)):
        parts = pattern.strip("/").split("/")
        while len(parts) > 1 and not parts[-1].strip("*"):
            parts.pop()
        before: list[str] = []
        for part in reversed(parts[:-1]):
            if _WILD.search(part):
                break
            before.insert(0, part.casefold())
        else:
            before[:0] = [""] if at_root else []
        last = parts[-1]
        if _WILD.search(last):
            wild.add((*before, last))
        else:
            names.add((*before, last.casefold()))
    return Wanted(frozenset(names), frozenset(wild))


def _widest(part: str) -> str:
    """Return an expression for one part of a gitignore pattern, which means that and maybe more."""
    found, at = "", 0
    while at < len(part):
        if part[at] == "\\" and at + 1 < len(part):
            at += 1
            found += re.escape(part[at])
        elif part[at] == "[":
            end = part.find("]", at + 2)
            sure = end > 0 and "\\" not in part[at:end]
            found += "." if sure else ".*"
            at = end if sure else len(part)
        else:
            found += {"*": ".*", "?": "."}.get(part[at]) or re.escape(part[at])
        at += 1
    return found
