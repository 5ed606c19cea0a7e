"""A hook configuration as facts: the handlers it registers, and what is wrong with its shape.

What is not sound is said, and the rest is read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crabhook.install.program import Move, moves
from crabhook.lint.configuration import protocols
from crabhook.lint.configuration.values import Item
from crabhook.lint.finding import START, Place, Remark
from crabhook.lint.script import Named
from crabhook.model.jsontext import Value
from crabhook.platforms.rows import Protocol

_NEEDED = {
    "command": ("command",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",),
    "agent": ("prompt",),
}
_NOTHING = Item(START, None)


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
        args = self.value("args")
        given = tuple(map(str, args)) if isinstance(args, list) else None
        return self.item.text("command"), given

    @property
    def timeout(self) -> float | None:
        """The registered timeout as it is written, where it is a number."""
        value = self.value("timeout")
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value)

    def value(self, key: str) -> Value:
        """Return a member's value; None for none."""
        member = self.item.members.get(key)
        return member.value if member is not None else None

    def remark(self, key: str, message: str) -> Remark:
        """Return a remark on one of its members."""
        return Remark(self.item.where(key), message)

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


@dataclass(slots=True)
class Configuration:
    """What one file registers, for one agent.

    `faults`: where its shape is not what the agent reads.  `switches`: what
    keeps its hooks from running, and where.  `moves`: what it puts into their
    environment that has a say in what hooks do.
    """

    path: Path
    protocol: Protocol
    events: list[Named] = field(default_factory=list)
    matchers: list[Matched] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    faults: list[Remark] = field(default_factory=list)
    switches: list[Remark] = field(default_factory=list)
    moves: list[tuple[Move, Remark]] = field(default_factory=list)


def protocol_by_path(path: Path) -> Protocol | None:
    """Return whose folder a file lies in, if it is in an agent's."""
    folders = {one.folder: one for one in protocols().values()}
    named = (folders[part] for part in reversed(path.parts[:-1]) if part in folders)
    return next(named, None)


def protocol_of(path: Path, root: Item) -> Protocol:
    """Return the agent that a configuration is for: by its folder, its keys, its events."""
    if (by_path := protocol_by_path(path)) is not None:
        return by_path
    known = protocols().values()
    for one in known:
        if one.marks & set(root.members) or (one.suffix and path.suffix == one.suffix):
            return one
    hooks = root.members.get("hooks", _NOTHING)
    # the first of equals: Claude Code
    return max(known, key=lambda one: len(set(hooks.members) & set(one.events)))


def registers_hooks(root: Item) -> bool:
    """Whether a file is a hook configuration at all, or has a say in the hooks of another."""
    return isinstance(root.members.get("hooks", _NOTHING).value, dict) or any(_moves(root))


def read_configuration(path: Path, root: Item, protocol: Protocol) -> Configuration:
    """Return what `root` registers with the agent."""
    read = Configuration(path, protocol)
    _Reader(read).root(root)
    read.switches += _switches(root, protocol)
    read.moves += _moves(root) if protocol.sets_environment else ()
    return read


class _Reader:
    """Collects what is sound, and notes what is not."""

    def __init__(self, read: Configuration) -> None:
        self._read = read

    def root(self, root: Item) -> None:
        if self._wrong(root, dict, "the whole file", "an object"):
            return
        hooks = root.members.get("hooks")
        if hooks is None or self._wrong(hooks, dict, '"hooks"', "an object of events"):
            return
        for name, groups in hooks.members.items():
            self._read.events.append(Named(hooks.where(name), name))
            if self._wrong(groups, list, f'"{name}"', "a list of matcher groups"):
                continue
            for group in groups.items:
                self._group(name, group)

    def _group(self, event: str, group: Item) -> None:
        if self._wrong(group, dict, f"a matcher group of {event}", "an object"):
            return
        matcher = group.members.get("matcher")
        if matcher is not None and self._wrong(matcher, str, '"matcher"', "a text"):
            return
        if matcher is not None:
            self._read.matchers.append(Matched(event, str(matcher.value), group.where("matcher")))
        handlers = group.members.get("hooks")
        if handlers is None:
            self._fault(group, f'this matcher group of {event} has no list "hooks"')
        elif not self._wrong(handlers, list, '"hooks"', "a list of handlers"):
            for handler in handlers.items:
                self._handler(Handler(event, group.text("matcher") if matcher else None, handler))

    def _handler(self, handler: Handler) -> None:
        item = handler.item
        if self._wrong(item, dict, f"a handler of {handler.event}", "an object"):
            return
        self._read.handlers.append(handler)
        kind = item.value.get("type") if isinstance(item.value, dict) else None
        if kind is None:
            self._fault(item, f'this handler of {handler.event} has no "type"')
        elif (known := self._read.protocol.handler_types) and str(kind) not in known:
            told = ", ".join(sorted(known))
            self._fault(item, f'"type" is {kind!r}; a handler is one of: {told}', "type")
        for key in _NEEDED.get(handler.type, ()):
            if not item.text(key):
                self._fault(item, f'this handler of type {handler.type} has no text "{key}"')
        if "timeout" in item.members and (handler.timeout is None or handler.timeout <= 0):
            self._fault(item, '"timeout" is not a positive number', "timeout")

    def _wrong(self, item: Item, kind: type, what: str, should_be: str) -> bool:
        if isinstance(item.value, kind):
            return False
        self._fault(item, f"{what} is not {should_be}")
        return True

    def _fault(self, item: Item, message: str, key: str = "") -> None:
        self._read.faults.append(Remark(item.where(key) if key else item.place, message))


def _moves(root: Item) -> Iterator[tuple[Move, Remark]]:
    variables = root.members.get("env", _NOTHING)
    for move in moves(variables.members):
        yield move, Remark(variables.where(move.name), f"env sets {move.name}: {move.effect}")


def _switches(root: Item, protocol: Protocol) -> Iterator[Remark]:
    for path, value, effect in protocol.switches:
        item, place = root, root.place
        for key in path:
            item, place = item.members.get(key, _NOTHING), item.where(key)
        if item.value is value:
            yield Remark(place, f"{'.'.join(path)} is {str(value).lower()}: {effect}")
