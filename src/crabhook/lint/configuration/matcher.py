"""Matchers: which tools they hit, and why some hit none."""

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from crabhook.platforms.rows import Protocol

MAX_MATCHER = 2000  # characters; longer ones are not judged

_SERVER = re.compile(r"mcp__(?!.*__)[A-Za-z0-9_.-]+")
_FAULTS = ("nothing to repeat", "missing )", "unterminated", "unbalanced", "bad escape (end")
_REPEATS = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)\s*[*+{]")
MAX_REPEATS = 4  # more, or a group that is repeated, may take for ever to try
_JS_GROUP = re.compile(r"\(\?<(?![=!])")


@dataclass(frozen=True, slots=True)
class Matcher:
    """One matcher of tools' names; `names` is None where it is a regular expression.

    Neither `names` nor `pattern`: it hits all of them.
    """

    names: frozenset[str] | None = None
    pattern: re.Pattern[str] | None = None

    def hits(self, name: str) -> bool:
        """Whether it hits the tool of that name."""
        if self.names is not None:
            return name in self.names
        return self.pattern is None or self.pattern.search(name) is not None


class BrokenMatcherError(Exception):
    """It is no regular expression; says why."""


def read_matcher(text: str | None, protocol: Protocol) -> Matcher | None:
    """Return what a matcher hits; None where it cannot be known.  Raises BrokenMatcherError."""
    if text is None or text in {"", "*"}:
        return Matcher()
    if len(text) > MAX_MATCHER:
        return None
    if protocol.names is not None and written_in(text, protocol.names):
        return Matcher(frozenset(names(text)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the pattern's own making
            pattern = re.compile(_JS_GROUP.sub("(?P<", text))
    except re.error as error:
        # What Python refuses, JavaScript may know: only what both refuse is certain.
        certain = any(fault in str(error) for fault in _FAULTS) and "[]" not in text
        if certain and "[^]" not in text:
            raise BrokenMatcherError(str(error)) from error
        return None
    except (RecursionError, OverflowError):
        return None
    slow = len(_REPEATS.findall(text)) > MAX_REPEATS or _REPEATED_GROUP.search(text)
    return None if slow else Matcher(pattern=pattern)


def written_in(text: str, others: str) -> bool:
    """Whether a text has no letters but those of English words, digits and the `others`."""
    return all(letter.isascii() and (letter.isalnum() or letter in others) for letter in text)


def names(text: str) -> list[str]:
    """Return the names in an exact matcher."""
    return [name for part in re.split(r"[|,]", text) if (name := part.strip())]


def misses(name: str, protocol: Protocol) -> str | None:
    """Return why an exact name surely hits no tool, and what would; None where it may hit one."""
    if name in protocol.tools:
        return None
    if protocol.mcp.startswith("mcp__") and _SERVER.fullmatch(name):
        told = f"{name} hits no tool, since a tool's name goes on"
        return f"{told}: {name}__.* hits all of the server's"
    if name in protocol.elsewhere:
        return f"{protocol.title} has no {name}; what it has is called {protocol.elsewhere[name]}"
    near = None if name.startswith("mcp_") else near_name(name, protocol.tools)
    return f"{protocol.title} has no {name}; did you mean {near}?" if near else None


def listed(known: Iterable[str]) -> str:
    """Return names in one line, for a person."""
    return ", ".join(sorted(known))


def near_name(name: str, known: frozenset[str]) -> str | None:
    """Return the known name that a wrong one was most likely meant to be."""
    same = [one for one in sorted(known) if one.lower() == name.lower()]
    return next(iter(same or get_close_matches(name, sorted(known), 1, 0.8)), None)


def overlap(one: Matcher, other: Matcher, protocol: Protocol) -> bool:
    """Whether two matchers surely hit the same tool."""
    if one == other or Matcher() in (one, other):
        return True
    named = {*(one.names or ()), *(other.names or ()), *protocol.tools}
    return any(one.hits(name) and other.hits(name) for name in named)
