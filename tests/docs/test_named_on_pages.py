"""What the pages name is there: options of commands, files of the program and of its tests."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from crabhook.cli import parser_of
from crabhook.cli.commands import COMMANDS, subcommands, words_of
from tests.support.rows import every_row

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMAND = re.compile(rf"\bcrabhook ({'|'.join(COMMANDS)})\b([^`|\n]*)")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@cache
def options_of(name: str) -> set[str]:
    return set(words_of(parser_of(name)[0]))


@cache
def actions_of(name: str) -> Mapping[str, object]:
    return {} if name == "help" else subcommands(parser_of(name)[0])


@every_row("page", PAGES)
def test_every_option_that_a_page_gives_to_a_command_is_one(page: Path) -> None:
    for name, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
        given = re.findall(r"(?<![\w-])--[a-z-]+", QUOTED.sub("", rest))
        assert set(given) <= options_of(name), f"crabhook {name}{rest}"


SPOKEN = re.compile(r"(?:`|\$ )crabhook ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")


@every_row("page", PAGES)
def test_every_command_that_a_page_names_is_one(page: Path) -> None:
    for name, action in SPOKEN.findall(page.read_text(encoding="utf-8")):
        assert name in COMMANDS or name == "help", f"crabhook {name}"
        actions = actions_of(name)
        assert not (actions and action) or action in actions, f"crabhook {name} {action}"


PACKAGES = "|".join(
    sorted(one.name for one in (ROOT / "src" / "crabhook").iterdir() if one.is_dir())
)
SHORT = re.compile(rf"(?<![\w/.-])((?:{PACKAGES})/[a-z_/]+\.py)\b")
WHOLE = re.compile(r"(?<![\w/.-])((?:src|tests|bench|proto)/[\w/.-]+\.(?:py|proto|md|toml))\b")
PLACEHOLDER = re.compile(r"/[A-Z]+[/.]")
OF_OTHERS = {"CHANGELOG.md"}
"""Pages that name what was there once."""


@every_row("page", PAGES)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    if page.name in OF_OTHERS:
        return
    text = page.read_text(encoding="utf-8")
    named = {ROOT / name for name in WHOLE.findall(text) if not PLACEHOLDER.search(name)}
    named |= {ROOT / "src" / "crabhook" / name for name in SHORT.findall(text)}
    missing = sorted(str(one.relative_to(ROOT)) for one in named if not one.exists())
    assert not missing, f"{page.name} names what is not there"


def test_a_file_that_is_not_there_is_seen() -> None:
    text = "`server/gone.py`, `src/crabhook/server/gone.py`, `tests/unit/hook/test_gone.py`"
    assert SHORT.findall(text) == ["server/gone.py"]
    assert len(WHOLE.findall(text)) == 2
