"""Colours never change what is shown."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.safe import BLANKS_SHOWN, EMPTY_SHOWN, FOLD, TAB, safe
from crabhook.ui.text.code import LONGEST, json_line, plain_rows, shell_rows, value_rows, wrap_line
from crabhook.ui.text.layout import Line, Sheet, framed, line_cells
from tests.support.rows import every_row


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
    told = "\n".join(safe(line.replace("\t", TAB)) for line in text.split("\n"))
    assert joined(list(laid_out(text, Sheet(columns, safe, folds=False)))) == told
    rows: list[tuple[bool, Line]] = list(laid_out(text, Sheet(columns, safe)))
    assert all(line_cells(row) <= columns for _, row in rows)
    folded = joined(rows)
    if FOLD.search(folded):
        assert blackened(FOLD.sub("", folded)) == blackened(told)
    else:
        assert folded == told
    assert " " * (BLANKS_SHOWN + 1) not in folded
    assert not re.search(rf"(?:^ *\n){{{EMPTY_SHOWN + 1}}}", folded, re.MULTILINE)


@every_row("laid_out", [shell_rows, plain_rows])
@every_row(
    "between, mark",
    [
        ("\n" * 60, "⟨59 empty lines⟩"),
        (" \t\n" * 60, "⟨59 empty lines⟩"),
        (" " * 2_000, "⟨2000 blanks⟩"),
        ("\t" * 30, "⟨30 tabs⟩"),
        ("\t " * 30, "⟨60 blanks and tabs⟩"),
        ("\n" * 1_000_000, "⟨999999 empty lines⟩"),
    ],
)
def test_blanks_push_nothing_out_of_view(laid_out: Any, between: str, mark: str) -> None:
    rows = list(framed(laid_out(f"ls{between}; rm -rf ~", Sheet(78, safe))))
    shown = " ".join("".join(text for _, text in row[1:]) for row in rows)
    assert shown.split() == f"ls {mark} ; rm -rf ~".split()
    assert [span for row in rows for span in row if span[0] == "warning"] == [("warning", mark)]
    assert len(rows) <= 3


def test_few_blanks_stay_as_they_are() -> None:
    for text in ("a" + "\n" * 4 + "b", "a" + " " * 80 + "b", "\t" * 20 + "b"):
        assert Sheet(200, safe).fold(text) == text


@pytest.mark.parametrize(
    ("value", "mark"),
    [
        (["a" + " " * 500 + "b"], "⟨500 blanks⟩"),
        ([{"key" + " " * 500: "\t" * 90}], "⟨500 blanks⟩"),
        (["a" + "\n" * 500 + "b"], "⟨500 blanks⟩"),
        ("a" + " \n" * 50 + "b", "⟨100 blanks⟩"),
    ],
)
def test_blanks_in_json_push_nothing_out_of_view(value: Any, mark: str) -> None:
    rows = [*framed(value_rows(value, Sheet(78, safe)))]
    assert any(("warning", mark) in row for row in rows)
    assert len(rows) <= 5
    opened = [*value_rows(value, Sheet(78, safe, folds=False))]
    assert json.loads("".join(text for _, row in opened for _, text in row)) == value


def test_a_command_has_colours() -> None:
    ((begins, row),) = shell_rows('for f in *; do echo "$f"; done # all', Sheet(80, safe))
    assert begins
    styles = {text.strip(): style for style, text in row}
    assert styles["for"] == "keyword"
    assert styles["# all"] == "comment"
    assert "string" in styles.values()


def test_a_command_too_long_for_colours_is_plain() -> None:
    rows = list(shell_rows("for " * LONGEST, Sheet(80, safe)))
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
