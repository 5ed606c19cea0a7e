"""Whether the owner's settings can be read, who runs all this, and who could change it."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.facts import Machine
from crabhook.doctor.finding import Finding, told
from crabhook.model.errors import CrabhookError


def settings(_: Machine) -> Iterator[Finding]:
    """Whether crabhook's own settings can be read."""
    path = config.config_folder() / "settings.toml"
    try:
        config.load()
    except CrabhookError as error:
        mend = commands.edit(path, str(error))
        yield told("settings.crabhook", "unreadable", mend, error=error)
        return
    yield told("settings.crabhook", "fine" if path.exists() else "absent", path=path)


def rules(machine: Machine) -> Iterator[Finding]:
    """Whether the rules can be read; the hook alone is installed without what reads them."""
    try:
        from crabhook.doctor.checks import rules as ruled  # noqa: PLC0415 - the extra `serve` may be missing

        yield from [*ruled.rules(machine), *ruled.project_rules(machine)]
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("crabhook"):
            raise
        yield told("rules.own", "missing", name=error.name)


def no_root(_: Machine) -> Iterator[Finding]:
    """Whether the system's own bounds hold for us, as they do not for root."""
    user = os.geteuid()
    yield told("user.root", "fine" if user else "root", user=user)


def own(machine: Machine) -> Iterator[Finding]:
    """Whether anybody else may write what decides for the owner."""
    found = []
    for place in machine.guarded:
        with suppress(OSError):
            mode = place.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                mend = commands.chmod("o-w", place)
                mode = stat.S_IMODE(mode)
                found.append(told("files.own", "open", mend, path=place, mode=mode))
    yield from found or [told("files.own", "fine")]
