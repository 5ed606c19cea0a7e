"""The commands as docs/reference/commands.md has them; run as a module it writes them there anew."""

from collections.abc import Iterator
from pathlib import Path

from crabhook.cli import parser_of
from crabhook.cli.commands import COMMANDS, OUT_OF_SIGHT, About, subcommands
from tests.docs.made_part import put

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "commands.md"
BEGIN, END = "<!-- commands: made from src/crabhook/cli -->", "<!-- end of commands -->"
TITLES = {"rules, log": "Rules and log", OUT_OF_SIGHT: "More, of which `crabhook help all` tells"}


def tables() -> str:
    """Return a table of each group: the commands, what they do, and their actions."""
    rows: list[str] = []
    group = ""
    for name, about in COMMANDS.items():
        if about.group != group:
            group = about.group
            rows += ["", f"## {TITLES.get(group, group.capitalize())}", ""]
            rows += ["| command | what it does | actions |", "| --- | --- | --- |"]
        rows.append(_row(name, about))
    return "\n".join(rows)


def _row(name: str, about: About) -> str:
    page = about.page.removeprefix("reference/")
    link = page if page != about.page else f"../{page}"
    return f"| [`{name}`]({link}) | {about.what} | {' '.join(_actions(name))} |"


def _actions(name: str) -> Iterator[str]:
    children = subcommands(parser_of(name)[0])
    for action in children:
        if not any(other.startswith(f"{action} ") for other in children):
            yield f"`{action}`"


def with_tables(page: str) -> str:
    """Return the page with the tables in their place."""
    return put(f"{tables()}\n", page, BEGIN, END)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
