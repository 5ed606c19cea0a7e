"""Whether the hook is installed as this version would write it, and nothing disables it."""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from crabhook import config
from crabhook.doctor.entry import differences, installation
from crabhook.doctor.facts import Case, InspectedSettings
from crabhook.doctor.finding import (
    FAULT,
    OK,
    UNKNOWN,
    WARNING,
    Figure,
    Finding,
    Status,
    crabhook_command,
    edit_command,
    install_command,
    make_finding,
    several,
    uninstall_command,
)
from crabhook.doctor.processes import ProgramError, run
from crabhook.install.program import moves
from crabhook.install.settings_file import read_settings
from crabhook.model.errors import CrabhookError, InstallError
from crabhook.model.json_source import parse
from crabhook.platforms.installation import (
    MAX_WAIT,
    ConsentSources,
    Registered,
    SettingsScope,
    StrictHooks,
)

_VERSION = re.compile(r"\d+\.\d+\.\d+(?:\S*\w)?")
WITHIN = 10.0  # seconds for the agent to say its version


def known_version(case: Case) -> Iterator[Finding]:
    """Whether the agent is installed in a version of the conformance table."""
    if case.program is None:
        if case.wanted or case.entries:
            yield make_finding("agent.version", "absent", case=case)
        return
    try:
        version = _version(case)
    except ProgramError as error:
        yield make_finding("agent.version", "unsaid", error=error)
        return
    versions = case.agent.settings.versions
    figures = {"version": version}
    words = {"case": case, "known": ", ".join(versions)}
    for before in case.agent.settings.unseen:
        if is_before(version, before.first):
            yield make_finding(
                "agent.version", "unseen", before.mend, figures, before=before, **words
            )
            return
    if version in versions:
        yield make_finding("agent.version", "fine", "", figures, case=case)
        return
    mend = crabhook_command("doctor", case.agent.name, "--live")
    yield make_finding("agent.version", "other", mend, figures, **words)


def is_before(version: str, first: str) -> bool:
    """Whether a version is older than another, by its numbers."""
    older, newer = (
        [int(part) for part in re.findall(r"\d+", text)[:3]] for text in (version, first)
    )
    return older < newer


def version_in(words: str) -> str:
    """Return the version in what a program says of itself; empty where there is none."""
    match = _VERSION.search(words)
    return match[0] if match else ""


def _version(case: Case) -> str:
    """Return the version that the agent reports, with an empty home."""
    with TemporaryDirectory(prefix="crabhook-doctor-") as home:
        environment = {
            "HOME": home,
            "TMPDIR": home,
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "DISABLE_AUTOUPDATER": "1",
        }
        ran = run([str(case.program), "--version"], seconds=WITHIN, environment=environment)
    version = version_in(ran.stdout)
    if ran.code or not version:
        raise ProgramError(f"{case.program} --version ends with {ran.code}: {ran.last_words}")
    return version


def readable(case: Case) -> Iterator[Finding]:
    """Whether the agent's settings are readable: it runs no hooks of unreadable settings."""
    for settings in case.unreadable:
        mend = edit_command(settings.path, settings.problem)
        yield make_finding("settings.readable", "unreadable", mend, case=case, settings=settings)
    read = [str(setting.path) for setting in case.settings if setting.text]
    if read and not case.unreadable:
        yield make_finding("settings.readable", "fine", read=", ".join(read))


def installed(case: Case) -> Iterator[Finding]:
    """Whether any settings hold hooks of ours, and what the agent does with them."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        figures: Mapping[str, Figure] = {
            "events": len({entry.event for entry in settings.ours}),
            "stance": str(how.stance),
            "scope": settings.scope.value if settings.scope else "managed",
        }
        closed = (", fail-closed" if how.fail_closed else "") + (", strict" if how.strict else "")
        yield make_finding("hook.installed", "fine", "", figures, path=settings.path, closed=closed)
    if case.hooked:
        return
    mend = install_command(case.agent.name, SettingsScope.USER, case.wish.project)
    if case.wanted:
        yield make_finding("hook.installed", "missing", mend, title=case.title)
    else:
        yield make_finding("hook.installed", "unwanted", install=mend)


def current(case: Case) -> Iterator[Finding]:
    """Whether our entries are exactly what this version would write."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        mend = case.reinstalling(settings.ours[0])
        try:
            wanted = case.agent.settings.groups(how)
        except InstallError as error:
            yield make_finding("hook.current", "impossible", mend, path=settings.path, error=error)
            continue
        changed = differences(settings.text, settings.ours, wanted)
        if not changed:
            yield make_finding("hook.current", "fine", path=settings.path)
            continue
        undecided = any(event in wanted for event in case.agent.decided & set(changed))
        kind = "undecided" if undecided else "other"
        differs = several([f"{event} {what}" for event, what in changed.items()])
        yield make_finding("hook.current", kind, mend, path=settings.path, differs=differs)


def _strict(case: Case) -> Iterator[tuple[InspectedSettings, StrictHooks]]:
    """Yield each settings file with strict hooks, and what they check by."""
    for settings in case.hooked:
        if (strict := installation(case.agent, settings.ours).strict) is not None:
            yield settings, strict


def strict_hooks_of(cases: Iterable[Case]) -> tuple[StrictHooks, ...]:
    """Return what the strict hooks of all agents check by, each once."""
    return tuple(dict.fromkeys(strict for case in cases for _, strict in _strict(case)))


def signed(case: Case) -> Iterator[Finding]:
    """Whether strict hooks have a team file that counts, and no agent can replace it."""
    for settings, strict in _strict(case):
        from crabhook.install.strict import team_at, team_trouble  # few hooks are strict

        mend = case.reinstalling(settings.ours[0])
        try:
            team = team_at(strict.team, strict.authority, strict.version, strict.of)
        except (InstallError, ValueError) as error:
            yield make_finding("hook.signed", "unusable", mend, error=error)
            continue
        if len(team.people) < strict.need:
            people = several(team.people)
            yield make_finding("hook.signed", "few", wanted=strict.people, people=people)
        if team.keyless:
            yield make_finding("hook.signed", "keyless", people=several(team.keyless))
        if trouble := team_trouble(strict.team):
            yield make_finding("hook.signed", "open", trouble=trouble)
        figures = {"version": team.version, "need": strict.need}
        people = several(team.people)
        yield make_finding("hook.signed", "fine", "", figures, path=strict.team, people=people)


def patient(case: Case) -> Iterator[Finding]:
    """Whether the timeout that is registered leaves a hook the time it takes."""
    if not case.entries:
        return
    short = [entry for entry in case.entries if case.patience(entry) <= entry.options.wait]
    worst = max(short or case.entries, key=lambda entry: entry.options.wait)
    agents, ours = case.patience(worst), worst.options.wait
    figures = {"timeout_s": agents, "wait_s": ours}
    waits = f"{case.title} waits {agents:g} s for a hook that waits {ours:g} s for the operator"
    if short:
        events, mend = several([entry.event for entry in short]), case.reinstalling(worst)
        yield make_finding("hook.timeout", "short", mend, figures, events=events, waits=waits)
    elif (server := _server_wait()) > ours:
        mend = case.reinstalling(worst, wait=min(math.ceil(server), MAX_WAIT))
        yield make_finding("hook.timeout", "sooner", mend, server=server, ours=ours)
    else:
        yield make_finding("hook.timeout", "fine", "", figures, waits=waits)


def _server_wait() -> float:
    """Return how long the owner's settings let a question wait; 0 for no end."""
    try:
        wait = config.load().wait
    except CrabhookError:
        return 0  # another finding reports this
    return 0 if wait in (config.Settings().wait, config.NEVER) else wait


_STATUS: Mapping[bool | None, Status] = {True: OK, False: FAULT, None: WARNING}


def switched_on(case: Case) -> Iterator[Finding]:
    """Whether a setting keeps our hooks from running, or from doing what one would expect."""
    if case.entries:
        yield from list(_switches(case)) or [make_finding("hook.switched-on", "fine")]


def _switches(case: Case) -> Iterator[Finding]:
    managed = any(settings.scope is SettingsScope.MANAGED for settings in case.hooked)
    for settings in case.readable:
        for switch in case.agent.settings.switches(settings.text):
            if not (managed and case.agent.settings.overridden(settings.scope, switch)):
                what, mend = f"{settings.path}: {switch}", edit_command(settings.path)
                yield make_finding("hook.switched-on", "off", mend, title=case.title, what=what)
    for settings in case.hooked:
        for trouble in case.agent.settings.troubles(settings.path, read_settings):
            kind = "off" if trouble.startswith(case.agent.settings.switch) else "trouble"
            beside = os.path.normpath(settings.path.parent / case.agent.settings.beside)
            mend = edit_command(Path(beside), trouble)
            yield make_finding("hook.switched-on", kind, mend, title=case.title, what=trouble)


def environment(case: Case) -> Iterator[Finding]:
    """Whether the agent's settings put something into its hooks' environment that moves ours."""
    if not case.agent.protocol.sets_environment or not case.entries:
        return
    moving, idle = list[Finding](), list[str]()
    for settings in case.readable:
        variables = parse(settings.text).member("env")
        names = variables.value if variables and isinstance(variables.value, dict) else ()
        for move in moves(names):
            if not any(entry.reached_by(move.reach) for entry in case.entries):
                idle.append(move.name)
                continue
            path = settings.path
            moved = make_finding(
                "hook.environment", "moved", edit_command(path), path=path, move=move
            )
            moving.append(moved)
    rest = f" ({several(idle)} there has no say in hooks that start as these do)" if idle else ""
    yield from moving or [make_finding("hook.environment", "fine", rest=rest)]


def alone(case: Case) -> Iterator[Finding]:
    """Whether other hooks could change what the operator decided on, and ours are there once."""
    if case.entries:
        yield from [*_twice(case), *_foreign(case)] or [make_finding("hook.alone", "fine")]


def _twice(case: Case) -> Iterator[Finding]:
    first, *rest = case.hooked
    for settings in rest:
        here, there = (
            [(entry.event, entry.handler) for entry in of.ours] for of in (first, settings)
        )
        if here != there or not case.agent.settings.once:
            scope = settings.scope or SettingsScope.USER
            mend = uninstall_command(case.agent.name, scope, case.wish.project)
            yield make_finding("hook.alone", "twice", mend, first=first.path, second=settings.path)


def _foreign(case: Case) -> Iterator[Finding]:
    own = [(edit_command(settings.path), settings, ()) for settings in case.settings]
    plugins = [(plugin.without, settings, settings.modules) for plugin, settings in case.brought]
    for mend, settings, modules in (*own, *plugins):
        if modules:
            facts = {"path": settings.path, "title": case.title, "modules": several(modules)}
            yield make_finding("hook.alone", "loaded", mend, **facts)
        there = [
            f"{other.event}: {other.told}"
            for other in settings.others
            if other.event in case.agent.changeable and "supervisor-hook" not in other.told
        ]
        if there:
            yield make_finding(
                "hook.alone", "others", mend, path=settings.path, hooks=several(there)
            )


def guarded(case: Case) -> Iterator[Finding]:
    """Whether nobody else can answer in the person's place what the agent asks."""
    for what in case.agent.settings.exposed(os.environ) if case.entries else ():
        yield make_finding("hook.guarded", "open", what=what)


def permitted(case: Case) -> Iterator[Finding]:
    """Whether the agent may run our hooks, if it needs consent."""
    look = case.agent.settings.permitted
    if look is None or not case.entries:
        return
    path = case.agent.settings.path(SettingsScope.USER, case.wish.project, os.environ)
    entries = tuple(
        Registered(settings.path, entry.event, entry.group, entry.place, entry.handler)
        for settings in case.hooked
        for entry in settings.ours
    )
    # Path.resolve would raise for a link to itself.
    around = ConsentSources(
        case.wish.project, path, entries, read_settings, lambda path: Path(os.path.realpath(path))
    )
    for permission in look(around):
        status = _STATUS[permission.let] if permission.readable else UNKNOWN
        if permission.edit is not None:
            mend = edit_command(permission.edit, "" if permission.readable else permission.what)
        else:
            mend = "" if permission.let else case.agent.program
        what = (
            f"{permission.what}: {several(permission.events)}"
            if permission.events
            else permission.what
        )
        yield Finding("hook.permitted", status, what, permission.means, mend, permission.advice)
