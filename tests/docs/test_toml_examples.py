"""What the pages show as a file of rules, or of settings, is read as one."""

import re
from pathlib import Path

import pytest

from crabhook.config import parse
from crabhook.policy.rulefile import read_rules

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(text, id=f"{page.relative_to(ROOT)}-{number}")
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    for number, text in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_file_that_a_page_shows_is_read_whole(text: str) -> None:
    if re.search(r"^(\[\[(rule|risk|test)\]\]|unprotect)", text, re.MULTILINE):
        read = read_rules(text, "the page")
        assert len(read.rules) == text.count("[[rule]]")
        assert len(read.risks) == text.count("[[risk]]")
        assert bool(read.tests) == ("[[test]]" in text)
    else:
        parse(text, "the page")
