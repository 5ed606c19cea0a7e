"""Whether the program that the hooks start can be run, is this one, and is fast."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from crabhook import __version__
from crabhook.doctor.entry import Entry
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, told
from crabhook.doctor.processes import NO_PLATFORM, ProgramError, Speed, ask, measure, run
from crabhook.install import program

GOAL = 1.5  # times a bare start of Python that a hook call may take

_ROUNDS, _QUICK_ROUNDS = 15, 5
_START = 10.0  # seconds for the program's one start
# What the stub does, up to importing the client; then who it is, instead of asking anybody.
_WHO = (
    "import sys;sys.path.append(sys.argv[1].rpartition('/crabhook/hook/')[0]);"
    "import crabhook.hook.client;print(crabhook.__version__);print(sys.executable)"
)


def program_runs(case: Case) -> Iterator[Finding]:
    """Whether the program that is registered is there, runs, and is of this installation."""
    for entry in case.programs:
        mend = case.reinstalling(entry)
        if not case.may_start(entry):
            mend = case.looking_anyway()
            yield told("hook.program", "unasked", mend, command=entry.told)
            continue
        try:
            version, path = _who(entry)
        except ProgramError as error:
            yield told("hook.program", "fails", mend, error=error, title=case.title)
            continue
        if entry.is_of_this_installation:
            for trouble in program.misgivings(entry.interpreter):
                yield told("hook.program", "slow", trouble=trouble)
            figures = {"version": version}
            yield told("hook.program", "fine", "", figures, version=version, path=path)
        else:
            there, here = entry.stub or entry.interpreter, f"{__version__} at {program.stub()}"
            found = {"version": version, "path": path}
            yield told("hook.program", "other", mend, **found, there=there, here=here)


def _who(entry: Entry) -> tuple[str, str]:
    """Return the version of the program that an entry starts, and its interpreter.

    Raises ProgramError, saying why, where that cannot be run.
    """
    if not entry.command:
        raise ProgramError(f"only a shell could tell what this starts: {entry.told}")
    if entry.stub and not Path(entry.stub).is_file():
        raise ProgramError(f"there is no {entry.stub}")
    words = ("-I", "-S", "-c", _WHO, entry.stub) if entry.stub else ("--version",)
    said = run([entry.interpreter, *words], seconds=_START, environment=os.environ)
    lines = said.stdout.splitlines()
    if said.code or not lines:
        raise ProgramError(f"{entry.interpreter} ends with {said.code}: {said.last_words}")
    return lines[0].removeprefix("crabhook "), entry.interpreter if len(lines) < 2 else lines[1]


def fast(case: Case) -> Iterator[Finding]:
    """Whether a hook call takes about as long as starting Python, measured."""
    for entry in [entry for entry in case.programs if case.may_start(entry)][:1]:
        try:
            _, python = _who(entry)
            speed, where = _timed(case, entry, python if entry.stub else program.interpreter())
        except ProgramError as error:
            yield told("hook.fast", "unknown", case.reinstalling(entry), error=error)
        else:
            yield _judged(case, entry, speed, where)


def _timed(case: Case, entry: Entry, python: str) -> tuple[Speed, str]:
    """Measure an entry's command against its server, or against nobody where no server answers.

    The server refuses before there is an event: see `asking`.
    """
    there = case.may_ask(entry) and ask(entry.asking()).there
    rounds = _QUICK_ROUNDS if case.wish.quick else _ROUNDS
    with TemporaryDirectory(prefix="crabhook-doctor-") as folder:
        nobody = () if there else ("--server", f"unix:{folder}/nobody")
        words = ("--platform", NO_PLATFORM, "--wait", "5", "--reconnect", "0", *nobody)
        command = (*entry.command, *words)
        speed = measure(command, python, os.environ, case.wish.project, rounds=rounds)
    return speed, "the server there" if there else "no server there"


def _judged(case: Case, entry: Entry, speed: Speed, where: str) -> Finding:
    figures = {
        "hook_ms": round(speed.hook, 2),
        "python_ms": round(speed.python, 2),
        "ratio": round(speed.ratio, 3),
        "rounds": speed.rounds,
    }
    if speed.ratio <= GOAL:
        return told("hook.fast", "fine", "", figures, speed=speed, where=where)
    mend, tls = case.reinstalling(entry), ""
    if case.is_as_installed(entry) and program.is_compiled():
        mend = ""  # written anew it would start in the same way
    if entry.options.tls_ca:
        tls = "TLS alone costs three starts of Python: a tunnel to the Unix socket has none of that"
        mend, tls = "", f"{tls}; "
    found = {"speed": speed, "where": where, "title": case.title, "tls": tls}
    return told("hook.fast", "slow", mend, figures, **found)
