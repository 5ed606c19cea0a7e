"""A look at what a folder holds, for rulings on searches: bounded, and remembered for a moment.

It reads names, never a file.  What it does not get to it says so, and a search
of such a folder is asked about.
"""

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic

from crabhook.model.bounded_dict import Bounded
from crabhook.policy.holding import NOT_LOOKED, ODD_NAME, Below, Wanted
from crabhook.policy.paths import LONGEST_PATH

WITHIN = 2.0  # seconds that one look may take
MOST_NAMES = 400_000  # that it passes
MOST_FOUND = 200
REMEMBERED = 2.0  # seconds for which a folder is not looked into again
RECALLED = 60.0  # seconds for which one who must not wait is told of the last look
KEPT = 256  # looks; the oldest are forgotten


class Looks:
    """Looks into folders, and remembers what was there."""

    def __init__(self, clock: Callable[[], float] = monotonic, for_: float = REMEMBERED) -> None:
        self._clock, self._for = clock, for_
        self._known: Bounded[tuple[str, Wanted], tuple[float, Below]] = Bounded(KEPT)
        self._lock = Lock()  # calls are judged in several threads

    def __repr__(self) -> str:
        return f"<Looks {len(self._known)}>"

    def below(self, folder: str, wanted: Wanted) -> Below:
        """Return what the folder holds, as of now or a moment ago; takes up to WITHIN."""
        if known := self._recall(folder, wanted, self._for):
            return known
        found = look(folder, wanted, self._clock() + WITHIN, self._clock)
        with self._lock:
            self._known[folder, wanted] = (self._clock(), found)
        return found

    def known(self, folder: str, wanted: Wanted) -> Below:
        """Return what the folder held when it was last looked into, without a look at it now."""
        return self._recall(folder, wanted, RECALLED) or NOT_LOOKED

    def _recall(self, folder: str, wanted: Wanted, for_: float) -> Below | None:
        at, found = self._known.get((folder, wanted), (-inf, NOT_LOOKED))
        return found if self._clock() - at < for_ else None


def look(
    folder: str, wanted: Wanted, until: float = inf, clock: Callable[[], float] = monotonic
) -> Below:
    """Return what a folder holds; what is no folder holds nothing.

    The nearest files come first.  No link is followed, but where one leads is told.
    """
    if "\0" in folder or len(folder) > LONGEST_PATH:
        return NOT_LOOKED  # which no folder can be called
    root = os.path.realpath(folder).rstrip("/")
    walk = _Walk(f"{root}/", wanted)
    waiting = deque([(folder.rstrip("/"), root, False)])
    while waiting:
        here, real, inside = waiting.popleft()
        try:
            with os.scandir(here or "/") as entries:
                for entry in entries:
                    walk.passed += 1
                    late = walk.passed % 1024 == 0 and clock() > until
                    if late or walk.passed > MOST_NAMES or len(walk.found) >= MOST_FOUND:
                        walk.whole = False
                        return walk.told()
                    name = entry.name
                    walk.odd = walk.odd or ODD_NAME.search(name) is not None
                    named, path = f"{here}/{name}", f"{real}/{name}"
                    known = inside or wanted.knows(name)
                    means = known and (inside or wanted.means(path) or wanted.means(named))
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((named, path, means))
                    elif means or (entry.is_symlink() and walk.leads(path)):
                        walk.found.append(named)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            walk.whole = False
    return walk.told()


@dataclass(slots=True)
class _Walk:
    """One look while it is made; `root` is where links inside it lead to."""

    root: str
    wanted: Wanted
    found: list[str] = field(default_factory=list)
    passed: int = 0
    whole: bool = True
    leads_out: bool = False
    odd: bool = False

    def told(self) -> Below:
        """Return what was found so far."""
        return Below(tuple(self.found), self.whole, self.leads_out, self.odd)

    def leads(self, link: str) -> bool:
        """Whether a link leads to what is wanted; take note of one that leads out to a folder."""
        target = os.path.realpath(link)
        self.leads_out |= not target.startswith(self.root) and Path(target).is_dir()
        ends = [at for at, letter in enumerate(target) if letter == "/" and at] + [len(target)]
        return any(self.wanted.means(target[:end]) for end in ends)
