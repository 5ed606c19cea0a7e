"""Where a server listens: `unix:PATH` or `HOST:PORT`, and whether others can reach it there.

Beside the addresses stands what all ports of a server have in common: their bounds, and TLS.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from crabhook.model.card import number_of
from crabhook.model.errors import CrabhookError

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
