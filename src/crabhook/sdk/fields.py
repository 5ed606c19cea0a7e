"""Fields of an event, read from its raw input when asked for.

An agent may send anything.  A field that is missing or of another type than
the protocol says is read as empty; the raw input keeps it as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crabhook.sdk.event import Event


class _Field:
    """A field by its key; of several keys the first that the agent sent counts."""

    __slots__ = ("_keys",)

    def __init__(self, *keys: str) -> None:
        self._keys = keys

    def _find(self, event: Event) -> object:
        return next((event.raw[key] for key in self._keys if key in event.raw), None)


class Text(_Field):
    """A text, empty where there is none."""

    __slots__ = ()

    def __get__(self, event: Event, kind: type | None = None) -> str:
        value = self._find(event)
        return value if isinstance(value, str) else ""


class Flag(_Field):
    """True or false, false where there is neither."""

    __slots__ = ()

    def __get__(self, event: Event, kind: type | None = None) -> bool:
        return self._find(event) is True


class Number(_Field):
    """A number, 0 where there is none."""

    __slots__ = ()

    def __get__(self, event: Event, kind: type | None = None) -> float:
        value = self._find(event)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


class Object(_Field):
    """A JSON object, empty where there is none."""

    __slots__ = ()

    def __get__(self, event: Event, kind: type | None = None) -> dict[str, Any]:
        value = self._find(event)
        return value if isinstance(value, dict) else {}


class Objects(_Field):
    """A list of JSON objects, empty where there is none; what is no object is left out."""

    __slots__ = ()

    def __get__(self, event: Event, kind: type | None = None) -> list[dict[str, Any]]:
        value = self._find(event)
        return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Anything(_Field):
    """Whatever JSON was sent, None where there is none."""

    __slots__ = ()

    def __get__(self, event: Event, kind: type | None = None) -> Any:  # noqa: ANN401 - it is JSON
        return self._find(event)
