"""What the hook is told by its arguments and its environment, imported only if it is told anything.

Parsed by hand: argparse alone costs as much as starting Python.
"""

import posix

from crabhook.hook.client import Options, decoded, words
from crabhook.hook.messages import COMPANION

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LARGEST_TOKEN = 8 << 10
_LONGEST_WAIT = 1e8  # seconds; for much longer than this a socket cannot be told to wait


def read_options(arguments: "Sequence[str]", environment: "Mapping[bytes, bytes]") -> Options:
    """Read the options; an argument counts for more than a variable.

    A wrong one leaves its line in `problem`, the first of them only, and all
    others are still read: a wish to deny must not be lost to a slip beside it.
    """
    options = Options()
    for name, (variable, _) in _OPTIONS.items():
        if value := environment.get(variable):
            _set(options, name, decoded(value), said_by=variable.decode())
    _read_arguments(options, list(arguments))
    options.token = decoded(environment.get(b"CRABHOOK_TOKEN", b""))
    if options.token_file:
        _read_token(options)
    if any(not "!" <= character <= "~" for character in options.token):
        _blame(options, "the token holds characters that a token cannot have")
    return options


def _read_arguments(options: Options, arguments: list[str]) -> None:
    while arguments:
        argument = arguments.pop(0)
        name, given, value = argument.partition("=")
        if argument == "--companion":
            options.stance = COMPANION
        elif name not in _OPTIONS:
            _blame(options, f"there is no option {argument!r}")
        else:
            # A value never looks like an option: `--server --when-lost deny` forgot one.
            if not given and arguments and not arguments[0].startswith("--"):
                value = arguments.pop(0)
            _set(options, name, value, said_by=name)


def _set(options: Options, name: str, text: str, *, said_by: str) -> None:
    try:
        value = _OPTIONS[name][1](text)
    except ValueError as error:
        _blame(options, f"{said_by} {error}, not {text!r}")
    else:
        setattr(options, name.strip("-").replace("-", "_"), value)


def _read_token(options: Options) -> None:
    try:
        file = posix.open(options.token_file, posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            token = posix.read(file, _LARGEST_TOKEN + 1).strip()
        finally:
            posix.close(file)
    except OSError as error:
        _blame(options, f"cannot read the token file {options.token_file!r}: {words(error)}")
        return
    if not 0 < len(token) <= _LARGEST_TOKEN:
        _blame(options, f"the token file {options.token_file!r} is empty or too large")
    else:
        options.token = decoded(token)


def _blame(options: Options, problem: str) -> None:
    options.problem = options.problem or problem


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
}
