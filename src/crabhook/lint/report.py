"""Findings as text for people, JSON for programs, and SARIF 2.1.0 for code hosts and editors.

The JSON names its form in `schema`, so that readers can rely on it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from crabhook import __version__
from crabhook.datatypes import frozen
from crabhook.lint.rules import Profile
from crabhook.lint.script import LintFinding, LintRule, Severity
from crabhook.model.jsontext import Value

SCHEMA = 1

_SARIF = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
# A severity's level in SARIF, and the score from 0 to 10 that code hosts sort by.
_LEVELS = {
    Severity.CRITICAL: ("error", "9.5"),
    Severity.HIGH: ("error", "8.0"),
    Severity.MEDIUM: ("warning", "5.0"),
    Severity.LOW: ("note", "2.0"),
}


@frozen
class Unread:
    """A path that could not be looked at, and why."""

    path: Path
    reason: str


@dataclass(slots=True)
class Report:
    """What was found, in which files, and what could not be read."""

    findings: list[LintFinding] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def lines(report: Report) -> Iterator[str]:
    """Yield the report's lines, as `FILE:LINE:COLUMN: severity ID message`.

    They may have text of the files: filter it before a terminal.
    """
    rules_shown = set()
    for finding in report.findings:
        where = f"{finding.path}:{finding.place.line}:{finding.place.column}"
        yield f"{where}: {finding.rule.severity} {finding.rule.id} {finding.message}"
        if (finding.path, finding.rule.id) not in rules_shown:
            rules_shown.add((finding.path, finding.rule.id))
            yield f"    {finding.rule.means}"
            yield f"    Do: {finding.rule.do}"
    for unread in report.unread:
        yield f"{unread.path}: not looked at: {unread.reason}"
    yield summary(report)


def summary(report: Report) -> str:
    """Return the report in one line."""
    if not report.files:
        return "nothing was looked at"
    files = _counted(len(report.files), "file")
    if not report.findings:
        return f"{files} looked at: nothing found"
    counts = Counter(finding.rule.severity for finding in report.findings)
    parts = [f"{counts[level]} {level}" for level in reversed(Severity) if counts[level]]
    return f"{files} looked at: {_counted(len(report.findings), 'finding')} ({', '.join(parts)})"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def as_json(report: Report, profile: Profile) -> Value:
    """Return the report as plain values."""
    return {
        "schema": SCHEMA,
        "profile": profile.name,
        "files": [str(path) for path in report.files],
        "findings": [
            {
                "path": str(finding.path),
                "line": finding.place.line,
                "column": finding.place.column,
                "rule": finding.rule.id,
                "severity": str(finding.rule.severity),
                "title": finding.rule.title,
                "message": finding.message,
                "means": finding.rule.means,
                "do": finding.rule.do,
            }
            for finding in report.findings
        ],
        "unread": [{"path": str(file.path), "reason": file.reason} for file in report.unread],
    }


def as_sarif(report: Report, profile: Profile) -> Value:
    """Return the report as a SARIF log of one run."""
    rules = list(profile.rules())
    places = {rule.id: number for number, rule in enumerate(rules)}
    driver: Value = {
        "name": "crabhook lint",
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    unread: Value = [
        {
            "level": "error",
            "message": {"text": f"not looked at: {file.reason}"},
            "locations": [_location(file.path)],
        }
        for file in report.unread
    ]
    run: Value = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(path)}} for path in report.files],
        "results": [_result(finding, places[finding.rule.id]) for finding in report.findings],
        "invocations": [
            {"executionSuccessful": not report.unread, "toolExecutionNotifications": unread}
        ],
    }
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _rule(rule: LintRule) -> Value:
    level, score = _LEVELS[rule.severity]
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.means},
        "help": {"text": rule.do},
        "defaultConfiguration": {"level": level},
        "properties": {"security-severity": score},
    }


def _result(finding: LintFinding, index: int) -> Value:
    region: Value = {"startLine": finding.place.line, "startColumn": finding.place.column}
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": _LEVELS[finding.rule.severity][0],
        "message": {"text": f"{finding.message}. {finding.rule.do}"},
        "locations": [_location(finding.path, region)],
    }


def _location(path: Path, region: Value = None) -> Value:
    place: dict[str, Value] = {"artifactLocation": {"uri": _uri(path)}}
    return {"physicalLocation": place if region is None else place | {"region": region}}


def _uri(path: Path) -> str:
    """Return a path as a reference: absolute as file:, relative as given."""
    text = quote(path.as_posix(), errors="surrogateescape", encoding="utf-8")
    return f"file://{text}" if path.is_absolute() else text
