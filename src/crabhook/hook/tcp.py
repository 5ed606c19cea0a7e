"""TCP connections to servers, without TLS on loopback alone, and the token for them.

Another user who can write the token's file can stop our hooks with a wrong token; another user who
can read the file can ask in our name. So a file that others can read or write is refused, as the
server refuses its own.
"""

import posix
from _thread import allocate_lock, start_new_thread  # built in; `threading` is one more import
from time import monotonic

from crabhook.hook import sockets

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    AddressInfo = tuple[
        int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
    ]

# The kernel notices a silent peer in about a minute: it probes after thirty seconds, then every
# ten, and gives up after the third probe.
_KEEPALIVE = {
    "TCP_NODELAY": 1,
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 60_000,  # milliseconds, for what was sent and not acknowledged
}


def connect(server: str, tls_ca: str, by: float) -> "sockets.socket":
    """Connect to HOST:PORT before the time `by`; raise OSError on failure."""
    host, port = _split(server)
    if not tls_ca and host != "localhost":
        _need_loopback(host)
    addresses = _resolve(host, port, by)
    if not tls_ca:  # a file on this machine may give even localhost another address
        for *_, address in addresses:
            _need_loopback(str(address[0]))
    sock = _connect_first(addresses, by)
    try:
        sock.setsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(sockets, name):
                sock.setsockopt(sockets.IPPROTO_TCP, getattr(sockets, name), value)
        if not tls_ca:
            return sock
        from crabhook.hook.tls import wrap  # ssl costs twice Python's own start

        return wrap(sock, host, tls_ca, seconds=max(by - monotonic(), 0.001))
    except BaseException:
        sock.close()
        raise


def _split(server: str) -> tuple[str, int]:
    host, _, port = server.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if not server.isascii():
        raise OSError("not an address: write an international name in its xn-- form")
    if not host or (":" in host and not bracketed) or not port.isdigit():
        raise OSError("not an address: it is unix:PATH, HOST:PORT or [ADDRESS]:PORT")
    if len(port) > 5 or not 0 < int(port) < 65536:
        raise OSError("not an address: a port is 1 to 65535")
    return host, int(port)


def _resolve(host: str, port: int, by: float) -> "list[AddressInfo]":
    """Return the addresses of a host; raise OSError where none is known at the time `by`.

    A resolver without an answer blocks for ten seconds or more, and cannot be interrupted. So a
    thread calls it, and the process does not wait for that thread.
    """
    name = host.encode()  # a str would import the codec for international names, and `re`
    try:
        return sockets.getaddrinfo(name, port, 0, sockets.SOCK_STREAM, 0, sockets.AI_NUMERICHOST)
    except sockets.gaierror:  # it is a name
        pass
    answers: list[list[AddressInfo]] = []
    problems: list[Exception] = []
    looked = allocate_lock()
    looked.acquire()

    def look() -> None:
        try:
            answers.append(sockets.getaddrinfo(name, port, 0, sockets.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - the waiting caller raises it
            problems.append(error)
        looked.release()

    try:
        start_new_thread(look, ())
    except RuntimeError:  # the system gives us no thread
        look()
    if not looked.acquire(timeout=max(by - monotonic(), 0.001)):
        raise TimeoutError("no name server answers in time")
    if problems:
        error = problems[0]
        if isinstance(error, sockets.gaierror):
            raise OSError(f"no host of this name is known here ({error.strerror})") from error
        raise error
    return answers[0]


def _need_loopback(host: str) -> None:
    """Raise PermissionError unless `host` is an address of this machine's loopback."""
    for family, loopback in ((sockets.AF_INET, b"\x7f"), (sockets.AF_INET6, b"\0" * 15 + b"\1")):
        try:
            if sockets.inet_pton(family, host).startswith(loopback):
                return
        except OSError:  # not an address of this family
            continue
    raise PermissionError(
        "the request and the token would travel in the clear: give --tls-ca, or use loopback"
    )


def _connect_first(addresses: "list[AddressInfo]", by: float) -> "sockets.socket":
    """Return a connection to the first address, in the resolver's order, that accepts it."""
    problem: OSError = TimeoutError("no answer in time")
    for family, kind, protocol, _, address in addresses:
        left = by - monotonic()
        if left <= 0:
            break
        sock = sockets.socket(family, kind, protocol)
        try:
            sock.settimeout(left)
            sock.connect(address)
        except OSError as error:
            sock.close()
            problem = error
        else:
            return sock
    raise problem


_LARGEST = 8 << 10
_KIND, _REGULAR = 0o170000, 0o100000  # of a mode; `stat` is one more import


def read_token(path: str) -> bytes:
    """Return the token in a file; raise OSError, or ValueError with the reason of a refusal."""
    file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        mode = posix.fstat(file).st_mode
        if mode & _KIND != _REGULAR:
            raise ValueError(f"the token file {path!r} is not a file")
        if mode & 0o077:
            raise ValueError(
                f"others can read or write the token file {path!r} (mode {mode & 0o777:o}): "
                f"chmod 600 {path}"
            )
        token = posix.read(file, _LARGEST + 1).strip()
    finally:
        posix.close(file)
    if not 0 < len(token) <= _LARGEST:
        raise ValueError(f"the token file {path!r} is empty or too large")
    return token
