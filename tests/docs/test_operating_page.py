"""docs/reference/settings.md tells of the desks what the tables of words and of keys say."""

import re
from pathlib import Path

from crabhook.config import _TABLES
from crabhook.ui.plain.command import parse
from crabhook.ui.words import WORDS
from tests.docs.key_table import with_table

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def test_the_page_has_every_word_of_the_plain_desk_and_no_other() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## The plain desk")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    told = set()
    for written in re.findall(r"`([^`]+)`", " ".join(cells)):
        command = parse(written.removeprefix("[N] "))
        assert command is not None
        told.add(command.word.name)
    assert told == set(WORDS)


def test_the_page_has_the_table_of_keys() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page), "python -m tests.docs.key_table writes it anew"


def test_the_page_names_every_setting() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for table, settings in _TABLES.items():
        for name in settings:
            assert re.search(rf"`(\[{table}\] )?{name}\b", page), f"[{table}] {name}"
