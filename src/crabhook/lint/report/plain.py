"""A report as one JSON value; `schema` says which form, so that readers can rely on it."""

from crabhook.lint.linting import Report
from crabhook.lint.rules import Profile
from crabhook.model.jsontext import Value

SCHEMA = 1


def as_value(report: Report, profile: Profile) -> Value:
    """Return the report as plain values."""
    return {
        "schema": SCHEMA,
        "profile": profile.name,
        "files": [str(path) for path in report.files],
        "findings": [
            {
                "path": str(one.path),
                "line": one.place.line,
                "column": one.place.column,
                "rule": one.rule.id,
                "severity": str(one.rule.severity),
                "title": one.rule.title,
                "message": one.message,
                "means": one.rule.means,
                "do": one.rule.do,
            }
            for one in report.findings
        ],
        "unread": [{"path": str(one.path), "reason": one.reason} for one in report.unread],
    }
