"""A diff shows all that goes, all that comes and all that stays."""

from __future__ import annotations

import re
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.safe import safe
from crabhook.ui.text.diff import MOST_COMPARED, added_rows, edit_rows, patch_rows
from crabhook.ui.text.layout import Sheet
from tests.support.rows import every_row


def shown(old: str, new: str, *, folds: bool = True) -> list[str]:
    rows = edit_rows(old, new, Sheet(80, safe, folds=folds))
    return ["".join(text for _, text in row) for _, row in rows]


TEXTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8).map("\n".join)


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_from_the_diff(old: str, new: str) -> None:
    rows = shown(old, new, folds=False)  # folded, four empty lines on end are one row
    assert [row[2:] for row in rows if row[0] in "- "] == old.split("\n")
    assert [row[2:] for row in rows if row[0] in "+ "] == new.split("\n")


def test_signs_tell_what_goes_and_comes_without_colours() -> None:
    assert shown("a\nb", "a\nc") == ["  a", "- b", "+ c"]


def test_a_change_of_blanks_alone_is_made_visible() -> None:
    assert shown("if:\n\tx  ", "if:\n    x") == ["  if:", "- →   x··", "+     x"]


def test_a_change_of_line_ends_is_visible() -> None:
    assert shown("a\r\nb", "a\nb") == ["- a␍", "+ a", "  b"]


def test_texts_too_long_to_compare_are_shown_whole() -> None:
    old, new = "\n".join(["x"] * MOST_COMPARED), "y\nz"
    rows = shown(old, new)
    assert rows.count("- x") == MOST_COMPARED
    assert rows[-2:] == ["+ y", "+ z"]


def test_a_written_file_is_all_put_in() -> None:
    rows = list(added_rows("one\ntwo\n", Sheet(80, safe)))
    assert [row for _, row in rows] == [[("add", "+ one")], [("add", "+ two")]]


def test_a_written_file_without_a_last_newline_is_told_from_one_with_it() -> None:
    (_, last) = list(added_rows("one", Sheet(80, safe)))
    assert last == (True, [("dim", "  (no newline at the end)")])


def test_a_wrapped_row_does_not_begin_a_line() -> None:
    assert [begins for begins, _ in added_rows("x" * 30 + "\n", Sheet(12, safe))] == [
        True,
        False,
        False,
    ]


def test_a_patch_of_an_agents_own_is_shown_as_it_is() -> None:
    text = "*** Begin Patch\n@@\n-old\n+new\n same"
    rows = [row for _, row in patch_rows(text, Sheet(80, safe))]
    assert [row[0][1] for row in rows] == text.split("\n")
    assert [row[0][0] for row in rows] == ["label", "label", "remove", "add", ""]


BLANKS = {
    "empty lines": ("\n" * 60, r"⟨5[89] empty lines⟩"),
    "blanks": (" " * 2_000, r"⟨2000 blanks⟩"),
    "tabs": ("\t" * 500, r"⟨(2000 blanks|500 tabs)⟩"),
}


@every_row("kind", BLANKS)
@every_row("shown_as", ["taken out and put in", "put in", "a patch", "too long"])
def test_blanks_push_nothing_of_a_change_out_of_view(kind: str, shown_as: str) -> None:
    between, mark = BLANKS[kind]
    text, sheet = f"ls{between}; rm -rf ~\n", Sheet(80, safe)
    long = "x\n" * MOST_COMPARED
    rows = {
        "taken out and put in": lambda: edit_rows("", text, sheet),
        "put in": lambda: added_rows(text, sheet),
        "a patch": lambda: patch_rows("+" + text[:-1].replace("\n", "\n+"), sheet),
        "too long": lambda: edit_rows("", text + long, sheet),
    }[shown_as]()
    shown = ["".join(said for _, said in row) for _, row in islice(rows, 8)]
    assert re.search(mark, "\n".join(shown))
    assert "; rm -rf ~" in "\n".join(shown)
    assert max(map(len, shown)) <= 80


def test_a_change_in_many_blanks_alone_is_seen() -> None:
    old, new = "a\n" + "\n" * 60 + "b", "a\n" + "\n" * 70 + "b"
    assert "+ ⟨10 empty lines⟩" in shown(old, new)
    old, new = f"a{' ' * 100}b", f"a{' ' * 90}b"
    assert shown(old, new) == ["- a ⟨100 blanks⟩ b", "+ a ⟨90 blanks⟩ b"]
