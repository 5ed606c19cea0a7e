"""Whether the owner's settings can be read, who runs all this, and who could change it."""

import os
import stat
from collections.abc import Iterator

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.facts import Machine
from crabhook.doctor.finding import Finding, Status
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
        from crabhook.doctor.checks import rules as ruled  # noqa: PLC0415 - the extra `serve` may be missing
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("crabhook"):
            raise
        what = f"not looked at: the hook alone is installed here ({error.name} is missing)"
        means = "rules count where `crabhook serve` runs"
        yield Finding("rules.own", Status.OK, what, means)
        return
    yield from ruled.rules(machine)
    yield from ruled.project_rules(machine)


def no_root(_: Machine) -> Iterator[Finding]:
    """Whether the system's own bounds hold for us, as they do not for root."""
    if os.geteuid():
        yield Finding("user.root", Status.OK, f"you are user {os.geteuid()}, not root")
        return
    means = "what an agent does here nothing else stops: the operator's word is the one gate"
    advice = "let agents, and crabhook, run as a user of their own"
    yield Finding("user.root", Status.WARNING, "you are root", means, advice=advice)


def own(machine: Machine) -> Iterator[Finding]:
    """Whether anybody else may write what decides for the owner."""
    found = False
    for place in machine.guarded:
        try:
            mode = place.stat().st_mode
        except OSError:
            continue
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            found = True
            yield Finding(
                "files.own",
                Status.FAULT,
                f"every user may write {place} (mode {stat.S_IMODE(mode):o})",
                "any of them could change what decides for you, or switch it off",
                commands.chmod("o-w", place),
            )
    if not found:
        yield Finding("files.own", Status.OK, "no other user may write what decides for you")
