"""A report in SARIF 2.1.0, the form in which code hosts and editors take findings."""

from pathlib import Path
from urllib.parse import quote

from crabhook import __version__
from crabhook.lint.finding import Finding, Rule, Severity
from crabhook.lint.linting import Report
from crabhook.lint.rules import Profile
from crabhook.model.jsontext import Value

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}
# What code hosts sort by, from 0 to 10.
_SCORES = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.0",
    Severity.LOW: "2.0",
}


def as_value(report: Report, profile: Profile) -> Value:
    """Return the report as a SARIF log of one run."""
    rules = list(profile.rules())
    places = {rule.id: number for number, rule in enumerate(rules)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "crabhook lint",
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "artifacts": [{"location": {"uri": _uri(path)}} for path in report.files],
                "results": [_result(one, places[one.rule.id]) for one in report.findings],
                "invocations": [
                    {
                        "executionSuccessful": not report.unread,
                        "toolExecutionNotifications": [
                            {
                                "level": "error",
                                "message": {"text": f"not looked at: {one.reason}"},
                                "locations": [_location(one.path)],
                            }
                            for one in report.unread
                        ],
                    }
                ],
            }
        ],
    }


def _rule(rule: Rule) -> Value:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.means},
        "help": {"text": rule.do},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"security-severity": _SCORES[rule.severity]},
    }


def _result(finding: Finding, index: int) -> Value:
    region: Value = {"startLine": finding.place.line, "startColumn": finding.place.column}
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": _LEVELS[finding.rule.severity],
        "message": {"text": f"{finding.message}. {finding.rule.do}"},
        "locations": [_location(finding.path, region)],
    }


def _location(path: Path, region: Value = None) -> Value:
    place: dict[str, Value] = {"artifactLocation": {"uri": _uri(path)}}
    if region is not None:
        place["region"] = region
    return {"physicalLocation": place}


def _uri(path: Path) -> str:
    """Return a path as a reference: whole ones as file:, others relative, as they were given."""
    text = quote(path.as_posix(), errors="surrogateescape", encoding="utf-8")
    return f"file://{text}" if path.is_absolute() else text
