"""How crabhook is installed into an agent: what every agent's `settings.py` is written with."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from crabhook.datatypes import frozen
from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Reply, Verdict
from crabhook.model.errors import InstallError
from crabhook.model.event import Event
from crabhook.model.json_source import Json
from crabhook.model.jsontext import Value
from crabhook.platforms.event_table import EventTable, Held, Patience, decided

# Agents' timers end here: 2**31 milliseconds, near 24.8 days.
MAX_TIMEOUT = 2_147_483
USUAL_WAIT = 86_400  # seconds: a day, so that "wait longer" reaches beyond the server's own hour
CLIENT_GRACE = 30  # seconds that the client waits beyond a question's time
AGENT_GRACE = 60  # seconds the agent waits longer than that
MAX_WAIT = MAX_TIMEOUT - AGENT_GRACE

# Runs the stub, the next argument, as if it were Python's script. Python itself exits with 2 for a
# missing script, and 2 is how a hook blocks: after removing crabhook every prompt would be refused.
# A hook that fails closed exits with 1 where the stub is missing, and `onFailure` blocks. Any other
# hook is silent there: crabhook was removed before its hooks, and the agent goes by its own rules.
START_CLOSED = "import sys;del sys.argv[0];__file__=sys.argv[0];exec(open(__file__).read())"
START = START_CLOSED.replace("sys;", "sys,posix;").replace(
    "exec", "posix.access(__file__,4)or sys.exit();exec"
)

Group = dict[str, object]
"""A matcher group of an agent's settings, or a handler in it: a JSON object to be written."""


class SettingsScope(StrEnum):
    """Whom a settings file is for."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"
    MANAGED = "managed"  # everybody's on this machine; only its owner may write there


class Transport(StrEnum):
    """How a hook reaches the server: by a process that the agent starts, or its own request."""

    COMMAND = "command"
    HTTP = "http"


def gone(agent: str) -> str:
    """Return why a hook denies by itself, without Python or crabhook."""
    return (
        f"crabhook is no longer where its hooks were installed from: run crabhook install {agent}"
    )


@frozen
class StrictHooks:
    """By which team file hooks check what people have signed.

    `authority` is the team's id and the public key of its authority, in hexadecimal. `version`:
    the least that the file may have. `need`: how many people have to sign an allow, at least. `of`:
    their names, or groups as `@leads`; empty for everybody who decides. `when_unsigned`: what a
    hook does with the rest, "pass", "ask" or "deny".
    """

    team: str
    authority: str
    version: int
    need: int = 1
    when_unsigned: str = "pass"
    of: tuple[str, ...] = ()

    @property
    def people(self) -> str:
        """Who has to sign an allow, in words: "2 people of @leads"."""
        whom = f" of {', '.join(self.of)}" if self.of else ""
        return f"{self.need} {'person' if self.need == 1 else 'people'}{whom}"

    def client(self, *, decides: bool) -> list[str]:
        """Return the client's options; only events that decide a call can ask or deny."""
        words = ["--team", self.team, "--authority", self.authority]
        words += ["--team-version", str(self.version)]
        words += ["--need", str(self.need)] if self.need > 1 else []
        words += ["--of", ",".join(self.of)] if self.of else []
        wish = self.when_unsigned if decides else "pass"
        return words + (["--when-unsigned", wish] if wish != "pass" else [])


@frozen
class Installation:
    """The choices that decide how the entries look.

    `wait`: seconds for a question, if the operator extends it. `url`: where the agent itself sends
    its hooks; None for our client. `strict`: None for hooks that print what the server says.
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
    strict: StrictHooks | None = None

    @property
    def passed_on(self) -> Mapping[str, str]:
        """The client's options that were given."""
        options = {
            "--server": self.server,
            "--token-file": self.token_file,
            "--tls-ca": self.tls_ca,
        }
        return {option: value for option, value in options.items() if value is not None}

    def client(self, patience: Patience, *platform: str, decides: bool) -> list[str]:
        """Return the interpreter and arguments that start our client.

        `decides`: the event decides a call, so failing may deny. `-I -S` halve the start; the stub
        finds its package by its own path.
        """
        closed = decides and self.fail_closed
        start = START_CLOSED if closed else START
        words = [self.interpreter, "-I", "-S", "-c", start, self.stub, *platform]
        if self.stance is Stance.COMPANION:
            words.append("--companion")
        for option, value in self.passed_on.items():
            words += [option, value]
        words += self.strict.client(decides=decides) if self.strict else []
        words += ["--wait", str(patience.client)]
        return words + (["--when-unreachable", "deny", "--when-lost", "deny"] if closed else [])

    def line(
        self,
        patience: Patience,
        event: Event,
        writes: Callable[[Event, Decision], Reply] | None,
        otherwise: str = "",
    ) -> str:
        """Return the shell's line that becomes our client, for an agent's event.

        `exec` lets the agent's signal reach the client. `writes`: how a decision about the event
        is written, None where it decides no call. Without Python or our stub, a hook that fails
        closed prints a denial. Any other prints `otherwise`. If that is empty the line has no such
        check, and the hook ends with an error.
        """
        decides = writes is not None
        words = shlex.join(self.client(patience, "--platform", event.platform, decides=decides))
        if writes is not None and self.fail_closed:
            denied = writes(event, Decision(Verdict.DENY, gone(event.platform)))
            otherwise = denied.stdout.decode().rstrip()
        if not otherwise:
            return f"exec {words}"
        there = f"[ -x {shlex.quote(self.interpreter)} ] && [ -r {shlex.quote(self.stub)} ]"
        return f"{there} && exec {words}; echo {shlex.quote(otherwise)}"

    def refuse(self, mark: str = "\0", why: str = "") -> None:
        """Raise InstallError where a value holds `mark`, or what UTF-8 cannot hold."""
        team = (self.strict.team,) if self.strict else ()
        for value in (self.interpreter, self.stub, *self.passed_on.values(), *team):
            if mark in value:
                raise InstallError(f"{value!r} holds {mark}, {why}")
            try:
                value.encode()
            except UnicodeEncodeError as error:
                what = f"{value!r} is not UTF-8, as a settings file must be"
                raise InstallError(what) from error


def grouped(
    events: EventTable[Any],
    handler: Callable[[Installation, Patience, str], Group],
    *refused: str,
    **beside: str,
) -> Callable[[Installation], dict[str, Group]]:
    """Return the function that makes each event's one matcher group, in writing order.

    `handler` makes the group's handler, `beside` its other members. The function raises
    InstallError as Installation.refuse does, given `refused`.
    """

    def groups(installation: Installation) -> dict[str, Group]:
        installation.refuse(*refused)
        return {
            event: {**beside, "hooks": [handler(installation, patience, event)]}
            for event, patience in hooked(events, installation)
        }

    return groups


def hooked(events: EventTable[Any], installation: Installation) -> Iterator[tuple[str, Patience]]:
    """Yield the events of our hook, those that decide a call first.

    An event that can wait gets a waiting hook, even if nobody holds it yet.
    """
    waits = Patience(installation.wait + AGENT_GRACE, installation.wait + CLIENT_GRACE)
    for wanted in (decided, waiting, observed):
        for name in wanted(events):
            hook = events[name].hook
            yield name, hook if isinstance(hook, Patience) else waits


def waiting(events: EventTable[Any]) -> tuple[str, ...]:
    """Return the other hooked events that can wait for the operator."""
    never = (Held.ALWAYS, Held.NEVER)
    return tuple(name for name, row in events.items() if row.held not in never and row.hook is None)


def observed(events: EventTable[Any]) -> tuple[str, ...]:
    """Return the events that are hooked to be shown alone."""
    return tuple(name for name, row in events.items() if isinstance(row.hook, Patience))


def settings_file(
    title: str, variable: str, below_home: str, files: Mapping[SettingsScope, str]
) -> Callable[[SettingsScope, Path, Mapping[str, str]], Path]:
    """Return the function that finds an agent's settings file by scope and project.

    The user's file is in the folder of `variable`, else in `below_home`. It raises InstallError for
    an unknown scope, or without a home.
    """

    def path(scope: SettingsScope, project: Path, environment: Mapping[str, str]) -> Path:
        if scope not in files:
            raise InstallError(
                f"{title} has no settings of the scope {scope}: name user or project"
            )
        if scope is not SettingsScope.USER:
            return project.absolute() / files[scope]
        if named := environment.get(variable):
            return Path(named).absolute() / files[scope]
        if home := environment.get("HOME"):
            return Path(home).absolute() / below_home / files[scope]
        raise InstallError("HOME is not set, so there are no user settings: name a --scope")

    return path


@frozen
class HookApproval:
    """Whether the agent's user lets our hooks run, if the agent asks.

    `let`: None if unknown yet. `what` was found, `means` the consequence, `advice` the remedy;
    `edit`: the file to mend, None if the agent must be started. `events`: those concerned, if not
    all. `readable`: the agent's answer was.
    """

    let: bool | None
    what: str
    means: str = ""
    advice: str = ""
    edit: Path | None = None
    events: tuple[str, ...] = ()
    readable: bool = True


@frozen
class Registered:
    """One handler of ours in a settings file."""

    path: Path
    event: str
    group: int
    place: int
    handler: Mapping[str, Json]


@frozen
class ConsentSources:
    """What an agent's `permitted` may read: the user's own `settings`, a project, our entries.

    `read` reads a file or raises OSError; `real` follows links.
    """

    project: Path
    settings: Path
    entries: Sequence[Registered]
    read: Callable[[Path], bytes]
    real: Callable[[Path], Path]


@frozen
class PluginFile:
    """A file of hooks that a plugin brings, and the command that switches the plugin off.

    `module`: the plugin is code that the agent loads into itself, of this name.
    """

    path: Path
    without: str
    module: str = ""


@frozen
class Around:
    """What an agent's `brought` may read: a project, and its user's environment.

    `object_in` returns a JSON file's object, empty if unreadable; `names` lists a folder.
    """

    project: Path
    environment: Mapping[str, str]
    object_in: Callable[[Path], Mapping[str, Value]]
    names: Callable[[Path], Sequence[str]]


@frozen
class Unseen:
    """What an agent runs without asking any hook, until a version of it.

    `first`: the first version that asks. `advice`: what else keeps it from running, and `mend` is
    the command that brings a newer version.
    """

    what: str
    first: str
    advice: str
    mend: str


@frozen
class OwnFile:
    """How hooks are written into a file that is all ours, as a program that the agent loads.

    `mark` begins each file of ours. `text` is the whole file for these entries, and `read` finds
    them in it; it raises InstallError.
    """

    mark: str
    text: Callable[[Mapping[str, Group]], str]
    read: Callable[[str], dict[str, Group]]


@frozen
class HookSetup:
    """How crabhook is installed into one agent, and what the doctor has to know of it.

    `stances`: those it can be hooked in, the usual stance first, and what each means there.
    `groups`, `path` and `switches` say what is written, where, and which settings there keep it
    from running; `overridden` says which of them leave managed hooks running, and `troubles` which
    other files do. `unreachable`: what happens without a server. `cautions`: what else its user has
    to know. `transports`: the ways its hooks can go, the usual way first; `owns` knows an entry of
    ours that is no command. `versions`: those that conformance was shown for. `above`: the
    machine's settings, which count first. `beside`: a file that has a say, too, and `switch`: how a
    trouble there begins that switches every hook off. `once`: hooks that are the same in two files
    run once. `permitted` says whether its user has let our hooks run. `unseen`: what older versions
    run without asking a hook. `brought` yields the hooks that plugins bring, which the agent runs
    beside its settings' own. `own`: our hooks are a file of their own, in place of entries in its
    settings. `closed`: the stances in which a hook without an answer always denies. `exposed` says
    who else can answer in the person's place, given the agent's environment. Of `versions` the
    newest is the last.
    """

    stances: Mapping[Stance, str]
    scopes: tuple[SettingsScope, ...]
    groups: Callable[[Installation], dict[str, Group]]
    path: Callable[[SettingsScope, Path, Mapping[str, str]], Path]
    unreachable: str
    versions: tuple[str, ...]
    switches: Callable[[str], Iterator[str]] = lambda _: iter(())
    overridden: Callable[[SettingsScope | None, str], bool] = lambda _, __: False
    troubles: Callable[[Path, Callable[[Path], bytes]], Iterator[str]] = lambda _, __: iter(())
    cautions: tuple[str, ...] = ()
    transports: tuple[Transport, ...] = (Transport.COMMAND,)
    owns: Callable[[Json], bool] = lambda _: False
    above: tuple[Path, ...] = ()
    beside: str = ""
    switch: str = "\0"
    once: bool = False
    permitted: Callable[[ConsentSources], Iterator[HookApproval]] | None = None
    brought: Callable[[Around], Iterator[PluginFile]] = lambda _: iter(())
    unseen: tuple[Unseen, ...] = ()
    own: OwnFile | None = None
    closed: frozenset[Stance] = frozenset()
    exposed: Callable[[Mapping[str, str]], Iterator[str]] = lambda _: iter(())

    @property
    def stance(self) -> Stance:
        """The stance that is meant where none is named."""
        return next(iter(self.stances))
