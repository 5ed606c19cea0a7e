"""Paths as a rule sees them, and rules' path patterns (protocol, section 10).

A path has two names: as written, and where its links lead. An allow must match both names, a denial
must match either name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import takewhile
from posixpath import normpath
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.policy.context import WILDCARDS, Context, Wanted, wanted_by

LONGEST_PATH = 4096  # letters: Linux's PATH_MAX, the largest that is met

# A set with a bracket in it, as `[[:alpha:]]`: programs read it apart. `\[` begins no set.
_ODD_SET = re.compile(
    r"(?>(?:\\.|[^\\\[]|\[[!^]?+\]?+[^\]\[]*\])*)\[[!^]?+\]?+[^\]\[]*\[", re.DOTALL
)
# A set in an expression that was made of a glob: its `\` are doubled.
_SET = re.compile(r"\\.|\[(?P<other>\^?)(?P<inside>\]?[^\]]*)\]", re.DOTALL)


class Anchor(StrEnum):
    """What a pattern is relative to, and how that is written."""

    ROOT = "//"
    HOME = "~/"
    SOURCE = "/"
    CWD = "./"


@frozen
class NamedFile:
    """A file that a call names: `named` and normalised, and `real`, links followed."""

    named: str
    real: str

    @property
    def both(self) -> tuple[str, ...]:
        """The two names of the path, or its only name."""
        return (self.named,) if self.named == self.real else (self.named, self.real)


def normal(path: str) -> str:
    """Return an absolute path without `.`, `..` and doubled slashes."""
    return "/" + normpath(path).lstrip("/") if path.startswith("/") else normpath(path)


def place(path: str, cwd: str, context: Context) -> NamedFile:
    """Return where `path` is for a program in the folder `cwd`; `~` is for the caller to expand."""
    whole = path if path.startswith("/") else f"{cwd}/{path}"
    return NamedFile(normal(whole), normal(context.real(whole)))


def places_in(path: str, folders: Sequence[str], context: Context) -> tuple[NamedFile, ...]:
    """Return where `path` is from each of the folders; none where no file has such a name."""
    if not path or "\0" in path:
        return ()
    chosen = folders[:1] if path.startswith("/") else folders
    return tuple(place(path, folder, context) for folder in chosen)


def expand_home(path: str, home: str) -> str:
    """Return a path with a leading `~` as the shell, or a program, would follow it."""
    return home + path[1:] if path == "~" or path.startswith("~/") else path


@frozen
class Bases:
    """The folders that patterns are relative to; `source` is the rule file's.

    `real` follows links, once for each folder.
    """

    home: str
    source: str
    cwd: str
    real: Callable[[str], str]
    _found: dict[tuple[Anchor, int], tuple[str, ...]] = field(default_factory=dict, compare=False)

    def of(self, anchor: Anchor, up: int = 0) -> tuple[str, ...]:
        """Return the folder `up` levels above an anchor, as named and as it really is."""
        key = (anchor, up)
        if key not in self._found:
            home, source, cwd = self.home, self.source, self.cwd
            folders = dict(zip(Anchor, ("/", home, source, cwd), strict=True))
            folder = folders[anchor] and normal(folders[anchor] + "/.." * up)
            both = (folder, normal(self.real(folder))) if folder else ()
            self._found[key] = tuple(dict.fromkeys(both))
        return self._found[key]


@frozen
class PathPattern:
    """A gitignore pattern and its base; `up`: how many folders above the base (`../x`)."""

    anchor: Anchor
    pattern: str
    up: int = 0

    @property
    def loose(self) -> bool:
        """Whether a denial by it holds at any depth, below no folder in particular."""
        return self.anchor is Anchor.CWD and not self.up

    def covers(self, target: NamedFile, bases: Bases) -> bool:
        """Whether both names of the file match, below the folder the pattern is relative to."""
        regex = _compile((self.pattern,), any_case=False)
        folders = bases.of(self.anchor, self.up)
        return all(
            any(_matches_below(regex, path, folder) for folder in folders) for path in target.both
        )


_Compiled: TypeAlias = tuple[Anchor, int, re.Pattern[str]]


@frozen(slots=False)
class PathSet:
    """Patterns that deny, asked together."""

    patterns: tuple[PathPattern, ...]

    def hits(self, target: NamedFile, bases: Bases) -> bool:
        """Whether any pattern matches one name of the file.

        Case does not count, and a pattern without a base matches at any depth.
        """
        paths = target.both
        for anchor, up, regex in self._compiled:
            for folder in bases.of(anchor, up):
                for path in paths:
                    if _matches_below(regex, path, folder):
                        return True
        return self._loose is not None and any(map(self._loose.hits, paths))

    @cached_property
    def wanted(self) -> Wanted:
        """What a look at a folder searches for, to find every file that a pattern matches."""
        rooted = [pattern.pattern for pattern in self.patterns if pattern.anchor is Anchor.ROOT]
        others = [pattern.pattern for pattern in self.patterns if pattern.anchor is not Anchor.ROOT]
        return wanted_by(others, rooted)

    @cached_property
    def _compiled(self) -> tuple[_Compiled, ...]:
        """One expression for all patterns with the same base."""
        grouped: dict[tuple[Anchor, int], list[str]] = {}
        for pattern in self.patterns:
            if not pattern.loose:
                grouped.setdefault((pattern.anchor, pattern.up), []).append(pattern.pattern)
        return tuple(
            (anchor, up, _compile(tuple(texts), any_case=True))
            for (anchor, up), texts in grouped.items()
        )

    @cached_property
    def _loose(self) -> "_Loose | None":
        """The patterns that match at any depth; None where there are none."""
        loose = [pattern.pattern.lstrip("/") for pattern in self.patterns if pattern.loose]
        return _Loose(loose) if loose else None


_NEVER = re.compile(r"(?!)")
_PLAIN_PART = re.compile(r"[\w.-]+", re.ASCII)


class _Loose:
    """Patterns that match at any depth, of which a name's parts soon tell most apart.

    A pattern with a part without wildcards matches only names that have the same part.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        every, wild, self._parts = [], [], set[str]()
        for pattern in patterns:
            every.append(f"**/{pattern}")
            plain = [part for part in pattern.split("/") if _PLAIN_PART.fullmatch(part)]
            if plain:
                self._parts.add(plain[-1].lower())
            else:
                wild.append(every[-1])
        self._every = _compile(tuple(every), any_case=True)
        self._wild = _compile(tuple(wild), any_case=True) if wild else _NEVER

    def hits(self, path: str) -> bool:
        """Whether a pattern matches the absolute path."""
        # Letters beyond ASCII have several cases; an expression's end leaves out a last newline.
        is_plain = path.isascii() and path.isprintable()
        apart = is_plain and self._parts.isdisjoint(path.lower().split("/"))
        return _matches_below(self._wild if apart else self._every, path, "/")


def _matches_below(regex: re.Pattern[str], path: str, folder: str) -> bool:
    start = folder if folder.endswith("/") else folder + "/"
    return path.startswith(start) and regex.match(path, len(start)) is not None


@lru_cache(maxsize=32768)
def _compile(patterns: tuple[str, ...], *, any_case: bool) -> re.Pattern[str]:
    """Return one expression for the patterns, matched from the folder on."""
    texts = []
    for pattern in patterns:
        text = _gitignored(pattern)
        assert text is not None  # noqa: S101 - path_pattern, or a test, has tried it
        texts.append(text.removeprefix("^").replace("(?P<ps_d>/)", "/"))
    return re.compile("|".join(f"(?:{text})" for text in texts), re.IGNORECASE if any_case else 0)


def _gitignored(pattern: str) -> str | None:
    """Return the expression of a gitignore pattern; None where it matches nothing.

    The import is slow and therefore late.
    """
    from pathspec.patterns.gitignore import spec

    regex, _ = spec.GitIgnoreSpecPattern.pattern_to_regex(pattern)
    return None if regex is None else _SET.sub(_plain_set, regex)


def _plain_set(match: re.Match[str]) -> str:
    """Return a set whose every letter is escaped.

    So no version of `re` takes two of them for a difference, a union or a set in the set. Python
    warns that the meaning of `[a--b]`, `[~~]`, `[&&]`, `[||]` and `[[a]` will change.
    """
    if match["inside"] is None:
        return match[0]
    letters = list(match["inside"].replace("\\\\", "\\"))
    pieces = []
    while letters:
        first = re.escape(letters.pop(0))
        if letters[:1] == ["-"] and letters[1:]:
            first += f"-{re.escape(letters[1])}"
            del letters[:2]
        pieces.append(first)
    return f"[{match['other']}{''.join(pieces)}]"


def path_pattern(text: str) -> PathPattern:
    """Return the pattern of a specifier; ValueError, in words, if it could never match."""
    _, _, rest = _anchored(text)
    if any(part in {"..", "."} for part in rest.rstrip("/").split("/")):
        raise ValueError("holds . or .. where no path can have it")
    if rest.startswith(("!", "#")) or rest != rest.strip():
        raise ValueError("begins or ends with a character that gitignore reads in its own way")
    if _ODD_SET.match(rest):
        raise ValueError("has a set of characters that can be read in two ways")
    pattern = own_pattern(text)
    try:
        usable = _gitignored(pattern.pattern) is not None
        if usable:
            _compile((pattern.pattern,), any_case=False)
    except (ValueError, re.error) as error:
        raise ValueError(f"is no gitignore pattern: {error}") from error
    if not usable:
        raise ValueError("is a gitignore pattern that matches nothing")
    return pattern


def own_pattern(text: str) -> PathPattern:
    """Return the pattern that a text of crabhook's own writes, which a test has tried."""
    anchor, up, rest = _anchored(text)
    pattern = f"/{rest.lstrip('/')}" if anchor is not Anchor.CWD or up else rest
    return PathPattern(anchor, pattern, up)


def _anchored(text: str) -> tuple[Anchor, int, str]:
    """Return a specifier's base, how many folders above that, and the rest."""
    whole, up = "~/**" if text == "~" else text, 0
    anchor = next((base for base in Anchor if whole.startswith(base)), Anchor.CWD)
    rest = whole.removeprefix(anchor)
    while anchor is Anchor.CWD and (rest == ".." or rest.startswith("../")):
        up, rest = up + 1, rest[3:]
    return anchor, up, rest or "**"


def certain_parts(pattern: str) -> Iterator[str]:
    """Yield the parts of a gitignore pattern's text before the first part with a wildcard."""
    return takewhile(WILDCARDS.isdisjoint, pattern.split("/"))


def is_within(path: str, folder: str) -> bool:
    """Whether an absolute path is `folder` or below it; both as they are named."""
    if not folder.startswith("/") or not path.startswith("/"):
        return False
    path, folder = normal(path), normal(folder)
    return path == folder or path.startswith(folder if folder == "/" else folder + "/")
