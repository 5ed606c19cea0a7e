"""Files that a command is told of in its words: suspected, never sure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename

from crabhook.policy.parts import FilePart, Use
from crabhook.policy.paths import Place, normal, place
from crabhook.policy.programs import only_reads
from crabhook.policy.shell.script import Command
from crabhook.policy.shell.unfold import spellings
from crabhook.policy.surroundings import Surroundings

MAX_NAMES = 400  # of one call; a longer line is looked at as far as this

_CUT = re.compile(r"[\s'\"(),;=@<>|&:\[\]{}]+")
_SHORT_OPTION = re.compile(r"-[A-Za-z](?=[~./])")
_WILD = re.compile(r"[*?\[]")


def named_files(
    commands: Iterable[Command], folders: Sequence[str], surroundings: Surroundings
) -> list[FilePart]:
    """Return every file that the words of the commands may mean, from each of the folders."""
    found: dict[tuple[str, str, bool], FilePart] = {}
    for command in commands:
        for argv in spellings(command):
            program, reads = basename(argv[0]), only_reads(basename(argv[0]), tuple(argv))
            for name in _names(argv):
                if len(found) >= MAX_NAMES:
                    return list(found.values())
                key = (program, name, reads)
                if key not in found:
                    places = tuple(_places(name, folders, surroundings))
                    use = Use.READ if reads else Use.NAMED
                    wild = bool(_WILD.search(name))
                    found[key] = FilePart(name, use, places, glob=wild, program=program)
    return list(found.values())


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
