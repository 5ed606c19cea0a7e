"""What the doctor says: one check, its result, and what mends it.

`findings.toml` has the words, shown as lines for a person or as a value for programs. The mending
commands, ready for a shell, are here too.
"""

import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from crabhook import __version__
from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.model.card import Stance
from crabhook.platforms import HOOKED
from crabhook.platforms.installation import (
    USUAL_WAIT,
    Installation,
    SettingsScope,
    StrictHooks,
)
from crabhook.server.address import asked_address
from crabhook.ui.text.sentences import wrap_sentences

Figure: TypeAlias = int | float | str

_SHOWN = 4

SCHEMA = 1
"""The number of the JSON's form; it changes when a key changes its meaning or goes."""

_MARK, _ID = 7, 20  # columns
_MACHINE = "This machine"


class Status(StrEnum):
    """How a thing is."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"
    UNKNOWN = "unknown"  # it could not be looked at


OK, WARNING, FAULT, UNKNOWN = Status
_MARKS = {OK: "ok", WARNING: "WARN", FAULT: "FAULT", UNKNOWN: "?"}


@frozen
class Finding:
    """One finding.

    `id` names the check and never changes its meaning. `what`: the result. `means`: the consequence
    for the agent or its operator. `mend`: the shell command that mends it; empty if none can.
    `advice`: what a person must know or do besides. `agent` is empty for several agents. `figures`:
    measurements, for programs.
    """

    id: str
    status: Status
    what: str
    means: str = ""
    mend: str = ""
    advice: str = ""
    agent: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)


def make_finding(
    id_: str,
    way: str,
    mend: str = "",
    figures: Mapping[str, Figure] | None = None,
    /,
    **fillings: object,
) -> Finding:
    """Return a finding in the words of `findings.toml`; `figures` and `given` fill them in."""
    row = tables(__file__, "findings")[id_][way]
    figures = figures or {}
    words = {key: text.format_map({**figures, **fillings}) for key, text in row.items()}
    status = next(status for status in Status if status in words)
    return Finding(id_, status, words.pop(status), mend=mend, figures=figures, **words)


def several(texts: Sequence[str]) -> str:
    """Return the first few of many texts as one, and how many more there are."""
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 0 where all is well or but warned of, 1 on a fault, 2 where one could not look."""
    statuses = {finding.status for finding in findings}
    return 1 if FAULT in statuses else 2 if UNKNOWN in statuses else 0


def heading_of(finding: Finding) -> str:
    """Return the heading of a finding."""
    agent = HOOKED.get(finding.agent)
    return agent.title if agent else _MACHINE


def lines(finding: Finding, width: int) -> Iterator[str]:
    """Yield a finding's lines; a command is never broken, so that it can be copied."""
    margin = " " * (_MARK + _ID)
    lead = f"{_MARKS[finding.status]:<{_MARK}}{finding.id:<{_ID}}"
    yield from wrap_sentences(finding.what, width, first=lead, rest=margin)
    inner = f"{margin}       "
    yield from wrap_sentences(finding.means, width, first=f"{margin}means: ", rest=inner)
    if finding.mend:
        yield f"{margin}mend:  {finding.mend}"
    for number, part in enumerate(finding.advice.split("\n")):
        first = inner if number else f"{margin}note:  "
        yield from wrap_sentences(part, width, first=first, rest=inner)


def summary(findings: Sequence[Finding]) -> str:
    """Return what it comes to, and what to do next."""
    counts = Counter(finding.status for finding in findings)
    parts = [
        f"{counts[status]} {status}{'' if counts[status] == 1 else 's'}"
        for status in (FAULT, WARNING)
        if counts[status]
    ]
    parts += [f"{counts[UNKNOWN]} that could not be looked at"] if counts[UNKNOWN] else []
    text = ", ".join(parts) or "all is well"
    to_mend = [
        finding for status in (FAULT, WARNING) for finding in findings if finding.status is status
    ]
    mend = next((finding.mend for finding in to_mend if finding.mend), "")
    return f"{text}. Next: {mend}" if mend else f"{text}."


def as_value(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as one value for JSON; docs/reference/doctor.md has its keys."""
    return {
        "schema": SCHEMA,
        "crabhook": __version__,
        "exit_code": exit_code(findings),
        "findings": [asdict(finding) for finding in findings],
    }


_LINE = re.compile(r"\bline (\d+)")


def crabhook_command(*words: str, as_root: bool = False) -> str:
    """Return a command of crabhook's; `as_root`: it writes what only root may.

    By module, where crabhook is not on PATH, or root has another crabhook.
    """
    if as_root and os.geteuid():
        return shlex.join(["sudo", sys.executable, "-m", "crabhook", *words])
    start = ("crabhook",) if shutil.which("crabhook") else (sys.executable, "-m", "crabhook")
    return shlex.join([*start, *words])


def install_command(
    agent: str, scope: SettingsScope, project: Path, how: Installation | None = None
) -> str:
    """Return the command that installs into an agent, by default in the usual way."""
    words = ["install", agent]
    if how is not None:
        if len(HOOKED[agent].settings.stances) > 1:
            words.append("--gate" if how.stance is Stance.GATE else "--companion")
        words += ["--fail-closed"] if how.fail_closed else []
        words += ["--transport", "http"] if how.url else []
        words += ["--strict"] if how.strict else []
        usual = how.server == asked_address() and scope is not SettingsScope.MANAGED
        options = {
            "--url": how.url,
            "--server": "" if usual else how.server,
            "--token-file": how.token_file,
            "--tls-ca": how.tls_ca,
            **(_of_strict(how.strict) if how.strict else {}),
        }
        words += [word for option, value in options.items() if value for word in (option, value)]
        words += ["--wait", str(how.wait)] if how.wait != USUAL_WAIT else []
    return crabhook_command(*words, *_place(scope, project), as_root=scope is SettingsScope.MANAGED)


def _of_strict(strict: StrictHooks) -> Mapping[str, str]:
    need = str(strict.need) if strict.need > 1 else ""
    authority = {
        "--team": strict.team,
        "--authority": strict.authority,
        "--need": need,
        "--of": ",".join(strict.of),
    }
    return {**authority, "--when-unsigned": strict.when_unsigned}


def uninstall_command(agent: str, scope: SettingsScope, project: Path) -> str:
    """Return the command that takes the hooks out of one scope's settings."""
    words = ("uninstall", agent, *_place(scope, project))
    return crabhook_command(*words, as_root=scope is SettingsScope.MANAGED)


def edit_command(path: Path, problem: str = "") -> str:
    """Return the command that opens a file at its problem, if that names a line."""
    line = _LINE.search(problem)
    at = f"+{line[1]} " if line else ""
    return f"${{EDITOR:-vi}} {at}{shlex.quote(str(path))}"


def chmod_command(mode: str, path: Path) -> str:
    """Return the command that gives a file or folder this mode."""
    return shlex.join(["chmod", mode, str(path)])


def move_away_command(path: Path) -> str:
    """Return the command that moves what has no business at a path out of the way."""
    return shlex.join(["mv", str(path), f"{path}.moved-away"])


def _place(scope: SettingsScope, project: Path) -> list[str]:
    if scope is SettingsScope.USER:
        return []
    if scope is SettingsScope.MANAGED:
        return ["--scope", scope.value]
    where = [] if project == Path.cwd() else ["--project", str(project)]
    return ["--scope", scope.value, *where]
