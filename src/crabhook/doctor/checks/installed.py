"""Whether the agent is there, and the hook is installed in it as this version would write it."""

import math
import os
import re
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.entry import differences, installation
from crabhook.doctor.facts import Case, Settings
from crabhook.doctor.finding import Finding, Status, several
from crabhook.doctor.processes import ProgramError, run
from crabhook.model.errors import CrabhookError, InstallError
from crabhook.platforms.installation import MAX_WAIT, Scope

_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
WITHIN = 10.0  # seconds for the agent to say its version


def known_version(case: Case) -> Iterator[Finding]:
    """Whether the agent is installed, and its version is one of the conformance table."""
    if case.program is None:
        if case.wanted or case.entries:
            what = f"there is no `{case.agent.program}` on PATH"
            means = f"whether {case.title} is of a version that crabhook was run with is not known"
            advice = "name its program with --program, if it is elsewhere"
            yield Finding("agent.version", Status.WARNING, what, means, advice=advice)
        return
    try:
        version = _version(case)
    except ProgramError as error:
        yield Finding("agent.version", Status.UNKNOWN, f"{error}")
        return
    figures = {"version": version}
    what = f"{case.title} {version} at {case.program}"
    if version in case.agent.settings.versions:
        yield Finding("agent.version", Status.OK, what, figures=figures)
        return
    live = commands.crabhook("doctor", case.agent.name, "--live")
    yield Finding(
        "agent.version",
        Status.WARNING,
        f"{what}; crabhook was run with {', '.join(case.agent.settings.versions)}",
        "most likely all is as it was, but nobody has seen this version heed a decision",
        live,
        "see it heed one",
        figures=figures,
    )


def version_in(said: str) -> str:
    """Return the version in what a program says of itself; empty where there is none."""
    found = _VERSION.search(said)
    return found[0] if found else ""


def _version(case: Case) -> str:
    """Return the version that the agent says it is; its home is an empty one meanwhile."""
    with TemporaryDirectory(prefix="crabhook-doctor-") as home:
        environment = {
            "HOME": home,
            "TMPDIR": home,
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "DISABLE_AUTOUPDATER": "1",
        }
        said = run([str(case.program), "--version"], seconds=WITHIN, environment=environment)
    version = version_in(said.stdout)
    if said.code or not version:
        raise ProgramError(f"{case.program} --version ends with {said.code}: {said.last_words}")
    return version


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


def patient(case: Case) -> Iterator[Finding]:
    """Whether the timeout that is registered leaves a hook the time it takes."""
    if not case.entries:
        return
    short = [one for one in case.entries if case.patience(one) <= one.options.wait]
    worst = max(short or case.entries, key=lambda one: one.options.wait)
    agents, ours = case.patience(worst), worst.options.wait
    figures = {"timeout_s": agents, "wait_s": ours}
    waits = f"{case.title} waits {agents:g} s for a hook that waits {ours:g} s for the operator"
    if short:
        yield Finding(
            "hook.timeout",
            Status.FAULT,
            f"{several([one.event for one in short])}: {waits}",
            "the hook is ended before its time is over, and the call goes on without an answer",
            case.reinstalling(worst),
            figures=figures,
        )
        return
    yield from _server_waits_longer(case) or (
        Finding("hook.timeout", Status.OK, waits, figures=figures),
    )


def _server_waits_longer(case: Case) -> list[Finding]:
    """Say so where the owner's own settings let a question stand longer than its hook does."""
    try:
        server = config.load().wait
    except CrabhookError:
        return []  # which is a finding of its own
    longest = max(case.entries, key=lambda one: one.options.wait)
    if server in (config.Settings().wait, config.NEVER) or server <= longest.options.wait:
        return []
    return [
        Finding(
            "hook.timeout",
            Status.WARNING,
            f"the server lets a question stand {server:g} s, and the hook waits "
            f"{longest.options.wait:g} s",
            "a question ends when its hook gives up, sooner than the server's settings say",
            case.reinstalling(longest, wait=min(math.ceil(server), MAX_WAIT)),
        )
    ]
