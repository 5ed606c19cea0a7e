"""The thin client: an island that costs about what starting Python costs.

It imports nothing of the house, and of the standard library only what a bare interpreter has loaded
already. The only exception is made here: the C module under `socket`, which costs a twentieth of
`socket` itself. Where a Python has none, the public module does the same.

Here is also what all its parts share: the options of a hook, and why a request has no answer. The
options are parsed by hand, since argparse alone costs as much as starting Python.
"""

import posix
import sys

from crabhook.hook.wire import COMPANION, GATE

try:
    import _socket as sockets
except ImportError:
    import socket as sockets  # type: ignore[no-redef]

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crabhook.hook.wire import WireReply

__all__ = ["Options", "Unanswered", "read_options", "sockets"]

FILES = sys.getfilesystemencoding()
_AUTHORITY = 32 + 33  # bytes: an id, and a point of P-256
_LONGEST_WAIT = 1e8  # seconds; a socket cannot wait much longer


class Unanswered(Exception):  # noqa: N818 - a fact about the operator, not a fault of the program
    """There is no answer; the text says why, and `status` is the server's gRPC code, if any.

    `kind` is the fault, a key of fallback.KINDS. Wrong options are "options", and a wrong input is
    "input". A request is "unreachable" when the server never took it, "lost" or "late" when it had.
    Our own fault is "fault". A strict hook's answer is "unsigned", and `unsigned` that answer.
    """

    def __init__(
        self,
        kind: str,
        problem: str,
        status: int | None = None,
        unsigned: "WireReply | None" = None,
    ) -> None:
        super().__init__(problem)
        self.kind = kind
        self.status = status
        self.unsigned = unsigned


class Options:
    """The server, the timeouts and the fallback; these are the defaults."""

    def __init__(self) -> None:
        self.server = f"unix:{decoded(own_folder())}/crabhook.sock"  # or "HOST:PORT"
        self.token = self.token_file = ""
        self.tls_ca = ""  # a file of certificates; empty is no TLS
        self.wait = 3630.0  # seconds for all of it
        self.reconnect = 120.0  # seconds to find a lost server again
        self.platform = "claude"
        self.stance = GATE
        self.when_unreachable = self.when_lost = "pass"  # or "ask", or "deny"
        self.team = ""  # a team's file, by which a strict hook knows who signs
        self.authority = b""  # the team's id, and the public key of its authority
        self.team_version = 0  # the least that the file may have
        self.need = 1  # people who have to sign, at least
        self.of: tuple[str, ...] = ()  # of whom they are: names, and groups as @leads
        self.when_unsigned = ""  # as above; empty for what counts when the answer is lost
        self.problem = ""  # the first fault of the options, if there is one

    def blame(self, problem: str) -> None:
        """Keep the first fault only."""
        self.problem = self.problem or problem


def read_options(arguments: "Sequence[str]", environment: "Mapping[bytes, bytes]") -> Options:
    """Read the options; an argument counts for more than a variable.

    A wrong option leaves its line in `problem`, and all others are still read: a typing error must
    not lose a wish to deny.
    """
    options = Options()
    for name, (variable, _) in _OPTIONS.items():
        if value := environment.get(variable):
            _set(options, name, decoded(value), from_ruling=variable.decode())
    _read_arguments(options, list(arguments))
    if bool(options.team) != bool(options.authority):
        options.blame("--team and --authority belong together: a strict hook needs both")
    options.token = decoded(environment.get(b"CRABHOOK_TOKEN", b""))
    if options.token_file:
        from crabhook.hook.tcp import read_token  # a socket needs no token

        path = options.token_file
        try:
            options.token = decoded(read_token(path))
        except OSError as error:
            options.blame(f"cannot read the token file {path!r}: {words(error)}")
        except ValueError as error:
            options.blame(str(error))
    if any(not "!" <= character <= "~" for character in options.token):
        options.blame("the token holds characters that a token cannot have")
    return options


def _read_arguments(options: Options, arguments: list[str]) -> None:
    while arguments:
        argument = arguments.pop(0)
        name, equals, value = argument.partition("=")
        if argument == "--companion":
            options.stance = COMPANION
        elif name not in _OPTIONS:
            options.blame(f"there is no option {argument!r}")
        else:
            # A value never looks like an option: in `--server --when-lost deny` a value is missing.
            if not equals and arguments and not arguments[0].startswith("--"):
                value = arguments.pop(0)
            _set(options, name, value, from_ruling=name)


def _set(options: Options, name: str, text: str, *, from_ruling: str) -> None:
    try:
        value = _OPTIONS[name][1](text)
    except ValueError as error:
        options.blame(f"{from_ruling} {error}, not {text!r}")
    else:
        setattr(options, name.strip("-").replace("-", "_"), value)


def _text(text: str) -> str:
    if not text or "\0" in text:
        raise ValueError("needs a value")
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _LONGEST_WAIT:
        raise ValueError("needs a number of seconds")
    return seconds


def _some_seconds(text: str) -> float:
    seconds = _seconds(text)
    if seconds == 0:
        raise ValueError("needs more than no time")
    return seconds


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) < 1 << 16):
        raise ValueError("needs a number from 1 to 65535")
    return int(text)


def _people(text: str) -> tuple[str, ...]:
    people = tuple(text.split(","))
    if not all(people) or not text.isprintable():
        raise ValueError("needs names, or groups as in @leads, with commas between them")
    return people


def _version(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise ValueError("needs a number")
    return int(text)


def _authority(text: str) -> bytes:
    raw = bytes.fromhex(text) if text.isascii() and text.isalnum() else b""
    if len(raw) != _AUTHORITY:
        raise ValueError("needs the team's id and key, as `crabhook install --strict` writes them")
    return raw


def _wish(text: str) -> str:
    if text not in ("pass", "ask", "deny"):
        raise ValueError("is one of pass, ask and deny")
    return text


# Each option, the variable that says the same, and what its text has to be.
_OPTIONS = {
    "--server": (b"CRABHOOK_SERVER", _text),
    "--token-file": (b"", _text),
    "--tls-ca": (b"", _text),
    "--wait": (b"CRABHOOK_WAIT", _some_seconds),
    "--reconnect": (b"", _seconds),
    "--platform": (b"", _text),
    "--when-unreachable": (b"CRABHOOK_WHEN_UNREACHABLE", _wish),
    "--when-lost": (b"CRABHOOK_WHEN_LOST", _wish),
    "--team": (b"", _text),
    "--authority": (b"", _authority),
    "--team-version": (b"", _version),
    "--need": (b"", _count),
    "--of": (b"", _people),
    "--when-unsigned": (b"", _wish),
}


def own_folder() -> bytes:
    """Return this user's default folder for a server's socket."""
    runtime = posix.environ.get(b"XDG_RUNTIME_DIR")
    return runtime + b"/crabhook" if runtime else open_folder()


def open_folder() -> bytes:
    """Return the default folder where there is no other: any user may create it."""
    return b"/tmp/crabhook-%d" % posix.getuid()


def decoded(name: bytes) -> str:
    """Decode a name of the environment as Python decodes command lines."""
    return name.decode(FILES, "surrogateescape")


def words(error: Exception) -> str:
    """Return an error's text for a person."""
    return getattr(error, "strerror", None) or str(error)
