"""A function of the hook's author, and the event it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from crabhook.sdk.event import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from crabhook.sdk.answer import Answer

E = TypeVar("E", bound=Event)


class Handler(Generic[E]):
    """A function from an event to an answer, called for one kind of event; made by `on`.

    Called by hand it is the function, so that a test needs no process.
    """

    __slots__ = ("_function", "kind")

    def __init__(self, kind: type[E], function: Callable[[E], Answer | None]) -> None:
        self.kind = kind
        self._function = function

    def __call__(self, event: E) -> Answer | None:
        """Return the function's answer to the event."""
        return self._function(event)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", repr(self._function))
        return f"<Handler of {self.kind.__name__}: {name}>"

    def takes(self, event: Event) -> bool:
        """Whether the event is of the kind that this is for."""
        return isinstance(event, self.kind)


def on(kind: type[E]) -> Callable[[Callable[[E], Answer | None]], Handler[E]]:
    """Make a function the handler of this kind of event; `on(Event)` takes every event."""

    def handler(function: Callable[[E], Answer | None]) -> Handler[E]:
        return Handler(kind, function)

    return handler
