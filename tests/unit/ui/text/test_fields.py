"""Any value is shown to its last field, and no two values look the same."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.safe import safe
from crabhook.ui.text.code import SHORT, field_rows, value_rows
from crabhook.ui.text.layout import Sheet, line_cells
from tests.support.rows import every_row

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def shown(fields: dict[str, Any], columns: int = 60) -> list[str]:
    return ["".join(text for _, text in row) for _, row in field_rows(fields, Sheet(columns, safe))]


def test_fields_are_shown_by_their_names() -> None:
    assert shown({"path": "/tmp", "limit": 3, "deep": {"a": [1]}, "none": {}}) == [
        "path: /tmp",
        "limit: 3",
        "deep:",
        "  {",
        '    "a": [',
        "      1",
        "    ]",
        "  }",
        "none: {}",
    ]


@every_row("text", ["true", "null", "12", "-1e5", "", " x", "x ", '"x"', "[1]", "nan"])
def test_a_text_that_looks_like_another_kind_of_value_is_quoted(text: str) -> None:
    assert shown({"a": text}) == [f"a: {safe(json.dumps(text))}"]


def test_a_text_of_many_lines_stands_below_its_name() -> None:
    assert shown({"a": "one\ntwo"}) == ["a:", "  one", "  two"]


def test_a_long_text_is_shown_to_its_end() -> None:
    assert "".join(row.strip() for row in shown({"a": "x" * SHORT * 3})) == "a:" + "x" * SHORT * 3


@given(JSON)
def test_a_value_can_be_read_back_from_its_rows(value: Any) -> None:
    rows = ["".join(text for _, text in row) for _, row in value_rows(value, Sheet(1000, str))]
    assert json.loads("\n".join(rows)) == value


@given(st.dictionaries(st.text(max_size=30), JSON, max_size=4), st.integers(10, 40))
def test_no_row_is_too_wide_or_unsafe(fields: dict[str, Any], columns: int) -> None:
    for _, row in field_rows(fields, Sheet(columns, safe)):
        assert line_cells(row) <= columns
        assert all(safe(text) == text for _, text in row)


def test_a_large_value_is_written_only_as_far_as_it_is_read() -> None:
    rows = value_rows([0] * 3_000_000, Sheet(80, safe))
    first, second = next(rows), next(rows)
    assert "".join(text for _, text in first[1]) == "["
    assert "".join(text for _, text in second[1]) == "  0,"
