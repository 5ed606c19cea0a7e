"""A list of servers, one of which leads: the hook asks one after another, with the same ticket.

The ticket makes this safe: the servers share a record with a single answer for each ticket. So the
hook may ask the next server as soon as the server before is silent. One token and one file of
certificates count for the whole list, and go to no address outside it. Imported for a list alone.
"""

from time import monotonic, sleep

from crabhook.hook import Options, Unanswered, sockets, words
from crabhook.hook.call import (
    CANCELLED,
    DEADLINE_EXCEEDED,
    INTERNAL,
    OK,
    TEMPORARY,
    UNAUTHENTICATED,
    UNAVAILABLE,
    UNIMPLEMENTED,
    UNKNOWN,
    HookCall,
)
from crabhook.hook.wire import MalformedBytes, printable

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class ListedRequest(Protocol):
        """A hook's request, as far as it is asked of one server after another."""

        options: Options
        sock: sockets.socket | None
        call: HookCall | None
        meanwhile: Callable[[], bool] | None

        def written(self, payload: bytes, *, seconds: float) -> tuple[bytes, bytes]:
            """Return the headers and the message of the next call."""

        def close(self) -> None:
            """Close the connection."""


ASK_INSTEAD = b"crabhook-leader"
"""The trailing metadata in which a server names another to ask instead, with its refusal."""

# Seconds to a server's first bytes, in the first round and in later ones.
_GREETED_WITHIN = (1.5, 5.0)
_PING_EVERY = 2.0  # seconds without bytes from the server of a waiting request
_SILENCE = 5.0  # seconds without bytes, after which the hook asks the next server
_NEW_PATIENCE = 10.0  # seconds for some server to lead, before any has taken the request
_FAILOVER = 6.0  # seconds of the longest fail-over, where all servers answer
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5  # seconds between two rounds
_PING = b"\0\0\x08\x06\0\0\0\0\0crabhook"  # RFC 9113 6.7

_NOT_FOUND, _FAILED_PRECONDITION = 5, 9

# With these a server refuses a request that another server may take: it is closing, it cannot write
# the record, or it is not ours. Any other status is of the server that leads, and final.
_NEXT = (
    *(None, CANCELLED, UNKNOWN, INTERNAL, UNAVAILABLE),
    *(_NOT_FOUND, _FAILED_PRECONDITION, UNIMPLEMENTED, UNAUTHENTICATED),
)


def listed(text: str) -> list[str]:
    """Return the addresses in a list; a socket's path may have a comma, and is then no list."""
    parts = [part.strip() for part in text.split(",")]
    if text.startswith("unix:") and not all(_looks_like_an_address(part) for part in parts):
        return [text]
    return [part for part in dict.fromkeys(parts) if part] or [text]


def fault_in(text: str) -> str:
    """Return what is wrong with a list that a person wrote, or ""; a hook uses its right parts."""
    parts = [part.strip() for part in text.split(",")]
    if "" in parts:
        return f"{text!r} has an empty part: write an address, or several with one comma between"
    twice = [part for part in parts if parts.count(part) > 1]
    return f"{text!r} names {twice[0]} twice: a list is of different servers" if twice else ""


def _looks_like_an_address(part: str) -> bool:
    return part.startswith("unix:") or part.rpartition(":")[2].isdigit()


class _SilentError(ConnectionError):
    """A server sends nothing any more; it may be stopped only for a while."""


class _PingedCall(HookCall):
    """A call that knows when the server last sent bytes, and which other server it named."""

    def __init__(
        self, headers: bytes, message: bytes, meanwhile: "Callable[[], bool] | None"
    ) -> None:
        super().__init__(headers, message, meanwhile)
        self.received_at = monotonic()
        self.instead = ""

    def feed(self, data: bytes) -> None:
        self.received_at = monotonic()
        super().feed(data)

    def ping(self) -> None:
        """Send a PING, which makes a living server send bytes."""
        self._outbound += _PING

    def _end(self, fields: dict[bytes, bytes]) -> None:
        self.instead = printable(fields.get(ASK_INSTEAD, b""))
        super()._end(fields)


class Failover:
    """A request to the servers of a list, until one of them answers.

    A round asks each server once: in the list's order, but first the server that a refusal named.
    Before a server has taken the request, further rounds need a server that answers and does not
    lead. They end after `_NEW_PATIENCE`, so that the agent does not wait for nothing. Where no
    server can write the record, there is no further round. Once a server has taken the request,
    rounds go on for the time of `--reconnect`, as with a single server. `connect` and `carry` are
    those of a single server.
    """

    def __init__(
        self,
        request: "ListedRequest",
        payload: bytes,
        end: float,
        connect: "Callable[[Options, float], sockets.socket]",
        carry: "Callable[[sockets.socket, HookCall, float, float, float], None]",
    ) -> None:
        self._request, self._payload, self._end = request, payload, end
        self._connected, self._carried = connect, carry
        self._servers, self._tls_ca = listed(request.options.server), request.options.tls_ca
        self._options = Options()  # a copy, whose `server` is the current one
        self._options.__dict__.update(request.options.__dict__)
        request.options = self._options
        # Silent connections, kept until another server has taken the request: if a server was only
        # stopped for a while, a closed connection would make it withdraw the request's card.
        self._silent: list[sockets.socket] = []
        self._problems: dict[str, tuple[int | None, str]] = {}  # by server, in the last round
        self._statuses: list[int] = []  # of the servers that answered, in the last round
        self._accepted = self._greeted = False
        now = monotonic()
        self._give_up = min(end, now + min(_NEW_PATIENCE, self._options.reconnect))
        self._failed_over = now + _FAILOVER
        self._pause = _FIRST_PAUSE

    def ask(self) -> HookCall:
        """Return the answered call; raise Unanswered when there will be no answer."""
        greeting = _GREETED_WITHIN[0]
        while True:
            begun = monotonic()
            if (call := self._round(greeting)) is not None:
                return call
            now = monotonic()
            vain = not self._accepted and self._in_vain(begun)
            if vain or now + self._pause >= self._give_up:
                raise self._unanswered(late=self._accepted and now >= self._end)
            greeting = _GREETED_WITHIN[not self._greeted]
            sleep(self._pause)
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    @property
    def _waits(self) -> int:
        """How many servers answered and do not lead, in the last round."""
        return sum(status in (UNAVAILABLE, _FAILED_PRECONDITION) for status in self._statuses)

    def _in_vain(self, begun: float) -> bool:
        """Whether no server is to lead soon, by the last round, which began then."""
        if self._waits < len(self._servers):
            return not self._waits
        return begun >= self._failed_over or UNAVAILABLE not in self._statuses

    def _round(self, greeting: float) -> HookCall | None:
        """Ask each server once; return the answered call, or None."""
        self._problems, self._statuses, self._greeted = {}, [], False
        left = list(self._servers)
        while left:
            server = left.pop(0)
            call = self._attempt(server, greeting)
            if call is None:
                continue
            if call.status == OK:
                return call
            if call.accepted:
                self._lost(server)
            if call.status is not None:
                self._statuses.append(call.status)
            self._greeted = self._greeted or call.greeted
            if call.status == DEADLINE_EXCEEDED:
                raise self._unanswered(late=True)
            if call.status not in (_NEXT + TEMPORARY if self._accepted else _NEXT):
                raise self._unanswered(late=False)
            if call.instead in left:
                left.remove(call.instead)
                left.insert(0, call.instead)
        return None

    def _lost(self, server: str) -> None:
        """After a lost connection, ask the other servers first, for `--reconnect`."""
        self._accepted, self._pause = True, _FIRST_PAUSE
        self._give_up = min(self._end, monotonic() + self._options.reconnect)
        self._servers.remove(server)
        self._servers.append(server)

    def _attempt(self, server: str, greeting: float) -> _PingedCall | None:
        """Ask a server; return the call, or None where the connection failed."""
        request, options, end = self._request, self._options, self._end
        options.server = server
        options.tls_ca = "" if server.startswith("unix:") else self._tls_ca
        greet_by = min(end, monotonic() + greeting)
        call = None
        try:
            request.sock = self._connected(options, greet_by)
            written = request.written(self._payload, seconds=end - monotonic())
            call = _PingedCall(*written, request.meanwhile)
            request.call = call
            self._carry(request.sock, call, greet_by)
        except (OSError, MalformedBytes) as error:
            self._problems[server] = None, words(error)
            if request.sock is not None and isinstance(error, _SilentError):
                self._silent.append(request.sock)
                request.sock = None
        else:
            self._problems[server] = call.status, call.detail
        if call is None or call.status != OK:
            request.close()
        else:
            self._close_silent()
        return call

    def _close_silent(self) -> None:
        """Close silent connections, once another server has the request."""
        while self._silent:
            self._silent.pop().close()

    def _carry(self, sock: "sockets.socket", call: _PingedCall, greet_by: float) -> None:
        """Carry the call to its end; raise OSError where the server sends nothing."""
        while call.status is None:
            by = min(self._end, monotonic() + _PING_EVERY)
            try:
                self._carried(sock, call, greet_by, by, by)
            except TimeoutError:
                now = monotonic()
                if not call.greeted or now >= self._end:
                    raise
                if now - call.received_at >= _SILENCE:
                    raise _SilentError("nothing is heard of it any more") from None
                if call.accepted:
                    self._close_silent()
                call.ping()

    def _unanswered(self, *, late: bool) -> Unanswered:
        from crabhook.hook.fallback import why_refused  # at the end: few are refused

        kind = "late" if late else "lost" if self._accepted else "unreachable"
        problem = "; ".join(
            f"{server}: {problem if status is None else why_refused(status, problem)}"
            for server, (status, problem) in self._problems.items()
        )
        if self._waits == len(self._servers):
            problem += "; all of them answer, and none leads"
        return Unanswered(kind, problem, self._statuses[-1] if self._statuses else None)
