"""Which files a search's glob may select, read the widest way that any search tool reads it.

ripgrep, git's pathspecs, grep's `--include` and JavaScript's globs differ: in
whether a star crosses a slash, what braces, blanks and commas part, where a
glob is anchored.  A file that no such reading selects is safe from the search;
every other is held to be read.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

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
    r"""Return every glob without braces that `text` may stand for.

    That is all of it for each choice in its braces, and each piece of that
    between blanks and commas; each also with what `\` quotes laid bare.
    Raises GlobError for braces and brackets that do not close, for
    `@(...)` and its like, for git's `:(...)`, and for more than MOST.
    """
    if len(text) > LONGEST:
        raise GlobError("a glob that is too long")
    if text.lstrip().startswith(":") or _EXTENDED.search(text):
        raise GlobError("a glob that some programs read in their own way")
    found: dict[str, None] = {}
    for whole in _expanded(text):
        for piece in map(str.strip, (whole, *_PARTED.split(whole))):
            if piece:
                found[piece] = None
                found[re.sub(r"\\(.)", r"\1", piece, flags=re.DOTALL)] = None
    if any("[" in _CLASS.sub("", one) for one in found):
        raise GlobError("a glob whose brackets do not close")
    if len(found) > MOST:
        raise GlobError("a glob with too many alternatives")
    return tuple(found)


def selects(globs: Iterable[str], path: str) -> bool:
    """Whether any of the globs, as `alternatives` gave them, may select the absolute path.

    One that only takes files away (`!*.md`) leaves all others in.
    """
    return any(one.startswith("!") or _loosest(one).search(path) is not None for one in globs)


def _expanded(text: str) -> list[str]:
    """Return the text once for each choice in its braces, however they are nested."""
    done: list[str] = []
    waiting = [text]
    while waiting:
        one = waiting.pop()
        inner = _BRACES.search(one)
        if inner is None:
            if "{" in one or "}" in one:
                raise GlobError("a glob whose braces do not close")
            done.append(one)
        else:
            choices = inner[1].split(",") if "," in inner[1] else [inner[1], "*"]  # `{a..c}`
            waiting += [one[: inner.start()] + some + one[inner.end() :] for some in choices]
        if len(done) + len(waiting) > MOST:
            raise GlobError("a glob with too many alternatives")
    return done


@lru_cache(maxsize=1024)
def _loosest(text: str) -> re.Pattern[str]:
    """Return an expression that finds every path which some reading of the glob means.

    A star crosses slashes, `?` and a class are any letter, capitals do not
    count, the glob may begin at any folder, and what is below a match is
    matched too.  No text makes it slow: what a star has passed over once is
    not tried again.
    """
    plain = _NOWHERE.sub("/", f"/{text}").strip("/").replace("**/", "*")
    first, *rest = re.split(r"\*+", plain.removeprefix("*") if text[:2] == "**" else plain)
    found = "(?:^|/)" + _letters(first)
    if rest:
        *middle, last = map(_letters, rest)
        found += "".join(f"(?>.*?{one})" for one in middle) + f".*?{last}"
    return re.compile(f"{found}(?:/|$)", re.IGNORECASE | re.DOTALL)


def _letters(text: str) -> str:
    """Return an expression for a piece of a glob without stars."""
    return "".join(
        "." if one == "?" or len(one) > 1 else re.escape(one)
        for one in re.findall(r"\[[!^]?\]?[^\]]*\]|.", text, flags=re.DOTALL)
    )


def fits_shell_glob(glob: str, path: str) -> bool:
    """Whether a shell may make the absolute path of the wildcards in an absolute `glob`.

    A class is read as any letter, and no wildcard is the dot that a name begins
    with.  Each part of the glob is tried once at each part of the path.
    """
    names = path.split("/")
    reached = {0}
    for part in _parts(glob):
        if part is None:  # `**`
            reached = set(range(min(reached), len(names) + 1))
        else:
            fits = (at for at in reached if at < len(names) and part.fullmatch(names[at]))
            reached = {at + 1 for at in fits}
        if not reached:
            return False
    return len(names) in reached


@lru_cache(maxsize=1024)
def _parts(glob: str) -> tuple[re.Pattern[str] | None, ...]:
    return tuple(None if one == "**" else _shell_part(one) for one in glob.split("/"))


@lru_cache(maxsize=4096)
def _shell_part(part: str) -> re.Pattern[str]:
    """Return an expression for one part of a shell's glob; no text makes it slow."""
    hidden = r"(?!\.)" if part[:1] in ("*", "?", "[") else ""
    first, *rest = re.split(r"\*+", part)
    found = hidden + _letters(first)
    if rest:
        *middle, last = map(_letters, rest)
        found += "".join(f"(?>.*?{one})" for one in middle) + f".*{last}"
    return re.compile(found, re.IGNORECASE | re.DOTALL)


def may_share(glob: str, name: str) -> bool:
    """Whether a shell's glob for one part of a path may choose what `name` means, a glob as well.

    They are told apart by what both begin or end with, before and after their wildcards.
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
