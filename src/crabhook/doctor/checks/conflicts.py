"""Whether the hooks take effect: no setting, no other hook and no missing consent between."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from crabhook.doctor import commands
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import FAULT, OK, UNKNOWN, WARNING, Finding, Status, several, told
from crabhook.install.environment import moves
from crabhook.install.settings_file import read_settings
from crabhook.model.document import parse
from crabhook.platforms.installation import Look, Registered, Scope

_STATUS: Mapping[bool | None, Status] = {True: OK, False: FAULT, None: WARNING}


def switched_on(case: Case) -> Iterator[Finding]:
    """Whether a setting keeps our hooks from running, or from doing what one would expect."""
    if case.entries:
        yield from list(_switches(case)) or [told("hook.switched-on", "fine")]


def _switches(case: Case) -> Iterator[Finding]:
    managed = any(one.scope is Scope.MANAGED for one in case.hooked)
    for settings in case.readable:
        for switch in case.agent.settings.switches(settings.text):
            if not (managed and case.agent.settings.overridden(settings.scope, switch)):
                what, mend = f"{settings.path}: {switch}", commands.edit(settings.path)
                yield told("hook.switched-on", "off", mend, title=case.title, what=what)
    for settings in case.hooked:
        for trouble in case.agent.settings.troubles(settings.path, read_settings):
            kind = "off" if trouble.startswith(case.agent.settings.switch) else "trouble"
            mend = commands.edit(settings.path.with_name(case.agent.settings.beside), trouble)
            yield told("hook.switched-on", kind, mend, title=case.title, what=trouble)


def environment(case: Case) -> Iterator[Finding]:
    """Whether the agent's settings put something into its hooks' environment that moves ours."""
    if not case.agent.protocol.sets_environment or not case.entries:
        return
    found, idle = list[Finding](), list[str]()
    for settings in case.readable:
        variables = parse(settings.text).member("env")
        names = variables.value if variables and isinstance(variables.value, dict) else ()
        for move in moves(names):
            if not any(one.reached_by(move.reach) for one in case.entries):
                idle.append(move.name)
                continue
            path = settings.path
            moved = told("hook.environment", "moved", commands.edit(path), path=path, move=move)
            found.append(moved)
    rest = f"; {several(idle)} there has no say in hooks that start as these do" if idle else ""
    yield from found or [told("hook.environment", "fine", rest=rest)]


def alone(case: Case) -> Iterator[Finding]:
    """Whether other hooks could change what the operator decided on, and ours are there once."""
    if case.entries:
        yield from [*_twice(case), *_foreign(case)] or [told("hook.alone", "fine")]


def _twice(case: Case) -> Iterator[Finding]:
    first, *rest = case.hooked
    for settings in rest:
        here, there = ([(one.event, one.handler) for one in of.ours] for of in (first, settings))
        if here != there or not case.agent.settings.once:
            scope = settings.scope or Scope.USER
            mend = commands.uninstall(case.agent.name, scope, case.wish.project)
            yield told("hook.alone", "twice", mend, first=first.path, second=settings.path)


def _foreign(case: Case) -> Iterator[Finding]:
    places = [(commands.edit(settings.path), settings) for settings in case.settings]
    places += [(plugin.without, settings) for plugin, settings in case.brought]
    for mend, settings in places:
        there = [
            f"{one.event}: {one.told}"
            for one in settings.others
            if one.event in case.agent.decided and "supervisor-hook" not in one.told
        ]
        if there:
            yield told("hook.alone", "others", mend, path=settings.path, hooks=several(there))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # Path.resolve would raise for a link to itself


def permitted(case: Case) -> Iterator[Finding]:
    """Whether the agent was told to run our hooks, if it wants to be told."""
    look = case.agent.settings.permitted
    if look is None or not case.entries:
        return
    path = case.agent.settings.path(Scope.USER, case.wish.project, os.environ)
    entries = tuple(
        Registered(settings.path, one.event, one.group, one.place, one.handler)
        for settings in case.hooked
        for one in settings.ours
    )
    for one in look(Look(case.wish.project, path, entries, read_settings, _real)):
        status = _STATUS[one.let] if one.readable else UNKNOWN
        if one.edit is not None:
            mend = commands.edit(one.edit, "" if one.readable else one.what)
        else:
            mend = "" if one.let else case.agent.program
        what = f"{one.what}: {several(one.events)}" if one.events else one.what
        yield Finding("hook.permitted", status, what, one.means, mend, one.advice)
