"""Whether the owner's settings can be read, and the rules where this installation reads rules."""

from collections.abc import Iterator

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.finding import Finding, Status
from crabhook.doctor.machine import Machine
from crabhook.model.errors import CrabhookError


def settings(_: Machine) -> Iterator[Finding]:
    """Whether crabhook's own settings can be read."""
    path = config.config_folder() / "settings.toml"
    try:
        config.load()
    except CrabhookError as error:
        means = "`crabhook serve` does not start with them, so agents ask nobody"
        mend = commands.edit(path, str(error))
        yield Finding("settings.crabhook", Status.FAULT, str(error), means, mend)
        return
    what = f"{path} can be read" if path.exists() else f"no {path}: all is as it comes"
    yield Finding("settings.crabhook", Status.OK, what)


def rules(machine: Machine) -> Iterator[Finding]:
    """Whether the rules can be read; the hook alone is installed without what reads them."""
    try:
        from crabhook.doctor.checks import ruled  # noqa: PLC0415 - the extra `serve` may be missing
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("crabhook"):
            raise
        what = f"not looked at: the hook alone is installed here ({error.name} is missing)"
        means = "rules count where `crabhook serve` runs"
        yield Finding("rules.own", Status.OK, what, means)
        return
    yield from ruled.rules(machine)
    yield from ruled.project_rules(machine)
