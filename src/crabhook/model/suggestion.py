"""Permission suggestions: what the agent offers to allow from now on, and where it would keep that.

Source: the hook protocol's section 5, PermissionUpdate.  An operator echoes one
with an allow, at most with another destination; nothing else of it is changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crabhook.model.jsontext import Value, compact

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
        tell = _TELLING.get(_text(self.update, "type")) if self.where else None
        return (tell(self.update) if tell else "") or compact(dict(self.update))

    @property
    def where(self) -> str:
        """Where it would be kept, in our words; empty for a place we do not know."""
        return _PLACE_NAMES.get(_text(self.update, "destination"), "")

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


def _add_rules(update: Mapping[str, Value]) -> str:
    return _sentence(f"{_text(update, 'behavior')} ", _rules(update))


def _replace_rules(update: Mapping[str, Value]) -> str:
    return _sentence(f"{_text(update, 'behavior')} nothing but ", _rules(update))


def _remove_rules(update: Mapping[str, Value]) -> str:
    return _sentence(f"no longer {_text(update, 'behavior')} ", _rules(update))


def _add_directories(update: Mapping[str, Value]) -> str:
    return _sentence("also work in ", _texts(update.get("directories")))


def _remove_directories(update: Mapping[str, Value]) -> str:
    return _sentence("no longer work in ", _texts(update.get("directories")))


def _set_mode(update: Mapping[str, Value]) -> str:
    return _sentence("switch to the mode ", [_text(update, "mode")])


_TELLING = {
    "addRules": _add_rules,
    "replaceRules": _replace_rules,
    "removeRules": _remove_rules,
    "addDirectories": _add_directories,
    "removeDirectories": _remove_directories,
    "setMode": _set_mode,
}


def _sentence(start: str, things: Sequence[str]) -> str:
    """Return a start and its things; nothing where a thing cannot be told, to be shown as JSON."""
    return start + ", ".join(things) if things and all(things) and start.strip() else ""


def _rules(update: Mapping[str, Value]) -> list[str]:
    rules = update.get("rules")
    return [_rule(rule) for rule in rules] if isinstance(rules, list) else []


def _rule(rule: Value) -> str:
    if not isinstance(rule, dict):
        return ""
    tool, content = _text(rule, "toolName"), rule.get("ruleContent")
    if content is None:
        return tool
    return f"{tool}({content})" if tool and isinstance(content, str) else ""


def _texts(value: Value) -> list[str]:
    listed = value if isinstance(value, list) else []
    return [item if isinstance(item, str) else "" for item in listed]


def _text(update: Mapping[str, Value], key: str) -> str:
    value = update.get(key)
    return value if isinstance(value, str) else ""
