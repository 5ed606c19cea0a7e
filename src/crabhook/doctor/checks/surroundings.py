"""Who runs all this, and who else could change it."""

import os
import stat
from collections.abc import Iterator

from crabhook.doctor import commands
from crabhook.doctor.finding import Finding, Status
from crabhook.doctor.machine import Machine


def no_root(_: Machine) -> Iterator[Finding]:
    """Whether we are somebody for whom the system's own bounds hold."""
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
