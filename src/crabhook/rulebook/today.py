"""The law as the rule files have it now, for any call of the past by where it was made."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import TypeAlias

from crabhook.model.event import Event
from crabhook.policy.engine import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.ruling import Ruling
from crabhook.policy.surroundings import Surroundings
from crabhook.rulebook.files import RuleFiles
from crabhook.rulebook.looking import Looks
from crabhook.rulebook.projects import Projects, surroundings_here

_LOG = logging.getLogger(__name__)
_PATHS_KEPT = 65536  # names of files whose links were followed


@dataclass(frozen=True, slots=True)
class InForce:
    """The rules of a project, and what a ruling about calls there needs to know."""

    policy: Policy
    surroundings: Surroundings

    def ruling(self, event: Event) -> Ruling:
        """Return what the rules say of a call; a fault in judging is a question to a person."""
        try:
            return self.policy.examine(event, self.surroundings)
        except Exception:  # noqa: BLE001 - as where calls are judged when they come
            _LOG.debug("the rules could not be asked about %s", event.name, exc_info=True)
            return Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")


LawOf: TypeAlias = Callable[[Event], InForce]
"""Which law a call is under."""


class Today:
    """Reads each project's law once, and keeps it: what is tried on the past holds still."""

    def __init__(self, files: RuleFiles) -> None:
        self._files = files
        self._projects = Projects(clock=lambda: 0.0)
        self._known: dict[Path, InForce] = {}
        self._looks = Looks(for_=inf)
        self._real = lru_cache(maxsize=_PATHS_KEPT)(surroundings_here(Path("/")).real)

    def __repr__(self) -> str:
        return f"<Today projects={len(self._known)}>"

    def __call__(self, event: Event) -> InForce:
        """Return the law for a call; raises RuleFileError or RulesError where it cannot be read."""
        project = self._projects.of(event.cwd)
        if project not in self._known:
            there = replace(surroundings_here(project, self._looks), real=self._real)
            self._known[project] = InForce(self._files.policy(project), there)
        return self._known[project]

    @property
    def protected(self) -> Protected:
        """What always reaches a person, without what the user took off the list."""
        return self._files.protected.without(self._files.user_rules().unprotect)
