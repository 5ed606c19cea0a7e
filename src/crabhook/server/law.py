"""The rules in force: read from the owner's files, and again when these change.

A file that is broken keeps what was in force before it broke, and says so on
the screen: a typing error must neither open the gate nor shut it.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Protocol

from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.policy.engine import Policy
from crabhook.policy.ruling import Ruling
from crabhook.policy.surroundings import Surroundings
from crabhook.policy.trust import PROJECT_FILE

_LOG = logging.getLogger(__name__)

LOOK_AGAIN = 1.0  # seconds between two looks at the same files
PROJECTS_KEPT = 256
_MARKS = (".git", ".crabhook", ".claude")  # what a project's folder has


class RuleFiles(Protocol):
    """Where the rules are, and how they are read."""

    @property
    def user(self) -> Path:
        """The owner's own file."""

    @property
    def trusted(self) -> Path:
        """The list of projects' files the owner trusts."""

    def policy(self, project: Path) -> Policy:
        """Return the rules as they stand for a project; raises CrabhookError for a broken file."""


@dataclass(slots=True)
class _InForce:
    """The rules of one project, as of the files' last change that could be read."""

    policy: Policy | None
    stamps: tuple[object, ...]
    looked: float


class Law:
    """Judges events by the rule files.  `changed` hears of a new trouble, or its end."""

    changed: Callable[[str], None]

    def __init__(self, files: RuleFiles) -> None:
        self._files = files
        self.changed = _LOG.warning
        self._in_force: dict[Path, _InForce] = {}
        self.trouble = ""

    def __repr__(self) -> str:
        return f"<Law projects={len(self._in_force)} trouble={self.trouble!r}>"

    def judge(self, event: Event) -> Ruling | None:
        """Return what the rules say of an event, or None where they leave it open."""
        if event.tool is None:
            return None
        project = project_of(event.cwd)
        try:
            policy = self._policy(project)
            if policy is None:
                return None
            return policy.judge(event, _surroundings(project))
        except Exception:  # noqa: BLE001 - a fault in judging leaves the call to a person
            _LOG.exception("the rules could not be asked about %s", event.name)
            return None

    def _policy(self, project: Path) -> Policy | None:
        known, now = self._in_force.get(project), monotonic()
        if known and now - known.looked < LOOK_AGAIN:
            return known.policy
        stamps = tuple(map(_stamp, (self._files.user, self._files.trusted, project / PROJECT_FILE)))
        if known and stamps == known.stamps:
            known.looked = now
            return known.policy
        policy, trouble = known.policy if known else None, ""
        try:
            policy = self._files.policy(project)
        except CrabhookError as error:
            trouble = f"RULES NOT READ, the ones before stay in force: {error}"
        self._in_force[project] = _InForce(policy, stamps, now)
        if len(self._in_force) > PROJECTS_KEPT:
            del self._in_force[next(iter(self._in_force))]
        if trouble != self.trouble:
            self.trouble = trouble
            self.changed(trouble or "the rules are read again")
        return policy


def project_of(cwd: str) -> Path:
    """Return the project of an agent in this folder: the nearest one that looks like a project."""
    folder = Path(cwd or "/")
    for one in (folder, *folder.parents):
        if any((one / mark).exists() for mark in _MARKS):
            return one
    return folder


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _surroundings(project: Path) -> Surroundings:
    return Surroundings(str(project), str(Path.home()), datetime.now(UTC), os.path.realpath)
