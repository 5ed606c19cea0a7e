"""Which project an agent works in, and what else a ruling about its calls needs to know."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from crabhook.model.bounded_dict import Bounded
from crabhook.policy.holding import NOT_LOOKED, Below, Wanted
from crabhook.policy.paths import LONGEST_PATH
from crabhook.policy.surroundings import Surroundings
from crabhook.rulebook.looking import Looks

LOOK_AGAIN = 1.0  # seconds between two looks at the same folders or files
PROJECTS_KEPT = 256
_LOOKS = Looks()
_MARKS = (".git", ".crabhook", ".claude")  # what a project's folder has


def project_of(cwd: str) -> Path:
    """Return the project of an agent in this folder: the nearest one that looks like a project.

    The home folder and those above it are none, whatever they have: a `~/.claude`
    is the agent's own, and a project there would be all that a person keeps.  An
    agent in one of these has no project; the folder returned only says where it is.
    """
    folder = Path(cwd or "/")
    for one in (folder, *folder.parents):
        if any(_is_there(one / mark) for mark in _MARKS) and not _holds_home(one):
            return one
    return folder


def _is_there(path: Path) -> bool:
    """Whether there is something; not where we may not look, or nothing can have that name."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _holds_home(folder: Path) -> bool:
    homes = {Path.home(), Path(os.path.realpath(Path.home()))}
    names = {folder, Path(os.path.realpath(folder))} if _may_be_told(folder) else {folder}
    return any(one in (home, *home.parents) for home in homes for one in names)


def _may_be_told(folder: Path) -> bool:
    """Whether it is worth asking where a folder's name leads: no folder has so long a name."""
    return len(str(folder)) <= LONGEST_PATH and "\0" not in str(folder)


def surroundings_here(project: Path, looks: Looks | None = None) -> Surroundings:
    """Return what a ruling needs to know about this machine, now; it looks into folders itself.

    Of an agent whose project is not on this machine nobody knows what a folder holds.
    The home folder, the root and what is between them are nobody's project.
    """
    home = os.path.expanduser("~")  # noqa: PTH111 - a text is wanted, at every call that is judged
    look = (looks or _LOOKS).below

    def below(folder: str, wanted: Wanted) -> Below:
        return look(folder, wanted) if project.is_dir() else NOT_LOOKED

    named = "" if _holds_home(project) else str(project)
    return Surroundings(named, home, datetime.now(UTC), _real, below)


def _real(path: str) -> str:
    """Return where a path leads; one that is longer than any file's leads nowhere."""
    return os.path.realpath(path) if len(path) <= LONGEST_PATH else path


class Projects:
    """Remembers for a moment which project a folder is in: looking costs a dozen `stat`s."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._known: Bounded[str, tuple[float, Path]] = Bounded(PROJECTS_KEPT)

    def __repr__(self) -> str:
        return f"<Projects {len(self._known)}>"

    def of(self, cwd: str) -> Path:
        """Return the project of an agent in this folder."""
        known, now = self._known.get(cwd), self._clock()
        if known and now - known[0] < LOOK_AGAIN:
            return known[1]
        found = project_of(cwd)
        self._known[cwd] = (now, found)
        return found
