"""Files that a command is told of in its words: suspected, never sure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename

from crabhook.policy.globs import GlobError, alternatives
from crabhook.policy.parts import Deep, FilePart, Use
from crabhook.policy.paths import Place, normal, place
from crabhook.policy.programs import follows_links, only_reads, reads_deep, searches_here
from crabhook.policy.shell.script import Command
from crabhook.policy.shell.unfold import spellings
from crabhook.policy.surroundings import Surroundings

MAX_NAMES = 400  # of one call; a longer line is looked at as far as this

_CUT = re.compile(r"[\s'\"(),;=@<>|&:\[\]{}]+")
_SHORT_OPTION = re.compile(r"-[A-Za-z](?=[~./])")
_WILD = re.compile(r"[*?\[]")
_GLOB_OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(("grep", "egrep", "fgrep"), "--include"),
    "rg": "--glob|-g",
}
# Options of these that take no word after them and bring no glob.
_TAKES_NOTHING = re.compile(
    r"-[rRnilwohcHLEFPIsvxqS]+|-[ABCm][0-9]+|--(?:line-number|ignore-case|files-with-matches|count"
    r"|word-regexp|fixed-strings|hidden|no-heading|recursive|exclude=.*|exclude-dir=.*|colou?r=.*)",
    re.DOTALL,
)


def named_files(
    commands: Iterable[Command], folders: Sequence[str], surroundings: Surroundings
) -> list[FilePart]:
    """Return every file that the words of the commands may mean, from each of the folders."""
    found: dict[tuple[str, str, bool, Deep | None], FilePart] = {}
    for command in commands:
        for argv in spellings(command):
            program, reads = basename(argv[0]), only_reads(basename(argv[0]), tuple(argv))
            deep = _Deep.of(program, tuple(argv))
            for name in (*deep.here, *_names(argv)):
                if len(found) >= MAX_NAMES:
                    return list(found.values())
                key = (program, name, reads, deep.into(name))
                if key not in found:
                    places = tuple(_places(name, folders, surroundings))
                    use = Use.READ if reads else Use.NAMED
                    wild = bool(_WILD.search(name))
                    part = FilePart(name, use, places, glob=wild, program=program, deep=key[3])
                    found[key] = part
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Deep:
    """Which of its words a command may take for folders to go into, and what it takes of them.

    `here`: the folder it is in, where it may search that unasked.
    """

    what: Deep | None = None
    folders: frozenset[str] = frozenset()
    here: tuple[str, ...] = ()

    @classmethod
    def of(cls, program: str, argv: tuple[str, ...]) -> "_Deep":
        if not reads_deep(program, argv):
            return cls()
        values = [word for word in argv if word[:1] == "-"]
        options = [piece for word in values for piece in (word[2:], *_CUT.split(word)[1:]) if piece]
        follows = follows_links(program, argv)
        if searched := _searched(program, argv):
            paths, globs = searched
            here = () if paths else (".",)
            return cls(Deep(globs, follows), frozenset((*paths, *here)), here)
        named = program == "find" and argv[1:2] and argv[1][:1] not in ("-", "(", "!")
        here = (".",) if searches_here(program) and not named else ()
        words = [word for word in argv[1:] if word[:1] != "-" or "--" in argv]
        return cls(Deep((), follows), frozenset((*words, *options, *here)), here)

    def into(self, name: str) -> Deep | None:
        """Return what is taken of the folder of this name."""
        return self.what if name in self.folders else None


def _searched(program: str, argv: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]] | None:
    """Return the paths and the globs that a search is held to, or None where that is not sure.

    An option that is not known may take the next word, or bring a glob too.
    """
    option = _GLOB_OPTIONS.get(program)
    if option is None:
        return None
    globs, operands = [], []
    words = iter(argv[1:])
    for word in words:
        given = re.fullmatch(f"(?:{option})=(.+)|{option}", word, re.DOTALL)
        if given:
            globs.append(given[1] or next(words, ""))
        elif not word.startswith("-") or word == "-":
            operands.append(word)
        elif not _TAKES_NOTHING.fullmatch(word):
            return None
    try:
        return operands[1:], tuple(one for text in globs for one in alternatives(text))
    except GlobError:
        return operands[1:], ()


def _names(argv: Sequence[str]) -> Iterator[str]:
    """Yield what may be paths: whole words first, then what stands inside them."""
    yield from argv[1:]
    if "/" in argv[0]:
        yield argv[0]
    for word in argv[1:]:
        if option := _SHORT_OPTION.match(word):
            yield word[option.end() :]
        pieces = [piece for piece in _CUT.split(word) if piece and piece != word]
        yield from pieces


def _places(name: str, folders: Sequence[str], surroundings: Surroundings) -> Iterator[Place]:
    path = expand_home(name, surroundings.home)
    for folder in folders[:1] if path.startswith("/") else folders:
        if "\0" in path or len(path) > 4096:
            continue
        if " " in path or "\n" in path:  # prose: nobody links such names to secrets
            where = normal(path if path.startswith("/") else f"{folder}/{path}")
            yield Place(where, where)
        else:
            yield place(path, folder, surroundings)


def expand_home(path: str, home: str) -> str:
    """Return a path with a leading `~` as the shell, or a program, would follow it."""
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return path
