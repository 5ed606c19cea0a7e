"""The text of Claude Code's settings with our hooks in it, and without them.

Pure: a text in, a text out.  Claude Code refuses the part of a file that holds
a malformed entry, permissions included, so we write into sound ones only.
"""

from collections.abc import Iterator, Mapping

from crabhook.install import overhttp
from crabhook.install.document import Json, Node, as_json, parse
from crabhook.install.hooks import Group, is_ours
from crabhook.install.places import Scope
from crabhook.install.shape import Event, hooks_of
from crabhook.install.splice import Addition, Edit, appending, apply, removal

NO_SETTINGS = "{}\n"

_SWITCHES = {
    "disableAllHooks": "it switches every hook off, ours too",
    "allowManagedHooksOnly": "only the organisation's own hooks run, ours do not",
}


def with_hooks(text: str, groups: Mapping[str, Group]) -> str:
    """Return `text` holding exactly `groups` as our entries; older ones of ours are taken out.

    An entry that is already as it should be stays where it is, so that doing
    it twice is doing it once.  A blank text counts as no settings.

    Raises InstallError (DocumentError) for a text that is not sound settings.
    """
    wanted = {event: as_json(group) for event, group in groups.items()}
    text = _remove(_settings(text), wanted)
    document = parse(text)
    hooks = document.member("hooks")
    if hooks is None:
        everything = {event: [group] for event, group in groups.items()}
        return apply(text, [appending(text, document, [Addition(everything, "hooks")])])
    edits, new = [], []
    for event, group in groups.items():
        present = hooks.member(event)
        if present is None:
            new.append(Addition([group], event))
        elif wanted[event] not in (element.node.value for element in present.elements):
            edits.append(appending(text, present, [Addition(group)]))
    if new:
        edits.append(appending(text, hooks, new))
    return apply(text, edits)


def without_hooks(text: str) -> str:
    """Return `text` without our entries, and without the keys that only they had filled.

    A list of hooks that was there before and empty goes too: to Claude Code
    an empty one and none are the same.

    Raises InstallError (DocumentError) for a text that is not sound settings.
    """
    return _remove(_settings(text), {}) if count(text) else text


def count(text: str) -> int:
    """Return how many events in `text` have a handler of ours; the text must be sound."""
    hooks = hooks_of(parse(_settings(text)))
    return sum(any(_ours(event)) for event in hooks.events) if hooks else 0


def switches(text: str) -> Iterator[str]:
    """Name each setting in `text` that keeps our hooks from running, and say what it does."""
    document = parse(_settings(text))
    for key, effect in _SWITCHES.items():
        node = document.member(key)
        if node is not None and node.value is True:
            yield f"{key} is true in this file: {effect}"
    yield from overhttp.switches(document, _urls(document))


def overridden(scope: Scope | None, switch: str) -> bool:
    """Whether a switch, found in the settings of a scope, leaves managed hooks running."""
    name = switch.partition(" ")[0]
    return name == "allowManagedHooksOnly" or (
        name == "disableAllHooks" and scope is not Scope.MANAGED
    )


def _urls(document: Node) -> set[str]:
    """Return where our own entries are sent to, if they are."""
    hooks = hooks_of(document)
    handlers = (
        handler.node.value
        for event in (hooks.events if hooks else ())
        for group in event.groups
        for handler in group.handlers.elements
    )
    return {str(one["url"]) for one in handlers if isinstance(one, dict) and overhttp.is_ours(one)}


def _settings(text: str) -> str:
    return text if text.strip(" \t\r\n\ufeff") else NO_SETTINGS


def _ours(event: Event) -> list[set[int]]:
    """Return, for each matcher group of `event`, the places of our handlers in it."""
    return [
        {
            place
            for place, handler in enumerate(group.handlers.elements)
            if is_ours(handler.node.value)
        }
        for group in event.groups
    ]


def _remove(text: str, wanted: Mapping[str, Json]) -> str:
    """Take our entries out, but for those in `wanted`, whose events also keep their lists."""
    document = parse(text)
    hooks = hooks_of(document)
    if hooks is None:
        return text
    edits: list[Edit] = []
    emptied: set[int] = set()
    for index, event in enumerate(hooks.events):
        cuts, nothing_left = _cut(event, wanted.get(event.name))
        if nothing_left and event.name not in wanted:
            emptied.add(index)
        else:
            edits += cuts
    if emptied and len(emptied) == len(hooks.events) and not wanted:
        place = [element.key for element in document.elements].index("hooks")
        return apply(text, removal(document, {place}))
    return apply(text, edits + removal(hooks.node, emptied))


def _cut(event: Event, wanted: Json) -> tuple[list[Edit], bool]:
    """Return the edits that take our handlers out of `event`, and whether that empties its list.

    The first group that equals `wanted` stays.
    """
    edits: list[Edit] = []
    gone: set[int] = set()
    kept = False
    for index, (group, ours) in enumerate(zip(event.groups, _ours(event), strict=True)):
        if not kept and group.node.value == wanted:
            kept = True
        elif ours and len(ours) == len(group.handlers.elements):
            gone.add(index)
        else:
            edits += removal(group.handlers, ours)
    return edits + removal(event.node, gone), bool(gone) and len(gone) == len(event.groups)
