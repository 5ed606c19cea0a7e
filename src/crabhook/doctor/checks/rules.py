"""Whether the owner's rules, and a project's, can be read; needs what rules need."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.facts import Machine
from crabhook.doctor.finding import FAULT, OK, WARNING, Finding
from crabhook.model.errors import CrabhookError
from crabhook.policy.rule import RuleSet, Trust
from crabhook.rulebook.files import PROJECT_FILE, RuleFiles, Trusted

_TRUST = {
    Trust.NONE: "not trusted, so nothing in it counts; `{}` would let it",
    Trust.RESTRICT: "trusted to deny and to ask",
    Trust.FULL: "trusted in full",
}


def rules(_: Machine) -> Iterator[Finding]:
    """Whether the owner's rules, and the list of those trusted, can be read."""
    files = _files()
    yield from _counted("rules.own", files.user, files.user_rules, "you decide everything")
    yield from _counted("rules.trusted", files.trusted, files.trusted_files, "no project's count")


def _counted(
    id_: str, path: Path, read: Callable[[], RuleSet | Sequence[Trusted]], none: str
) -> Iterator[Finding]:
    """Read a file that may not be there: `none` says what that means."""
    try:
        found = read()
    except CrabhookError as error:
        means = "a server that runs keeps the rules from before; one that begins now has none"
        mend = commands.edit(path, str(error))
        yield Finding(id_, FAULT, str(error), means, mend)
        return
    number = len(found.rules if isinstance(found, RuleSet) else found)
    what = f"{path} can be read: {number}" if path.exists() else f"no {path}: {none}"
    yield Finding(id_, OK, what, figures={"number": number})


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
        means = "none of the project's rules counts; your own hold"
        mend = commands.edit(path, str(error))
        yield Finding("rules.project", FAULT, str(error), means, mend)
        return
    if found.trust is Trust.NONE and before:
        what = f"{path} has changed since you trusted it"
        means = "nothing in it counts any more, what it denied neither"
        advice = "it shows what would count, and asks"
        yield Finding("rules.project", WARNING, what, means, trust, advice)
        return
    what = f"{path}: {_TRUST[found.trust].format(trust)}"
    yield Finding("rules.project", OK, what, figures={"trust": str(found.trust)})


def _files() -> RuleFiles:
    return RuleFiles(config.config_folder(), (str(config.state_folder()),))
