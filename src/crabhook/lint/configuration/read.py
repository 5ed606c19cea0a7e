"""A hook configuration as facts: its handlers, and the faults of its shape.

Faults are reported, and the rest is read. Every value has its place in the file: JSON by the
installer's reader, Codex's TOML by the standard library and its lines.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.install.program import Move, moves
from crabhook.lint.configuration import protocols
from crabhook.lint.script import START, CannotParseError, Named, Remark, SourcePlace
from crabhook.model.errors import DocumentError
from crabhook.model.json_source import Node, Number, parse, uncommented
from crabhook.model.jsontext import Value
from crabhook.platforms.event_table import Protocol

_JSON_ERROR = re.compile(r"line (\d+), column (\d+): (.*)", re.DOTALL)

KeyPath: TypeAlias = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]#]+?)\s*\]")
_TOML_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")
_TOML_ERROR = re.compile(r"(.*) \(at line (\d+), column (\d+)\)$", re.DOTALL)
MAX_DEPTH = 50


@frozen
class SourceValue:
    """One value: as plain Python, and with its members or its items."""

    place: SourcePlace
    value: Value
    members: "Mapping[str, SourceValue]" = field(default_factory=dict)
    items: "tuple[SourceValue, ...]" = ()
    key_places: Mapping[str, SourcePlace] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return the text member of that name; empty for anything else."""
        member = self.members.get(key)
        return member.value if member is not None and isinstance(member.value, str) else ""

    def where(self, key: str) -> SourcePlace:
        """Return the place of a member's key, or of the whole if missing."""
        return self.key_places.get(key, self.place)


def read_json(text: str, *, comments: bool = False, commas: bool = False) -> SourceValue:
    """Return the content of JSON, or raise CannotParseError.

    `comments` and `commas` before an end: the agent allows them.
    """
    text = uncommented(text, commas=commas) if comments else text
    try:
        document = parse(text)
    except DocumentError as error:
        match = _JSON_ERROR.match(str(error))
        place = SourcePlace(int(match[1]), int(match[2])) if match else START
        raise CannotParseError(f"it is not JSON: {match[3] if match else error}", place) from error
    return _json_item(document, [0, *(line_end.end() for line_end in re.finditer("\n", text))])


def _json_item(node: Node, starts: Sequence[int]) -> SourceValue:
    """Return a node of a document; `starts`: the offsets of the document's lines."""

    def place(offset: int) -> SourcePlace:
        line = bisect_right(starts, offset)
        return SourcePlace(line, offset - starts[line - 1] + 1)

    at, value = place(node.start), node.value
    inner = [(element.key, _json_item(element.node, starts)) for element in node.elements]
    if isinstance(value, list):
        return SourceValue(
            at, [member.value for _, member in inner], items=tuple(member for _, member in inner)
        )
    if isinstance(value, dict):
        keys = {element.key: place(element.start) for element in node.elements}
        return SourceValue(
            at, {key: member.value for key, member in inner}, dict(inner), key_places=keys
        )
    if isinstance(value, Number):
        text = value.literal
        whole = len(text) < 20 and text.lstrip("-").isdigit()
        return SourceValue(at, int(text) if whole else float(text))
    return SourceValue(at, value)


def read_toml(text: str) -> SourceValue:
    """Return the content of TOML, or raise CannotParseError, with the place if known."""
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        match = _TOML_ERROR.match(str(error))
        place = SourcePlace(int(match[2]), int(match[3])) if match else START
        raise CannotParseError(f"it is not TOML: {match[1] if match else error}", place) from error
    return _toml_item(values, (), _places(text), START)


def _toml_item(
    value: object, path: KeyPath, places: Mapping[KeyPath, SourcePlace], outer: SourcePlace
) -> SourceValue:
    if len(path) > MAX_DEPTH:
        raise CannotParseError(f"it is nested deeper than {MAX_DEPTH} levels", outer)
    place = places.get(path, outer)
    if isinstance(value, dict):
        members = {
            key: _toml_item(member, (*path, key), places, place) for key, member in value.items()
        }
        keys = {key: item.place for key, item in members.items()}
        return SourceValue(
            place, {k: m.value for k, m in members.items()}, members, key_places=keys
        )
    if isinstance(value, list):
        items = tuple(
            _toml_item(member, (*path, n), places, place) for n, member in enumerate(value)
        )
        place = places.get(path, items[0].place if items else outer)
        return SourceValue(place, [item.value for item in items], items=items)
    return SourceValue(place, value if isinstance(value, bool | int | float | str) else str(value))


def _places(text: str) -> Mapping[KeyPath, SourcePlace]:
    """Return where tables and keys begin; inline tables have their line's place."""
    places: dict[KeyPath, SourcePlace] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _table(header[2].split("."), counts, listed=header[1] == "[[")
            places.setdefault(table, SourcePlace(number, header.start(1) + 1))
            places.setdefault(table[:1], SourcePlace(number, header.start(1) + 1))
        elif key := _TOML_KEY.match(line):
            places.setdefault((*table, key[1].strip("\"'")), SourcePlace(number, key.start(1) + 1))
    return places


def _table(names: list[str], counts: dict[KeyPath, int], *, listed: bool) -> KeyPath:
    """Return the path of a table's header, with the indices of its lists."""
    path: KeyPath = ()
    for place, name in enumerate(names):
        path = (*path, name.strip().strip("\"'"))
        if listed and place == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


_NEEDED = {
    "command": ("command",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",),
    "agent": ("prompt",),
}
NOTHING = SourceValue(START, None)


@frozen
class Handler:
    """One registered hook; `matcher` is None without one.

    `timeout_key` and `command_key` name its timeout and its command.
    """

    event: str
    matcher: str | None
    item: SourceValue
    timeout_key: str = "timeout"
    command_key: str = "command"

    @property
    def type(self) -> str:
        """The handler's kind; a command by default."""
        return self.item.text("type") or "command"

    @property
    def command(self) -> tuple[str, tuple[str, ...] | None]:
        """The command, with its arguments if it starts without a shell."""
        args = self.value("args")
        arguments = tuple(map(str, args)) if isinstance(args, list) else None
        return self.item.text(self.command_key), arguments

    @property
    def timeout(self) -> float | None:
        """The registered timeout as written, if it is a number."""
        value = self.value(self.timeout_key)
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
            return protocol.seconds(self.timeout)
        event = protocol.events.get(self.event)
        return event.timeout if event is not None and event.timeout else protocol.timeout


@frozen
class Matched:
    """One matcher as written, and its event."""

    event: str
    text: str
    place: SourcePlace


@dataclass(slots=True)
class Configuration:
    """What one file registers for one agent.

    `faults`: where the agent cannot read its shape. `switches`: settings that stop its hooks, and
    where. `moves`: environment variables that change what hooks do. `root`: the whole file.
    """

    path: Path
    protocol: Protocol
    root: SourceValue = NOTHING
    events: list[Named] = field(default_factory=list)
    matchers: list[Matched] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    faults: list[Remark] = field(default_factory=list)
    switches: list[Remark] = field(default_factory=list)
    moves: list[tuple[Move, Remark]] = field(default_factory=list)


def protocol_by_path(path: Path) -> Protocol | None:
    """Return whose file it is by its name, or whose folder it lies in, if it is an agent's."""
    if named_so := [protocol for protocol in protocols().values() if path.name in protocol.files]:
        return named_so[0]
    folders = {protocol.folder: protocol for protocol in protocols().values()}
    named = (folders[part] for part in reversed(path.parts[:-1]) if part in folders)
    return next(named, None)


def protocol_of(path: Path, root: SourceValue) -> Protocol:
    """Return the agent that a configuration is for: by its folder, its keys, its events."""
    if (by_path := protocol_by_path(path)) is not None:
        return by_path
    agents = protocols().values()
    for agent in agents:
        if agent.marks & set(root.members) or (agent.suffix and path.suffix == agent.suffix):
            return agent
    hooks = root.members.get("hooks", NOTHING)
    # the first of equals: Claude Code
    return max(agents, key=lambda agent: len(set(hooks.members) & set(agent.events)))


_OF_PERMISSIONS = frozenset({"permission", "plugin", "agent", "mode"})


def registers_hooks(path: Path, root: SourceValue) -> bool:
    """Whether a file is a hook configuration at all, or has a say in the hooks of another."""
    protocol = protocol_by_path(path)
    permits = protocol is not None and protocol.asks and _OF_PERMISSIONS & set(root.members)
    registers = isinstance(root.members.get("hooks", NOTHING).value, dict)
    return registers or bool(permits) or any(_moves(root))


def read_configuration(path: Path, root: SourceValue, protocol: Protocol) -> Configuration:
    """Return what `root` registers with the agent."""
    read = Configuration(path, protocol, root)
    _ConfigurationReader(read).root(root)
    read.switches += _switches(root, protocol)
    read.moves += _moves(root) if protocol.sets_environment else ()
    return read


class _ConfigurationReader:
    """Collects sound values and notes the others."""

    def __init__(self, read: Configuration) -> None:
        self._read = read

    def root(self, root: SourceValue) -> None:
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

    def _group(self, event: str, group: SourceValue) -> None:
        if self._wrong(group, dict, f"a matcher group of {event}", "an object"):
            return
        matcher = group.members.get("matcher")
        if matcher is not None and self._wrong(matcher, str, '"matcher"', "a text"):
            return
        if matcher is not None:
            self._read.matchers.append(Matched(event, str(matcher.value), group.where("matcher")))
        handlers = group.members.get("hooks")
        named = group.text("matcher") if matcher else None
        if handlers is None and self._read.protocol.flat:
            self._handler(self._read_handler(event, named, group))
        elif handlers is None:
            self._fault(group, f'this matcher group of {event} has no list "hooks"')
        elif not self._wrong(handlers, list, '"hooks"', "a list of handlers"):
            for item in handlers.items:
                self._handler(self._read_handler(event, named, item))

    def _read_handler(self, event: str, matcher: str | None, item: SourceValue) -> Handler:
        protocol = self._read.protocol
        command = next((key for key in protocol.commands if item.text(key)), protocol.commands[0])
        return Handler(event, matcher, item, protocol.timeout_key(item.members), command)

    def _handler(self, handler: Handler) -> None:
        item = handler.item
        if self._wrong(item, dict, f"a handler of {handler.event}", "an object"):
            return
        self._read.handlers.append(handler)
        kind = item.value.get("type") if isinstance(item.value, dict) else None
        if kind is None:
            self._fault(item, f'this handler of {handler.event} has no "type"')
        elif (types := self._read.protocol.handler_types) and str(kind) not in types:
            words = ", ".join(sorted(types))
            self._fault(item, f'"type" is {kind!r}, a handler is one of: {words}', "type")
        for needed in _NEEDED.get(handler.type, ()):
            key = handler.command_key if needed == "command" else needed
            if not item.text(key):
                self._fault(item, f'this handler of type {handler.type} has no text "{key}"')
        key = handler.timeout_key
        if key in item.members and (handler.timeout is None or handler.timeout <= 0):
            self._fault(item, f'"{key}" is not a positive number', key)

    def _wrong(self, item: SourceValue, kind: type, what: str, should_be: str) -> bool:
        if isinstance(item.value, kind):
            return False
        self._fault(item, f"{what} is not {should_be}")
        return True

    def _fault(self, item: SourceValue, message: str, key: str = "") -> None:
        self._read.faults.append(Remark(item.where(key) if key else item.place, message))


def _moves(root: SourceValue) -> Iterator[tuple[Move, Remark]]:
    variables = root.members.get("env", NOTHING)
    for move in moves(variables.members):
        yield move, Remark(variables.where(move.name), f"env sets {move.name}: {move.effect}")


def _switches(root: SourceValue, protocol: Protocol) -> Iterator[Remark]:
    for path, value, effect in protocol.switches:
        item, place = root, root.place
        for key in path:
            item, place = item.members.get(key, NOTHING), item.where(key)
        if item.value is value:
            yield Remark(place, f"{'.'.join(path)} is {str(value).lower()}: {effect}")
