"""What rules are given, their words, and how a function becomes one."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.lint.configuration.command import Program
from crabhook.lint.configuration.read import Configuration, Handler
from crabhook.lint.script import HookScript, LintRule, Remark, Severity, SourcePlace, ValueShape
from crabhook.platforms.event_table import Protocol


@frozen
class Hook:
    """A script with its surroundings; `protocol`: its agent, if known.

    `events`: those for which a configuration surely registers it; none without one.
    """

    script: HookScript
    protocol: Protocol | None = None
    events: frozenset[str] = frozenset()

    def is_for(self, *names: str) -> bool:
        """Whether it is surely for one of these agents."""
        return self.protocol is not None and self.protocol.name in names

    def shapes(self, *path: str) -> Iterator[ValueShape]:
        """Yield the objects that it may answer with, or what their members at `path` may be."""
        for answer in self.script.answers:
            for shape in answer.shapes:
                if shape.members is not None:
                    yield from shape.of(*path)

    def texts(self, *path: str) -> Iterator[tuple[SourcePlace, str]]:
        """Yield the texts that its answers may have at `path`, and where they are written."""
        for shape in self.shapes():
            yield from shape.texts(*path)


@frozen
class Run:
    """A handler and, if known, its script.

    `missing`: its path leads to nothing. `executable`: the file may be run.
    """

    handler: Handler
    program: Program | None = None
    script: HookScript | None = None
    missing: bool = False
    executable: bool = True


@frozen
class Setup:
    """A configuration and the scripts that it registers."""

    configuration: Configuration
    runs: tuple[Run, ...] = ()

    @property
    def protocol(self) -> Protocol:
        """What the configuration's agent reads."""
        return self.configuration.protocol


RULES: Mapping[str, LintRule] = {
    name: LintRule(name, **words | {"severity": Severity[words["severity"].upper()]})
    for name, words in tables(__file__, "rules").items()
}
"""Every rule's words, by its id."""


ScriptCheck: TypeAlias = Callable[[Hook], Iterator[Remark]]
SetupCheck: TypeAlias = Callable[[Setup], Iterator[Remark]]
SCRIPT_CHECKS: dict[str, ScriptCheck] = {}
SETUP_CHECKS: dict[str, SetupCheck] = {}
"""The functions that look for each rule in scripts and in configurations, by the rule's id."""


def script_rule(name: str) -> Callable[[ScriptCheck], ScriptCheck]:
    """Register the function that looks for the rule of this id in scripts."""
    return partial(SCRIPT_CHECKS.setdefault, name)


def setup_rule(name: str) -> Callable[[SetupCheck], SetupCheck]:
    """Register the function that looks for the rule of this id in configurations."""
    return partial(SETUP_CHECKS.setdefault, name)
