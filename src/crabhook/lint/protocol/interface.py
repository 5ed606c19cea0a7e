"""The words in which an agent's hook protocol is told to the rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ANY = "any tool's name"
FREE = "a value that is not from a list"
NOTHING = "nothing: a matcher here is ignored"


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    `specific`: the keys read in hookSpecificOutput.  `matcher`: what a matcher
    is held against: ANY, FREE, NOTHING, or else one of the `values`.
    `silent`: exit code 2 does nothing here.  `timeout`: seconds, where no
    other is registered.
    """

    specific: frozenset[str] = frozenset()
    matcher: str = NOTHING
    values: frozenset[str] = frozenset()
    silent: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Protocol:
    """What one agent reads, in its configuration and from its hooks.

    `unit`: seconds in one unit of a registered timeout.  `tools`: the names
    known to us, old ones too; there may be others.  `nested`: keys that are
    read in hookSpecificOutput alone.  `decisions`: the values of a top-level
    `decision`.  `permissions`: those of `permissionDecision`.  `elsewhere`:
    other agents' names for things, and this one's own.
    """

    name: str
    title: str
    unit: float
    timeout: float
    events: Mapping[str, Event]
    tools: frozenset[str]
    mcp: str
    nested: frozenset[str]
    decisions: frozenset[str]
    permissions: frozenset[str] = frozenset()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    handler_types: frozenset[str] = frozenset({"command"})
    strict_event_name: bool = True
