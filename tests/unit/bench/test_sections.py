"""Which sections are measured."""

from __future__ import annotations

import pytest

from bench.__main__ import GROWTH, GROWTH_DRAWS_ON, SECTIONS, chosen

pytestmark = pytest.mark.thorough


def test_all_are_measured_where_none_is_named_and_growth_comes_last() -> None:
    assert chosen([]) == list(SECTIONS)
    assert SECTIONS[-1] == GROWTH


@pytest.mark.parametrize("section", [name for name in SECTIONS if name != GROWTH])
def test_a_section_can_be_had_alone(section: str) -> None:
    assert chosen([section]) == [section]


def test_growth_brings_the_sections_it_is_drawn_from() -> None:
    assert chosen([GROWTH]) == [*GROWTH_DRAWS_ON, GROWTH]
