"""What rules are given, their words, and how a function becomes one."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from crabhook.datatypes import frozen
from crabhook.lint.configuration.command import Program
from crabhook.lint.configuration.read import Configuration, Handler
from crabhook.lint.script import Place, Remark, Rule, Script, Severity, Shape
from crabhook.platforms.rows import Protocol
from crabhook.tables import tables


@frozen
class Hook:
    """A script with its surroundings; `protocol`: its agent, if known.

    `events`: those for which a configuration surely registers it; none without one.
    """

    script: Script
    protocol: Protocol | None = None
    events: frozenset[str] = frozenset()

    def is_for(self, *names: str) -> bool:
        """Whether it is surely for one of these agents."""
        return self.protocol is not None and self.protocol.name in names

    def shapes(self, *path: str) -> Iterator[Shape]:
        """Yield the objects that it may answer with, or what their members at `path` may be."""
        for answer in self.script.answers:
            for shape in answer.shapes:
                if shape.members is not None:
                    yield from shape.of(*path)

    def texts(self, *path: str) -> Iterator[tuple[Place, str]]:
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
    script: Script | None = None
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


RULES: Mapping[str, Rule] = {
    name: Rule(name, **words | {"severity": Severity[words["severity"].upper()]})
    for name, words in tables(__file__, "rules").items()
}
"""Every rule's words, by its id."""


class ScriptRule(NamedTuple):
    """A rule about scripts and the function that looks for it."""

    rule: Rule
    check: Callable[[Hook], Iterator[Remark]]


class SetupRule(NamedTuple):
    """A rule about configurations and the function that looks for it."""

    rule: Rule
    check: Callable[[Setup], Iterator[Remark]]


def script_rule(name: str) -> Callable[[Callable[[Hook], Iterator[Remark]]], ScriptRule]:
    """Make the rule of this id of the function that looks for it in scripts."""
    return partial(ScriptRule, RULES[name])


def setup_rule(name: str) -> Callable[[Callable[[Setup], Iterator[Remark]]], SetupRule]:
    """Make the rule of this id of the function that looks for it in configurations."""
    return partial(SetupRule, RULES[name])
