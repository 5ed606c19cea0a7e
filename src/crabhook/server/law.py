"""The rules in force: read from the owner's files, and again when these change.

A file that is broken keeps what was in force before it broke, and says so on
the screen: a typing error must neither open the gate nor shut it.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import monotonic

from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.policy.engine import Policy
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.ruling import Ruling
from crabhook.policy.trust import PROJECT_FILE
from crabhook.rulebook.files import RuleFiles
from crabhook.rulebook.projects import LOOK_AGAIN, PROJECTS_KEPT, Projects, surroundings_here

_LOG = logging.getLogger(__name__)

STUDIED_KEPT = 64  # rulings made ahead whose event was never judged: its ticket was known


@dataclass(slots=True)
class _InForce:
    """The rules of one project, as of the files' last change that could be read."""

    policy: Policy
    stamps: tuple[object, ...]
    looked: float


class Law:
    """Judges events by the rule files.  `changed` hears of a new trouble, or its end."""

    changed: Callable[[str], None]

    def __init__(self, files: RuleFiles) -> None:
        self._files = files
        self.changed = _LOG.warning
        self._in_force: dict[Path, _InForce] = {}
        self._projects = Projects()
        self._studied: dict[int, tuple[Event, Ruling | None]] = {}
        self.trouble = ""

    def __repr__(self) -> str:
        return f"<Law projects={len(self._in_force)} trouble={self.trouble!r}>"

    def look_again(self) -> None:
        """Read the files anew at the next event: they were changed by ourselves."""
        for known in self._in_force.values():
            known.looked = -inf

    def judge(self, event: Event) -> Ruling | None:
        """Return what the rules say of an event, or None where they leave it open."""
        if event.tool is None:
            return None
        if studied := self._studied.pop(id(event), None):
            return studied[1]
        project = self._projects.of(event.cwd)
        return _judged(self._policy(project), event, project)

    async def study(self, event: Event) -> None:
        """Judge an event ahead, in a thread, so that `judge` has the ruling at hand.

        For long inputs: reading a hostile shell line may take a second, and
        other agents' hooks are not to wait for it.
        """
        if event.tool is None:
            return
        project = self._projects.of(event.cwd)
        loop, policy = asyncio.get_running_loop(), self._policy(project)
        ruling = await loop.run_in_executor(None, _judged, policy, event, project)
        self._studied[id(event)] = (event, ruling)  # which keeps the event, and so its id
        if len(self._studied) > STUDIED_KEPT:
            del self._studied[next(iter(self._studied))]

    def _policy(self, project: Path) -> Policy:
        known, now = self._in_force.get(project), monotonic()
        if known and now - known.looked < LOOK_AGAIN:
            return known.policy
        stamps = tuple(map(_stamp, (self._files.user, self._files.trusted, project / PROJECT_FILE)))
        if known and stamps == known.stamps:
            known.looked = now
            return known.policy
        policy, trouble = known.policy if known else Policy((), self._files.protected), ""
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


def _judged(policy: Policy, event: Event, project: Path) -> Ruling | None:
    try:
        return policy.judge(event, surroundings_here(project))
    except Exception:  # noqa: BLE001 - a fault in judging is a question to a person
        _LOG.exception("the rules could not be asked about %s", event.name)
        return Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
