"""Colours never change what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.text.code import FOLDED, LONGEST, json_line, plain_rows, shell_rows, wrap_line
from crabhook.ui.text.layout import Line, line_cells
from crabhook.ui.text.safe import TAB, safe


def joined(rows: list[tuple[bool, Line]]) -> str:
    """Return the text of rows again, a newline before each row that begins a line."""
    text = "".join(
        ("\n" if begins else "") + "".join(text for _, text in row) for begins, row in rows
    )
    return text.removeprefix("\n")


HOSTILE = st.text(alphabet=st.sampled_from("echo $'\"\\`(){}<>|&;#\n\t \u202e\x1b日e\u0301"))


def blackened(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("laid_out", [shell_rows, plain_rows])
@given(HOSTILE, st.integers(4, 40))
def test_a_text_is_shown_letter_for_letter_and_nothing_but_blanks_is_folded(
    laid_out: Any, text: str, columns: int
) -> None:
    rows: list[tuple[bool, Line]] = list(laid_out(text, columns, safe))
    told = "\n".join(safe(line.replace("\t", TAB)) for line in text.split("\n"))
    marks = [row for _, row in rows if any(style == "warning" for style, _ in row)]
    kept = [(begins, row) for begins, row in rows if row not in marks]
    if marks:
        assert blackened(joined(kept)) == blackened(told)
    else:
        assert joined(rows) == told
    assert all(line_cells(row) <= columns for _, row in rows)
    blank = [not blackened("".join(part for _, part in row)) for _, row in rows]
    assert not any(all(blank[at : at + FOLDED + 1]) for at in range(len(blank) - FOLDED))


@pytest.mark.parametrize("laid_out", [shell_rows, plain_rows])
@pytest.mark.parametrize(
    ("between", "mark"),
    [
        ("\n" * 60, "⟨59 empty lines⟩"),
        (" \t\n" * 60, "⟨59 empty lines⟩"),
        (" " * 2_000, "⟨24 rows of blanks⟩"),
        ("\n" * 1_000_000, "⟨999999 empty lines⟩"),
    ],
)
def test_blanks_push_no_command_out_of_view(laid_out: Any, between: str, mark: str) -> None:
    rows = list(laid_out(f"ls{between}; rm -rf ~", 80, safe))
    shown = ["".join(text for _, text in row).strip() for _, row in rows]
    assert len(shown) <= 5
    assert (shown[0], shown[-1]) == ("ls", "; rm -rf ~")
    assert [row for _, row in rows if row[0][0] == "warning"] == [[("warning", mark)]]


def test_a_command_has_colours() -> None:
    ((begins, row),) = shell_rows('for f in *; do echo "$f"; done # all', 80, safe)
    assert begins
    styles = {text.strip(): style for style, text in row}
    assert styles["for"] == "keyword"
    assert styles["# all"] == "comment"
    assert "string" in styles.values()


def test_a_command_too_long_for_colours_is_plain() -> None:
    rows = list(shell_rows("for " * LONGEST, 80, safe))
    assert {style for _, row in rows for style, _ in row} == {""}


@pytest.mark.parametrize("text", ['{"a": 1, "b": [true, null, "x"]}', "not json at all {"])
def test_json_is_shown_letter_for_letter(text: str) -> None:
    assert "".join(value for _, value in json_line(text)) == text


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(alphabet="x日 "))), st.integers(2, 12))
def test_wrapping_a_styled_line_keeps_its_letters_and_their_styles(
    line: Line, columns: int
) -> None:
    rows = list(wrap_line(line, columns))
    letters = [(style, letter) for style, text in line for letter in text]
    assert [(style, letter) for row in rows for style, text in row for letter in text] == letters
    assert all(line_cells(row) <= columns for row in rows)
