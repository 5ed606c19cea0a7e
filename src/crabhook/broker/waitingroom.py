"""Who waits, on which connection, and how much room they take: in all, and session by session.

Every request that waits holds a connection, a card and its input in memory.
One agent that asks without end must not take the operator from the others,
so a session has bounds of its own.
"""

from collections import Counter
from dataclasses import dataclass

from crabhook.broker.effects import Refusal
from crabhook.model.event import Event
from crabhook.model.request import Request


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may wait at once; bytes are those of the hooks' inputs."""

    requests: int = 16_384
    size: int = 256_000_000
    session_requests: int = 1024
    session_size: int = 64_000_000


BOUNDS = Bounds()


class WaitingRoom:
    """The requests that wait, each with the connection it waits on."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._inside: dict[str, tuple[int, Request]] = {}
        self._size = 0
        self._of_session: Counter[tuple[str, str]] = Counter()
        self._size_of_session: Counter[tuple[str, str]] = Counter()

    def __repr__(self) -> str:
        return f"<WaitingRoom {len(self._inside)} requests, {self._size} bytes>"

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._inside

    def attempt(self, request_id: str) -> int | None:
        """Return the connection a request waits on; None if it does not wait."""
        found = self._inside.get(request_id)
        return found and found[0]

    def refusal(self, request: Request) -> Refusal | None:
        """Return why there is no room for a request; None if there is."""
        bounds, session = self._bounds, _session(request.event)
        if len(self._inside) >= bounds.requests or self._size + request.size > bounds.size:
            return Refusal.FULL
        if (
            self._of_session[session] >= bounds.session_requests
            or self._size_of_session[session] + request.size > bounds.session_size
        ):
            return Refusal.SESSION_FULL
        return None

    def enter(self, request: Request, attempt: int) -> None:
        """Let a request in, on its connection."""
        session = _session(request.event)
        self._inside[request.id] = (attempt, request)
        self._size += request.size
        self._of_session[session] += 1
        self._size_of_session[session] += request.size

    def move(self, request_id: str, attempt: int) -> int:
        """Put a request on another connection; return the one it was on."""
        before, request = self._inside[request_id]
        self._inside[request_id] = (attempt, request)
        return before

    def leave(self, request_id: str) -> int | None:
        """Let a request out; return the connection it was on, None if it was not there."""
        found = self._inside.pop(request_id, None)
        if found is None:
            return None
        attempt, request = found
        session = _session(request.event)
        self._size -= request.size
        self._of_session[session] -= 1
        self._size_of_session[session] -= request.size
        if not self._of_session[session]:
            del self._of_session[session], self._size_of_session[session]
        return attempt


def _session(event: Event) -> tuple[str, str]:
    return event.platform, event.session
