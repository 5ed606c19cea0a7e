"""What is remembered of calls for a while: by session, in the order it came, bounded."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from crabhook.model.event import Event

KEPT = 4096  # entries, the oldest forgotten first


class Remembered(Protocol):
    """An entry: the event it is about, without its payload, and when it came."""

    @property
    def event(self) -> Event:
        """The event."""

    @property
    def at(self) -> float:
        """When it came, on the broker's clock."""


_Entry = TypeVar("_Entry", bound=Remembered)


class Memory(Generic[_Entry]):
    """Entries in the order they came, found by session, each kept for a time (seconds)."""

    def __init__(self, kept_for: float) -> None:
        self._kept_for = kept_for
        self._sessions: dict[tuple[str, str], dict[int, _Entry]] = {}
        self._order: OrderedDict[int, tuple[tuple[str, str], float]] = OrderedDict()
        self._next = 0

    def __len__(self) -> int:
        return len(self._order)

    def of_session(self, event: Event) -> Iterator[tuple[int, _Entry]]:
        """Return the entries of the event's session, the oldest first."""
        return iter(tuple(self._sessions.get((event.platform, event.session), {}).items()))

    def keep(self, entry: _Entry) -> None:
        """Keep an entry; the oldest may have to go."""
        self._next += 1
        session = (entry.event.platform, entry.event.session)
        self._order[self._next] = (session, entry.at)
        self._sessions.setdefault(session, {})[self._next] = entry
        while len(self._order) > KEPT or self._oldest() < entry.at - self._kept_for:
            self.drop(next(iter(self._order)))

    def drop(self, key: int) -> None:
        """Forget an entry."""
        session, _ = self._order.pop(key)
        del self._sessions[session][key]
        if not self._sessions[session]:
            del self._sessions[session]

    def _oldest(self) -> float:
        _, at = next(iter(self._order.values()))
        return at
