"""What a ruling needs besides the event: where and when, and what a folder holds.

The caller hands all of it in; the policy looks nothing up. A search is judged by those files of its
folder that a denial, a question or a secret entry names. A glob is read in the widest way of any
search tool: a file outside that reading is safe.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import dropwhile
from typing import TypeAlias

from crabhook.datatypes import frozen

_WILD = re.compile(r"[*?\[\\]")
WILDCARDS = frozenset("*?[")
_Tail: TypeAlias = tuple[str, ...]
"""Some last parts of a path, in small letters; an empty first one is the root."""


@frozen(slots=False)
class Wanted:
    """What a look at a folder searches for: files, or folders with all below, by their paths' ends.

    `names`: ends of paths, in small letters. `wild`: ends whose last part is a gitignore pattern
    for one part of a path.
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
        parts = list(
            dropwhile(lambda part: not set(part) & WILDCARDS, chosen.casefold().split("/"))
        )
        return "**" in parts or any(
            may_share(glob, name)
            for glob in parts
            for name in (*self._by_name, *(tail[-1].casefold() for tail in self.wild))
        )

    def means(self, path: str) -> bool:
        """Whether a rule may speak of the file or folder at this absolute path."""
        name = path[path.rfind("/") + 1 :]
        tails = self._by_name.get(name.casefold(), ())
        if self._any_wild is not None and self._any_wild.fullmatch(name):
            tails = (*tails, *(tail for wild, tail in self._each_wild if wild.fullmatch(name)))
        return any(_ends(path, tail) for tail in tails)

    @cached_property
    def _by_name(self) -> dict[str, tuple[_Tail, ...]]:
        tails_of: dict[str, tuple[_Tail, ...]] = {}
        for *before, name in self.names:
            tails_of[name] = (*tails_of.get(name, ()), tuple(before))
        return tails_of

    @cached_property
    def _each_wild(self) -> tuple[tuple[re.Pattern[str], _Tail], ...]:
        return tuple(
            (re.compile(_GITIGNORES.sub(_wider, last), re.IGNORECASE | re.DOTALL), tuple(before))
            for *before, last in self.wild
        )

    @cached_property
    def _any_wild(self) -> re.Pattern[str] | None:
        texts = "|".join(f"(?:{wild.pattern})" for wild, _ in self._each_wild)
        return re.compile(texts, re.IGNORECASE | re.DOTALL) if texts else None


def _ends(path: str, before: _Tail) -> bool:
    """Whether a path's parts before its last end like this."""
    if not before:
        return True
    parts = path.casefold().split("/")[:-1]
    return tuple(parts[-len(before) :]) == before and (before[0] != "" or parts[0] == "")


@frozen
class Below:
    """What a look below a folder found.

    `files`: absolute names of wanted files, of files in wanted folders, and of links to them.
    `whole`: the look was complete. `leads_out`: a link leads to another folder, which was not
    searched. `odd`: a shell or `xargs` takes a name for several words. `links`: it holds a link.
    """

    files: tuple[str, ...] = ()
    whole: bool = True
    leads_out: bool = False
    odd: bool = False
    links: bool = False


Look: TypeAlias = Callable[[str, Wanted], Below]
"""What is handed in: an absolute folder and the names that are wanted, to what was found."""

NO_NAME = Wanted(frozenset(), frozenset())
"""What is wanted by who asks only whether a folder holds links."""
ODD_NAME = re.compile(r"[\s'\"\\*?\[]")
NOT_LOOKED = Below(whole=False)


def not_looked(_folder: str, _wanted: Wanted) -> Below:
    """Answer for any folder that what it holds is not known."""
    return NOT_LOOKED


def wanted_by(patterns: Iterable[str], rooted: Iterable[str] = ()) -> Wanted:
    """Return a Wanted that finds every file that one of the gitignore patterns matches.

    `rooted` patterns are relative to the file system's root. Each pattern gives its last part that
    is more than stars, with the plain parts right before.
    """
    names: set[_Tail] = set()
    wild: set[_Tail] = set()
    for pattern, at_root in (
        *((pattern, False) for pattern in patterns),
        *((pattern, True) for pattern in rooted),
    ):
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


_GITIGNORES = re.compile(
    r"\\(?P<letter>.)|(?P<set>\[[^\\][^\]\\]*\])|(?P<unsure>\[.*)|.", re.DOTALL
)


def _wider(match: re.Match[str]) -> str:
    if match["set"] or match[0] == "?":
        return "."
    return ".*" if match["unsure"] or match[0] == "*" else re.escape(match["letter"] or match[0])


MOST = 256  # alternatives of one glob; what has more is not understood
LONGEST = 4096  # letters of one glob

_PARTED = re.compile(r"[\s,]+")
_BRACES = re.compile(r"\{([^{}]*)\}")
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\]")
_EXTENDED = re.compile(r"[@?*+!]\(")
_NOWHERE = re.compile(r"/(?:\.?(?:/|$))+")


class GlobError(ValueError):
    """A glob that programs may read in several ways; the text says what, for a person."""


def alternatives(text: str) -> tuple[str, ...]:
    r"""Return every glob without braces that `text` may mean.

    That is each choice of its braces, and each piece between blanks and commas, all also unquoted.
    Raises GlobError for unclosed braces and brackets, for extended globs such as `@(...)`, for
    git's `:(...)`, and for more than MOST.
    """
    if len(text) > LONGEST:
        raise GlobError("a glob that is too long")
    if text.lstrip().startswith(":") or _EXTENDED.search(text):
        raise GlobError("a glob that some programs read in their own way")
    globs: dict[str, None] = {}
    for whole in _expanded(text):
        for piece in map(str.strip, (whole, *_PARTED.split(whole))):
            if piece:
                globs[piece] = None
                globs[re.sub(r"\\(.)", r"\1", piece, flags=re.DOTALL)] = None
    if any("[" in _CLASS.sub("", glob) for glob in globs):
        raise GlobError("a glob whose brackets do not close")
    if len(globs) > MOST:
        raise GlobError("a glob with too many alternatives")
    return tuple(globs)


def all_alternatives(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the alternatives of several globs; none where one of them is not understood."""
    try:
        return tuple(dict.fromkeys(glob for text in texts for glob in alternatives(text)))
    except GlobError:
        return ()


def selects(globs: Iterable[str], path: str) -> bool:
    """Whether any glob from `alternatives` may select the absolute path.

    A glob that only excludes files (`!*.md`) selects all others.
    """
    return any(glob.startswith("!") or _loosest(glob).search(path) is not None for glob in globs)


def _expanded(text: str) -> list[str]:
    """Return the text once for each choice in its braces, also in nested braces."""
    done: list[str] = []
    waiting = [text]
    while waiting:
        glob = waiting.pop()
        inner = _BRACES.search(glob)
        if inner is None:
            if "{" in glob or "}" in glob:
                raise GlobError("a glob whose braces do not close")
            done.append(glob)
        else:
            choices = inner[1].split(",") if "," in inner[1] else [inner[1], "*"]  # `{a..c}`
            waiting += [glob[: inner.start()] + some + glob[inner.end() :] for some in choices]
        if len(done) + len(waiting) > MOST:
            raise GlobError("a glob with too many alternatives")
    return done


@lru_cache(maxsize=1024)
def _loosest(text: str) -> re.Pattern[str]:
    """Return an expression that finds every path that any reading of the glob matches.

    A star crosses slashes, `?` and a class are any letter, and case does not count. The glob may
    begin at any folder, and everything below a match matches. Stars never backtrack, so no text is
    slow.
    """
    plain = _NOWHERE.sub("/", f"/{text}").strip("/").replace("**/", "*")
    expression = _starred(plain.removeprefix("*") if text[:2] == "**" else plain)
    return re.compile(f"(?:^|/){expression}(?:/|$)", re.IGNORECASE | re.DOTALL)


def _starred(text: str) -> str:
    """Return an expression for a piece of a glob whose stars do not backtrack."""
    first, *rest = map(_letters, re.split(r"\*+", text))
    *middle, last = rest or [""]
    between = "".join(f"(?>.*?{piece})" for piece in middle)
    return f"{first}{between}.*?{last}" if rest else first


def _letters(text: str) -> str:
    return "".join(
        "." if letter == "?" or len(letter) > 1 else re.escape(letter)
        for letter in re.findall(r"\[[!^]?\]?[^\]]*\]|.", text, flags=re.DOTALL)
    )


def fits_shell_glob(glob: str, path: str) -> bool:
    """Whether a shell may expand the absolute `glob` to the absolute path.

    A class is read as any letter, and no wildcard matches a leading dot.
    """
    names = path.split("/")
    reached = {0}
    for part in glob.split("/"):
        if part == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            fits = _shell_part(part).fullmatch
            reached = {at + 1 for at in reached if at < len(names) and fits(names[at])}
        if not reached:
            return False
    return len(names) in reached


@lru_cache(maxsize=4096)
def _shell_part(part: str) -> re.Pattern[str]:
    """Return an expression for one part of a shell's glob that no text makes slow."""
    hidden = r"(?!\.)" if part[:1] in ("*", "?", "[") else ""
    return re.compile(hidden + _starred(part), re.IGNORECASE | re.DOTALL)


def may_share(glob: str, name: str) -> bool:
    """Whether a shell's glob for one part of a path may match a name that glob `name` matches.

    Only differing plain beginnings or ends rule that out.
    """
    wild = re.compile(r"[*?\[\]\\]")
    if glob[:1] in "*?[" and name[:1] == ".":
        return False
    begins, meant = wild.split(glob)[0], wild.split(name)[0]
    if meant == name and begins != glob:
        return _shell_part(glob).fullmatch(name) is not None
    ends, meant_end = wild.split(glob)[-1], wild.split(name)[-1]
    first = begins.startswith(meant) or meant.startswith(begins)
    return first and (ends.endswith(meant_end) or meant_end.endswith(ends))


@frozen
class Context:
    """Where and when a call is judged.

    `project`: the agent's project folder, absolute; empty if it has none, as in the home folder:
    every file is then outside. `home`: the home folder of the agent's user. `now`: an aware
    datetime, for rules that expire. `real`: follows a path's symbolic links and keeps missing parts
    (like `os.path.realpath`). `below`: looks for wanted files in a folder; without it, a search of
    the folder becomes a question.
    """

    project: str
    home: str
    now: datetime
    real: Callable[[str], str]
    below: Look = not_looked
