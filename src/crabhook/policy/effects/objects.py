"""What effects are on: files by where they are, hosts, branches; as an operator would say it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import relpath

from crabhook.datatypes import frozen
from crabhook.model.card import Where
from crabhook.policy.calls.mentioned_files import STREAMS, Folders
from crabhook.policy.context import Context, fits_shell_glob, selects
from crabhook.policy.paths import LONGEST_PATH, NamedFile, expand_home, is_within, places_in

DOUBT = "\x1f"
"""What a word begins with whose text is only known when the line runs; then as it is written."""
BROUGHT = f"{DOUBT}what another command names"

MOST_FILES = 200  # of one command
LONGEST = 60  # letters of one object
_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp")  # noqa: S108 - to know them
_URL = re.compile(r"[A-Za-z][\w+.-]*://(?:[^/@\s]*@)?(?P<host>\[[^\]\s]*\]|[^/:?#\s]+)")
_REMOTE = re.compile(
    r"(?:[^@/\s:]+@)?(?P<host>[\w.-]+|\[[^\]\s]*\]):(?!//).*|[^@/\s:]+@(?P<at>[\w.-]+)"
)
_BARE = re.compile(r"(?P<host>localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:[/?].*)?")
_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0")


@frozen
class Subject:
    """The object of an effect. `where`: a file's place; for a host, whether it is this machine.

    `at`: where the command runs, in words; empty for the line's own place.
    """

    text: str
    where: Where = Where.UNKNOWN
    device: bool = False
    at: str = ""


@frozen
class Search:
    """A folder read with all its content.

    `globs`: what is read, as from `context.alternatives`; none means everything. `sure`: every
    match is read; other programs skip hidden and ignored files. `chosen`: the shell's wildcards,
    from the root on.
    """

    folder: str
    globs: tuple[str, ...] = ()
    sure: bool = True
    chosen: str = ""

    def takes(self, name: str) -> bool:
        """Whether it may read this file of the folder."""
        if self.chosen:
            return fits_shell_glob(self.chosen, name)
        return not self.globs or selects(self.globs, name)


def cut(text: str) -> str:
    """Return a text in one line, its middle cut out if it is too long."""
    plain = " ".join(text.split()) if len(text) < 4 * LONGEST else text[: 4 * LONGEST]
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST * 2 // 3]}…{plain[-LONGEST // 4 :]}"


class Scene:
    """Where a line runs, to resolve its words.

    `stand_ins`: words for names that another command brings. `folders_of_names`: where these names
    are, if known for sure.
    """

    def __init__(
        self,
        context: Context,
        folders: Folders,
        stand_ins: frozenset[str] = frozenset(),
        folders_of_names: Sequence[str] = (),
    ) -> None:
        self.context, self.folders = context, folders
        self._stand_ins, self._found = stand_ins, folders_of_names
        project = context.project
        self._roots = {project, context.real(project)} if project else set()

    def files(self, words: Iterable[str]) -> Iterator[Subject]:
        """Yield what the words are names of, save for the standard streams."""
        for number, word in enumerate(words):
            if number == MOST_FILES:
                yield Subject("more than is looked at")
                return
            if self.is_stand_in(word):
                subjects = [self.file(folder) for folder in self._found]
                brought = [
                    Subject(f"what is found in {subject.text}", subject.where)
                    for subject in subjects
                    if subject
                ]
                yield from brought or [Subject(BROUGHT[1:])]
            elif not word.startswith((f"{DOUBT}<(", f"{DOUBT}>(")) and (subject := self.file(word)):
                yield subject

    def is_stand_in(self, word: str) -> bool:
        """Whether a word stands for names that another command brings."""
        return word == BROUGHT or any(stand_in in word for stand_in in self._stand_ins)

    def file(self, word: str) -> Subject | None:
        """Return the file that a word names, in its worst possible place."""
        path = expand_home(word, self.context.home)
        if word[:1] in (DOUBT, "~") and not path.startswith("/"):
            return Subject(f"{word.removeprefix(DOUBT)}, known only when it runs")
        places = self.places(word)
        if not places:
            return Subject(word)
        worst = max(places, key=self._where)
        if worst.named in STREAMS or worst.named.startswith("/dev/fd/"):
            return None
        where = self._where(worst)
        if not (self.folders.sure or path.startswith("/")):
            where = max(where, Where.UNKNOWN)
        device = worst.named.startswith("/dev/") and not worst.named.startswith("/dev/shm/")  # noqa: S108
        return Subject(self._shown(word, worst, where), where, device)

    def places(self, word: str) -> tuple[NamedFile, ...]:
        """Return where a file of this name may be; nothing where that is not known."""
        path = expand_home(word, self.context.home)
        if len(path) > LONGEST_PATH or word.startswith(DOUBT):
            return ()
        return places_in(path, self.folders.all, self.context)

    def _where(self, file: NamedFile) -> Where:
        return max(map(self._where_named, file.both))

    def _where_named(self, path: str) -> Where:
        if any(is_within(path, root) for root in self._roots):
            return Where.INSIDE
        below = any(is_within(path, folder) and path != folder for folder in _TEMPORARY)
        return Where.TEMPORARY if below else Where.OUTSIDE

    def _shown(self, word: str, file: NamedFile, where: Where) -> str:
        """Return a file's name, relative to the project if near, else absolute or from home."""
        project, home, named = self.context.project, self.context.home, file.named
        slash = "/" if word.endswith("/") and len(word) > 1 else ""
        if where is Where.INSIDE and is_within(named, project):
            return relpath(named, project) + slash
        if word[:1] not in "/~" and project:
            near = relpath(named, project)
            if near.count("../") < 3:
                return near + slash
        if home != "/" and is_within(named, home):
            return f"~{named[len(home.rstrip('/')) :]}{slash}"
        return named + (slash if named != "/" else "")


PLACE_WORDS = {
    Where.INSIDE: " (inside the project)",
    Where.TEMPORARY: " (temporary)",
    Where.OUTSIDE: " (OUTSIDE the project)",
    Where.UNKNOWN: "",
}
"""Where a file is, in words behind its name."""


def hosts(words: Iterable[str], *, bare: bool) -> Iterator[Subject]:
    """Yield the hosts in words: in addresses, and before a colon; `bare`: by themselves, too."""
    for word in words:
        match = _URL.match(word)
        if not match and not word.startswith(("-", "/", ".", DOUBT)):
            match = (_BARE.fullmatch(word) if bare else None) or _REMOTE.fullmatch(word)
        if match:
            name = next(filter(None, match.groups()))
            yield host(name)
        elif word.startswith(DOUBT) and bare:
            yield Subject(f"{word[1:]}, known only when it runs")


def host(name: str) -> Subject:
    """Return a host; this machine's own is inside."""
    plain = name.rpartition("@")[2].lower()
    return Subject(plain, Where.INSIDE if _LOOPBACK.fullmatch(plain) else Where.OUTSIDE)


def branches(operands: Sequence[str]) -> str:
    """Return git's remote and the branches, as they are written."""
    if not operands:
        return "the default remote"
    remote, *refs = (operand.removeprefix(DOUBT) for operand in operands)
    return f"{remote}: {', '.join(refs)}" if refs else remote
