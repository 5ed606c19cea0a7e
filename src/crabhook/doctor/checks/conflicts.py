"""Whether the hooks take effect: no setting, no other hook and no missing consent between."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from crabhook.doctor import commands
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status, several
from crabhook.install.environment import moves
from crabhook.install.settings_file import read_settings
from crabhook.model.document import parse
from crabhook.platforms.installation import Look, Permission, Registered, Scope

_PERMITTED = "hook.permitted"
_STATUS: Mapping[bool | None, Status] = {
    True: Status.OK,
    False: Status.FAULT,
    None: Status.WARNING,
}


def switched_on(case: Case) -> Iterator[Finding]:
    """Whether a setting keeps our hooks from running, or from doing what one would expect."""
    if not case.entries:
        return
    found = list(_switches(case))
    yield from found
    if not found:
        yield Finding("hook.switched-on", Status.OK, "no setting keeps the hooks from running")


def _switches(case: Case) -> Iterator[Finding]:
    means = f"{case.title} runs no hook of ours: the operator is not asked"
    managed = any(one.scope is Scope.MANAGED for one in case.hooked)
    for settings in case.settings:
        if settings.problem or not settings.text:
            continue
        for switch in case.agent.settings.switches(settings.text):
            if managed and case.agent.settings.overridden(settings.scope, switch):
                continue
            mend = commands.edit(settings.path)
            what = f"{settings.path}: {switch}"
            yield Finding("hook.switched-on", Status.FAULT, what, means, mend)
    for settings in case.hooked:
        for trouble in case.agent.settings.troubles(settings.path, read_settings):
            off = trouble.startswith(case.agent.settings.switch)
            status = Status.FAULT if off else Status.WARNING
            mend = commands.edit(settings.path.with_name(case.agent.settings.beside), trouble)
            yield Finding("hook.switched-on", status, trouble, means if off else "", mend)


def environment(case: Case) -> Iterator[Finding]:
    """Whether the agent's settings put something into its hooks' environment that moves ours."""
    if not case.agent.protocol.sets_environment or not case.entries:
        return
    found, idle = False, list[str]()
    for settings in case.settings:
        if settings.problem or not settings.text.strip():
            continue
        variables = parse(settings.text).member("env")
        names = variables.value if variables and isinstance(variables.value, dict) else ()
        for move in moves(names):
            if not any(one.reached_by(move.reach) for one in case.entries):
                idle.append(move.name)
                continue
            found = True
            what = f"{settings.path}: env sets {move.name}: {move.effect}"
            means = "the operator may not be asked, or another asked in their place"
            advice = "take it out there"
            mend = commands.edit(settings.path)
            yield Finding("hook.environment", Status.WARNING, what, means, mend, advice)
    if not found:
        what = "no setting puts anything into the hooks' environment that would move them"
        what += (
            f"; {several(idle)} there has no say in hooks that start as these do" if idle else ""
        )
        yield Finding("hook.environment", Status.OK, what)


def alone(case: Case) -> Iterator[Finding]:
    """Whether other hooks could change what the operator decided on, and ours are there once."""
    if not case.entries:
        return
    found = [*_twice(case), *_foreign(case)]
    yield from found
    if not found:
        yield Finding("hook.alone", Status.OK, "no other hook has a say where ours decide")


def _twice(case: Case) -> Iterator[Finding]:
    first, *rest = case.hooked
    for settings in rest:
        same = [(one.event, one.handler) for one in settings.ours] == [
            (one.event, one.handler) for one in first.ours
        ]
        if same and case.agent.settings.once:
            continue
        yield Finding(
            "hook.alone",
            Status.WARNING,
            f"crabhook is in {first.path} and in {settings.path}",
            "both hooks run for each call, and may be installed with different options",
            commands.uninstall(case.agent.name, settings.scope or Scope.USER, case.wish.project),
        )


def _foreign(case: Case) -> Iterator[Finding]:
    for settings in case.settings:
        there = [
            f"{one.event}: {one.told}"
            for one in settings.others
            if one.event in case.agent.decided and "supervisor-hook" not in one.told
        ]
        if there:
            yield Finding(
                "hook.alone",
                Status.WARNING,
                f"{settings.path} has other hooks there: {several(there)}",
                "one that changes a call's input can undo what the operator changed or saw",
                commands.edit(settings.path),
                "see that none of them changes an input; one that only says yes or no is no harm",
            )


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
    return Finding(_PERMITTED, status, told, permission.means, mend, permission.advice)
