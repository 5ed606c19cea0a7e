"""The requests that wait, their connections and limits, and the proof of their tickets.

Every request that waits holds a connection, a card and its input in memory. An agent that sends
requests without end must not take the operator from the others, so each session has limits of its
own. Replies are kept for a while, for clients that lost the connection before the reply came.
"""

from collections import Counter
from enum import StrEnum
from hmac import compare_digest

from crabhook.broker.messages import Refusal
from crabhook.datatypes import Bounded, frozen
from crabhook.model.card import Request
from crabhook.model.decision import Reply


class SameFile(StrEnum):
    """What the server does when a second session changes a file, beside showing it at the desk."""

    OFF = "off"
    WARN = "warn"  # the server tells the agent, with the answer to its call
    ASK = "ask"  # the server asks an operator


@frozen
class Limits:
    """How much may wait at once; bytes are those of the hooks' inputs.

    `same_file`: what the server does about a file that two sessions change. `open_for`: how many
    seconds a card stays open after its agent went on without a decision; 0 for not at all.
    """

    requests: int = 16_384
    size: int = 256_000_000
    session_requests: int = 1024
    session_size: int = 64_000_000
    same_file: SameFile = SameFile.OFF
    open_for: float = 28_800.0


LIMITS = Limits()
NO_CONNECTION = 0  # an attempt no connection ever has: the runner counts from 1


class PendingRequests:
    """The requests that wait, each with its connection."""

    def __init__(self, bounds: Limits) -> None:
        self._bounds = bounds
        self._inside: dict[str, tuple[int, Request]] = {}
        self._size = 0
        self._of_session: Counter[tuple[str, str, str]] = Counter()
        self._size_of_session: Counter[tuple[str, str, str]] = Counter()

    def __repr__(self) -> str:
        return f"<PendingRequests {len(self._inside)} requests, {self._size} bytes>"

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._inside

    def attempt(self, request_id: str) -> int | None:
        """Return the connection of a request; None if the request does not wait."""
        waiting = self._inside.get(request_id)
        return waiting and waiting[0]

    def refusal(self, request: Request) -> Refusal | None:
        """Return the limit that refuses a request; None if there is room."""
        bounds, session = self._bounds, request.event.session_key
        if len(self._inside) >= bounds.requests or self._size + request.size > bounds.size:
            return Refusal.FULL
        if (
            self._of_session[session] >= bounds.session_requests
            or self._size_of_session[session] + request.size > bounds.session_size
        ):
            return Refusal.SESSION_FULL
        return None

    def enter(self, request: Request, attempt: int) -> None:
        """Add a request with its connection."""
        session = request.event.session_key
        self._inside[request.id] = (attempt, request)
        self._size += request.size
        self._of_session[session] += 1
        self._size_of_session[session] += request.size

    def move(self, request_id: str, attempt: int) -> int:
        """Move a request to another connection; return the old connection."""
        before, request = self._inside[request_id]
        self._inside[request_id] = (attempt, request)
        return before

    def secret(self, request_id: str) -> str:
        """Return the secret of a request that waits."""
        return self._inside[request_id][1].secret

    def leave(self, request_id: str) -> tuple[int, str] | None:
        """Remove a request; return its connection and its secret, None for an unknown request."""
        waiting = self._inside.pop(request_id, None)
        if waiting is None:
            return None
        attempt, request = waiting
        session = request.event.session_key
        self._size -= request.size
        self._of_session[session] -= 1
        self._size_of_session[session] -= request.size
        if not self._of_session[session]:
            del self._of_session[session], self._size_of_session[session]
        return attempt, request.secret


ANSWERS_KEPT = 4096  # the oldest are forgotten first
ANSWER_KEPT_FOR = 900.0  # seconds; longer than a client tries to come back


@frozen
class _KeptReply:
    secret: str
    answer: Reply | Refusal
    at: float


class Tickets:
    """Replies already given, by request id, for clients that lost the connection too early."""

    def __init__(self) -> None:
        self._given: Bounded[str, _KeptReply] = Bounded(ANSWERS_KEPT)

    def __repr__(self) -> str:
        return f"<Tickets given={len(self._given)}>"

    def give(self, request_id: str, secret: str, answer: Reply | Refusal, now: float) -> None:
        """Keep the reply to a request, or its refusal, for the client with its ticket."""
        self._given[request_id] = _KeptReply(secret, answer, now)
        while self._given and now - next(iter(self._given.values())).at > ANSWER_KEPT_FOR:
            self._given.popitem(last=False)

    def take_back(self, request_id: str) -> None:
        """Forget a reply that was never sent."""
        self._given.pop(request_id, None)

    def given(self, request: Request) -> Reply | Refusal | None:
        """Return the reply or refusal kept for this ticket, or that its id is another's."""
        kept = self._given.get(request.id)
        if kept is None:
            return None
        return kept.answer if same_secret(kept.secret, request.secret) else Refusal.NOT_YOURS


def same_secret(first: str, other: str) -> bool:
    """Compare two secrets in constant time, so that the time tells nothing about them."""
    return compare_digest(first.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
