"""The text of an agent's settings with our hooks, and without them.

Pure: text in, text out. The module checks the three levels that it edits (Claude Code 2.1.330):
event, list of matcher groups, list of handlers. An agent refuses the part of a file with a
malformed entry, permissions included, so crabhook writes into sound files only.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.errors import InstallError
from crabhook.model.json_source import Json, Node, as_json, parse
from crabhook.platforms import HOOKED
from crabhook.platforms.installation import Group as Entry
from crabhook.platforms.installation import OwnFile
from crabhook.platforms.interface import Platform

_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")


@frozen
class TextEdit:
    """`text` in place of the half-open range `start` to `end`."""

    start: int
    end: int
    text: str


Addition: TypeAlias = tuple[str | None, object]
"""A key, None in a list, and the plain Python value to add under it."""


def apply(text: str, edits: Sequence[TextEdit]) -> str:
    """Return `text` with `edits` carried out; they must not overlap."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def removal(container: Node, gone: Collection[int]) -> list[TextEdit]:
    """Return the edits that take the elements at the indices `gone` out of `container`."""
    elements = container.elements
    if not gone:
        return []
    if len(gone) == len(elements):
        return [TextEdit(container.start + 1, container.end - 1, "")]
    first_kept = next(index for index in range(len(elements)) if index not in gone)
    return [
        TextEdit(elements[index].start, elements[index + 1].start, "")
        if index < first_kept
        else TextEdit(elements[index - 1].node.end, elements[index].node.end, "")
        for index in sorted(gone)
    ]


def appending(text: str, container: Node, additions: Sequence[Addition]) -> TextEdit:
    """Return the edit that puts `additions` at the end of `container`, in the text's own style."""
    if container.elements:
        lead = _lead(text, container)
        last = container.elements[-1].node.end
        return TextEdit(last, last, "".join("," + lead + _write(text, lead, *a) for a in additions))
    inside = slice(container.start + 1, container.end - 1)
    outside = text[: container.start] + text[container.end :]
    if outside.strip(" \t\r\n\ufeff") and "\n" not in text:
        line = ", ".join(_write(text, "", *addition) for addition in additions)
        return TextEdit(inside.start, inside.stop, line)
    line_start = text.rfind("\n", 0, container.start) + 1
    line = text[line_start : container.start]
    outer = _newline(text) + line[: len(line) - len(line.lstrip(" \t"))]
    lead = outer + _unit(text)
    body = ",".join(lead + _write(text, lead, *addition) for addition in additions)
    return TextEdit(inside.start, inside.stop, body + outer)


def _lead(text: str, container: Node) -> str:
    """Return the blanks before an element of the non-empty `container`."""
    elements = container.elements
    start = elements[-2].node.end if len(elements) > 1 else container.start + 1
    blanks = text[start : elements[-1].start].partition(",")[2 if len(elements) > 1 else 0]
    if "\n" in blanks:
        return _newline(text) + blanks.rpartition("\n")[2]
    return blanks if len(elements) > 1 else " "


def _write(text: str, lead: str, key: str | None, value: object) -> str:
    """Return an addition as JSON with lines that begin with `lead`, or without it on one line."""
    indent = _unit(text) if "\n" in lead else None
    written = json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", lead)
    return written if key is None else f"{json.dumps(key, ensure_ascii=False)}: {written}"


def _unit(text: str) -> str:
    """Return one step of the text's indentation: the text's first, else two blanks."""
    indent = _FIRST_INDENT.search(text)
    return indent[1] if indent else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


NO_SETTINGS = "{}\n"

# The hook's own folder in any installation, also within a shell line.
_STUB = re.compile(r"""(?:^|[/\\\s"'=])crabhook[/\\]hook[/\\]run\.py(?=$|[\s"';&|)])""")
_FIRST_WORD = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")


@frozen
class MatcherGroup:
    """One matcher group: all of it, and its list of handlers."""

    node: Node
    handlers: Node

    @property
    def ours(self) -> set[int]:
        """The indices of our handlers in the group."""
        handlers = enumerate(self.handlers.elements)
        return {place for place, element in handlers if is_ours(element.node.value)}


@frozen
class HookedEvent:
    """One event's entry: its name, its list, and its groups."""

    name: str
    node: Node
    groups: tuple[MatcherGroup, ...]


def known(agent: str | None) -> Platform:
    """Return the agent of that name. Raises InstallError, with the known names."""
    if agent is not None and agent in HOOKED:
        return HOOKED[agent]
    choice = ", ".join(f"{name} ({agent.title})" for name, agent in HOOKED.items())
    problem = f"there is no agent {agent!r}" if agent else "no agent was named"
    raise InstallError(f"{problem}. It can be installed into: {choice}")


def with_hooks(text: str, groups: Mapping[str, Entry], own: OwnFile | None = None) -> str:
    """Return `text` with exactly `groups` as our entries; our older entries are removed.

    `own` writes a file that is all ours. A correct entry stays in its place, so a second run
    changes nothing. A blank text counts as no settings.

    Raises InstallError (DocumentError) for a text that is not sound settings.
    """
    if own is not None:
        if text.strip() and not text.startswith(own.mark):
            raise InstallError("it is another program's file: move it away first")
        return own.text(groups)
    wanted = {event: as_json(group) for event, group in groups.items()}
    text = _remove(_settings(text), wanted)
    document = parse(text)
    hooks = document.member("hooks")
    if hooks is None:
        everything = {event: [group] for event, group in groups.items()}
        return apply(text, [appending(text, document, [("hooks", everything)])])
    edits, new = list[TextEdit](), list[Addition]()
    for event, group in groups.items():
        present = hooks.member(event)
        if present is None:
            new.append((event, [group]))
        elif wanted[event] not in (element.node.value for element in present.elements):
            edits.append(appending(text, present, [(None, group)]))
    if new:
        edits.append(appending(text, hooks, new))
    return apply(text, edits)


def own_file(text: str) -> OwnFile | None:
    """Return how a file is written that is all ours; None for any other."""
    files = (agent.settings.own for agent in HOOKED.values())
    return next((own for own in files if own and text.startswith(own.mark)), None)


def without_hooks(text: str) -> str:
    """Return `text` without our entries, and without keys that are empty after that.

    Of a file that is all ours nothing is left. An empty list of hooks from before goes too: for
    Claude Code, an empty list means no list.

    Raises InstallError (DocumentError) for a text that is not sound settings.
    """
    if own_file(text):
        return ""
    return _remove(_settings(text), {}) if count(text) else text


def count(text: str) -> int:
    """Return how many events in `text` have a handler of ours; the text must be sound."""
    if own := own_file(text):
        return len(own.read(text))
    events = events_in(parse(_settings(text)))
    return sum(any(group.ours for group in event.groups) for event in events)


def _settings(text: str) -> str:
    return text if text.strip(" \t\r\n\ufeff") else NO_SETTINGS


def _remove(text: str, wanted: Mapping[str, Json]) -> str:
    """Remove our entries except those in `wanted`, whose events also keep their lists."""
    document = parse(text)
    events, hooks = events_in(document), document.member("hooks")
    if hooks is None:
        return text
    edits: list[TextEdit] = []
    emptied: set[int] = set()
    for index, event in enumerate(events):
        cuts, nothing_left = _cut(event, wanted.get(event.name))
        if nothing_left and event.name not in wanted:
            emptied.add(index)
        else:
            edits += cuts
    if emptied and len(emptied) == len(events) and not wanted:
        place = [element.key for element in document.elements].index("hooks")
        return apply(text, removal(document, {place}))
    return apply(text, edits + removal(hooks, emptied))


def _cut(event: HookedEvent, wanted: Json) -> tuple[list[TextEdit], bool]:
    """Return the edits that remove our handlers from `event`, and whether its list is then empty.

    The first group that equals `wanted` stays.
    """
    edits: list[TextEdit] = []
    gone: set[int] = set()
    kept = False
    for index, group in enumerate(event.groups):
        ours = group.ours
        if not kept and group.node.value == wanted:
            kept = True
        elif ours and len(ours) == len(group.handlers.elements):
            gone.add(index)
        else:
            edits += removal(group.handlers, ours)
    return edits + removal(event.node, gone), bool(gone) and len(gone) == len(event.groups)


def is_ours(handler: Json) -> bool:
    """Whether a handler runs crabhook's client from any folder, or sends to a server.

    The supervisor is not the client: its owner writes and removes its entries.
    """
    if not isinstance(handler, dict) or handler.get("type") != "command":
        return any(platform.settings.owns(handler) for platform in HOOKED.values())
    command, args = handler.get("command"), handler.get("args")
    words = [command, *(args if isinstance(args, list) else [])]
    if any(isinstance(word, str) and "supervisor-hook" in word.split() for word in words):
        return False
    if any(isinstance(word, str) and _STUB.search(word) for word in words):
        return True
    if not isinstance(command, str):
        return False
    # The program is all of the command, or the first word of a shell's line.
    first_word = None if isinstance(args, list) else _FIRST_WORD.match(command)
    program = (
        next(word for word in first_word.groups() if word is not None) if first_word else command
    )
    return program.rpartition("/")[2] == "crabhook"


def events_in(document: Node) -> tuple[HookedEvent, ...]:
    """Return the events with hooks in `document`; raises InstallError, which names a wrong key."""
    _expect(document, dict, "the whole file", "an object")
    node = document.member("hooks")
    if node is None:
        return ()
    _expect(node, dict, "hooks", "an object of events")
    events = []
    for element in node.elements:
        where, groups = f"hooks.{element.key}", element.node
        _expect(groups, list, where, "a list of matcher groups")
        read = [_group(f"{where}[{at}]", group.node) for at, group in enumerate(groups.elements)]
        events.append(HookedEvent(element.key, groups, tuple(read)))
    return tuple(events)


def _group(where: str, node: Node) -> MatcherGroup:
    _expect(node, dict, where, "an object with a list of hooks")
    handlers = node.member("hooks")
    if handlers is None:
        raise InstallError(f"{where} has no list of hooks")
    _expect(handlers, list, f"{where}.hooks", "a list of hooks")
    for index, handler in enumerate(handlers.elements):
        _expect(handler.node, dict, f"{where}.hooks[{index}]", "an object")
    return MatcherGroup(node, handlers)


def _expect(node: Node, kind: type, where: str, should_be: str) -> None:
    if not isinstance(node.value, kind):
        raise InstallError(f"{where} is not {should_be}")
