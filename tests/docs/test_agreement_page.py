"""docs/maintaining/agreement.md is what the record writes, and docs/reference/rules.md explains every difference in it."""

import re

from tests.agreement.page import PAGE, page
from tests.agreement.pairs import all_groups
from tests.agreement.record import read_record
from tests.support.requirements import pinned_version

RULES = PAGE.parents[1] / "reference" / "rules.md"


def test_the_page_is_what_the_record_of_the_pinned_version_writes() -> None:
    record = read_record()
    assert record.version == pinned_version()
    assert PAGE.read_text(encoding="utf-8") == page(record, all_groups())


def test_the_record_has_every_pair_and_no_other() -> None:
    pairs = [(group.title, call.text) for group in all_groups() for call in group.calls]
    assert [(one.group, one.call) for one in read_record().pairs] == pairs
    assert len(pairs) >= 1000


def test_every_kind_of_difference_is_explained_and_no_other() -> None:
    section = RULES.read_text(encoding="utf-8").partition("## Where we differ from Claude Code")[2]
    explained = re.findall(r"^\| ([a-z ]+) \|", section.partition("\n## ")[0], re.MULTILINE)
    kinds = {call.differs for group in all_groups() for call in group.calls} - {""}
    assert sorted(set(explained) - {"difference"}) == sorted(kinds)
