"""Where a server listens, who may ask there, and whether others can reach it.

An address is `unix:PATH` or `HOST:PORT`.  Beside the addresses stands what all ports of a server
have in common: their bounds, TLS, and the token.  A client that reaches the Unix socket may ask;
over TCP it must show the token.
"""

import os
import re
import secrets
import socket
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from crabhook.model.card import number_of
from crabhook.model.errors import CrabhookError
from crabhook.ownfile import open_own, write_own

if TYPE_CHECKING:
    import grpc


MAX_SOCKET_PATH = 103  # bytes; the smallest bound of the systems we run on (macOS)
MAX_REQUEST = 33 << 20  # bytes: the client's bound of 32 MiB, and the envelope
BACKLOG = 4096  # connections at once; where the queue is full, Node gives up connecting
GRACE = 2.0  # seconds for replies under way when a port closes


class AddressError(CrabhookError):
    """An address nobody could listen on."""


class PortError(CrabhookError):
    """A port that cannot be opened as it was asked for."""


@dataclass(frozen=True, slots=True)
class Tls:
    """The server's certificate chain and key, as PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A socket file."""

    path: Path

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A host, by name or number, and a port; port 0 lets the system choose one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        number = number_of(self.host)
        return self.host == "localhost" or (number is not None and number.is_loopback)


Address: TypeAlias = UnixAddress | TcpAddress


def is_listened_at(address: Address) -> bool:
    """Whether somebody takes connections there, on this machine; who it is the doctor finds out."""
    try:
        if isinstance(address, TcpAddress):
            socket.create_connection((address.host, address.port), 1).close()
        else:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(0)
                line.connect(str(address.path))
    except BlockingIOError:  # so many call that its queue is full
        return True
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where HTTP is spoken."""

    place: TcpAddress
    tls: bool

    def __str__(self) -> str:
        return f"http{'s' if self.tls else ''}://{self.place}"


def default_address() -> UnixAddress:
    """Return the socket in the user's runtime folder, where the client looks without being told."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    root = Path(folder, "crabhook") if folder else Path(f"/tmp/crabhook-{os.getuid()}")  # noqa: S108 - made 0700, owner checked
    return UnixAddress(root / "crabhook.sock")


def asked_address() -> str:
    """Return the server that a hook asks which is told of none, in the environment we are in."""
    return os.environ.get("CRABHOOK_SERVER") or str(default_address())


def parse_address(text: str) -> Address:
    """Return the address `text` names; raise AddressError, saying how to write one."""
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
    """Return where a server listens: on a Unix socket always, where hooks look without --server."""
    wanted = [parse_address(text) for text in listen]
    local = any(isinstance(one, UnixAddress) for one in wanted)
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
    """Return the token kept at `path`, made at the first start.

    Raises TokenError where the file is empty, or readable by others.
    """
    made = f"{secrets.token_urlsafe(32)}\n".encode("ascii")
    try:
        if not os.path.lexists(path):
            write_own(path, made, new=True)
    except FileExistsError:
        pass  # another server was first, or it is the folder that is a file: reading it tells
    except OSError as error:
        raise TokenError(f"the token file {path} cannot be made: {error.strerror}") from error
    return _load(path)


def _load(path: Path) -> str:
    try:
        with open_own(path, links=True) as (file, found):
            mode = stat.S_IMODE(found.st_mode)
            token = file.read(_LARGEST).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise TokenError(f"the token file {path} cannot be read: {why}") from error
    if mode & 0o077:
        raise TokenError(f"others can read the token file {path} (mode {mode:o}): chmod 600 {path}")
    if not token:
        raise TokenError(f"the token file {path} is empty: remove it, and a new one is made")
    return token


_BEARER = "Bearer "


def _no_machine(_: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What those beyond the Unix socket may show: the server's own token, or a machine's own.

    `machine_of` names the machine whose token it is, at this moment: it may be revoked.
    """

    own: str | None = field(default=None, repr=False)
    machine_of: Callable[[str], str | None] = _no_machine

    def whose(self, authorization: str) -> str | None:
        """Return the machine whose token a header shows; "" for the server's own, None for neither.

        The own one is compared in a time that tells nothing about it, machines' by their digests.
        """
        if self.own is not None and compare_digest(
            authorization.encode("utf-8"), f"{_BEARER}{self.own}".encode()
        ):
            return ""
        if not authorization.startswith(_BEARER):
            return None
        return self.machine_of(authorization.removeprefix(_BEARER))


Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

NO_TOKEN = "no token, or a wrong one: give the server's token with --token-file"  # noqa: S105 - none


def admitted(context: Context, tokens: Tokens) -> str | None:
    """Return the machine that the peer is, as its token tells; "" for another who may ask.

    None is for who may not.
    """
    if context.peer().startswith("unix:"):
        return ""  # the socket's folder let nobody else in
    headers = dict(context.invocation_metadata() or ())
    shown = headers.get("authorization", "")
    return tokens.whose(shown) if isinstance(shown, str) else None
