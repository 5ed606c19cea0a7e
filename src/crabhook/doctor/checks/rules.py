"""Whether the owner's rules, and a project's, can be read; needs what rules need."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.facts import Machine
from crabhook.doctor.finding import Finding, told
from crabhook.model.errors import CrabhookError
from crabhook.policy.rule import RuleSet, Trust
from crabhook.rulebook.files import PROJECT_FILE, RuleFiles, Trusted


def rules(_: Machine) -> Iterator[Finding]:
    """Whether the owner's rules, and the list of those trusted, can be read."""
    files = _files()
    yield from _counted("rules.own", files.user, files.user_rules)
    yield from _counted("rules.trusted", files.trusted, files.trusted_files)


def _counted(
    id_: str, path: Path, read: Callable[[], RuleSet | Sequence[Trusted]]
) -> Iterator[Finding]:
    try:
        found = read()
    except CrabhookError as error:
        yield told(id_, "unreadable", commands.edit(path, str(error)), error=error)
        return
    number = len(found.rules if isinstance(found, RuleSet) else found)
    there = "fine" if path.exists() else "absent"
    yield told(id_, there, "", {"number": number}, path=path)


def project_rules(machine: Machine) -> Iterator[Finding]:
    """Whether the project's own rules count, and can be read if they do."""
    files, path = _files(), machine.wish.project / PROJECT_FILE
    if not path.exists():
        return
    trust = commands.crabhook("rules", "trust", str(machine.wish.project))
    try:
        found = files.project_rules(machine.wish.project)
        before = any(one.folder == str(machine.wish.project) for one in files.trusted_files())
    except CrabhookError as error:
        mend = commands.edit(path, str(error))
        yield told("rules.project", "unreadable", mend, error=error)
        return
    if found.trust is Trust.NONE and before:
        yield told("rules.project", "changed", trust, path=path)
        return
    figures = {"trust": str(found.trust)}
    yield told("rules.project", str(found.trust), "", figures, path=path, trust=trust)


def _files() -> RuleFiles:
    return RuleFiles(config.config_folder(), (str(config.state_folder()),))
