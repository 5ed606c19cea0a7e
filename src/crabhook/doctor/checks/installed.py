"""Whether the hook is installed, and as this version would write it."""

from collections.abc import Iterator

from crabhook.doctor import commands
from crabhook.doctor.facts import Case, Settings
from crabhook.doctor.finding import Finding, Status, several
from crabhook.doctor.written import differences, installation
from crabhook.model.errors import InstallError
from crabhook.platforms.installation import Scope


def readable(case: Case) -> Iterator[Finding]:
    """Whether the agent's settings can be read: it runs no hook out of those that cannot."""
    for settings in case.settings:
        if settings.problem:
            yield Finding(
                "settings.readable",
                Status.FAULT,
                f"{settings.path}: {settings.problem}",
                f"{case.title} takes no hooks from this file, and crabhook cannot be put into it",
                commands.edit(settings.path, settings.problem),
            )
    read = [str(one.path) for one in case.settings if one.text and not one.problem]
    if read and not any(one.problem for one in case.settings):
        yield Finding("settings.readable", Status.OK, f"{', '.join(read)} can be read")


def installed(case: Case) -> Iterator[Finding]:
    """Whether any settings hold hooks of ours, and what the agent does with them."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        closed = ", fail-closed" if how.fail_closed else ""
        events = len({one.event for one in settings.ours})
        yield Finding(
            "hook.installed",
            Status.OK,
            f"in {settings.path} ({_scope(settings)}): {events} events, {how.stance}{closed}",
            figures={"events": events, "stance": str(how.stance), "scope": _scope(settings)},
        )
    if case.hooked:
        return
    mend = commands.install(case.agent.name, Scope.USER, case.wish.project)
    if case.wanted:
        means = f"{case.title} asks no operator: it goes by its own rules alone"
        what = "crabhook is in none of its settings"
        advice = "after that, `crabhook serve` in a terminal of its own is where you decide"
        yield Finding("hook.installed", Status.FAULT, what, means, mend, advice)
    else:
        what = f"not hooked, and so left alone; `{mend}` would change that"
        yield Finding("hook.installed", Status.OK, what)


def current(case: Case) -> Iterator[Finding]:
    """Whether our entries are exactly what this version would write."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        mend = case.reinstalling(settings.ours[0])
        try:
            wanted = case.agent.settings.groups(how)
        except InstallError as error:
            what = f"{settings.path}: {error}"
            yield Finding("hook.current", Status.FAULT, what, "the hook cannot run so", mend)
            continue
        differs = differences(settings.text, settings.ours, wanted)
        if not differs:
            what = f"{settings.path}: as this version writes them"
            yield Finding("hook.current", Status.OK, what)
            continue
        decides = any(event in wanted for event in case.agent.decided & set(differs))
        means = (
            "calls that the operator should decide may be decided without"
            if decides
            else "the operator sees less, or other, than this version could show"
        )
        what = f"{settings.path}: {several([f'{event} {how}' for event, how in differs.items()])}"
        status = Status.FAULT if decides else Status.WARNING
        yield Finding("hook.current", status, what, means, mend)


def _scope(settings: Settings) -> str:
    return settings.scope.value if settings.scope else "managed"
