"""Permission suggestions: what the agent offers to allow from now on, and where it would keep that.

Source: the hook protocol's section 5, PermissionUpdate.  An operator echoes one
with an allow, at most with another destination; nothing else of it is changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crabhook.model.jsontext import Value, compact, text_at

MAX_SUGGESTIONS = 50

# Where an update can be kept, by the word an operator writes.
PLACES: Mapping[str, str] = {
    "session": "session",
    "local": "localSettings",
    "project": "projectSettings",
    "user": "userSettings",
}
MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")

_PLACE_NAMES = {
    "session": "this session",
    "localSettings": "local settings",
    "projectSettings": "project settings",
    "userSettings": "user settings",
    "cliArg": "this run",
}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One permission update as the agent offers it; `update` is kept whole."""

    update: Mapping[str, Value]

    @property
    def what(self) -> str:
        """What it would change, in words; an update of an unknown kind or place as its JSON."""
        return (self.where and _told(self.update)) or compact(dict(self.update))

    @property
    def where(self) -> str:
        """Where it would be kept, in our words; empty for a place we do not know."""
        return _PLACE_NAMES.get(text_at(self.update, "destination"), "")

    def kept(self, place: str = "") -> Mapping[str, Value]:
        """Return the update to send back: as it came, or with one of PLACES as its destination."""
        return {**self.update, "destination": PLACES[place]} if place else self.update


def read_suggestions(event_fields: Mapping[str, Value]) -> tuple[Suggestion, ...]:
    """Return what a PermissionRequest suggests; what is no object could not be sent back."""
    listed = event_fields.get("permission_suggestions")
    if not isinstance(listed, list):
        return ()
    return tuple(Suggestion(item) for item in listed[:MAX_SUGGESTIONS] if isinstance(item, dict))


def set_mode(mode: str) -> Mapping[str, Value]:
    """Return the update that gives the session another permission mode."""
    return {"type": "setMode", "mode": mode, "destination": "session"}


def _told(update: Mapping[str, Value]) -> str:
    """Return what an update does; empty where a part cannot be told, to be shown as JSON."""
    start, listed = _TELLING.get(text_at(update, "type"), ("", lambda _: []))
    start, things = start.format(text_at(update, "behavior")), listed(update)
    return start + ", ".join(things) if things and all(things) and start.strip() else ""


def _listed(update: Mapping[str, Value], key: str) -> list[Value]:
    listed = update.get(key)
    return listed if isinstance(listed, list) else []


def _rule(rule: Value) -> str:
    if not isinstance(rule, dict):
        return ""
    tool, content = text_at(rule, "toolName"), rule.get("ruleContent")
    if content is None:
        return tool
    return f"{tool}({content})" if tool and isinstance(content, str) else ""


def _rules(update: Mapping[str, Value]) -> list[str]:
    return list(map(_rule, _listed(update, "rules")))


def _directories(update: Mapping[str, Value]) -> list[str]:
    return [one if isinstance(one, str) else "" for one in _listed(update, "directories")]


_TELLING: Mapping[str, tuple[str, Callable[[Mapping[str, Value]], list[str]]]] = {
    "addRules": ("{} ", _rules),
    "replaceRules": ("{} nothing but ", _rules),
    "removeRules": ("no longer {} ", _rules),
    "addDirectories": ("also work in ", _directories),
    "removeDirectories": ("no longer work in ", _directories),
    "setMode": ("switch to the mode ", lambda update: [text_at(update, "mode")]),
}
"""The kinds of update: the words for each, with a place for its behavior, and what it lists."""
