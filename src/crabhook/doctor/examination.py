"""The order of the checks; and checks without an agent: settings, rules, files, the program."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from crabhook import __version__, config
from crabhook.doctor.checks import installed, record, server
from crabhook.doctor.checks.export import receives
from crabhook.doctor.checks.provider import is_asked
from crabhook.doctor.entry import HookEntry
from crabhook.doctor.facts import Case, DoctorTask, ThisMachine, case, machine
from crabhook.doctor.finding import (
    Finding,
    chmod_command,
    crabhook_command,
    edit_command,
    make_finding,
)
from crabhook.doctor.processes import NO_PLATFORM, ProgramError, Speed, ask, measure, run
from crabhook.install import program
from crabhook.model.errors import CrabhookError
from crabhook.platforms import HOOKED
from crabhook.policy.rule import RuleSet, Trust
from crabhook.rulebook.files import (
    PROJECT_FILE,
    RULES,
    TRUSTED,
    RuleFiles,
    Trusted,
    read_text,
    read_trusted,
)
from crabhook.store.interface import NoRecordError, StoreError
from crabhook.store.opening import Place, is_shared, open_history
from crabhook.store.verify import amiss

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
            yield make_finding("hook.program", "unasked", mend, command=entry.told)
            continue
        try:
            version, path = _who(entry)
        except ProgramError as error:
            yield make_finding("hook.program", "fails", mend, error=error, title=case.title)
            continue
        if entry.is_of_this_installation:
            for trouble in program.misgivings(entry.interpreter):
                yield make_finding("hook.program", "slow", trouble=trouble)
            figures = {"version": version}
            yield make_finding("hook.program", "fine", "", figures, version=version, path=path)
            continue
        fillings = {"version": version, "path": path}
        if entry.stub == program.stub():
            here = program.interpreter()
            yield make_finding("hook.program", "python", mend, **fillings, here=here)
        else:
            there, here = entry.stub or entry.interpreter, f"{__version__} at {program.stub()}"
            yield make_finding("hook.program", "other", mend, **fillings, there=there, here=here)


def _who(entry: HookEntry) -> tuple[str, str]:
    """Return the version of an entry's program, and its interpreter; raises ProgramError."""
    if not entry.command:
        raise ProgramError(f"only a shell could tell what this starts: {entry.told}")
    if entry.stub and not Path(entry.stub).is_file():
        raise ProgramError(f"there is no {entry.stub}")
    words = ("-I", "-S", "-c", _WHO, entry.stub) if entry.stub else ("--version",)
    ran = run([entry.interpreter, *words], seconds=_START, environment=os.environ)
    lines = ran.stdout.splitlines()
    if ran.code or not lines:
        raise ProgramError(f"{entry.interpreter} ends with {ran.code}: {ran.last_words}")
    return lines[0].removeprefix("crabhook "), entry.interpreter if len(lines) < 2 else lines[1]


def fast(case: Case) -> Iterator[Finding]:
    """Whether a hook call takes about as long as starting Python, measured."""
    for entry in [entry for entry in case.programs if case.may_start(entry)][:1]:
        try:
            _, python = _who(entry)
            speed, where = _timed(case, entry, python if entry.stub else program.interpreter())
        except ProgramError as error:
            yield make_finding("hook.fast", "unknown", case.reinstalling(entry), error=error)
        else:
            yield _judged(case, entry, speed, where)


def _timed(case: Case, entry: HookEntry, python: str) -> tuple[Speed, str]:
    """Measure an entry's command against its server, or against no server.

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


def _judged(case: Case, entry: HookEntry, speed: Speed, where: str) -> Finding:
    figures = {
        "hook_ms": round(speed.hook, 2),
        "python_ms": round(speed.python, 2),
        "ratio": round(speed.ratio, 3),
        "rounds": speed.rounds,
    }
    if speed.ratio <= GOAL:
        return make_finding("hook.fast", "fine", "", figures, speed=speed, where=where)
    mend, tls = case.reinstalling(entry), ""
    if case.is_as_installed(entry) and program.is_compiled():
        mend = ""  # written anew it would start in the same way
    if entry.options.tls_ca:
        tls = "TLS alone costs three starts of Python: a tunnel to the Unix socket has none of that"
        mend, tls = "", f"{tls}; "
    fillings = {"speed": speed, "where": where, "title": case.title, "tls": tls}
    return make_finding("hook.fast", "slow", mend, figures, **fillings)


def settings(_: ThisMachine) -> Iterator[Finding]:
    """Whether crabhook's own settings can be read."""
    path = config.config_folder() / "settings.toml"
    try:
        config.load()
    except CrabhookError as error:
        mend = edit_command(path, str(error))
        yield make_finding("settings.crabhook", "unreadable", mend, error=error)
        return
    yield make_finding("settings.crabhook", "fine" if path.exists() else "absent", path=path)


def rules(machine: ThisMachine) -> Iterator[Finding]:
    """Whether the rules can be read; the hook alone is installed without what reads them."""
    try:
        yield from [*own_rules(machine), *project_rules(machine)]
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("crabhook"):
            raise
        yield make_finding("rules.own", "missing", name=error.name)


def no_root(_: ThisMachine) -> Iterator[Finding]:
    """Whether the system's own bounds hold for us, as they do not for root."""
    user = os.geteuid()
    yield make_finding("user.root", "fine" if user else "root", user=user)


def own(machine: ThisMachine) -> Iterator[Finding]:
    """Whether anybody else may write what decides for the owner."""
    open_files = []
    for place in machine.guarded:
        with suppress(OSError):
            mode = place.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                mend = chmod_command("o-w", place)
                mode = stat.S_IMODE(mode)
                open_files.append(make_finding("files.own", "open", mend, path=place, mode=mode))
    yield from open_files or [make_finding("files.own", "fine")]


def own_rules(_: ThisMachine) -> Iterator[Finding]:
    """Whether the owner's rules, and the list of those trusted, can be read."""
    files, place = _files(), record.record_place()
    if is_shared(place):
        own = {"rules.own": (RULES, files.user), "rules.trusted": (TRUSTED, files.trusted)}
        with suppress(StoreError):  # which is another finding
            yield from [_on_record(place, id_, *about) for id_, about in own.items()]
        return
    yield from _counted("rules.own", files.user, files.user_rules)
    yield from _counted("rules.trusted", files.trusted, files.trusted_files)


def _on_record(place: Place, id_: str, name: str, path: Path) -> Finding:
    """Say whether the servers' shared data is complete, and equal to the file here."""
    with open_history(place) as history:
        there, wrong = history.documents().get(name), amiss(history).get(name)
    if wrong is not None:
        return make_finding(id_, "changed", crabhook_command("rules", "push"), what=wrong[1])
    if there is None:
        return make_finding(id_, "unbegun", path=path)
    try:
        other = read_text(path) not in {"", there.text}
    except CrabhookError:
        other = True
    if other:
        return make_finding(id_, "unused", crabhook_command("rules", "pull"), path=path)
    return make_finding(id_, "shared", "", {"version": there.version}, by=there.by)


def _counted(
    id_: str, path: Path, read: Callable[[], RuleSet | Sequence[Trusted]]
) -> Iterator[Finding]:
    try:
        content = read()
    except CrabhookError as error:
        yield make_finding(id_, "unreadable", edit_command(path, str(error)), error=error)
        return
    if isinstance(content, RuleSet) and content.failed:
        failing = _failing(content)
        yield make_finding(id_, "failing", edit_command(path, failing), failing=failing)
        return
    if isinstance(content, RuleSet) and (dead := _dead(content)):
        yield make_finding("rules.own", "dead", edit_command(path, dead), dead=dead)
    number = len(content.rules if isinstance(content, RuleSet) else content)
    there = "fine" if path.exists() else "absent"
    yield make_finding(id_, there, "", {"number": number}, path=path)


def _failing(rules: RuleSet) -> str:
    """Return which tests in a rule file fail."""
    from crabhook.rulebook.rule_tests import in_words  # few files have tests

    return in_words(rules)


def _dead(rules: RuleSet) -> str:
    """Return the rules that can never decide; empty if each may."""
    if not rules.rules:
        return ""
    from crabhook.policy.dead_rules import dead_rules  # no rule needs what reads rules

    return " · ".join(map(str, dead_rules(rules)))


def project_rules(machine: ThisMachine) -> Iterator[Finding]:
    """Whether the project's own rules count, and can be read if they do."""
    files, path = _files(), machine.wish.project / PROJECT_FILE
    if not path.exists():
        return
    trust = crabhook_command("rules", "trust", str(machine.wish.project))
    try:
        trusted = _trusted(files)
        rules = files.rules_of(machine.wish.project, trusted)
        before = any(project.folder == str(machine.wish.project) for project in trusted)
    except StoreError:  # which is another finding
        return
    except CrabhookError as error:
        mend = edit_command(path, str(error))
        yield make_finding("rules.project", "unreadable", mend, error=error)
        return
    if rules.trust is Trust.NONE and before:
        yield make_finding("rules.project", "changed", trust, path=path)
        return
    if rules.failed:
        failing = _failing(rules)
        mend = edit_command(path, failing)
        yield make_finding("rules.project", "failing", mend, failing=failing)
    figures = {"trust": str(rules.trust)}
    yield make_finding("rules.project", str(rules.trust), "", figures, path=path, trust=trust)


def _trusted(files: RuleFiles) -> Sequence[Trusted]:
    """Return the trusted projects by which servers go: those on record, if servers share one.

    Raises CrabhookError, which is a StoreError where the record is what is wrong.
    """
    place = record.record_place()
    with suppress(NoRecordError):  # the first server takes the file here
        if is_shared(place):
            with open_history(place) as history:
                if wrong := amiss(history).get(TRUSTED):
                    raise StoreError(wrong[1])
                if there := history.documents().get(TRUSTED):
                    return read_trusted(there.text, TRUSTED)
    return files.trusted_files()


def _files() -> RuleFiles:
    return RuleFiles(config.config_folder(), config.own_places(), program=config.program_places())


OF_AN_AGENT: Sequence[Callable[[Case], Iterator[Finding]]] = (
    installed.known_version,
    installed.readable,
    installed.installed,
    installed.current,
    installed.switched_on,
    installed.permitted,
    installed.environment,
    installed.alone,
    installed.guarded,
    installed.signed,
    program_runs,
    installed.patient,
    server.answers,
    server.private_socket,
    server.private_token,
    server.takes,
    fast,
)

OF_THE_MACHINE: Sequence[Callable[[ThisMachine], Iterator[Finding]]] = (
    settings,
    rules,
    record.writable,
    record.room,
    record.whole,
    receives,
    is_asked,
    own,
    no_root,
)


def cases(wish: DoctorTask, environment: Mapping[str, str]) -> Sequence[Case]:
    """Return the named agent, else those here or hooked; the first, if none is hooked, as named."""
    if wish.agent is not None:
        return (replace(case(HOOKED[wish.agent], wish, environment), wanted=True),)
    every = [case(agent, wish, environment) for agent in HOOKED.values()]
    here = [case for case in every if case.program or case.hooked or case.unreadable or case.used]
    if here and not any(case.hooked for case in here):
        here[0] = replace(here[0], wanted=True)
    return tuple(here)


def _serves() -> bool:
    """Whether a server is set up here: it has a team, a record, or a place for its record."""
    begun = (config.team_folder() / "server.key", config.state_folder() / "record.db")
    return record.record_place() != config.state_folder() or any(path.exists() for path in begun)


def examine(cases: Sequence[Case], wish: DoctorTask) -> Iterator[Finding]:
    """Look at everything; yield each finding as it is made."""
    for examined in cases:
        for look in OF_AN_AGENT:
            yield from (replace(finding, agent=examined.agent.name) for finding in look(examined))
    if not cases:
        names = ", ".join(
            f"{platform.title} (`{platform.program}`)" for platform in HOOKED.values()
        )
        if _serves():  # its agents are on other machines
            yield make_finding("hook.installed", "elsewhere", names=names)
        else:
            yield make_finding("hook.installed", "nobody", crabhook_command("demo"), names=names)
    here = machine(wish, cases)
    for check in OF_THE_MACHINE:
        yield from check(here)
