"""What is looked at, in order; and what no single agent has: settings, rules, files, the user."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.checks import installed, program, record, server
from crabhook.doctor.facts import Case, Machine, Wish, case, machine
from crabhook.doctor.finding import Finding, told
from crabhook.model.errors import CrabhookError
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import RuleSet, Trust
from crabhook.rulebook.files import PROJECT_FILE, RuleFiles, Trusted


def settings(_: Machine) -> Iterator[Finding]:
    """Whether crabhook's own settings can be read."""
    path = config.config_folder() / "settings.toml"
    try:
        config.load()
    except CrabhookError as error:
        mend = commands.edit(path, str(error))
        yield told("settings.crabhook", "unreadable", mend, error=error)
        return
    yield told("settings.crabhook", "fine" if path.exists() else "absent", path=path)


def rules(machine: Machine) -> Iterator[Finding]:
    """Whether the rules can be read; the hook alone is installed without what reads them."""
    try:
        yield from [*own_rules(machine), *project_rules(machine)]
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("crabhook"):
            raise
        yield told("rules.own", "missing", name=error.name)


def no_root(_: Machine) -> Iterator[Finding]:
    """Whether the system's own bounds hold for us, as they do not for root."""
    user = os.geteuid()
    yield told("user.root", "fine" if user else "root", user=user)


def own(machine: Machine) -> Iterator[Finding]:
    """Whether anybody else may write what decides for the owner."""
    found = []
    for place in machine.guarded:
        with suppress(OSError):
            mode = place.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                mend = commands.chmod("o-w", place)
                mode = stat.S_IMODE(mode)
                found.append(told("files.own", "open", mend, path=place, mode=mode))
    yield from found or [told("files.own", "fine")]


def own_rules(_: Machine) -> Iterator[Finding]:
    """Whether the owner's rules, and the list of those trusted, can be read."""
    files = _files()
    yield from _counted("rules.own", files.user, files.user_rules)
    yield from _counted("rules.trusted", files.trusted, files.trusted_files)


def _counted(
    id_: str, path: Path, read: Callable[[], RuleSet | Sequence[Trusted]]
) -> Iterator[Finding]:
    try:
        found = read()
    except CrabhookError as error:
        yield told(id_, "unreadable", commands.edit(path, str(error)), error=error)
        return
    number = len(found.rules if isinstance(found, RuleSet) else found)
    there = "fine" if path.exists() else "absent"
    yield told(id_, there, "", {"number": number}, path=path)


def project_rules(machine: Machine) -> Iterator[Finding]:
    """Whether the project's own rules count, and can be read if they do."""
    files, path = _files(), machine.wish.project / PROJECT_FILE
    if not path.exists():
        return
    trust = commands.crabhook("rules", "trust", str(machine.wish.project))
    try:
        found = files.project_rules(machine.wish.project)
        before = any(one.folder == str(machine.wish.project) for one in files.trusted_files())
    except CrabhookError as error:
        mend = commands.edit(path, str(error))
        yield told("rules.project", "unreadable", mend, error=error)
        return
    if found.trust is Trust.NONE and before:
        yield told("rules.project", "changed", trust, path=path)
        return
    figures = {"trust": str(found.trust)}
    yield told("rules.project", str(found.trust), "", figures, path=path, trust=trust)


def _files() -> RuleFiles:
    return RuleFiles(config.config_folder(), (str(config.state_folder()),))


OF_AN_AGENT: Sequence[Callable[[Case], Iterator[Finding]]] = (
    installed.known_version,
    installed.readable,
    installed.installed,
    installed.current,
    installed.switched_on,
    installed.permitted,
    installed.environment,
    installed.alone,
    program.program_runs,
    installed.patient,
    server.answers,
    server.private_socket,
    server.private_token,
    server.takes,
    program.fast,
)

OF_THE_MACHINE: Sequence[Callable[[Machine], Iterator[Finding]]] = (
    settings,
    rules,
    record.writable,
    record.room,
    record.whole,
    own,
    no_root,
)


def cases(wish: Wish, environment: Mapping[str, str]) -> Sequence[Case]:
    """Return the agents to look at: the one that is named, else those that are here or hooked.

    Where none is hooked the first that is here is looked at as if it were named.
    """
    if wish.agent is not None:
        return (replace(case(PLATFORMS[wish.agent], wish, environment), wanted=True),)
    found = [case(agent, wish, environment) for agent in PLATFORMS.values()]
    here = [one for one in found if one.program or one.hooked or one.unreadable]
    if here and not any(one.hooked for one in here):
        here[0] = replace(here[0], wanted=True)
    return tuple(here)


def examine(cases: Sequence[Case], wish: Wish) -> Iterator[Finding]:
    """Look at everything; yield each finding as it is made."""
    for one in cases:
        for look in OF_AN_AGENT:
            yield from (replace(finding, agent=one.agent.name) for finding in look(one))
    if not cases:
        names = ", ".join(f"{one.title} (`{one.program}`)" for one in PLATFORMS.values())
        yield told("hook.installed", "nobody", commands.crabhook("demo"), names=names)
    here = machine(wish, cases)
    for check in OF_THE_MACHINE:
        yield from check(here)
