"""A report for people: one finding a line, and under it what to do."""

from collections import Counter
from collections.abc import Iterator

from crabhook.lint.finding import Severity
from crabhook.lint.linting import Report


def lines(report: Report) -> Iterator[str]:
    """Yield the report's lines, as `FILE:LINE:COLUMN: severity ID message`.

    They may hold what the files hold: show them through a filter.
    """
    told = set()
    for one in report.findings:
        where = f"{one.path}:{one.place.line}:{one.place.column}"
        yield f"{where}: {one.rule.severity} {one.rule.id} {one.message}"
        if (one.path, one.rule.id) not in told:
            told.add((one.path, one.rule.id))
            yield f"    {one.rule.means}"
            yield f"    Do: {one.rule.do}"
    for unread in report.unread:
        yield f"{unread.path}: not looked at: {unread.reason}"
    yield summary(report)


def summary(report: Report) -> str:
    """Return the report in one line."""
    if not report.files:
        return "nothing was looked at"
    files = _number(len(report.files), "file")
    if not report.findings:
        return f"{files} looked at: nothing found"
    counts = Counter(one.rule.severity for one in report.findings)
    parts = [f"{counts[level]} {level}" for level in reversed(Severity) if counts[level]]
    return f"{files} looked at: {_number(len(report.findings), 'finding')} ({', '.join(parts)})"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
