"""Whether the agent's user has let our hooks run, where the agent asks for that."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from crabhook.doctor import commands
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status, several
from crabhook.install.settings_file import read_settings
from crabhook.platforms.installation import Look, Permission, Registered, Scope

_ID = "hook.permitted"
_STATUS: Mapping[bool | None, Status] = {
    True: Status.OK,
    False: Status.FAULT,
    None: Status.WARNING,
}


def permitted(case: Case) -> Iterator[Finding]:
    """Whether the agent was told to run our hooks, if it wants to be told."""
    look = case.agent.settings.permitted
    if look is None or not case.entries:
        return
    for permission in look(_look(case)):
        yield _finding(case, permission)


def _look(case: Case) -> Look:
    path = case.agent.settings.path(Scope.USER, case.wish.project, os.environ)
    entries = tuple(
        Registered(settings.path, one.event, one.group, one.place, one.handler)
        for settings in case.hooked
        for one in settings.ours
    )
    return Look(case.wish.project, path, entries, read_settings, _real)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _finding(case: Case, permission: Permission) -> Finding:
    status = _STATUS[permission.let] if permission.readable else Status.UNKNOWN
    what, events = permission.what, permission.events
    if permission.edit is not None:
        problem = "" if permission.readable else what
        mend = commands.edit(permission.edit, problem)
    else:
        mend = "" if permission.let else case.agent.program
    told = f"{what}: {several(events)}" if events else what
    return Finding(_ID, status, told, permission.means, mend, permission.advice)
