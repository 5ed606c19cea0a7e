"""Where a call is judged: its project, where its paths lead, and what its folders hold.

A look at a folder is bounded, remembered for a moment, and reads names only. After an incomplete
look a search of that folder is a question.
"""

import os
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from stat import S_ISLNK
from threading import Lock
from time import monotonic

from crabhook.datatypes import Bounded
from crabhook.model.event import Event
from crabhook.policy.context import NOT_LOOKED, ODD_NAME, Below, Context, Look, Wanted, not_looked
from crabhook.policy.paths import LONGEST_PATH, is_within

WITHIN = 2.0  # seconds that one look may take
MOST_NAMES = 400_000  # that it passes
MOST_FOUND = 200
REMEMBERED = 2.0  # seconds for which a folder is not looked into again
RECALLED = 60.0  # seconds for which callers that must not wait get the last look
KEPT = 256  # looks; the oldest are forgotten
_PLAIN = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[^/\0\ud800-\udfff]+)+")  # absolute and normal
_UNUSABLE = re.compile("[\\0\ud800-\udfff]")  # letters that no file's name has


class DirectoryLookups:
    """Looks into folders, and remembers what was there."""

    def __init__(self, clock: Callable[[], float] = monotonic, for_: float = REMEMBERED) -> None:
        self._clock, self._for = clock, for_
        self._known: Bounded[tuple[str, Wanted], tuple[float, Below]] = Bounded(KEPT)
        self._lock = Lock()  # calls are judged in several threads

    def __repr__(self) -> str:
        return f"<DirectoryLookups {len(self._known)}>"

    def below(self, folder: str, wanted: Wanted) -> Below:
        """Return what the folder holds, as of now or a moment ago; takes up to WITHIN."""
        if remembered := self._recall(folder, wanted, self._for):
            return remembered
        below = look(folder, wanted, self._clock() + WITHIN, self._clock)
        with self._lock:
            self._known[folder, wanted] = (self._clock(), below)
        return below

    def recalled(self, folder: str, wanted: Wanted) -> Below:
        """Return what the folder held when it was last looked into, without a look at it now."""
        return self._recall(folder, wanted, RECALLED) or NOT_LOOKED

    def _recall(self, folder: str, wanted: Wanted, for_: float) -> Below | None:
        at, below = self._known.get((folder, wanted), (-inf, NOT_LOOKED))
        return below if self._clock() - at < for_ else None


def look(
    folder: str, wanted: Wanted, until: float = inf, clock: Callable[[], float] = monotonic
) -> Below:
    """Return what a folder holds, nearest files first; a file holds nothing.

    The look follows no link but reports where links lead.
    """
    if len(folder) > LONGEST_PATH or _UNUSABLE.search(folder):
        return NOT_LOOKED  # which no folder can be called
    root = os.path.realpath(folder).rstrip("/")
    walk = _FolderWalk(f"{root}/", wanted)
    waiting = deque([(folder.rstrip("/"), root, False)])
    while waiting:
        here, real, inside = waiting.popleft()
        try:
            with os.scandir(here or "/") as entries:
                for entry in entries:
                    walk.passed += 1
                    late = walk.passed % 1024 == 0 and clock() > until
                    if late or walk.passed > MOST_NAMES or len(walk.files) >= MOST_FOUND:
                        walk.whole = False
                        return walk.result()
                    name = entry.name
                    walk.odd = walk.odd or ODD_NAME.search(name) is not None
                    named, path = f"{here}/{name}", f"{real}/{name}"
                    may_be_meant = inside or wanted.knows(name)
                    means = may_be_meant and (inside or wanted.means(path) or wanted.means(named))
                    walk.links = walk.links or entry.is_symlink()
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((named, path, means))
                    elif means or (entry.is_symlink() and walk.leads(path)):
                        walk.files.append(named)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            walk.whole = False
    return walk.result()


@dataclass(slots=True)
class _FolderWalk:
    """One look in progress; `root` is the base of its links."""

    root: str
    wanted: Wanted
    files: list[str] = field(default_factory=list)
    passed: int = 0
    whole: bool = True
    leads_out: bool = False
    odd: bool = False
    links: bool = False

    def result(self) -> Below:
        """Return what was found so far."""
        return Below(tuple(self.files), self.whole, self.leads_out, self.odd, self.links)

    def leads(self, link: str) -> bool:
        """Whether a link leads to a wanted file; note a link that leads out to a folder."""
        target = os.path.realpath(link)
        self.leads_out |= not target.startswith(self.root) and Path(target).is_dir()
        ends = [at for at, letter in enumerate(target) if letter == "/" and at] + [len(target)]
        return any(self.wanted.means(target[:end]) for end in ends)


LOOK_AGAIN = 1.0  # seconds between two looks at the same folders or files
PROJECTS_KEPT = 256
_LOOKS = DirectoryLookups()
_MARKS = (".git", ".crabhook", ".claude")  # what a project's folder has


def project_of(cwd: str) -> Path:
    """Return the project of an agent in this folder: the nearest folder that looks like one.

    The home folder and those above are no projects: a `~/.claude` is the agent's own, and all that
    a person has would be inside. The folder returned for them only says where the agent is.
    """
    folder = Path(cwd or "/")
    for place in (folder, *folder.parents):
        if any(_is_there(place / mark) for mark in _MARKS) and not _holds_home(place):
            return place
    return folder


def _is_there(path: Path) -> bool:
    """Whether the path exists; no, where we may not look or no name can be so."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _holds_home(folder: Path) -> bool:
    home, here = os.path.expanduser("~"), str(folder)  # noqa: PTH111 - texts, at every call judged
    return any(
        is_within(path, name)
        for path in (home, real_path(home))
        for name in (here, real_path(here))
    )


def context_here(project: Path, looks: DirectoryLookups | None = None) -> Context:
    """Return what a ruling needs to know about this machine, now; no folder without the project.

    It looks into folders itself. The home folder and those above it are never a project.
    """
    home = os.path.expanduser("~")  # noqa: PTH111 - a text is wanted, at every call that is judged

    def below(folder: str, wanted: Wanted) -> Below:
        return (looks or _LOOKS).below(folder, wanted) if project.is_dir() else NOT_LOOKED

    named = "" if _holds_home(project) else str(project)
    return Context(named, home, datetime.now(UTC), _follower(), below)


def context_now(there: Context, event: Event, below: Look) -> Context:
    """Return a project's context for a call that comes now; links are as now.

    The folders of an agent with a machine's token are not here, even if a folder has their name.
    """
    below = not_looked if event.machine else below
    return Context(there.project, there.home, datetime.now(UTC), _follower(), below)


def _follower() -> Callable[[str], str]:
    """Return a function that follows links like `real_path`, but each path's once."""
    leads_to = {"/": "/"}

    def real(path: str) -> str:
        if path in leads_to:
            return leads_to[path]
        if len(path) > LONGEST_PATH or not _PLAIN.fullmatch(path):
            return real_path(path)
        folder, _, name = path.rpartition("/")
        led = leads_to.get(folder)
        if folder and led is None:
            led = leads_to[folder] = _followed(folder)
        whole = path if led in (None, folder) else f"{led.rstrip('/')}/{name}"
        leads_to[path] = os.path.realpath(whole) if os.path.islink(whole) else whole  # noqa: PTH114
        return leads_to[path]

    return real


def _followed(path: str) -> str:
    """Return what `realpath` does of a plain path, in a third of its time where it has no link."""
    end = 0
    while end >= 0:
        end = path.find("/", end + 1)
        try:
            if S_ISLNK(os.lstat(path[:end] if end >= 0 else path).st_mode):
                return os.path.realpath(path)
        except OSError:  # nothing below can be looked at either
            return path
    return path


def real_path(path: str) -> str:
    """Return where a path leads; a path that is overlong, or has a NUL, leads nowhere."""
    # It raises nothing: where the rules could not be asked, a denied call would be a question.
    if len(path) > LONGEST_PATH or "\0" in path:
        return path
    path = _UNUSABLE.sub("\ufffd", path)  # for a lone surrogate agents open that
    return _followed(path) if _PLAIN.fullmatch(path) else os.path.realpath(path)


class Projects:
    """Remembers for a moment which project a folder is in: looking costs a dozen `stat`s."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._known: Bounded[str, tuple[float, Path]] = Bounded(PROJECTS_KEPT)

    def __repr__(self) -> str:
        return f"<Projects {len(self._known)}>"

    def of(self, cwd: str) -> Path:
        """Return the project of an agent in this folder."""
        remembered, now = self._known.get(cwd), self._clock()
        if remembered and now - remembered[0] < LOOK_AGAIN:
            return remembered[1]
        project = project_of(cwd)
        self._known[cwd] = (now, project)
        return project
