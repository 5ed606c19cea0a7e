"""Whether the agent is there, and of a version that crabhook was run with."""

import os
import re
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from crabhook.doctor import commands
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status
from crabhook.doctor.processes import ProgramError, run

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
