"""Whether the agent is there, and of a version that crabhook was run with."""

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from crabhook.doctor import commands
from crabhook.doctor.agents import version_in
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status
from crabhook.doctor.processes import ProgramError, run

WITHIN = 10.0  # seconds for the agent to say its version


def known_version(case: Case) -> Iterator[Finding]:
    """Whether the agent is installed, and its version is one of the conformance table."""
    if case.program is None:
        if case.wanted or case.entries:
            what = f"there is no `{case.row.agent.program}` on PATH"
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
    if version in case.row.versions:
        yield Finding("agent.version", Status.OK, what, figures=figures)
        return
    live = commands.crabhook("doctor", case.row.name, "--live")
    yield Finding(
        "agent.version",
        Status.WARNING,
        f"{what}; crabhook was run with {', '.join(case.row.versions)}",
        "most likely all is as it was, but nobody has seen this version heed a decision",
        live,
        "see it heed one",
        figures=figures,
    )


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
