"""Every link in the repository's pages leads somewhere, and every page can be found from docs/README.md."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.rows import every_row

ROOT = Path(__file__).parents[2]
START = ROOT / "docs" / "README.md"
MADE = {".venv", "node_modules", "older", ".git"}
"""Folders with pages of other people's, or of another version of ours."""

LINK = re.compile(r"!?\[[^\]]*\]\(\s*([^)\s]+)[^)]*\)")
FENCED = re.compile(r"^( *)(```+|~~~+).*?^ *\2\s*$", re.MULTILINE | re.DOTALL)

NAMED = re.compile(r"\bdocs/(?:[a-z-]+/[a-z-]+\.md|decisions/\d{4})")
CODE = re.compile(r"(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\1(?!`)", re.DOTALL)


def files(start: Path, *endings: str) -> Iterator[Path]:
    """Return the files below a folder that are ours, as we have them today."""
    for folder, folders, names in os.walk(start):
        folders[:] = [one for one in folders if one not in MADE]
        yield from (Path(folder, name) for name in names if name.endswith(endings))


PAGES = sorted(files(ROOT, ".md"))


def links(page: Path) -> list[str]:
    """Return where the links of a page lead, without those that leave the repository."""
    text = CODE.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))
    return [one for one in LINK.findall(text) if not re.match(r"[a-z][a-z+.-]*:", one)]


def anchors(page: Path) -> set[str]:
    """Return the names that a code host gives to the headings of a page."""
    found: set[str] = set()
    headings = FENCED.sub("", page.read_text(encoding="utf-8"))
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", headings, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (one := f"{name}-{number}" if number else name) in found:
            number += 1
        found.add(one)
    return found


def dead(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    found = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = Path(os.path.normpath(page.parent / path)) if path else page
        in_page = target.suffix == ".md" and target.is_file()
        if not target.exists() or (anchor and not (in_page and anchor in anchors(target))):
            found.append(link)
    return found


def reached(start: Path) -> set[Path]:
    """Return the pages that can be reached by links from one, itself among them."""
    found, new = set[Path](), [start]
    while new:
        page = new.pop()
        if page in found:
            continue
        found.add(page)
        for link in links(page):
            target = Path(os.path.normpath(page.parent / link.partition("#")[0]))
            if target.suffix == ".md" and target.is_file():
                new.append(target)
    return found


@every_row("page", PAGES)
def test_every_link_of_a_page_leads_to_a_file_and_to_a_heading_in_it(page: Path) -> None:
    assert dead(page) == []


def test_every_page_of_the_documentation_can_be_reached_from_its_index() -> None:
    pages = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert {str(page.relative_to(ROOT)) for page in pages - reached(START)} == set()


def test_the_index_names_each_page_once_and_in_its_own_part() -> None:
    part, told = "", list[Path]()
    kinds = {"Tutorial": "tutorial", "How-to": "how-to", "Reference": "reference"}
    kinds |= {"Explanation": "explanation", "For those": "maintaining"}
    for line in START.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            part = next(folder for begin, folder in kinds.items() if line[3:].startswith(begin))
        elif line.startswith("- "):
            for link in re.findall(rf"\]\(({'|'.join(kinds.values())})/([a-z-]+\.md)\)", line):
                assert link[0] == part, line
                told.append(START.parent / link[0] / link[1])
    there = [page for kind in kinds.values() for page in (START.parent / kind).glob("*.md")]
    assert sorted(told) == sorted(there)


def test_every_page_that_the_code_names_is_there() -> None:
    missing = set()
    for file in (ROOT / "Makefile", *files(ROOT, ".py", ".pyi", ".proto", ".toml")):
        for name in NAMED.findall(file.read_text(encoding="utf-8")):
            if not any(ROOT.glob(f"{name}*")):
                missing.add(name)
    assert not missing


def test_the_readme_leads_to_the_index() -> None:
    assert "docs/README.md" in links(ROOT / "README.md")


def test_a_dead_link_a_dead_anchor_and_a_page_out_of_reach_are_found(tmp_path: Path) -> None:
    here, there, alone = (tmp_path / name for name in ("here.md", "there.md", "alone.md"))
    here.write_text(
        "# A b: `c`\n\n[1](there.md) [2](gone.md) [3](there.md#d-e) [4](there.md#none)\n"
        "[5](#a-b-c) [6](#b) `[7](code.md)` [8](https://example.com/x)\n"
        "```\n[9](fenced.md)\n# no heading\n```\n[10](#no-heading)\n",
        encoding="utf-8",
    )
    there.write_text("## D e\n", encoding="utf-8")
    alone.write_text("[1](here.md)\n", encoding="utf-8")
    assert dead(here) == ["gone.md", "there.md#none", "#b", "#no-heading"]
    assert reached(here) == {here, there}
