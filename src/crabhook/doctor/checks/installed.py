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
from crabhook.doctor.finding import FAULT, OK, UNKNOWN, WARNING, Figure, Finding, several
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
            yield Finding("agent.version", WARNING, what, means, advice=advice)
        return
    try:
        version = _version(case)
    except ProgramError as error:
        yield Finding("agent.version", UNKNOWN, f"{error}")
        return
    figures, known = {"version": version}, case.agent.settings.versions
    what = f"{case.title} {version} at {case.program}"
    if version in known:
        yield Finding("agent.version", OK, what, figures=figures)
        return
    what += f"; crabhook was run with {', '.join(known)}"
    means = "most likely all is as it was, but nobody has seen this version heed a decision"
    mend = commands.crabhook("doctor", case.agent.name, "--live")
    yield Finding("agent.version", WARNING, what, means, mend, "see it heed one", figures=figures)


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
    means = f"{case.title} takes no hooks from this file, and crabhook cannot be put into it"
    for one in case.unreadable:
        mend = commands.edit(one.path, one.problem)
        yield Finding("settings.readable", FAULT, f"{one.path}: {one.problem}", means, mend)
    read = [str(one.path) for one in case.settings if one.text]
    if read and not case.unreadable:
        yield Finding("settings.readable", OK, f"{', '.join(read)} can be read")


def installed(case: Case) -> Iterator[Finding]:
    """Whether any settings hold hooks of ours, and what the agent does with them."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        closed = ", fail-closed" if how.fail_closed else ""
        events = len({one.event for one in settings.ours})
        scope = settings.scope.value if settings.scope else "managed"
        what = f"in {settings.path} ({scope}): {events} events, {how.stance}{closed}"
        told: Mapping[str, Figure] = {"events": events, "stance": str(how.stance), "scope": scope}
        yield Finding("hook.installed", OK, what, figures=told)
    if case.hooked:
        return
    mend = commands.install(case.agent.name, Scope.USER, case.wish.project)
    if case.wanted:
        means = f"{case.title} asks no operator: it goes by its own rules alone"
        what = "crabhook is in none of its settings"
        advice = "after that, `crabhook serve` in a terminal of its own is where you decide"
        yield Finding("hook.installed", FAULT, what, means, mend, advice)
    else:
        what = f"not hooked, and so left alone; `{mend}` would change that"
        yield Finding("hook.installed", OK, what)


def current(case: Case) -> Iterator[Finding]:
    """Whether our entries are exactly what this version would write."""
    for settings in case.hooked:
        how = installation(case.agent, settings.ours)
        mend = case.reinstalling(settings.ours[0])
        try:
            wanted = case.agent.settings.groups(how)
        except InstallError as error:
            what = f"{settings.path}: {error}"
            yield Finding("hook.current", FAULT, what, "the hook cannot run so", mend)
            continue
        differs = differences(settings.text, settings.ours, wanted)
        if not differs:
            what = f"{settings.path}: as this version writes them"
            yield Finding("hook.current", OK, what)
            continue
        status, means = WARNING, "the operator sees less, or other, than this version could show"
        if any(event in wanted for event in case.agent.decided & set(differs)):
            status, means = FAULT, "calls that the operator should decide may be decided without"
        what = f"{settings.path}: {several([f'{event} {how}' for event, how in differs.items()])}"
        yield Finding("hook.current", status, what, means, mend)


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
        what = f"{several([one.event for one in short])}: {waits}"
        means = "the hook is ended before its time is over, and the call goes on without an answer"
        mend = case.reinstalling(worst)
        yield Finding("hook.timeout", FAULT, what, means, mend, figures=figures)
    elif (server := _server_wait()) > ours:
        what = f"the server lets a question stand {server:g} s, and the hook waits {ours:g} s"
        means = "a question ends when its hook gives up, sooner than the server's settings say"
        mend = case.reinstalling(worst, wait=min(math.ceil(server), MAX_WAIT))
        yield Finding("hook.timeout", WARNING, what, means, mend)
    else:
        yield Finding("hook.timeout", OK, waits, figures=figures)


def _server_wait() -> float:
    """Return how long the owner's settings let a question stand; 0 where they set no end."""
    try:
        wait = config.load().wait
    except CrabhookError:
        return 0  # which is a finding of its own
    return 0 if wait in (config.Settings().wait, config.NEVER) else wait
