"""The hook's process: from standard input to the operator's server, and the reply to the agent.

The hook parses nothing. Every fault ends in the fallback from the installation, and never in a hook
that waits without a server.

The whole way of an ordinary call is in this file, and its options are in the package itself. Each
more file costs time at every call (docs/decisions/0001). Rarely needed modules are imported where
they are needed.
"""

import posix
import sys
from time import monotonic, sleep

from crabhook import __version__
from crabhook.hook import (
    FILES,
    Options,
    Unanswered,
    open_folder,
    own_folder,
    read_options,
    sockets,
    words,
)
from crabhook.hook.call import DEADLINE_EXCEEDED, OK, TEMPORARY, HookCall
from crabhook.hook.wire import (
    MalformedBytes,
    WireReply,
    permission_request,
    read_reply,
    request_headers,
    write_message,
)

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Callable

    from crabhook.hook.strict import StrictCheck

LARGEST_PAYLOAD = 32 << 20
_GREETING_TIME = 5.0  # seconds to connect and to get the server's first bytes
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between two tries to find a server again
_RECEIPT_TIME = 1.0  # seconds: the agent has its reply, and waits for our end
_SERVICE = "/crabhook.v1.PermissionService/"


def main() -> None:
    """Run the hook, and end the process as the reply says."""
    options = read_options(sys.argv[1:], posix.environ)
    request = HookRequest(options)
    if posix.isatty(0):
        from crabhook.hook.fallback import help_for  # only people read it

        reply = help_for(options.problem)
    else:
        reply = _answer(options, request)
    whole = _print(reply)
    if reply.confirm and whole:
        request.confirm()
    # Exit code 0 would be success, also for an agent that did not take the reply.
    posix._exit(reply.exit_code or (0 if whole else 1))  # noqa: SLF001 - os._exit, without os


def _answer(options: Options, request: "HookRequest") -> WireReply:
    payload = b""
    try:
        payload = _read_payload()
        return request.ask(payload)
    except Unanswered as error:
        unanswered = error
    except Exception as error:  # noqa: BLE001 - a fault of ours must not undo a wish to deny
        unanswered = Unanswered("fault", repr(error))
    from crabhook.hook.fallback import fall_back  # only when nobody answers

    return fall_back(options, payload, unanswered)


def _read_payload() -> bytes:
    chunks = []
    size = 0
    try:
        while chunk := posix.read(0, 1 << 20):
            chunks.append(chunk)
            size += len(chunk)
            if size > LARGEST_PAYLOAD:
                raise Unanswered("input", f"it is larger than {LARGEST_PAYLOAD >> 20} MiB")
    except OSError as error:
        raise Unanswered("input", words(error)) from error
    return b"".join(chunks)


class HookRequest:
    """A request to the operator, with a ticket and a secret that only this hook knows.

    It keeps the connection of its answer until `close`, for the receipt. `meanwhile` is for its
    calls, as HookCall has it.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._id = posix.urandom(16).hex()
        self._secret = posix.urandom(16).hex()
        self.sock: sockets.socket | None = None
        self.call: HookCall | None = None
        self.meanwhile: Callable[[], bool] | None = None
        self._strict: StrictCheck | None = None

    def ask(self, payload: bytes) -> WireReply:
        """Ask until there is a reply; raise Unanswered when there will be none.

        A request that no server has taken ends at once. A taken request whose connection is lost is
        asked again with the same ticket, since its answer may already exist, or may still come.
        """
        options = self.options
        if options.problem:
            raise Unanswered("options", options.problem)
        end = monotonic() + options.wait
        if options.team:
            from crabhook.hook.strict import StrictCheck  # most print what the server says

            self._strict = StrictCheck(options, self._id, self._secret, payload)
            self.meanwhile = self._strict.work_ahead
        if "," in options.server:
            from crabhook.hook.failover import Failover  # most have one server

            return self._reply(Failover(self, payload, end, connect, carry).ask())
        accepted, give_up, pause = False, end, _FIRST_PAUSE
        while True:
            self.call = call = HookCall(
                *self.written(payload, seconds=end - monotonic()), self.meanwhile
            )
            problem = self._attempt(call, accept_by=give_up, end_by=end)
            now = monotonic()
            if call.accepted:
                accepted, give_up, pause = True, min(end, now + options.reconnect), _FIRST_PAUSE
            if call.status == OK:
                return self._reply(call)
            self.close()
            if not accepted:
                raise self._unanswered("unreachable", problem, call.status)
            if call.status == DEADLINE_EXCEEDED:
                raise self._unanswered("late", "nobody decided in time", call.status)
            if call.status not in TEMPORARY or now + pause >= give_up:
                raise self._unanswered("late" if now >= end else "lost", problem, call.status)
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def confirm(self) -> None:
        """Tell the server that the reply was printed; the hook does not need an answer."""
        if self.sock is None or self.call is None:
            return
        by = monotonic() + _RECEIPT_TIME
        try:
            self.call.again(self._headers("ConfirmReply"), write_message(self._id, self._secret))
            carry(self.sock, self.call, by, by, by)
        except (Exception, KeyboardInterrupt):  # noqa: BLE001 - the reply stands, and its exit code
            return

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def _attempt(self, call: HookCall, *, accept_by: float, end_by: float) -> str:
        """Carry the call out once; return the reason why it got no answer."""
        greet_by = min(accept_by, monotonic() + _GREETING_TIME)
        try:
            self.sock = connect(self.options, greet_by)
            carry(self.sock, call, greet_by, accept_by, end_by)
        except (OSError, MalformedBytes) as error:
            return words(error)
        return call.detail

    def _unanswered(self, kind: str, problem: str, status: int | None) -> Unanswered:
        if status is not None:
            from crabhook.hook.fallback import why_refused  # at the end: few are refused

            problem = why_refused(status, problem)
        return Unanswered(kind, f"{self.options.server}: {problem}", status)

    def written(self, payload: bytes, *, seconds: float) -> tuple[bytes, bytes]:
        """Return the headers and the message of the next call; the ticket stays the same."""
        user = posix.environ.get(b"LOGNAME") or posix.environ.get(b"USER") or b""
        host, pid = posix.uname().nodename, posix.getpid()
        trace = posix.environ.get(b"TRACEPARENT", b"")[:64].decode("utf-8", "replace")
        asked = permission_request(
            request_id=self._id,
            secret=self._secret,
            platform=self.options.platform,
            payload=payload,
            wait_ms=max(1, int(seconds * 1000)),
            stance=self.options.stance,
            when_lost=self.options.when_lost,
            strict=self._strict.wish if self._strict else b"",
            facts=write_message(host, pid, user.decode("utf-8", "replace"), __version__, trace),
        )
        return self._headers("RequestPermission"), asked

    def _reply(self, call: HookCall) -> WireReply:
        try:
            reply = read_reply(call.message)
        except MalformedBytes as error:
            raise Unanswered("lost", f"its answer cannot be read: {error}") from error
        return self._strict.checked(reply, call.message) if self._strict else reply

    def _headers(self, method: str) -> bytes:
        options = self.options
        return request_headers(
            path=_SERVICE + method,
            authority="localhost" if _is_local(options) else options.server,
            secure=bool(options.tls_ca),
            token=options.token,
            agent=f"crabhook/{__version__}",
        )


def carry(
    sock: "sockets.socket", call: HookCall, greet_by: float, accept_by: float, end_by: float
) -> None:
    """Move bytes between a connected socket and the call until its end.

    The limits are times of the monotonic clock: for the peer's first bytes, for its taking the
    request, for its answer. Raises OSError or MalformedBytes.
    """
    while call.status is None:
        limit = end_by if call.accepted else accept_by if call.greeted else greet_by
        left = limit - monotonic()
        if left <= 0:
            raise TimeoutError("nobody decided in time" if call.accepted else "no answer in time")
        if unsent := call.take():
            sock.settimeout(0)
            rest = _send(sock, unsent)
            call.put_back(rest)
            if not rest:
                continue
        else:
            sock.settimeout(0 if call.accepted and call.meanwhile else left)
        try:
            data = sock.recv(1 << 18)
        except BlockingIOError:
            if call.accepted and call.meanwhile:
                call.meanwhile = call.meanwhile if call.meanwhile() else None
                continue
            from crabhook.hook.backpressure import wait_for_socket  # large payloads

            wait_for_socket(sock, left)
        except TimeoutError:
            pass  # of our limit or of the network: the loop looks at the clock
        else:
            if not data:
                raise ConnectionError("the connection was closed")
            call.feed(data)


def _send(sock: "sockets.socket", unsent: bytes) -> bytes:
    """Send what the socket takes at once; return the rest."""
    try:
        return unsent[sock.send(unsent) :]
    except BlockingIOError:
        return unsent
    except ConnectionError:  # the peer closed, and its last bytes are still unread
        return b""


def _is_local(options: Options) -> bool:
    return options.server.startswith("unix:")


def connect(options: Options, by: float) -> "sockets.socket":
    """Connect to the server in the options; raise OSError on failure."""
    if options.tls_ca or not _is_local(options):
        from crabhook.hook import tcp  # most servers are local

        return tcp.connect(options.server, options.tls_ca, by)
    path = options.server.removeprefix("unix:").encode(FILES, "surrogateescape")
    _check(path)
    sock = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        sock.settimeout(max(by - monotonic(), 0.001))
        try:
            sock.connect(path)
        except BlockingIOError:
            from crabhook.hook.backpressure import connect_when_ready  # only when many call

            connect_when_ready(sock, path, by)
    except BaseException:
        sock.close()
        raise
    return sock


def _check(path: bytes) -> None:
    """Refuse the default address where another user could have put a socket.

    Another user's socket would answer for the operator. So the folder must be this user's alone,
    and no link that another user can change meanwhile. The folder in /tmp is always checked, in any
    environment: an installed hook names it.
    """
    folder, _, _ = path.rpartition(b"/")
    if folder not in (own_folder(), open_folder()):
        return
    about = posix.lstat(folder)
    is_folder = about.st_mode & 0o170000 == 0o040000
    if not is_folder or about.st_uid != posix.getuid() or about.st_mode & 0o022:
        raise PermissionError("its folder is not one that this user alone can write to")


def _print(reply: WireReply) -> bool:
    """Print the reply and close both streams; return whether the agent took all of it."""
    whole = True
    for file, text in ((1, reply.stdout), (2, reply.stderr)):
        try:
            _write(file, text)
            posix.close(file)
        except OSError:
            whole = whole and not text  # a closed stream matters only for text
    return whole


def _write(file: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        try:
            rest = rest[posix.write(file, rest) :]
        except BlockingIOError:
            sleep(0.01)
