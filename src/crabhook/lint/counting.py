"""Which findings count: each once, in order, without those that a person has excused."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from crabhook.lint.finding import Finding, Place
from crabhook.lint.rules import UNREASONED
from crabhook.lint.suppression import Suppression, suppressions

MAX_ON_A_FILE = 200  # the first so many tell what is wrong


def counting(findings: Iterable[Finding], texts: Mapping[Path, str]) -> list[Finding]:
    """Return the findings that count, and one for each excuse that gives no reason.

    `texts` are the files that were looked at.
    """
    notes = {path: suppressions(text) for path, text in texts.items()}
    kept = dict.fromkeys(one for one in findings if not _excused(one, notes))
    kept |= dict.fromkeys(_unreasoned(notes))
    return list(_bounded(sorted(kept, key=_order)))


def _excused(finding: Finding, notes: Mapping[Path, Mapping[int, Suppression]]) -> bool:
    note = notes.get(finding.path, {}).get(finding.place.line)
    return note is not None and note.reasoned and finding.rule.id in note.rules


def _unreasoned(notes: Mapping[Path, Mapping[int, Suppression]]) -> Iterator[Finding]:
    for path, lines in notes.items():
        for line, note in lines.items():
            if not note.reasoned:
                told = f"it does not say why {', '.join(sorted(note.rules))} is excused"
                yield Finding(path, Place(line, note.column), UNREASONED, told)


def _order(finding: Finding) -> tuple[str, Place, str, str]:
    return str(finding.path), finding.place, finding.rule.id, finding.message


def _bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    counts: dict[Path, int] = {}
    for finding in findings:
        counts[finding.path] = counts.get(finding.path, 0) + 1
        if counts[finding.path] <= MAX_ON_A_FILE:
            yield finding
