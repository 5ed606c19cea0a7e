"""The hook's process: standard input to the operator's server, the reply to the agent.

Nothing is parsed here.  Whatever goes wrong ends in the fallback that whoever
installed the hook has chosen, and never in a hook that waits for nobody.
"""

import posix
import sys
from time import monotonic, sleep

from crabhook import __version__
from crabhook.hook import sockets
from crabhook.hook.call import OK, TEMPORARY, Call
from crabhook.hook.headers import request_headers
from crabhook.hook.messages import (
    GATE,
    Malformed,
    Reply,
    client_facts,
    confirm_reply_request,
    permission_request,
    read_reply,
)

LARGEST_PAYLOAD = 32 << 20
_GREETING_TIME = 5.0  # seconds to connect and to be greeted: else nobody is there
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between two tries to find a server again
_FILES = sys.getfilesystemencoding()
_RECEIPT_TIME = 1.0  # seconds: the agent has its reply by then, and waits only for our end
_SERVICE = "/crabhook.v1.PermissionService/"


class Options:
    """Where to ask, how long, and what to do when nobody answers: here, by default."""

    def __init__(self) -> None:
        self.server = f"unix:{decoded(_own_folder())}/crabhook.sock"  # or "HOST:PORT"
        self.token = self.token_file = ""
        self.tls_ca = ""  # a file of certificates; empty is no TLS
        self.wait = 3630.0  # seconds for all of it
        self.reconnect = 120.0  # seconds to find a lost server again
        self.platform = "claude"
        self.stance = GATE
        self.when_unreachable = self.when_lost = "pass"  # or "ask", or "deny"
        self.problem = ""  # what was wrong with the options, if anything was


class Ticket:
    """What a request is known by, and the secret only its maker has."""

    def __init__(self) -> None:
        self.request_id = posix.urandom(16).hex()
        self.secret = posix.urandom(16).hex()


class Unanswered(Exception):  # noqa: N818 - a fact about the operator, not a fault of the program
    """There is no answer; the text says why, and `status` is the server's gRPC code, if any.

    `kind` is what went wrong, a key of fallback.KINDS: "options", "input",
    "unreachable" when the server never took the request, "lost" and "late"
    when it had, and "fault" for a fault of our own.
    """

    def __init__(self, kind: str, problem: str, status: int | None = None) -> None:
        super().__init__(problem)
        self.kind = kind
        self.status = status


def main() -> None:
    """Be the hook, and end the process as the reply says."""
    options, ticket = _options(), Ticket()
    if posix.isatty(0):
        from crabhook.hook.help import help_for  # noqa: PLC0415 - only people read it

        reply = help_for(options.problem)
    else:
        reply = _answer(options, ticket)
    whole = _print(reply)
    if reply.confirm and whole:
        _confirm(options, ticket)
    # An agent that did not take the reply must not read our end as success.
    posix._exit(reply.exit_code or (0 if whole else 1))  # noqa: SLF001 - os._exit, without os


def _answer(options: Options, ticket: Ticket) -> Reply:
    payload = b""
    try:
        payload = _read_payload()
        return ask(options, ticket, payload)
    except Unanswered as unanswered:
        return _fall_back(options, payload, unanswered)
    except Exception as error:  # noqa: BLE001 - a fault of ours must not undo a wish to deny
        return _fall_back(options, payload, Unanswered("fault", repr(error)))


def _options() -> Options:
    if len(sys.argv) < 2 and not any(name.startswith(b"CRABHOOK_") for name in posix.environ):
        return Options()
    from crabhook.hook.options import read_options  # noqa: PLC0415 - only if there are any

    return read_options(sys.argv[1:], posix.environ)


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


def ask(options: Options, ticket: Ticket, payload: bytes) -> Reply:
    """Ask until there is a reply; raise Unanswered when there will be none.

    A request the server has not taken is given up at once.  One it has taken
    is asked again under the same id when the connection is lost, since its
    answer may already be given, or may yet be.
    """
    if options.problem:
        raise Unanswered("options", options.problem)
    end = monotonic() + options.wait
    accepted, give_up, pause = False, end, _FIRST_PAUSE
    while True:
        call = _request(options, ticket, payload, seconds=end - monotonic())
        problem = _attempt(options, call, accept_by=give_up, end_by=end)
        now = monotonic()
        if call.accepted:
            accepted, give_up, pause = True, min(end, now + options.reconnect), _FIRST_PAUSE
        if call.status == OK:
            return _reply(call)
        if not accepted:
            raise Unanswered("unreachable", problem, call.status)
        if call.status not in TEMPORARY or now + pause >= give_up:
            raise Unanswered("late" if now >= end else "lost", problem, call.status)
        sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _request(options: Options, ticket: Ticket, payload: bytes, *, seconds: float) -> Call:
    user = posix.environ.get(b"LOGNAME") or posix.environ.get(b"USER") or b""
    message = permission_request(
        request_id=ticket.request_id,
        secret=ticket.secret,
        platform=options.platform,
        payload=payload,
        wait_ms=max(1, int(seconds * 1000)),
        stance=options.stance,
        facts=client_facts(
            host=posix.uname().nodename,
            pid=posix.getpid(),
            user=user.decode("utf-8", "replace"),
            version=__version__,
        ),
    )
    return Call(_headers(options, "RequestPermission"), message)


def _headers(options: Options, method: str) -> bytes:
    return request_headers(
        path=_SERVICE + method,
        authority="localhost" if _is_local(options) else options.server,
        secure=bool(options.tls_ca),
        token=options.token,
        agent=f"crabhook/{__version__}",
    )


def _confirm(options: Options, ticket: Ticket) -> None:
    """Tell the server that the reply was printed; nothing depends on its hearing it."""
    message = confirm_reply_request(request_id=ticket.request_id, secret=ticket.secret)
    by = monotonic() + _RECEIPT_TIME
    try:
        _attempt(options, Call(_headers(options, "ConfirmReply"), message), accept_by=by, end_by=by)
    except (Exception, KeyboardInterrupt):  # noqa: BLE001 - the reply stands, and its exit code
        return


def _reply(call: Call) -> Reply:
    try:
        return read_reply(call.message)
    except Malformed as error:
        raise Unanswered("lost", f"its answer cannot be read: {error}") from error


def _attempt(options: Options, call: Call, *, accept_by: float, end_by: float) -> str:
    """Carry the call out once; return in words what kept it from being answered, if anything."""
    greet_by = min(accept_by, monotonic() + _GREETING_TIME)
    try:
        line = _connect(options, greet_by)
        try:
            _carry(line, call, greet_by, accept_by, end_by)
        finally:
            line.close()
    except (OSError, Malformed) as error:
        return f"{options.server}: {words(error)}"
    return f"{options.server}: {call.detail}"


def _carry(
    line: "sockets.socket", call: Call, greet_by: float, accept_by: float, end_by: float
) -> None:
    """Move bytes between a connected socket and the call until the call has ended.

    The limits are times of the monotonic clock: for the peer's first word, for
    its taking the request, for its answer.
    """
    unsent = b""
    while call.status is None:
        limit = end_by if call.accepted else accept_by if call.greeted else greet_by
        left = limit - monotonic()
        if left <= 0:
            raise TimeoutError("nobody decided in time" if call.accepted else "no answer in time")
        unsent = unsent or call.take()
        if unsent:
            line.settimeout(0)
            unsent = _send(line, unsent)
            if not unsent:
                continue
        else:
            line.settimeout(left)
        try:
            data = line.recv(1 << 18)
        except BlockingIOError:
            _await_either(line, left)
        except TimeoutError:
            pass  # ours or the network's: the clock knows which
        else:
            if not data:
                raise ConnectionError("the connection was closed")
            call.feed(data)


def _send(line: "sockets.socket", unsent: bytes) -> bytes:
    """Send what the socket takes at once; return the rest."""
    try:
        return unsent[line.send(unsent) :]
    except BlockingIOError:
        return unsent
    except ConnectionError:  # it hung up, and what it said before that is still to be read
        return b""


def _await_either(line: "sockets.socket", seconds: float) -> None:
    import select  # noqa: PLC0415 - only for a payload larger than a socket takes at once

    poll = select.poll()
    poll.register(line, select.POLLIN | select.POLLOUT)
    poll.poll(seconds * 1000)


def _is_local(options: Options) -> bool:
    return options.server.startswith("unix:")


def _connect(options: Options, by: float) -> "sockets.socket":
    if options.tls_ca or not _is_local(options):
        from crabhook.hook.tcp import connect  # noqa: PLC0415 - most servers are local

        return connect(options.server, options.tls_ca, by)
    path = options.server.removeprefix("unix:").encode(_FILES, "surrogateescape")
    _check(path)
    line = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        while True:
            line.settimeout(max(by - monotonic(), 0.001))
            try:
                line.connect(path)
            except BlockingIOError:  # so many are calling that its queue is full
                if monotonic() >= by:
                    raise
                sleep(0.01)
            else:
                return line
    except BaseException:
        line.close()
        raise


def _own_folder() -> bytes:
    """Name the folder where a server of this user listens by default."""
    runtime = posix.environ.get(b"XDG_RUNTIME_DIR")
    return runtime + b"/crabhook" if runtime else b"/tmp/crabhook-%d" % posix.getuid()


def _check(path: bytes) -> None:
    """Refuse the default address where another user could have put a socket of theirs.

    Whoever can answers for the operator; so the folder has to be this user's
    alone, and no link that somebody can turn elsewhere meanwhile.
    """
    folder, _, _ = path.rpartition(b"/")
    if folder != _own_folder():
        return
    about = posix.lstat(folder)
    is_folder = about.st_mode & 0o170000 == 0o040000
    if not is_folder or about.st_uid != posix.getuid() or about.st_mode & 0o022:
        raise PermissionError("its folder is not one that this user alone can write to")


def decoded(name: bytes) -> str:
    """Read a name of the environment as Python reads those of the command line."""
    return name.decode(_FILES, "surrogateescape")


def words(error: Exception) -> str:
    """Say what an error says to a person."""
    return getattr(error, "strerror", None) or str(error)


def _fall_back(options: Options, payload: bytes, unanswered: Unanswered) -> Reply:
    from crabhook.hook.fallback import fall_back  # noqa: PLC0415 - only when nobody answers

    return fall_back(options, payload, unanswered)


def _print(reply: Reply) -> bool:
    """Print the reply and close both streams; say whether the agent took the whole of it."""
    whole = True
    for file, text in ((1, reply.stdout), (2, reply.stderr)):
        try:
            _write(file, text)
            posix.close(file)
        except OSError:
            whole = whole and not text  # a stream we were not given is missed only if needed
    return whole


def _write(file: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        try:
            rest = rest[posix.write(file, rest) :]
        except BlockingIOError:
            sleep(0.01)
