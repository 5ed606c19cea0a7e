"""Settings: from the file, then the environment, then the flags, resolved once.

The file is TOML, `$XDG_CONFIG_HOME/crabhook/settings.toml` unless told
otherwise; docs/reference/settings.md lists every setting.  A setting that is wrong is
an error that names its line: a broker that runs with other settings than its
owner wrote is worse than one that does not start.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crabhook.model.errors import CrabhookError
from crabhook.ownfile import read_own

LARGEST = 1 << 20  # bytes of a settings file


class SettingsError(CrabhookError):
    """A setting that cannot be used."""


KINDS = ("call", "question", "plan", "form", "stop")
"""The kinds of card an operator can be called for."""

SEQUENCES = ("osc9", "osc777", "osc99")
"""The escape sequences a terminal may know for a notification."""


NEVER = 1e9
"""Seconds a request may wait whose wait the server shall never end: more than any hook's."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set.  Times are in the unit the name ends with, else seconds.

    `bell`, `notify`, `title` and `command` list the kinds of card that call
    the operator in that way.  `reviewer` is a command; none is the operator.
    """

    listen: tuple[str, ...] = ()
    ndjson: str | None = None
    http: str | None = None
    http_name: tuple[str, ...] = ()
    wait: float = 3600.0
    token_file: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    headless: bool = False
    otherwise: str = "pass"
    log_format: str = "text"
    log_level: str | None = None
    plain: bool = False
    ascii: bool = False
    arming_ms: int = 400
    take_back_ms: int | None = None
    bell: tuple[str, ...] = KINDS
    notify: tuple[str, ...] = ()
    title: tuple[str, ...] = KINDS
    command: tuple[str, ...] = ()
    sequence: str = "osc9"
    program: tuple[str, ...] = ()
    on_trouble: str = "decide"
    keep_days: float = 180.0
    keep_megabytes: float = 2000.0
    head_command: tuple[str, ...] = ()
    max_waiting: int = 16_384
    max_waiting_megabytes: float = 256.0
    max_session_waiting: int = 1024
    max_session_megabytes: float = 64.0
    reviewer: tuple[str, ...] = ()
    review_limit: int = 20
    review_timeout: float = 600.0


def config_folder() -> Path:
    """Return where people write settings."""
    return _base("XDG_CONFIG_HOME", ".config") / "crabhook"


def state_folder() -> Path:
    """Return where crabhook keeps what must outlive it."""
    return _base("XDG_STATE_HOME", ".local/state") / "crabhook"


def token_file() -> Path:
    """Return where the server keeps the token that clients show, unless it is told of another."""
    return state_folder() / "token"


def _base(variable: str, otherwise: str) -> Path:
    chosen = os.environ.get(variable, "")
    return Path(chosen) if chosen.startswith("/") else Path.home() / otherwise


def load(path: Path | None = None) -> Settings:
    """Return the settings in `path`, or in the usual place, or the defaults where there is no file.

    Raises SettingsError for a file that cannot be read, and for the first
    setting in it that is unknown or wrong.
    """
    file = path or config_folder() / "settings.toml"
    try:
        text = read_own(file, LARGEST, links=True).decode()
    except FileNotFoundError:
        if path is None:
            return Settings()
        raise SettingsError(f"there is no settings file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError(f"the settings file {file} cannot be read: {why}") from error
    return parse(text, str(file))


def parse(text: str, name: str) -> Settings:
    """Return the settings in a file's text; `name` is what errors call the file."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name}: not TOML: {error}") from error
    except RecursionError as error:
        raise SettingsError(f"{name}: it is nested too deeply") from error
    changes: dict[str, Any] = {}
    for table, values in tables.items():
        known = _TABLES.get(table)
        if known is None:
            raise _wrong(name, text, table, "", f"there is no table {table!r}{_known(_TABLES)}")
        if not isinstance(values, dict):
            raise _wrong(name, text, table, "", f"{table} must be a table, as in [{table}]")
        for key, value in values.items():
            read = known.get(key)
            if read is None:
                what = f"there is no setting {key!r} in [{table}]{_known(known)}"
                raise _wrong(name, text, table, key, what)
            try:
                changes[_FIELDS.get((table, key), key)] = read(value)
            except ValueError as error:
                raise _wrong(name, text, table, key, f"{key} {error}") from None
    return Settings(**changes)


def override(settings: Settings, flags: Mapping[str, Any]) -> Settings:
    """Return the settings with those flags that were given in their place.

    A flag has its setting's name and takes the same values; raises
    SettingsError for one that does not.
    """
    changes: dict[str, Any] = {}
    for table in _WITH_FLAGS:
        for key, read in _TABLES[table].items():
            if flags.get(key) is None:
                continue
            try:
                changes[key] = read(flags[key])
            except ValueError as error:
                raise SettingsError(f"--{key.replace('_', '-')} {error}") from None
    return replace(settings, **changes)


def _wrong(name: str, text: str, table: str, key: str, what: str) -> SettingsError:
    return SettingsError(f"{name}, line {_line_of(text, table, key)}: {what}")


def _known(names: Mapping[str, object]) -> str:
    return f"; known are: {', '.join(names)}"


def _line_of(text: str, table: str, key: str) -> int:
    """Return the line a setting stands on; TOML's own reader does not tell."""
    inside, found = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([^]]+?)\s*\]", line):
            inside = header[1].strip("\"'")
            if inside == table:
                found = number
        name = re.match(r"\s*([\w.\"'-]+)\s*=", line)
        written = name[1].replace('"', "").replace("'", "") if name else ""
        if (inside == table and key and written == key) or (
            not inside and written in (f"{table}.{key}", table)
        ):
            return number
    return found


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a text")
    return value


def _path(value: object) -> Path:
    try:
        return Path(_text(value)).expanduser()
    except RuntimeError as error:  # a home nobody has
        raise ValueError(f"is no path: {error}") from None


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError('must be a list of texts, as in ["127.0.0.1:7777"]')
    return tuple(map(_text, value))


def _kinds(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(kind in KINDS for kind in value):
        raise ValueError(f"must be a list of some of: {', '.join(KINDS)}")
    return tuple(value)


def _program(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise ValueError('must be a list of texts, as in ["notify-send", "crabhook"]')
    return tuple(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - as above
    return value


def _one_of(*known: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in known:
            raise ValueError(f"must be one of: {', '.join(known)}")
        return str(value)

    return read


def _number(
    kind: type[int] | type[float], above: float, below: float, what: str
) -> Callable[[object], Any]:
    """Return what reads a number between two others, which it may not be; `what` names it."""

    def read(value: object) -> int | float:
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, kind))
            or not above < value < below
        ):
            raise ValueError(f"must be {what}")
        return kind(value)

    return read


_seconds = _number(float, 0, 1e9, "a number of seconds above 0")
_above_zero = _number(float, 0, 1e9, "a number above 0")
_whole = _number(int, 0, 10**9, "a whole number above 0")
_milliseconds = _number(int, -1, 60_001, "a whole number of milliseconds, 0 to 60000")


def _wait(value: object) -> float:
    if value == "never":
        return NEVER
    try:
        return float(_seconds(value))
    except ValueError as error:
        raise ValueError(f'{error}, or "never"') from None


def _on_trouble(value: object) -> str:
    if value not in ("decide", "refuse"):
        raise ValueError('must be "decide" or "refuse"')
    return str(value)


def _reviewer(value: object) -> tuple[str, ...]:
    if value == "operator":
        return ()
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise ValueError('must be "operator", or a list of texts, as in ["/path/to/judge", "-v"]')
    return (_text(value[0]), *value[1:])


_WITH_FLAGS = ("server", "desk")

_TABLES: Mapping[str, Mapping[str, Callable[[object], Any]]] = {
    "server": {
        "listen": _texts,
        "ndjson": _text,
        "http": _text,
        "http_name": _texts,
        "wait": _wait,
        "token_file": _path,
        "tls_cert": _path,
        "tls_key": _path,
        "headless": _flag,
        "otherwise": _one_of("pass", "ask", "deny"),
        "log_format": _one_of("text", "json"),
        "log_level": _one_of("debug", "info", "warning", "error"),
    },
    "desk": {
        "plain": _flag,
        "ascii": _flag,
        "arming_ms": _milliseconds,
        "take_back_ms": _milliseconds,
    },
    "attention": {
        "bell": _kinds,
        "notify": _kinds,
        "title": _kinds,
        "command": _kinds,
        "sequence": _one_of(*SEQUENCES),
        "program": _program,
    },
    "record": {
        "on_trouble": _on_trouble,
        "keep_days": _above_zero,
        "keep_megabytes": _above_zero,
        "head_command": _texts,
    },
    "waiting": {
        "max_waiting": _whole,
        "max_waiting_megabytes": _above_zero,
        "max_session_waiting": _whole,
        "max_session_megabytes": _above_zero,
    },
    "supervisor": {
        "reviewer": _reviewer,
        "limit": _whole,
        "timeout": _seconds,
    },
}

# Settings whose names say enough only beside their table's.
_FIELDS: Mapping[tuple[str, str], str] = {
    ("supervisor", "limit"): "review_limit",
    ("supervisor", "timeout"): "review_timeout",
}
