"""Finds other programs' hooks that may change a call after the operator's decision.

When two hooks rewrite a call, the agent takes the change of the hook that ends later: so a card
warns in red. The agents' settings, and their plugins' hooks, are read as `crabhook doctor` reads
them (check `hook.alone`). The thread that looks at a project's rules reads them, and again after a
file has changed. Nothing is known before `begin`: the import of the reader is slow, and the server
listens first.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crabhook.datatypes import Bounded, frozen
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.platforms import HOOKED, PLATFORMS
from crabhook.platforms.interface import Platform
from crabhook.rulebook.files import stamp_of
from crabhook.server.core.rules_in_force import Warner, no_warning

if TYPE_CHECKING:
    from crabhook.doctor.entry import HookEntry
    from crabhook.doctor.facts import InspectedSettings
    from crabhook.lint.configuration.command import Matcher

FILES_KEPT = 1024  # settings files whose hooks are kept in memory
OBJECTS_KEPT = 64  # plugins' files that are kept in memory,
LARGEST_KEPT = 128 << 10  # each of so many bytes at most
NAMED = 80  # characters of a command on a card
LONGEST_NAME = 200  # characters of a tool's name that a matcher sees


@frozen
class OtherHook:
    """Another program's hook; `matcher` is None where its tools are unknown: it may run for any."""

    platform: str
    command: str
    path: Path
    matcher: "Matcher | None"


class OtherHooks:
    """The other hooks in the agents' settings, by project; `environment` names the files."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._read = Bounded[Path, tuple[object, Sequence[OtherHook]]](FILES_KEPT)
        self._objects = Bounded[Path, tuple[object, Mapping[str, Value]]](OBJECTS_KEPT)
        self._begun = False

    def begin(self) -> None:
        """Read settings from now on."""
        self._begun = True

    def at(self, project: Path) -> Warner:
        """Return the function that warns of other hooks in a project; for threads, never raises."""
        if not self._begun:
            return no_warning
        try:
            hooks = tuple(self._found(project))
        except OSError:  # an unreadable folder, which no agent reads either
            return no_warning
        return lambda event: _warnings(hooks, event)

    def _found(self, project: Path) -> Iterator[OtherHook]:
        from crabhook.doctor.facts import brought, places, read

        for agent in HOOKED.values():
            settings = [path for path, _ in places(agent, project, self._environment)]
            plugins = list(brought(agent, project, self._environment, self._object_in))
            yield from (_module(agent, it.module, it.path) for it in plugins if it.module)
            brought_by = dict.fromkeys(plugin.path for plugin in plugins if not plugin.module)
            for path in (*settings, *brought_by):
                stamp = stamp_of(path)
                stamped = self._read.get(path)
                if stamped is None or stamped[0] != stamp:
                    there = read(path, None) if stamp else None
                    stamped = stamp, [*_others(agent, there, path in brought_by)] if there else []
                    self._read[path] = stamped
                yield from stamped[1]

    def _object_in(self, path: Path) -> Mapping[str, Value]:
        """Return the object in a file, read again after a change."""
        from crabhook.doctor.facts import object_in

        stamp, stamped = stamp_of(path), self._objects.get(path)
        if stamp is None:
            return {}
        if stamped is None or stamped[0] != stamp:
            stamped = stamp, object_in(path)
            if path.stat().st_size <= LARGEST_KEPT:
                self._objects[path] = stamped
        return stamped[1]


def _others(agent: Platform, there: "InspectedSettings", by_plugin: bool) -> Iterator[OtherHook]:  # noqa: FBT001 - a private step
    """Yield what of a file may change a call: hooks, and code that an agent loads into itself.

    The supervisor's hook changes no call. A module registers for events at its start, so that its
    file does not tell for which tools.
    """
    for entry in there.others:
        if entry.event in agent.changeable and "supervisor-hook" not in entry.told:
            yield OtherHook(agent.name, entry.told[:NAMED], there.path, _matcher(agent, entry))
    for module in there.modules if by_plugin else ():
        yield _module(agent, module, there.path)


def _module(agent: Platform, name: str, path: Path) -> OtherHook:
    """Return code that an agent loads into itself, which may change any call."""
    return OtherHook(agent.name, f"the module {name}"[:NAMED], path, None)


def _matcher(agent: Platform, entry: "HookEntry") -> "Matcher | None":
    from crabhook.lint.configuration.command import (
        BrokenMatcherError,
        Matcher,
        read_matcher,
    )

    if entry.matcher is not None and not isinstance(entry.matcher, str):
        return None
    try:
        return read_matcher(entry.matcher, agent.protocol)
    except BrokenMatcherError:  # the agent runs it for no tool
        return Matcher(frozenset())


def _warnings(hooks: Sequence[OtherHook], event: Event) -> tuple[str, ...]:
    tool = event.tool
    running = [
        hook
        for hook in hooks
        if tool is not None
        and event.name in PLATFORMS[event.platform].changeable
        and hook.platform == event.platform
        and (hook.matcher is None or hook.matcher.hits(tool.name[:LONGEST_NAME]))
    ]
    if not running:
        return ()
    named = f"{running[0].command} ({running[0].path})"
    more = f" and {len(running) - 1} more" if running[1:] else ""
    return (f"another hook may change this call after you: {named}{more}",)
