"""A server's addresses, and the tokens that clients show there.

An address is `unix:PATH` or `HOST:PORT`. All ports of a server share the limits, TLS and the token
in this module. A client that reaches the Unix socket may ask; over TCP a client must show the
token.
"""

import os
import re
import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.card import number_of
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import open_own, write_own

if TYPE_CHECKING:
    import grpc


MAX_SOCKET_PATH = 103  # bytes; the smallest limit of our systems (macOS)
MAX_REQUEST = 33 << 20  # bytes: the client's bound of 32 MiB, and the envelope
MAX_REPLY = 100 << 20  # bytes: JSON in ASCII is up to three times as long as the request was
BACKLOG = 4096  # connections waiting for accept; at a full queue, Node gives up
GRACE = 2.0  # seconds for replies under way when a port closes


class AddressError(CrabhookError):
    """An address that no server can listen on."""


class PortError(CrabhookError):
    """A port that cannot be opened as the owner asked."""


@frozen
class Tls:
    """The server's certificate chain and key, as PEM files."""

    certificate: Path
    key: Path


@frozen
class UnixAddress:
    """A socket file."""

    path: Path

    def __str__(self) -> str:
        return f"unix:{self.path}"


@frozen
class TcpAddress:
    """A host, by name or number, and a port; port 0 lets the system choose one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        number = number_of(self.host)
        return self.host == "localhost" or (number is not None and number.is_loopback)


Address: TypeAlias = UnixAddress | TcpAddress


OWN_PAIR = "give --tls-cert and --tls-key, or listen on 127.0.0.1"


def require_tls(address: Address, tls: object, advice: str = f": {OWN_PAIR}") -> None:
    """Raise PortError, with `advice`, for an address of other machines without TLS."""
    if not tls and isinstance(address, TcpAddress) and not address.loopback:
        raise PortError(f"{address} can be reached from other machines, so it needs TLS{advice}")


@frozen
class HttpAddress:
    """An address for HTTP."""

    address: TcpAddress
    tls: bool

    def __str__(self) -> str:
        return f"http{'s' if self.tls else ''}://{self.address}"


FOR_BROWSERS = " for browsers"
"""What follows the address of a page where a server says at what it listens."""


@frozen
class PageAddress:
    """Where a browser finds the web desk."""

    url: str

    def __str__(self) -> str:
        return f"{self.url}{FOR_BROWSERS}"


def default_address() -> UnixAddress:
    """Return the socket in the user's runtime folder, the client's default."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    root = Path(folder, "crabhook") if folder else Path(f"/tmp/crabhook-{os.getuid()}")  # noqa: S108 - made 0700, owner checked
    return UnixAddress(root / "crabhook.sock")


def asked_address() -> str:
    """Return the address that a hook asks by default in this environment."""
    return os.environ.get("CRABHOOK_SERVER") or str(default_address())


def parse_address(text: str) -> Address:
    """Return the address in `text`; raise AddressError, with the right format."""
    if text.startswith("unix:"):
        return _unix(text.removeprefix("unix:"))
    if "://" in text:
        raise AddressError(f"{text!r} is a URL: write HOST:PORT alone")
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise AddressError(f"{text!r}: write an IPv6 address in brackets, as in [::1]:7777")
    if not colon or not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise AddressError(f"{text!r} is no address: write unix:PATH or HOST:PORT")
    return TcpAddress(host, int(port))


def own_addresses(listen: Sequence[str]) -> list[Address]:
    """Return the server's addresses: always a Unix socket, where hooks without --server look."""
    wanted = [parse_address(text) for text in listen]
    local = any(isinstance(address, UnixAddress) for address in wanted)
    return wanted if local else [default_address(), *wanted]


def _unix(text: str) -> UnixAddress:
    if not text:
        raise AddressError("'unix:' needs the path of a socket, as in unix:/run/user/1000/x.sock")
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise AddressError(f"{text!r} is no path: {error}") from error
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise AddressError(f"{path} is longer than the {MAX_SOCKET_PATH} bytes a socket may have")
    return UnixAddress(path)


_LARGEST = 8 << 10  # bytes, as the client reads it


class TokenError(CrabhookError):
    """A token file that cannot be used."""


def load_or_make(path: Path) -> str:
    """Return the token kept at `path`; the first start makes it.

    Raises TokenError where the file is empty, or where others can read it.
    """
    made = f"{secrets.token_urlsafe(32)}\n".encode("ascii")
    try:
        if not os.path.lexists(path):
            write_own(path, made, new=True)
    except FileExistsError:
        pass  # another server made it, or the folder is a file: the read below decides
    except OSError as error:
        raise TokenError(f"the token file {path} cannot be made: {error.strerror}") from error
    return _load(path)


def _load(path: Path) -> str:
    try:
        with open_own(path, links=True) as (file, status):
            mode = stat.S_IMODE(status.st_mode)
            token = file.read(_LARGEST).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise TokenError(f"the token file {path} cannot be read: {why}") from error
    if mode & 0o077:
        raise TokenError(f"others can read the token file {path} (mode {mode:o}): chmod 600 {path}")
    if not token:
        raise TokenError(f"the token file {path} is empty: remove it, and a new token is made")
    return token


_BEARER = "Bearer "


def digest_of(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class SharedToken:
    """The token that all servers of a record admit, by its digest; "" without one."""

    digest: str = ""

    def admits(self, token: str) -> bool:
        """Whether this is the token."""
        return bool(self.digest) and compare_digest(digest_of(token), self.digest)


@frozen
class Tokens:
    """The tokens for clients beyond the Unix socket: the server's own, or a machine's own.

    `machine_of` returns the machine of a token at this moment, since an admin may revoke a token.
    `shared` is of the servers of one record: a hook shows the same token after a fail-over.
    `file` is where the server's own lies.
    """

    own: str | None = field(default=None, repr=False)
    machine_of: Callable[[str], str | None] = lambda _token: None
    shared: SharedToken = field(default_factory=SharedToken, repr=False)
    file: str = ""

    def whose(self, authorization: str) -> str | None:
        """Return the machine of a header's token; "" for a server's own token, None for neither.

        The server's token is compared in constant time, and machines' tokens by their digests.
        """
        if self.own is not None and compare_digest(
            authorization.encode("utf-8"), f"{_BEARER}{self.own}".encode()
        ):
            return ""
        if not authorization.startswith(_BEARER):
            return None
        token = authorization.removeprefix(_BEARER)
        return "" if self.shared.admits(token) else self.machine_of(token)


Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

NO_TOKEN = "no token, or a wrong token: give the server's token with --token-file"  # noqa: S105 - none


def admitted(context: Context, tokens: Tokens) -> str | None:
    """Return the peer's machine by its token; "" for a peer without one, None to refuse it."""
    if context.peer().startswith("unix:"):
        return ""  # only our own user can enter the socket's folder
    headers = dict(context.invocation_metadata() or ())
    shown = headers.get("authorization", "")
    return tokens.whose(shown) if isinstance(shown, str) else None
