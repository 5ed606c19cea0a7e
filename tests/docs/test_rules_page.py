"""docs/reference/rules.md explains every kind of difference between our rules and Claude Code's."""

import re
from pathlib import Path

from tests.agreement.pairs import all_groups

RULES = Path(__file__).parents[2] / "docs" / "reference" / "rules.md"


def test_every_kind_of_difference_is_explained_and_no_other() -> None:
    section = RULES.read_text(encoding="utf-8").partition("## Where we differ from Claude Code")[2]
    explained = re.findall(r"^\| ([a-z ]+) \|", section.partition("\n## ")[0], re.MULTILINE)
    kinds = {call.differs for group in all_groups() for call in group.calls} - {""}
    assert sorted(set(explained) - {"difference"}) == sorted(kinds)
