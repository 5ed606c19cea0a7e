"""The options that the pages give to commands are those that the commands have."""

import re
from pathlib import Path

import pytest

from crabhook.cli import parser_of
from crabhook.cli.commands import COMMANDS, words_of

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMAND = re.compile(rf"\bcrabhook ({'|'.join(COMMANDS)})\b([^`|\n]*)")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_that_a_page_gives_to_a_command_is_one(page: Path) -> None:
    known = {name: set(words_of(parser_of(name)[0])) for name in COMMANDS}
    for name, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
        given = re.findall(r"(?<![\w-])--[a-z-]+", QUOTED.sub("", rest))
        assert set(given) <= known[name], f"crabhook {name}{rest}"
