"""How crabhook is installed into an agent: what every agent's `settings.py` is written with."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from crabhook.model.card import Stance
from crabhook.model.document import Json
from crabhook.model.errors import InstallError
from crabhook.model.jsontext import Value
from crabhook.platforms.rows import Held, Patience, Rows, decided

# Agents' timers end here: 2**31 milliseconds, near 24.8 days.
MAX_TIMEOUT = 2_147_483
USUAL_WAIT = 86_400  # seconds: a day, so that "wait longer" reaches beyond the server's own hour
CLIENT_GRACE = 30  # seconds the client waits longer than a question may stand
AGENT_GRACE = 60  # seconds the agent waits longer than that
MAX_WAIT = MAX_TIMEOUT - AGENT_GRACE

# Runs the stub, the next argument, as if Python had been given it as its script.
# Not done by Python itself, because that exits with 2 where the script is
# missing, and 2 is how a hook blocks: with crabhook removed and its entries
# left behind, every prompt would be refused.  This way it exits with 1, which
# is a notice, or what `onFailure` makes of it.
START = "import sys;del sys.argv[0];__file__=sys.argv[0];exec(open(__file__).read())"

Group = dict[str, object]
"""A matcher group of an agent's settings, or a handler in it: a JSON object to be written."""


class Scope(StrEnum):
    """Whom a settings file is for."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"
    MANAGED = "managed"  # everybody's on this machine; only its owner may write there


class Transport(StrEnum):
    """How a hook reaches the server: by a process that the agent starts, or its own request."""

    COMMAND = "command"
    HTTP = "http"


@dataclass(frozen=True, slots=True)
class Installation:
    """Everything that decides how the entries look.

    `wait` is how many seconds a question may stand, should the operator extend it.  `url` is
    where the agent sends its hooks itself, None where it starts our client.
    """

    interpreter: str
    stub: str
    stance: Stance = Stance.COMPANION
    fail_closed: bool = False
    wait: int = USUAL_WAIT
    server: str | None = None
    token_file: str | None = None
    tls_ca: str | None = None
    url: str | None = None

    @property
    def passed_on(self) -> Mapping[str, str]:
        """The client's options that were given."""
        given = {
            "--server": self.server,
            "--token-file": self.token_file,
            "--tls-ca": self.tls_ca,
        }
        return {option: value for option, value in given.items() if value is not None}

    def client(self, patience: Patience, *platform: str, closed: bool) -> list[str]:
        """Return the interpreter and the arguments that start our client.

        `-I -S` halve the interpreter's start; the stub finds its package by its
        own path, so it needs neither.  `closed`: where it fails, it denies.
        """
        words = [self.interpreter, "-I", "-S", "-c", START, self.stub, *platform]
        if self.stance is Stance.COMPANION:
            words.append("--companion")
        for option, value in self.passed_on.items():
            words += [option, value]
        words += ["--wait", str(patience.client)]
        return words + (["--when-unreachable", "deny", "--when-lost", "deny"] if closed else [])

    def line(self, words: Sequence[str], otherwise: str) -> str:
        """Return the shell's line that becomes our client, started by `words`.

        With `exec`, so that the end that an agent sends to the shell reaches the client.
        Where Python or our stub is gone, the line prints `otherwise`.
        """
        there = f"[ -x {shlex.quote(self.interpreter)} ] && [ -r {shlex.quote(self.stub)} ]"
        return f"{there} && exec {shlex.join(words)}; echo {shlex.quote(otherwise)}"

    def refuse(self, mark: str = "\0", why: str = "") -> None:
        """Raise InstallError where a value holds `mark`, or what UTF-8 cannot hold."""
        for value in (self.interpreter, self.stub, *self.passed_on.values()):
            if mark in value:
                raise InstallError(f"{value!r} holds {mark}, {why}")
            try:
                value.encode()
            except UnicodeEncodeError as error:
                what = f"{value!r} is not UTF-8, as a settings file must be"
                raise InstallError(what) from error


def grouped(
    events: Rows[Any],
    handler: Callable[[Installation, Patience, str], Group],
    *refused: str,
    **beside: str,
) -> Callable[[Installation], dict[str, Group]]:
    """Return the function that makes each event's one matcher group, in the order to be written.

    `handler` makes the group's handler, and `beside` is what else stands in a group.  The
    function raises InstallError for what Installation.refuse, given `refused`, refuses.
    """

    def groups(installation: Installation) -> dict[str, Group]:
        installation.refuse(*refused)
        return {
            event: {**beside, "hooks": [handler(installation, patience, event)]}
            for event, patience in hooked(events, installation)
        }

    return groups


def hooked(events: Rows[Any], installation: Installation) -> Iterator[tuple[str, Patience]]:
    """Yield the events that our hook is installed on, those that decide a call first.

    An event that can wait has a hook that can, though nobody may wish to hold it yet.
    """
    waits = Patience(installation.wait + AGENT_GRACE, installation.wait + CLIENT_GRACE)
    for wanted in (decided, waiting, observed):
        for name in wanted(events):
            hook = events[name].hook
            yield name, hook if isinstance(hook, Patience) else waits


def waiting(events: Rows[Any]) -> tuple[str, ...]:
    """Return the other events that can wait for the operator and are hooked."""
    never = (Held.ALWAYS, Held.NEVER)
    return tuple(name for name, row in events.items() if row.held not in never and row.hook is None)


def observed(events: Rows[Any]) -> tuple[str, ...]:
    """Return the events that are hooked to be shown alone."""
    return tuple(name for name, row in events.items() if isinstance(row.hook, Patience))


def settings_file(
    title: str, variable: str, below_home: str, files: Mapping[Scope, str]
) -> Callable[[Scope, Path, Mapping[str, str]], Path]:
    """Return the function that finds an agent's settings file, for a scope and a project.

    The user's own lies in the folder that `variable` names, else in `below_home`.  The function
    raises InstallError for a scope that the agent has not, and where there is no home.
    """

    def path(scope: Scope, project: Path, environment: Mapping[str, str]) -> Path:
        if scope not in files:
            raise InstallError(
                f"{title} has no settings of the scope {scope}; name user or project"
            )
        if scope is not Scope.USER:
            return project.absolute() / files[scope]
        if named := environment.get(variable):
            return Path(named).absolute() / files[scope]
        if home := environment.get("HOME"):
            return Path(home).absolute() / below_home / files[scope]
        raise InstallError("HOME is not set, so there are no user settings; name a --scope")

    return path


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether the agent's user has let our hooks run, where the agent asks for that.

    `let`: None where it is not known yet.  `what` was found, `means` what comes of a no,
    `advice` what to do; `edit` is the file to be mended, None where the agent itself is to be
    started.  `events`: those that it is about, if not all.  `readable`: the agent's word was.
    """

    let: bool | None
    what: str
    means: str = ""
    advice: str = ""
    edit: Path | None = None
    events: tuple[str, ...] = ()
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Registered:
    """One handler of ours as it stands in a settings file."""

    path: Path
    event: str
    group: int
    place: int
    handler: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Look:
    """What an agent's `permitted` may look at: the user's own `settings`, a project, our entries.

    `read` reads a file and raises OSError, and `real` follows a path's links.
    """

    project: Path
    settings: Path
    entries: Sequence[Registered]
    read: Callable[[Path], bytes]
    real: Callable[[Path], Path]


@dataclass(frozen=True, slots=True)
class Brought:
    """A file of hooks that a plugin brings, and the command that switches the plugin off."""

    path: Path
    without: str


@dataclass(frozen=True, slots=True)
class Around:
    """What an agent's `brought` may look at: a project, and what its user's environment names.

    `object_in` returns the object in a JSON file, an empty one where nobody can read one there;
    `names` lists a folder, and nothing where there is none.
    """

    project: Path
    environment: Mapping[str, str]
    object_in: Callable[[Path], Mapping[str, Value]]
    names: Callable[[Path], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How crabhook is installed into one agent, and what the doctor has to know of it.

    `stances`: those it can be hooked in, the usual one first, and what each means there.
    `groups`, `path` and `switches` say what is written, where, and which settings there keep it
    from running; `overridden` says which of them leave managed hooks running, and `troubles`
    which other files do.  `unreachable`: what happens without a server.  `cautions`: what else
    its user has to know.  `transports`: the ways its hooks can go, the usual one first; `owns`
    knows an entry of ours that is no command.  `versions`: those that conformance was shown for.
    `above`: the machine's settings, which count first.  `beside`: a file that has a say, too,
    and `switch`: how a trouble there begins that switches every hook off.  `once`: hooks that
    are the same in two files run once.  `permitted` says whether its user has let our hooks run.
    `brought` yields the hooks that plugins bring, which the agent runs beside its settings' own.
    """

    stances: Mapping[Stance, str]
    scopes: tuple[Scope, ...]
    groups: Callable[[Installation], dict[str, Group]]
    path: Callable[[Scope, Path, Mapping[str, str]], Path]
    unreachable: str
    versions: tuple[str, ...]
    switches: Callable[[str], Iterator[str]] = lambda _: iter(())
    overridden: Callable[[Scope | None, str], bool] = lambda _, __: False
    troubles: Callable[[Path, Callable[[Path], bytes]], Iterator[str]] = lambda _, __: iter(())
    cautions: tuple[str, ...] = ()
    transports: tuple[Transport, ...] = (Transport.COMMAND,)
    owns: Callable[[Json], bool] = lambda _: False
    above: tuple[Path, ...] = ()
    beside: str = ""
    switch: str = "\0"
    once: bool = False
    permitted: Callable[[Look], Iterator[Permission]] | None = None
    brought: Callable[[Around], Iterator[Brought]] = lambda _: iter(())

    @property
    def stance(self) -> Stance:
        """The stance that is meant where none is named."""
        return next(iter(self.stances))
