"""Which sections are measured, and where a whole run writes their tables."""

from __future__ import annotations

import re

import pytest

from bench.__main__ import (
    BLOCKS,
    GROWTH,
    GROWTH_DRAWS_ON,
    PAGE,
    SECTIONS,
    chosen,
    with_blocks,
)

pytestmark = pytest.mark.thorough


def test_all_are_measured_where_none_is_named_and_growth_comes_last() -> None:
    assert chosen([]) == list(SECTIONS)
    assert SECTIONS[-1] == GROWTH


@pytest.mark.parametrize("section", [name for name in SECTIONS if name != GROWTH])
def test_a_section_can_be_had_alone(section: str) -> None:
    assert chosen([section]) == [section]


def test_growth_brings_the_sections_it_is_drawn_from() -> None:
    assert chosen([GROWTH]) == [*GROWTH_DRAWS_ON, GROWTH]


def test_the_page_has_a_place_for_every_block() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert sorted(re.findall(r"<!-- bench: (.+) -->", page)) == sorted(BLOCKS)


def test_a_run_writes_its_blocks_and_nothing_else() -> None:
    page = PAGE.read_text(encoding="utf-8")
    written = with_blocks(page, {name: f"tables of {name}\n" for name in BLOCKS})
    assert all(f"\ntables of {name}\n" in written for name in BLOCKS)
    assert prose(written) == prose(page)
    assert with_blocks(written, {name: f"tables of {name}\n" for name in BLOCKS}) == written


def prose(page: str) -> str:
    return re.sub(r"(?s)(<!-- bench: .+? -->).*?(<!-- end of )", r"\1\2", page)


def test_a_page_without_the_place_is_not_written() -> None:
    with pytest.raises(KeyError, match="keys"):
        with_blocks("<!-- bench: hooks -->\n<!-- end of hooks -->\n", {"keys": "tables"})
