"""Where the doctor looks: an agent's settings, read once, what in them is ours, and the machine."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from crabhook import config
from crabhook.datatypes import frozen
from crabhook.doctor.entry import HookEntry, entry, installation
from crabhook.doctor.finding import crabhook_command, install_command
from crabhook.hook.failover import listed
from crabhook.install import program, settings_file
from crabhook.install.entries import events_in, is_ours, own_file
from crabhook.model.errors import InstallError, PayloadError
from crabhook.model.json_source import Node, as_json, parse, uncommented
from crabhook.model.jsontext import Value, parse_object
from crabhook.platforms.installation import (
    START,
    START_CLOSED,
    Around,
    OwnFile,
    PluginFile,
    SettingsScope,
)
from crabhook.platforms.interface import Platform

MOST_PLUGINS = 500  # that are looked at


@frozen
class DoctorTask:
    """The doctor's task.

    `agent`: one agent, None for all here; `program`: its program, None for the program on PATH.
    `project`: whose settings and rules count. `quick`: fewer and faster checks. `trusting`:
    programs and servers in the project's settings may be used.
    """

    project: Path
    agent: str | None = None
    program: Path | None = None
    quick: bool = False
    trusting: bool = False


@frozen
class InspectedSettings:
    """One settings file of an agent's; `scope` is None for the machine's own.

    `problem`: why it is unusable; `ours` and `others` are its handlers. `modules`: of a plugin's
    file, the code that its agent loads into itself, where no hook sees what it changes.
    """

    path: Path
    scope: SettingsScope | None
    text: str = ""
    problem: str = ""
    ours: tuple[HookEntry, ...] = ()
    others: tuple[HookEntry, ...] = ()
    modules: tuple[str, ...] = ()


@frozen(slots=False)
class Case:
    """One agent on this machine.

    `program`: its program, if found. `wanted`: the user asked for it, or no agent is hooked and
    this agent could be. `brought`: its plugins' files, only their hooks.
    """

    agent: Platform
    wish: DoctorTask
    settings: tuple[InspectedSettings, ...]
    program: Path | None
    wanted: bool = False
    brought: tuple[tuple[PluginFile, InspectedSettings], ...] = ()

    @property
    def title(self) -> str:
        """The agent's full name."""
        return self.agent.title

    @cached_property
    def hooked(self) -> tuple[InspectedSettings, ...]:
        """The settings that hold hooks of ours, the user's first."""
        return tuple(setting for setting in self.settings if setting.ours)

    @property
    def readable(self) -> tuple[InspectedSettings, ...]:
        """The settings that are there and can be used."""
        return tuple(
            setting for setting in self.settings if setting.text.strip() and not setting.problem
        )

    @property
    def used(self) -> bool:
        """Whether its user has settings, wherever its program is."""
        return any(settings.scope is SettingsScope.USER for settings in self.readable)

    @property
    def unreadable(self) -> tuple[InspectedSettings, ...]:
        """The settings that cannot be used."""
        return tuple(setting for setting in self.settings if setting.problem)

    @cached_property
    def entries(self) -> tuple[HookEntry, ...]:
        """All our entries of all settings, those that decide first."""
        entries = [entry for settings in self.hooked for entry in settings.ours]
        return tuple(sorted(entries, key=lambda entry: entry.event not in self.agent.decided))

    @cached_property
    def programs(self) -> tuple[HookEntry, ...]:
        """One of our entries for each program."""
        started = (entry for entry in self.entries if not entry.url)
        return _distinct(started, lambda entry: (entry.interpreter, entry.stub))

    @cached_property
    def servers(self) -> tuple[HookEntry, ...]:
        """One of our entries for each server and way to ask it."""
        return _distinct(
            (entry for entry in self.entries if not entry.url),
            lambda entry: (entry.options.server, entry.given("--token-file"), entry.options.tls_ca),
        )

    @cached_property
    def doors(self) -> tuple[HookEntry, ...]:
        """One of our entries for each address that the agent sends to."""
        return _distinct((entry for entry in self.entries if entry.url), lambda entry: entry.url)

    def may_start(self, entry: HookEntry) -> bool:
        """Whether it is safe to start what an entry names: a project's may be anybody's."""
        return self.is_own(entry) or self.is_as_installed(entry)

    def is_as_installed(self, entry: HookEntry) -> bool:
        """Whether an entry starts our client as this installation would have it started."""
        starts = {("-I", "-S", "-c", start, entry.stub) for start in (START, START_CLOSED)}
        return entry.command[1:6] in starts and entry.is_of_this_installation

    def may_ask(self, entry: HookEntry) -> bool:
        """Whether it is safe to ask the server that an entry names, and to show it the token."""
        asked = listed(entry.options.server)
        local = all(server.startswith("unix:") for server in asked) and not entry.options.tls_ca
        return self.is_own(entry) or (local and entry.given("--token-file") is None)

    def looking_anyway(self) -> str:
        """Return the command that starts and asks what the project names."""
        words = ("doctor", self.agent.name, "--project", str(self.wish.project), "--trust-project")
        return crabhook_command(*words)

    def is_own(self, entry: HookEntry) -> bool:
        """Whether an entry is in settings that no project brings, so that it may see the token."""
        scopes = [file.scope for file in self.hooked if entry in file.ours]
        return self.wish.trusting or not set(scopes) <= {SettingsScope.PROJECT, SettingsScope.LOCAL}

    def patience(self, entry: HookEntry) -> float:
        """Return how many seconds the agent waits for this hook."""
        protocol = self.agent.protocol
        return protocol.timeout if entry.timeout is None else protocol.seconds(entry.timeout)

    def reinstalling(self, entry: HookEntry, **changes: str | int) -> str:
        """Return the command that installs as an entry was, but for changes of an Installation."""
        settings = next(file for file in self.hooked if entry in file.ours)
        how = replace(installation(self.agent, settings.ours), **changes)  # type: ignore[arg-type]
        scope = settings.scope or SettingsScope.USER
        return install_command(self.agent.name, scope, self.wish.project, how)


def case(agent: Platform, wish: DoctorTask, environment: Mapping[str, str]) -> Case:
    """Look at one agent."""
    in_path = shutil.which(agent.program, path=environment.get("PATH"))
    path = wish.program or (Path(in_path) if in_path else None)
    settings = (read(*place) for place in places(agent, wish.project, environment))
    plugins = ((plugin, _looked_at(plugin)) for plugin in brought(agent, wish.project, environment))
    return Case(agent, wish, tuple(settings), path, brought=tuple(plugins))


def object_in(path: Path) -> Mapping[str, Value]:
    """Return the object in a JSON file, empty if unreadable.

    Some agents allow comments, and commas before an end. To read too much here hides nothing.
    """
    try:
        text = settings_file.read_settings(path).decode()
        return parse_object(uncommented(text, commas=True).encode())
    except (OSError, ValueError, PayloadError):
        return {}


def brought(
    agent: Platform,
    project: Path,
    environment: Mapping[str, str],
    read_object: Callable[[Path], Mapping[str, Value]] = object_in,
) -> Iterator[PluginFile]:
    """Yield the files of hooks that an agent's plugins bring, which need not be there."""
    around = Around(project.absolute(), environment, read_object, _names)
    files = dict.fromkeys(islice(agent.settings.brought(around), MOST_PLUGINS))
    yield from (file for file in files if "\0" not in str(file.path))


def _names(folder: Path) -> Sequence[str]:
    try:
        with os.scandir(folder) as there:
            return sorted(path.name for path in islice(there, MOST_PLUGINS))
    except (OSError, ValueError):
        return ()


def places(
    agent: Platform, project: Path, environment: Mapping[str, str]
) -> Iterable[tuple[Path, SettingsScope | None]]:
    """Yield where an agent's settings are that count in a project, and for whom each file is."""
    seen = set()
    for scope in agent.settings.scopes:
        try:
            path = agent.settings.path(scope, project, environment)
        except InstallError:  # no home: then no user's settings either
            continue
        if path not in seen:  # in the home folder, project and user settings are the same
            seen.add(path)
            yield path, scope
    for path in agent.settings.above:
        if os.path.lexists(path):
            yield path, None


def _looked_at(plugin: PluginFile) -> InspectedSettings:
    """Read the hooks that a plugin brings; a module is named and never read."""
    if plugin.module:
        return InspectedSettings(plugin.path, None, modules=(plugin.module,))
    return read(plugin.path, None)


def read(path: Path, scope: SettingsScope | None) -> InspectedSettings:
    """Read a settings file, or a file that is all ours; a missing file holds nothing."""
    modules = tuple[str, ...]()
    try:
        text = settings_file.read(path).text
        if own := own_file(text):
            return InspectedSettings(path, scope, text, ours=tuple(_own_entries(own, text)))
        document = parse(text) if text.strip(" \t\r\n\ufeff") else None
        modules = tuple(_modules(document)) if document else ()
        events = events_in(document) if document else ()
    except InstallError as error:
        return InspectedSettings(path, scope, problem=str(error), modules=modules)
    ours, others = list[HookEntry](), list[HookEntry]()
    for event in events:
        for number, group in enumerate(event.groups):
            named = group.node.member("matcher")
            matcher = named.value if named else None
            for place, handler in enumerate(group.handlers.elements):
                if isinstance(value := handler.node.value, dict):
                    registered = entry(event.name, value, number, place, matcher)
                    (ours if is_ours(value) else others).append(registered)
    return InspectedSettings(path, scope, text, "", tuple(ours), tuple(others), modules)


def _own_entries(own: OwnFile, text: str) -> Iterator[HookEntry]:
    """Yield the entries in a file that is all ours. Raises InstallError."""
    for event, group in own.read(text).items():
        handlers = as_json(group["hooks"])
        for handler in handlers if isinstance(handlers, list) else ():
            if isinstance(handler, dict):
                yield entry(event, handler)


def _modules(document: Node) -> Iterator[str]:
    """Yield the modules that a plugin's file names, beside its hooks or in place of them."""
    for holder in (document, document.member("hooks")):
        listed = holder.member("modules") if holder is not None else None
        named = listed.value if listed is not None else None
        for module in named if isinstance(named, list) else ():
            yield module if isinstance(module, str) else "a module that is no text"


def _distinct(
    entries: Iterable[HookEntry], key: Callable[[HookEntry], object]
) -> tuple[HookEntry, ...]:
    firsts: dict[object, HookEntry] = {}
    for registered in entries:
        firsts.setdefault(key(registered), registered)
    return tuple(firsts.values())


@frozen
class ThisMachine:
    """This machine, for one wish; `guarded`: what nobody else may write, since it decides."""

    wish: DoctorTask
    guarded: Sequence[Path]


def machine(wish: DoctorTask, cases: Iterable[Case]) -> ThisMachine:
    """Return this machine as the cases use it."""
    deciding = (path for place in _deciding(cases) for path in (place, *place.parents))
    return ThisMachine(
        wish, tuple(path for path in dict.fromkeys(deciding) if os.path.lexists(path))
    )


def _deciding(cases: Iterable[Case]) -> Iterator[Path]:
    """Yield the files that decide: rules, settings, started programs."""
    folder = config.config_folder()
    yield from (folder / name for name in ("settings.toml", "rules.toml", "trusted.toml"))
    yield config.state_folder() / "passphrase"
    yield Path(program.stub())
    for case in cases:
        yield from (settings.path for settings in case.hooked)
        words = (word for case in case.programs for word in (case.interpreter, case.stub))
        yield from (Path(word) for word in words if word.startswith("/"))
