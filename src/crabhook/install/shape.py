"""The hooks in a settings file, checked for soundness as deep as they will be touched.

Three levels (Claude Code 2.1.330): event, list of matcher groups, list of handlers.
"""

from dataclasses import dataclass

from crabhook.install.document import Node
from crabhook.install.errors import InstallError


@dataclass(frozen=True, slots=True)
class Group:
    """One matcher group: the whole of it, and its list of handlers."""

    node: Node
    handlers: Node


@dataclass(frozen=True, slots=True)
class Event:
    """One event's entry: its name, its list, and the groups in that."""

    name: str
    node: Node
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Hooks:
    """The value of the key `hooks`."""

    node: Node
    events: tuple[Event, ...]


def hooks_of(document: Node) -> Hooks | None:
    """Return the hooks in the settings `document`, or None if it has none.

    Raises InstallError, naming the key, where the shape is not sound: Claude
    Code would not run our hooks out of such a file either.
    """
    _expect(document, dict, "the whole file", "an object")
    node = document.member("hooks")
    if node is None:
        return None
    _expect(node, dict, "hooks", "an object of events")
    return Hooks(node, tuple(_event(element.key, element.node) for element in node.elements))


def _event(name: str, node: Node) -> Event:
    where = f"hooks.{name}"
    _expect(node, list, where, "a list of matcher groups")
    items = enumerate(node.elements)
    return Event(name, node, tuple(_group(f"{where}[{index}]", item.node) for index, item in items))


def _group(where: str, node: Node) -> Group:
    _expect(node, dict, where, "an object with a list of hooks")
    handlers = node.member("hooks")
    if handlers is None:
        raise InstallError(f"{where} has no list of hooks")
    _expect(handlers, list, f"{where}.hooks", "a list of hooks")
    for index, handler in enumerate(handlers.elements):
        _expect(handler.node, dict, f"{where}.hooks[{index}]", "an object")
    return Group(node, handlers)


def _expect(node: Node, kind: type, where: str, should_be: str) -> None:
    if not isinstance(node.value, kind):
        raise InstallError(f"{where} is not {should_be}")
