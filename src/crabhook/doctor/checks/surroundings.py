"""Whether the owner's settings can be read, who runs all this, and who could change it."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.facts import Machine
from crabhook.doctor.finding import FAULT, OK, WARNING, Finding
from crabhook.model.errors import CrabhookError


def settings(_: Machine) -> Iterator[Finding]:
    """Whether crabhook's own settings can be read."""
    path = config.config_folder() / "settings.toml"
    try:
        config.load()
    except CrabhookError as error:
        means = "`crabhook serve` does not start with them, so agents ask nobody"
        mend = commands.edit(path, str(error))
        yield Finding("settings.crabhook", FAULT, str(error), means, mend)
        return
    what = f"{path} can be read" if path.exists() else f"no {path}: all is as it comes"
    yield Finding("settings.crabhook", OK, what)


def rules(machine: Machine) -> Iterator[Finding]:
    """Whether the rules can be read; the hook alone is installed without what reads them."""
    try:
        from crabhook.doctor.checks import rules as ruled  # noqa: PLC0415 - the extra `serve` may be missing

        yield from [*ruled.rules(machine), *ruled.project_rules(machine)]
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("crabhook"):
            raise
        what = f"not looked at: the hook alone is installed here ({error.name} is missing)"
        means = "rules count where `crabhook serve` runs"
        yield Finding("rules.own", OK, what, means)


def no_root(_: Machine) -> Iterator[Finding]:
    """Whether the system's own bounds hold for us, as they do not for root."""
    if os.geteuid():
        yield Finding("user.root", OK, f"you are user {os.geteuid()}, not root")
    else:
        means = "what an agent does here nothing else stops: the operator's word is the one gate"
        advice = "let agents, and crabhook, run as a user of their own"
        yield Finding("user.root", WARNING, "you are root", means, advice=advice)


def own(machine: Machine) -> Iterator[Finding]:
    """Whether anybody else may write what decides for the owner."""
    means = "any of them could change what decides for you, or switch it off"
    found = []
    for place in machine.guarded:
        with suppress(OSError):
            mode = place.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                what = f"every user may write {place} (mode {stat.S_IMODE(mode):o})"
                mend = commands.chmod("o-w", place)
                found.append(Finding("files.own", FAULT, what, means, mend))
    yield from found or [Finding("files.own", OK, "no other user may write what decides for you")]
