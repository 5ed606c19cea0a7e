"""Whether the agent is there, and the hook is installed in it as this version would write it."""

import math
import os
import re
from collections.abc import Iterator, Mapping
from tempfile import TemporaryDirectory

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.entry import differences, installation
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Figure, Finding, several, told
from crabhook.doctor.processes import ProgramError, run
from crabhook.model.errors import CrabhookError, InstallError
from crabhook.platforms.installation import MAX_WAIT, Scope

_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
WITHIN = 10.0  # seconds for the agent to say its version


def known_version(case: Case) -> Iterator[Finding]:
    """Whether the agent is installed, and its version is one of the conformance table."""
    if case.program is None:
        if case.wanted or case.entries:
            yield told("agent.version", "absent", case=case)
        return
    try:
        version = _version(case)
    except ProgramError as error:
        yield told("agent.version", "unsaid", error=error)
        return
    known = case.agent.settings.versions
    figures = {"version": version}
    if version in known:
        yield told("agent.version", "fine", "", figures, case=case)
        return
    mend = commands.crabhook("doctor", case.agent.name, "--live")
    yield told("agent.version", "other", mend, figures, case=case, known=", ".join(known))


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
    for one in case.unreadable:
        mend = commands.edit(one.path, one.problem)
        yield told("settings.readable", "unreadable", mend, case=case, settings=one)
    read = [str(one.path) for one in case.settings if one.text]
    if read and not case.unreadable:
        yield told("settings.readable", "fine", read=", ".join(read))


def installed(case: Case) -> Iterator[Finding]:
    """Whether any settings hold hooks of ours, and what the agent does with them."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        figures: Mapping[str, Figure] = {
            "events": len({one.event for one in settings.ours}),
            "stance": str(how.stance),
            "scope": settings.scope.value if settings.scope else "managed",
        }
        closed = ", fail-closed" if how.fail_closed else ""
        yield told("hook.installed", "fine", "", figures, path=settings.path, closed=closed)
    if case.hooked:
        return
    mend = commands.install(case.agent.name, Scope.USER, case.wish.project)
    if case.wanted:
        yield told("hook.installed", "missing", mend, title=case.title)
    else:
        yield told("hook.installed", "unwanted", install=mend)


def current(case: Case) -> Iterator[Finding]:
    """Whether our entries are exactly what this version would write."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        mend = case.reinstalling(settings.ours[0])
        try:
            wanted = case.agent.settings.groups(how)
        except InstallError as error:
            yield told("hook.current", "impossible", mend, path=settings.path, error=error)
            continue
        found = differences(settings.text, settings.ours, wanted)
        if not found:
            yield told("hook.current", "fine", path=settings.path)
            continue
        undecided = any(event in wanted for event in case.agent.decided & set(found))
        kind = "undecided" if undecided else "other"
        differs = several([f"{event} {what}" for event, what in found.items()])
        yield told("hook.current", kind, mend, path=settings.path, differs=differs)


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
        events, mend = several([one.event for one in short]), case.reinstalling(worst)
        yield told("hook.timeout", "short", mend, figures, events=events, waits=waits)
    elif (server := _server_wait()) > ours:
        mend = case.reinstalling(worst, wait=min(math.ceil(server), MAX_WAIT))
        yield told("hook.timeout", "sooner", mend, server=server, ours=ours)
    else:
        yield told("hook.timeout", "fine", "", figures, waits=waits)


def _server_wait() -> float:
    """Return how long the owner's settings let a question stand; 0 where they set no end."""
    try:
        wait = config.load().wait
    except CrabhookError:
        return 0  # which is a finding of its own
    return 0 if wait in (config.Settings().wait, config.NEVER) else wait
