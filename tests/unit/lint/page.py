"""The tables of docs/reference/lint.md: `python -m tests.unit.lint.page` writes them anew."""

from collections.abc import Iterator
from pathlib import Path

from crabhook.lint.rules import ALWAYS, STANDARD, TODAY, Profile
from crabhook.lint.script import LintRule

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "lint.md"
HEAD = "| id | severity | what is found |"


def table(rules: list[LintRule]) -> str:
    lines = [HEAD, "| --- | --- | --- |", *map(_row, rules)]
    return "\n".join(lines) + "\n"


def _row(rule: LintRule) -> str:
    cells = (rule.id, str(rule.severity), rule.title)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def tables() -> Iterator[tuple[str, str]]:
    """Yield the marks in the page and what stands between them."""
    for profile in (TODAY, STANDARD):
        yield profile.name, table(_own(profile))
    yield "always", table(list(ALWAYS))


def _own(profile: Profile) -> list[LintRule]:
    return [rule for rule in profile.rules() if rule not in ALWAYS]


def with_tables(text: str) -> str:
    for name, content in tables():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}{content}{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
