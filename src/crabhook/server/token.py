"""The token that clients beyond the Unix socket show: where it is kept, and who may ask.

A client that reaches the Unix socket may ask; over TCP it must show the token.
"""

import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from crabhook.model.errors import CrabhookError
from crabhook.ownfile import open_own

if TYPE_CHECKING:
    import grpc

_LARGEST = 8 << 10  # bytes, as the client reads it


class TokenError(CrabhookError):
    """A token file that cannot be used."""


def load_or_make(path: Path) -> str:
    """Return the token kept at `path`, made at the first start.

    Raises TokenError where the file is empty, or readable by others.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _load(path)  # which finds out if it is the folder that is a file
    except OSError as error:
        raise TokenError(f"the token file {path} cannot be made: {error.strerror}") from error
    token = secrets.token_urlsafe(32)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


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
