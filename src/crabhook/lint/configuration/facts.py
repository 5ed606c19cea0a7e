"""A hook configuration as facts: the handlers it registers, and what is wrong with its shape."""

from dataclasses import dataclass
from pathlib import Path

from crabhook.install.environment import Move
from crabhook.lint.configuration.item import Item
from crabhook.lint.finding import Place, Remark
from crabhook.lint.script import Named
from crabhook.model.jsontext import Value
from crabhook.platforms.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Handler:
    """One hook that is registered; `matcher` is None where there is none."""

    event: str
    matcher: str | None
    item: Item

    @property
    def type(self) -> str:
        """What kind of handler it is; a command where it does not say."""
        return self.item.text("type") or "command"

    @property
    def command(self) -> tuple[str, tuple[str, ...] | None]:
        """The command, and its arguments where it is started without a shell."""
        args = self.item.members.get("args")
        if args is None or not isinstance(args.value, list):
            return self.item.text("command"), None
        return self.item.text("command"), tuple(str(one) for one in args.value)

    @property
    def timeout(self) -> float | None:
        """The registered timeout as it is written, where it is a number."""
        value = self.value("timeout")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if number and isinstance(value, int | float) else None

    @property
    def place(self) -> Place:
        """Where it is written."""
        return self.item.place

    def value(self, key: str) -> Value:
        """Return a member's value; None for none."""
        member = self.item.members.get(key)
        return member.value if member is not None else None

    def seconds(self, protocol: Protocol) -> float:
        """Return how long it may take before the agent goes on without it."""
        if self.timeout is not None:
            return self.timeout * protocol.unit
        event = protocol.events.get(self.event)
        return event.timeout if event is not None and event.timeout else protocol.timeout


@dataclass(frozen=True, slots=True)
class Matched:
    """One matcher that is written, and its event."""

    event: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Configuration:
    """What one file registers, for one agent.

    `faults`: where its shape is not what the agent reads.  `switches`: what
    keeps its hooks from running, and where.  `moves`: what it puts into their
    environment that has a say in what hooks do.
    """

    path: Path
    protocol: Protocol
    events: tuple[Named, ...] = ()
    matchers: tuple[Matched, ...] = ()
    handlers: tuple[Handler, ...] = ()
    faults: tuple[Remark, ...] = ()
    switches: tuple[Remark, ...] = ()
    moves: tuple[tuple[Move, Remark], ...] = ()
