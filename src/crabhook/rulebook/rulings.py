"""Rulings of past calls, by the rules of today."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.policy.context import Context
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.rulebook.context import DirectoryLookups, Projects, context_here, real_path
from crabhook.rulebook.files import RuleFiles

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.policy.evaluate import Policy
    from crabhook.policy.protected import Protected

_LOG = logging.getLogger(__name__)


@frozen
class ProjectPolicy:
    """The rules of a project, and what a ruling about calls there needs to know."""

    policy: "Policy"
    context: Context

    def ruling(self, event: Event) -> Ruling:
        """Return what the rules say of a call; a fault in judging is a question to a person."""
        try:
            return self.policy.examine(event, self.context)
        except Exception:  # noqa: BLE001 - as where calls are judged when they come
            _LOG.debug("the rules could not be asked about %s", event.name, exc_info=True)
            return Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")


PolicyFor: TypeAlias = Callable[[Event], ProjectPolicy]
"""Which law a call is under."""


class CurrentRules:
    """Reads each project's rules once; later changes do not matter to a replay."""

    def __init__(self, files: RuleFiles) -> None:
        self._files = files
        self._projects = Projects(clock=lambda: 0.0)
        self._known: dict[Path, ProjectPolicy] = {}
        self._looks = DirectoryLookups(for_=inf)
        self._real = lru_cache(maxsize=65_536)(real_path)

    def __repr__(self) -> str:
        return f"<CurrentRules projects={len(self._known)}>"

    def __call__(self, event: Event) -> ProjectPolicy:
        """Return the rules for a call; raises RuleFileError or RulesError if unreadable."""
        project = self._projects.of(event.cwd)
        if project not in self._known:
            there = replace(context_here(project, self._looks), real=self._real)
            self._known[project] = ProjectPolicy(self._files.policy(project), there)
        return self._known[project]

    @property
    def protected(self) -> "Protected":
        """What always reaches a person, without what the user took off the list."""
        return self._files.protected.without(self._files.user_rules().unprotect)
