"""Rulings: of a call that comes again, remembered; of past calls, by the law of today."""

import logging
from bisect import bisect_right
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from crabhook.datatypes import Bounded, frozen
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import compact
from crabhook.policy.context import Below, Context, Wanted
from crabhook.policy.rule import Ruling
from crabhook.rulebook.context import DirectoryLookups, Projects, context_here, real_path
from crabhook.rulebook.files import RuleFiles
from crabhook.rulebook.project_policy import ProjectPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.policy.evaluate import Policy
    from crabhook.policy.protected import Protected

_LOG = logging.getLogger(__name__)


RULINGS_KEPT = 64  # some 60 objects and 18 kB each: what comes again soon is enough


@frozen
class _Known:
    """A ruling, and what it saw: where paths lead, and what folders hold."""

    ruling: Ruling | None
    paths: tuple[tuple[str, str], ...]
    folders: tuple[tuple[str, Wanted, Below], ...]

    def holds(self, context: Context) -> bool:
        """Whether all that was seen can be seen now: then another judgement says the same."""
        return all(context.real(path) == led for path, led in self.paths) and all(
            context.below(folder, wanted) == held for folder, wanted, held in self.folders
        )


class RememberedRulings:
    """Judges calls, and repeats a ruling where another judgement could only give the same.

    The key and the rules hold all that a ruling uses, but looks at files, which are taken again.
    """

    def __init__(self) -> None:
        self._known: Bounded[Hashable, _Known] = Bounded(RULINGS_KEPT)

    def judge(self, policy: "Policy", event: Event, context: Context) -> Ruling | None:
        """Return what the rules say of a call, or None where they leave it open."""
        tool, brought = event.tool, event.fields.get("mcp_context")
        if tool is None or tool.comments:  # which are not in a call's fingerprint
            return policy.judge(event, context)
        key = (
            *(policy, bisect_right(policy.ends, context.now), context.project, context.home),
            *(event.platform, event.name, event.session, event.cwd, event.permission_mode),
            *(event.agent_id, event.agent_type, tool.name, tool.fingerprint),
            brought is not None and compact(brought),
        )
        remembered = self._known.get(key)
        if remembered is not None and remembered.holds(context):
            self._known.move_to_end(key)
        else:
            call = ToolCall(tool.name, tool.input)
            alone = {} if brought is None else {"mcp_context": brought}
            remembered = _judged(policy, replace(event, tool=call, fields=alone), context)
            self._known[key] = remembered
        return remembered.ruling


def _judged(policy: "Policy", event: Event, context: Context) -> _Known:
    """Judge a call, and note every look at files."""
    paths, folders = dict[str, str](), dict[tuple[str, Wanted], Below]()

    def real(path: str) -> str:
        paths[path] = led = context.real(path)
        return led

    def below(folder: str, wanted: Wanted) -> Below:
        folders[folder, wanted] = held = context.below(folder, wanted)
        return held

    ruling = policy.judge(event, replace(context, real=real, below=below))
    held = tuple((folder, wanted, below) for (folder, wanted), below in folders.items())
    return _Known(ruling, tuple(paths.items()), held)


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
