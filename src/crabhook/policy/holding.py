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

_WILD = re.compile(r"[*?\[\\]")


@dataclass(frozen=True)
class Wanted:
    """The names that a look is for: of files, or of folders with all that is below.

    `names` are in small letters; `wild` are gitignore's, for one part of a path each.
    """

    names: frozenset[str]
    wild: frozenset[str]

    def means(self, name: str) -> bool:
        """Whether a file or folder of this name may be one that a rule speaks of."""
        if name.casefold() in self.names:
            return True
        return self._expression is not None and self._expression.fullmatch(name) is not None

    @cached_property
    def _expression(self) -> re.Pattern[str] | None:
        if not self.wild:
            return None
        texts = "|".join(sorted(map(_widest, self.wild)))
        return re.compile(texts, re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Below:
    """What a look below a folder found.

    `found`: absolute names of files there that were wanted, or lie in a
    wanted folder, or are links to such.  `whole`: nothing was left out.
    `leads_out`: a link there leads to a folder elsewhere, which was not
    looked into.
    """

    found: tuple[str, ...] = ()
    whole: bool = True
    leads_out: bool = False


Look: TypeAlias = Callable[[str, Wanted], Below]
"""What is handed in: an absolute folder and the names that are wanted, to what was found."""

NOT_LOOKED = Below(whole=False)


def not_looked(_folder: str, _wanted: Wanted) -> Below:
    """Say of any folder that nobody knows what it holds."""
    return NOT_LOOKED


def wanted_by(patterns: Iterable[str]) -> Wanted:
    """Return the names by which a look finds every file that one of gitignore's patterns means.

    Each pattern gives the last part of it that is more than stars.
    """
    names, wild = set(), set()
    for one in patterns:
        parts = [part for part in one.split("/") if part.strip("*")]
        last = parts[-1] if parts else "*"
        if _WILD.search(last):
            wild.add(last)
        else:
            names.add(last.casefold())
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
