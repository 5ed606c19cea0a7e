"""docs/fuzzing.md names every target, and no other."""

import re
from pathlib import Path

from tests.fuzz.target import names

PAGE = Path(__file__).parents[2] / "docs" / "fuzzing.md"
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def test_the_table_is_that_of_the_targets() -> None:
    assert ROW.findall(PAGE.read_text()) == names()
