"""The findings as lines for a person, or as a value for programs."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from crabhook import __version__
from crabhook.doctor.finding import Finding, Status, exit_code
from crabhook.platforms import PLATFORMS

SCHEMA = 1
"""The number of the JSON's form; it changes when a key changes its meaning or goes."""

_MARKS = {
    Status.OK: "ok",
    Status.WARNING: "WARN",
    Status.FAULT: "FAULT",
    Status.UNKNOWN: "?",
}
_MARK, _ID = 7, 20  # columns
_MACHINE = "This machine"


def heading(finding: Finding) -> str:
    """Return what a finding stands under."""
    agent = PLATFORMS.get(finding.agent)
    return agent.title if agent else _MACHINE


def lines(finding: Finding, width: int) -> Iterator[str]:
    """Yield a finding's lines; a command is never broken, so that it can be copied."""
    margin = " " * (_MARK + _ID)
    lead = f"{_MARKS[finding.status]:<{_MARK}}{finding.id:<{_ID}}"
    yield from _wrapped(finding.what, lead, margin, width)
    if finding.means:
        yield from _wrapped(finding.means, f"{margin}means: ", f"{margin}       ", width)
    if finding.mend:
        yield f"{margin}mend:  {finding.mend}"
    if finding.advice:
        yield from _wrapped(finding.advice, f"{margin}note:  ", f"{margin}       ", width)


def summary(findings: Sequence[Finding]) -> str:
    """Return what it comes to, and what to do next."""
    faults = [one for one in findings if one.status is Status.FAULT]
    warnings = [one for one in findings if one.status is Status.WARNING]
    unknown = [one for one in findings if one.status is Status.UNKNOWN]
    said = [
        _number(many, word) for many, word in ((faults, "fault"), (warnings, "warning")) if many
    ]
    said += [f"{len(unknown)} that could not be looked at"] if unknown else []
    mend = next((one.mend for one in (*faults, *warnings) if one.mend), "")
    text = ", ".join(said) or "all is well"
    return f"{text}.  Next: {mend}" if mend else f"{text}."


def as_value(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as one value for JSON; docs/reference/doctor.md has its keys."""
    return {
        "schema": SCHEMA,
        "crabhook": __version__,
        "exit_code": exit_code(findings),
        "findings": [asdict(finding) for finding in findings],
    }


def _number(many: Sequence[Finding], word: str) -> str:
    return f"{len(many)} {word}{'' if len(many) == 1 else 's'}"


def _wrapped(text: str, lead: str, margin: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
