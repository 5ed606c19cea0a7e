"""The settings, from the settings file and then the flags; docs/reference/settings.md lists them.

A wrong setting is an error that names its line: a server with other settings than its owner wrote
is worse than none.
"""

import os
import re
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import Field, field, fields, replace
from functools import cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own

if TYPE_CHECKING:
    from crabhook.export.wish import ExportWish
    from crabhook.team.identity import OidcPolicy

LARGEST = 1 << 20  # bytes of a settings file


class SettingsError(CrabhookError):
    """A setting that cannot be used."""


KINDS = ("call", "question", "plan", "form", "stop")
"""The kinds of card for which a screen can call the operator."""

SEQUENCES = ("osc9", "osc777", "osc99")
"""The escape sequences for a notification that terminals know."""

DETAILS = ("brief", "full")
"""How much of each request the plain desk shows a person."""

THEMES = ("auto", "dark", "light", "high-contrast", "mono")
"""The sets of colours of the full screen."""

NEVER = 1e9
"""Seconds of a wait that the server never ends: more than any hook waits."""

T = TypeVar("T")
Reader: TypeAlias = Callable[[object], Any]
"""Returns a setting's value as the program uses it; ValueError says what the value must be."""


def _must_be(what: str, fits: Callable[[Any], object]) -> Reader:
    """Return a reader that takes the values which fit, as they are."""

    def read(value: object) -> object:
        if not fits(value):
            raise ValueError(f"must be {what}")
        return value

    return read


def _one_of(*words: str, what: str = "") -> Reader:
    return _must_be(what or f"one of: {', '.join(words)}", lambda value: value in words)


def _number(kind: type[int] | type[float], above: float, below: float, what: str) -> Reader:
    """Return a reader of numbers between two exclusive bounds; `what` describes them."""

    def fits(value: object) -> bool:
        is_number = isinstance(value, (int, kind)) and not isinstance(value, bool)
        return is_number and above < value < below  # type: ignore[operator]

    read = _must_be(what, fits)
    return lambda value: kind(read(value))


_flag = _must_be("true or false", lambda value: isinstance(value, bool))
_text = _must_be("a text", lambda value: isinstance(value, str) and value)
_PLACE = re.compile(r"([^\s:\[\]]+|\[[0-9A-Fa-f:.%]+\]):[0-9]{1,5}")
_host_port = _must_be("HOST:PORT", lambda value: _PLACE.fullmatch(_text(value)))


def _path(value: object) -> Path:
    try:
        return Path(_text(value)).expanduser()
    except RuntimeError as error:  # ~NAME of an unknown user
        raise ValueError(f"is no path: {error}") from None


def _store(value: object) -> str:
    text: str = _text(value)
    if ":" in text.partition("/")[0] and not text.startswith((*SHARED, "sqlite:///")):
        raise ValueError("is neither a folder nor postgresql://USER@HOST/DATABASE")
    return text if "://" in text else str(_path(text))


def _list_of(what: str, fits: Callable[[Any], object] = bool) -> Reader:
    """Return a reader of lists that fit: by default of all but an empty list."""
    read = _must_be(what, lambda value: isinstance(value, list) and fits(value))
    return lambda value: tuple(read(value))


_list = _list_of('a list of texts, as in ["127.0.0.1:7777"]')
_kinds = _list_of(
    f"a list of some of: {', '.join(KINDS)}", lambda value: all(kind in KINDS for kind in value)
)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


# A host, a host with all names below it, or a port of this machine.
_SERVICE = re.compile(
    r"(?![0-9.]+$)(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+|(127\.0\.0\.1|\[::1\]|localhost):[1-9][0-9]{0,4}",
    re.ASCII,
)
_services = _list_of(
    'a list of hosts, as in ["push.example.org", "*.example.org", "127.0.0.1:8030"]',
    lambda value: all(isinstance(text, str) and _SERVICE.fullmatch(text) for text in value),
)


def _are_texts(value: list[object]) -> bool:
    return bool(value) and all(isinstance(text, str) for text in value)


_program = _list_of('a list of texts, as in ["notify-send", "crabhook"]', _are_texts)
_judge = _list_of('"operator", or a list of texts, as in ["/path/to/judge", "-v"]', _are_texts)


def _reviewer(value: object) -> tuple[str, ...]:
    if value == "operator":
        return ()
    words = _judge(value)
    return (_text(words[0]), *words[1:])


_seconds = _number(float, 0, 1e9, "a number of seconds above 0")
_above_zero = _number(float, 0, 1e9, "a number above 0")
_whole = _number(int, 0, 10**9, "a whole number above 0")
_milliseconds = _number(int, -1, 60_001, "a whole number of milliseconds, 0 to 60000")
_time_or_none = _number(float, -1, 1e9, "a number of seconds, 0 for none")
_trouble = _one_of("decide", "refuse", what='"decide" or "refuse"')
SHARED = ("postgresql://", "postgres://")
"""The beginnings of a shared record's address."""


def _wait(value: object) -> float:
    if value == "never":
        return NEVER
    try:
        return float(_seconds(value))
    except ValueError as error:
        raise ValueError(f'{error}, or "never"') from None


_RECEIVER = re.compile(
    r"(syslogs?)://([^\s/:@\[\]?#]+|\[[0-9A-Fa-f:.%]+\]):[0-9]{1,5}"
    r"|https?://[^\s/@?#]+(/[^\s@#]*)?"
)
_receiver = _must_be(
    "syslog://HOST:PORT, syslogs://HOST:PORT, http://… or https://…",
    lambda value: _RECEIVER.fullmatch(_text(value)),
)


def _issuer(value: object) -> str:
    from crabhook.team.identity import fault_of_issuer  # few have one

    text: str = _text(value)
    if fault := fault_of_issuer(text):
        raise ValueError(fault)
    return text


def _leads(what: str, fits: Callable[[object], object]) -> Reader:
    """Return a reader of a table that leads from texts to what fits, as pairs."""
    read = _must_be(
        what, lambda value: isinstance(value, dict) and value and all(map(fits, value.values()))
    )
    return lambda value: tuple(read(value).items())


ROLES = ("viewer", "decider", "admin")
_roles = _leads(
    'a table of roles, as in { engineers = "decider", leads = "admin" }', lambda role: role in ROLES
)
_groups = _leads(
    'a table of the team\'s groups, as in { engineers = "shop" }',
    lambda name: isinstance(name, str) and name,
)
_minute = _number(int, 9, 86_401, "a whole number of seconds, 10 to 86400")
_bound = _number(int, 59, 2_592_001, "a whole number of seconds, 60 to 2592000")


def _in(table: str, read: Reader, default: T, key: str = "") -> T:
    """Declare a setting: its table, reader, default, and its key if that is not its name."""
    return field(default=default, metadata={"table": table, "read": read, "key": key})


@frozen
class Settings:
    """All settings. Times are in the unit at the end of the name, else in seconds.

    `bell`, `notify`, `title` and `command` are ways to call the operator, each with its kinds of
    card. `reviewer` is a command; empty means the operator.
    """

    listen: tuple[str, ...] = _in("server", _texts, ())
    ndjson: str | None = _in("server", _text, None)
    http: str | None = _in("server", _text, None)
    operators: str | None = _in("server", _text, None)
    advertise: str | None = _in("server", _host_port, None)
    advertise_operators: str | None = _in("server", _host_port, None)
    http_name: tuple[str, ...] = _in("server", _texts, ())
    web: str | None = _in("server", _text, None)
    web_name: tuple[str, ...] = _in("server", _texts, ())
    wait: float = _in("server", _wait, 3600.0)
    token_file: Path | None = _in("server", _path, None)
    tls_cert: Path | None = _in("server", _path, None)
    tls_key: Path | None = _in("server", _path, None)
    headless: bool = _in("server", _flag, default=False)
    no_desk: bool = _in("server", _flag, default=False)
    alone: float = _in("server", _seconds, 60.0)
    otherwise: str = _in("server", _one_of("pass", "ask", "deny"), "pass")
    log_format: str = _in("server", _one_of("text", "json"), "text")
    log_level: str | None = _in("server", _one_of("debug", "info", "warning", "error"), None)
    plain: bool = _in("desk", _flag, default=False)
    ascii: bool = _in("desk", _flag, default=False)
    theme: str = _in("desk", _one_of(*THEMES), "auto")
    reasons: tuple[str, ...] = _in("desk", _texts, ())
    detail: str = _in("desk", _one_of(*DETAILS), "full")
    arming_ms: int = _in("desk", _milliseconds, 400)
    take_back_ms: int | None = _in("desk", _milliseconds, None)
    advance: bool = _in("desk", _flag, default=True)
    bell: tuple[str, ...] = _in("attention", _kinds, KINDS)
    notify: tuple[str, ...] = _in("attention", _kinds, ())
    title: tuple[str, ...] = _in("attention", _kinds, KINDS)
    command: tuple[str, ...] = _in("attention", _kinds, ())
    sequence: str = _in("attention", _one_of(*SEQUENCES), "osc9")
    program: tuple[str, ...] = _in("attention", _program, ())
    store: str | None = _in("record", _store, None)
    on_trouble: str | None = _in("record", _trouble, None)
    keep_days: float = _in("record", _above_zero, 180.0)
    keep_megabytes: float = _in("record", _above_zero, 2000.0)
    head_command: tuple[str, ...] = _in("record", _texts, ())
    max_waiting: int = _in("waiting", _whole, 16_384)
    max_waiting_megabytes: float = _in("waiting", _above_zero, 256.0)
    max_session_waiting: int = _in("waiting", _whole, 1024)
    max_session_megabytes: float = _in("waiting", _above_zero, 64.0)
    open_for: float = _in("waiting", _time_or_none, 28_800.0)
    reviewer: tuple[str, ...] = _in("supervisor", _reviewer, ())
    review_limit: int = _in("supervisor", _whole, 20, key="limit")
    review_timeout: float = _in("supervisor", _seconds, 600.0, key="timeout")
    push_after: float = _in("push", _seconds, 5.0, key="after")
    push_services: tuple[str, ...] = _in("push", _services, (), key="services")
    export_to: str | None = _in("export", _receiver, None, key="to")
    export_format: str | None = _in("export", _one_of("ocsf", "cef", "otlp"), None, key="format")
    export_ca: Path | None = _in("export", _path, None, key="ca")
    export_cert: Path | None = _in("export", _path, None, key="cert")
    export_key: Path | None = _in("export", _path, None, key="key")
    export_headers: Path | None = _in("export", _path, None, key="headers")
    oidc_issuer: str | None = _in("oidc", _issuer, None, key="issuer")
    oidc_client: str | None = _in("oidc", _text, None, key="client")
    oidc_audience: str | None = _in("oidc", _text, None, key="audience")
    oidc_claim: str = _in("oidc", _text, "groups", key="claim")
    oidc_roles: tuple[tuple[str, str], ...] = _in("oidc", _roles, (), key="roles")
    oidc_groups: tuple[tuple[str, str], ...] = _in("oidc", _groups, (), key="groups")
    oidc_every: int = _in("oidc", _minute, 300, key="every")
    oidc_bound: int = _in("oidc", _bound, 86_400, key="bound")
    same_file: str = _in("guard", _one_of("off", "warn", "ask"), "off")

    @property
    def shared(self) -> bool:
        """Whether other servers can reach the record."""
        return bool(self.store and self.store.startswith(SHARED))

    @property
    def export(self) -> "ExportWish | None":
        """Where the record is exported to; None where it stays here."""
        if self.export_to is None:
            return None
        from crabhook.export.wish import ExportWish  # few have one

        files = self.export_ca, self.export_cert, self.export_key, self.export_headers
        return ExportWish(self.export_to, self.export_format, *files)

    @property
    def oidc(self) -> "OidcPolicy | None":
        """Which identity provider a team may ask, None for none.

        It counts once it is in the team's signed file. Raises SettingsError for half of it.
        """
        if self.oidc_issuer is None:
            return None
        from crabhook.model.actor import Role  # few have one
        from crabhook.team.identity import OidcPolicy  # likewise

        if self.oidc_client is None or not self.oidc_roles:
            raise SettingsError("[oidc] needs issuer, client and roles")
        issuer, client = self.oidc_issuer, self.oidc_client
        roles = tuple((value, Role(role)) for value, role in self.oidc_roles)
        about = issuer, client, self.oidc_audience or client, self.oidc_claim
        return OidcPolicy(*about, roles, self.oidc_groups, self.oidc_every, self.oidc_bound)

    @property
    def decides_in_trouble(self) -> bool:
        """Whether the operator also decides what cannot be recorded.

        Raises SettingsError for a shared record: without it a server cannot know the decisions of
        another.
        """
        if self.shared and self.on_trouble == "decide":
            raise SettingsError(
                '[record] on_trouble = "decide" is for a record on this machine: with one in '
                "PostgreSQL nothing is given that is not on record"
            )
        return not self.shared and self.on_trouble != "refuse"


_TABLES: dict[str, dict[str, Field[Any]]] = {}
"""The settings, by table and key in the file."""

for _setting in fields(Settings):
    _table = _TABLES.setdefault(_setting.metadata["table"], {})
    _table[_setting.metadata["key"] or _setting.name] = _setting


def config_folder() -> Path:
    """Return the folder of files that people write."""
    return _base("XDG_CONFIG_HOME", ".config") / "crabhook"


def state_folder() -> Path:
    """Return the folder of files that crabhook keeps between its runs."""
    return _base("XDG_STATE_HOME", ".local/state") / "crabhook"


def own_places() -> tuple[str, ...]:
    """Return the folders and files beside the settings that crabhook's guard hangs on.

    The state folder, the default socket's folder, and what the settings place elsewhere.
    """
    from crabhook.hook import decoded, own_folder  # few need the socket's folder

    places = [str(state_folder()), decoded(own_folder())]
    with suppress(SettingsError):
        settings = load()
        files = [settings.token_file, settings.tls_key]
        files += [settings.export_key, settings.export_headers]
        places += [str(path) for path in files if path]
        listens = (
            address.removeprefix("unix:")
            for address in settings.listen
            if address.startswith("unix:")
        )
        places += [str(Path(path).expanduser().absolute()) for path in listens]
    return tuple(dict.fromkeys(places))


@cache
def program_places() -> tuple[str, ...]:
    """Return what crabhook is run from: package, environment, the commands that start it."""
    package = Path(__file__).parent
    script = Path(sysconfig.get_path("scripts")) / "crabhook"
    named = which("crabhook")
    places = [package, *package.parent.glob("crabhook-*.dist-info"), script]
    places += [Path(named)] if named else []
    if sys.prefix != sys.base_prefix:
        places.append(Path(sys.prefix))
    both = [name for path in places for name in (str(path.absolute()), os.path.realpath(path))]
    return tuple(dict.fromkeys(both))


def record_place() -> str | Path:
    """Return the record's place by the usual settings file. Raises SettingsError."""
    return load().store or state_folder()


def team_folder() -> Path:
    """Return the team's folder, on a server's machine."""
    return state_folder() / "team"


def push_folder() -> Path:
    """Return the folder of the key and the phones for push, on a server's machine."""
    return state_folder() / "push"


def token_file() -> Path:
    """Return the default file of the clients' token."""
    return state_folder() / "token"


def _base(variable: str, otherwise: str) -> Path:
    chosen = os.environ.get(variable, "")
    return Path(chosen) if chosen.startswith("/") else Path.home() / otherwise


def load(path: Path | None = None) -> Settings:
    """Return the settings in `path`, or in the usual file if there is one; raises SettingsError."""
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
    """Return the settings in a file's text; `name` is the file's name in errors."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name}: not TOML: {error}") from error
    except RecursionError as error:
        raise SettingsError(f"{name}: it is nested too deeply") from error
    changes: dict[str, Any] = {}
    for table, values in tables.items():
        key = ""
        try:
            settings_known = _known(_TABLES, table, f"there is no table {table!r}")
            if not isinstance(values, dict):
                raise ValueError(f"{table} must be a table, as in [{table}]")  # noqa: TRY004, TRY301 - as above
            for key, value in values.items():
                setting = _known(settings_known, key, f"there is no setting {key!r} in [{table}]")
                changes[setting.name] = _read(setting, key, value)
        except ValueError as error:
            raise SettingsError(f"{name}, line {_line_of(text, table, key)}: {error}") from None
    return Settings(**changes)


def override(settings: Settings, flags: Mapping[str, Any]) -> Settings:
    """Return the settings with the values of flags of the same names; raises SettingsError."""
    with_flags = _TABLES["server"] | _TABLES["desk"] | {"store": _TABLES["record"]["store"]}
    try:
        changes: dict[str, Any] = {
            name: _read(setting, f"--{name.replace('_', '-')}", flags[name])
            for name, setting in with_flags.items()
            if flags.get(name) is not None
        }
    except ValueError as error:
        raise SettingsError(str(error)) from None
    return replace(settings, **changes)


def _known(names: Mapping[str, T], name: str, otherwise: str) -> T:
    if name not in names:
        raise ValueError(f"{otherwise}. Known are: {', '.join(names)}")
    return names[name]


def _read(setting: Field[Any], called: str, value: object) -> object:
    try:
        return setting.metadata["read"](value)
    except ValueError as error:
        raise ValueError(f"{called} {error}") from None


def _line_of(text: str, table: str, key: str) -> int:
    """Return the line of a setting, which tomllib does not report."""
    inside, line_number = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([^]]+?)\s*\]", line):
            inside = header[1].strip("\"'")
            if inside == table:
                line_number = number
        name = re.match(r"\s*([\w.\"'-]+)\s*=", line)
        written = name[1].replace('"', "").replace("'", "") if name else ""
        if (inside == table and key and written == key) or (
            not inside and written in (f"{table}.{key}", table)
        ):
            return number
    return line_number
