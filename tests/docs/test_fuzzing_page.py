"""docs/maintaining/fuzzing.md names every target, and no other."""

import re
from pathlib import Path

from tests.fuzz.target import names

PAGE = Path(__file__).parents[2] / "docs" / "maintaining" / "fuzzing.md"
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def test_the_table_is_that_of_the_targets() -> None:
    assert ROW.findall(PAGE.read_text()) == names()


def test_the_figures_are_the_tables_sums() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `\w+` \|.*\| (\d+) \| ([\d,]+) \|$", page, re.MULTILINE)
    tried = sum(int(inputs.replace(",", "")) for _, inputs in rows)
    assert f"**{tried:,}**" in page
    assert f"The corpus is {sum(int(kept) for kept, _ in rows)}\ninputs" in page
