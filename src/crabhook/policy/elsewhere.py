"""Files outside the project that a command names: more than a rule with a star gives away.

`Bash(cat *)` is said of the project's files.  Programs that are known to open,
change or go to what they are given need, for anything elsewhere, a rule on
that file as well, or one that names the whole command without a star.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from posixpath import basename

from crabhook.policy.named import expand_home
from crabhook.policy.parts import CommandPart, FilePart, Use
from crabhook.policy.paths import Place, is_within, place
from crabhook.policy.programs import MOVES, OPENERS, SCRIPT_FIRST, WRITERS, only_reads
from crabhook.policy.shell.script import Word
from crabhook.policy.shell.wrappers import unwrapped
from crabhook.policy.surroundings import Surroundings

# With one of these, a pattern or a program is given that way, and each word is a file.
_SCRIPT_GIVEN = ("--e", "--r", "--f")
_NO_FILES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_HOME = Word("~", ("~",), tilde=True)


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a line may be when it names a file; `sure`: there are no others."""

    all: tuple[str, ...]
    sure: bool


def files_elsewhere(
    part: CommandPart, folders: Folders, surroundings: Surroundings
) -> Iterator[FilePart]:
    """Yield each file that the command is given and that is not, or may not be, in the project."""
    words = unwrapped(part.command)[-1]
    program = basename(words[0].text)
    texts = tuple(word.text for word in words)
    writes = program in WRITERS or (program == "sort" and not only_reads(program, texts))
    for word in _files(program, words[1:]):
        use = Use.WRITE if writes else Use.READ
        for name in _names(word):
            places = _places(name, folders, surroundings)
            wild = word.glob and writes
            if wild or not places or not all(is_inside(one, surroundings) for one in places):
                text = name or word.raw
                yield FilePart(text, use, places, part.tools, wild, program, part.tools, part)


def _files(program: str, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words that the program takes for files, or for options with files in them."""
    if program in MOVES:
        return _folders_gone_to(program, words)
    if program == "git":
        return words if any(word.text == "--no-index" for word in words) else ()
    if program not in OPENERS:
        return ()
    if program not in SCRIPT_FIRST:
        return words
    scripts = {id(word) for before, word in pairwise(words) if before.text == "-e"}
    if not any(map(_gives_script, words)):
        first = next((word for word in words if word.text[:1] != "-"), None)
        if first is not None and first.fixed:  # what is not may become an option, or more words
            scripts.add(id(first))
    return [word for word in words if id(word) not in scripts]


def _folders_gone_to(program: str, words: Sequence[Word]) -> Sequence[Word]:
    named = [word for word in words if not (word.fixed and word.text.startswith("-"))]
    goes_home = program == "cd" and not named and all(word.text != "-" for word in words)
    return [_HOME] if goes_home else named


def _gives_script(word: Word) -> bool:
    """Whether an option says that the pattern or the program is given elsewhere."""
    short = word.text[:1] == "-" and word.text[:2] != "--" and set(word.text) & {"e", "f"}
    return bool(short) or word.text.startswith(_SCRIPT_GIVEN)


def _names(word: Word) -> Iterator[str]:
    """Yield the names of files that may be in a word; an empty one where they cannot be told."""
    if word.raw.startswith(("<(", ">(")) and word.raw.endswith(")"):
        return  # a pipe from or to a command, which is a part of its own
    if not word.fixed and (set(word.raw) & set("$`") or not (word.glob or word.parts)):
        yield ""
        return
    for text in word.parts or (word.text,):
        before, _, value = text.partition("=")
        if text.startswith("--"):
            found = value
        elif text.startswith("-"):
            found = text[2:]
        else:
            found = text
            if before.isalnum() and value:  # dd of=…, curl -F file=@…
                yield _bare(value)
        if found:
            yield _bare(found)


def _bare(name: str) -> str:
    """Return a name without what curl and its like put before one."""
    return name.removeprefix("@").removeprefix("file://")


def _places(name: str, folders: Folders, surroundings: Surroundings) -> tuple[Place, ...]:
    """Return where a file of this name may be; nothing where that is not known."""
    path = expand_home(name, surroundings.home)
    if not path or "\0" in path or path.startswith("~"):
        return ()
    if path.startswith("/"):
        return (place(path, "/", surroundings),)
    if not folders.sure:
        return ()
    return tuple(place(path, folder, surroundings) for folder in folders.all)


def is_inside(where: Place, surroundings: Surroundings) -> bool:
    """Whether a file is in the project, by its name and by where its links lead."""
    if where.named in _NO_FILES:
        return True
    if not surroundings.project:
        return False
    roots = {surroundings.project, surroundings.real(surroundings.project)}
    return all(any(is_within(name, root) for root in roots) for name in where.both)
