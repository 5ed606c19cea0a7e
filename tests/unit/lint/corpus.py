"""The corpus: hooks and configurations that say themselves which findings they must give."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crabhook.lint.linting import Report, lint
from crabhook.lint.rules import PROFILES

CORPUS = Path(__file__).parents[2] / "samples" / "hooks"
CASES = sorted(CORPUS.iterdir())


@dataclass(frozen=True)
class Judged:
    """One file of a case: what it must give, and what it gave."""

    wanted: frozenset[str]
    given: frozenset[str]


def files_of(case: Path) -> list[Path]:
    return [case] if case.is_file() else sorted(one for one in case.rglob("*") if one.is_file())


def wanted(path: Path, profile: str) -> frozenset[str]:
    """What a file's own header says that it must give."""
    found = re.search(rf"lint {profile}: ([A-Z0-9\- ]+|none)", path.read_text(encoding="utf-8"))
    assert found, f"{path} does not say what it must give"
    return frozenset(found[1].split()) - {"none"}


@cache
def report_of(case: Path, profile: str) -> Report:
    return lint(files_of(case), PROFILES[profile])


def judged(case: Path, profile: str) -> Mapping[Path, Judged]:
    report = report_of(case, profile)
    given = {
        path: frozenset(one.rule.id for one in report.findings if one.path == path)
        for path in files_of(case)
    }
    return {path: Judged(wanted(path, profile), given[path]) for path in files_of(case)}


def cases_for(rule: str, kind: str) -> list[Path]:
    """The cases that are named after a rule: `kind` is good or bad."""
    stem = rule.lower().replace("-", "")
    return [case for case in CASES if case.name.startswith(f"{stem}_{kind}")]


def gives(case: Path, rule: str, profile: str) -> bool:
    return any(rule in one.given for one in judged(case, profile).values())
