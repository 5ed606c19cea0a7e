"""The commands that mend, as a person can paste them into a shell."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.platforms import PLATFORMS
from crabhook.platforms.installation import USUAL_WAIT, Installation, Scope
from crabhook.server.address import asked_address

_LINE = re.compile(r"\bline (\d+)")


def crabhook_command(*words: str, as_root: bool = False) -> str:
    """Return a command of crabhook's; by its module where it is not on PATH, or root's is another.

    `as_root`: it writes what only root may.
    """
    if as_root and os.geteuid():
        return shlex.join(["sudo", sys.executable, "-m", "crabhook", *words])
    start = ("crabhook",) if shutil.which("crabhook") else (sys.executable, "-m", "crabhook")
    return shlex.join([*start, *words])


def install_command(
    agent: str, scope: Scope, project: Path, how: Installation | None = None
) -> str:
    """Return the command that installs into an agent; the usual way where no other is named."""
    words = ["install", agent]
    if how is not None:
        if len(PLATFORMS[agent].settings.stances) > 1:
            words.append("--gate" if how.stance is Stance.GATE else "--companion")
        words += ["--fail-closed"] if how.fail_closed else []
        words += ["--transport", "http"] if how.url else []
        usual = how.server == asked_address() and scope is not Scope.MANAGED
        options = {
            "--url": how.url,
            "--server": "" if usual else how.server,
            "--token-file": how.token_file,
            "--tls-ca": how.tls_ca,
        }
        words += [word for option, value in options.items() if value for word in (option, value)]
        words += ["--wait", str(how.wait)] if how.wait != USUAL_WAIT else []
    return crabhook_command(*words, *_place(scope, project), as_root=scope is Scope.MANAGED)


def uninstall_command(agent: str, scope: Scope, project: Path) -> str:
    """Return the command that takes the hooks out of one scope's settings."""
    words = ("uninstall", agent, *_place(scope, project))
    return crabhook_command(*words, as_root=scope is Scope.MANAGED)


def edit_command(path: Path, problem: str = "") -> str:
    """Return the command that opens a file where its problem is, as far as that names a line."""
    found = _LINE.search(problem)
    at = f"+{found[1]} " if found else ""
    return f"${{EDITOR:-vi}} {at}{shlex.quote(str(path))}"


def chmod_command(mode: str, path: Path) -> str:
    """Return the command that gives a file or folder this mode."""
    return shlex.join(["chmod", mode, str(path)])


def move_away_command(path: Path) -> str:
    """Return the command that moves what has no business at a path out of the way."""
    return shlex.join(["mv", str(path), f"{path}.moved-away"])


def _place(scope: Scope, project: Path) -> list[str]:
    if scope is Scope.USER:
        return []
    if scope is Scope.MANAGED:
        return ["--scope", scope.value]
    where = [] if project == Path.cwd() else ["--project", str(project)]
    return ["--scope", scope.value, *where]
