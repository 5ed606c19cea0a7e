"""A text of several lines: edited like a line, kept letter for letter, never the cursor outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.full.text_input import LONGEST_TEXT, TEXT_KEYS, UNDONE_LETTERS, TextInput
from tests.support.rows import every_row


def editor(marked: str) -> TextInput:
    """Return an editor of a text with its cursor where the mark `|` stands."""
    made = TextInput(marked.replace("|", ""))
    made.cursor_position = marked.index("|")
    return made


def marked(edited: TextInput) -> str:
    here = edited.document
    return f"{here.text_before_cursor}|{here.text_after_cursor}"


@every_row(
    "key, before, after",
    [
        ("x", "ab|cd\n", "abx|cd\n"),
        ("enter", "ab|cd", "ab\n|cd"),
        ("tab", "|a", "\t|a"),
        ("left", "a\n|b", "a|\nb"),
        ("left", "|a", "|a"),
        ("right", "a|\nb", "a\n|b"),
        ("right", "a|", "a|"),
        ("up", "abc\nab|", "ab|c\nab"),
        ("up", "|a", "|a"),
        ("down", "abc|\na", "abc\na|"),
        ("pagedown", "|a\nb\nc", "a\nb\n|c"),
        ("pageup", "a\nb\n|c", "|a\nb\nc"),
        ("home", "a\nbc|d", "a\n|bcd"),
        ("end", "a|b\nc", "ab|\nc"),
        ("backspace", "a\n|b", "a|b"),
        ("backspace", "|a", "|a"),
        ("delete", "a|\nb", "a|b"),
        ("delete", "a|", "a|"),
        ("c-home", "a\nb|c", "|a\nbc"),
        ("c-end", "a|b\nc\n", "ab\nc\n|"),
        ("c-u", "ab|c\nd", "|c\nd"),
        ("c-k", "a|bc\nd", "a|\nd"),
        ("c-w", "one two |x", "one |x"),
    ],
)
def test_each_key_edits_the_text(key: str, before: str, after: str) -> None:
    edited = editor(before)
    assert marked(edited) == before
    assert edited.press(key)
    assert marked(edited) == after


@pytest.mark.parametrize("text", ["|", "a|", "a\nb|", "a\nb|\n\n", "a \n\tb |\n"])
def test_the_cursor_begins_behind_the_last_letter_so_that_a_last_line_end_stays(text: str) -> None:
    edited = TextInput(text.replace("|", ""))
    assert marked(edited) == text
    edited.replace("other")
    edited.replace(text.replace("|", ""))
    assert marked(edited) == text


def test_a_key_that_is_no_edit_is_left_alone() -> None:
    edited = editor("a|")
    assert not edited.press("s-tab")
    assert edited.text == "a"


@given(st.text())
def test_a_text_that_is_not_touched_is_the_same_to_its_last_letter(text: str) -> None:
    edited = TextInput(text)
    for key in ("end", "down", "pagedown", "left", "up"):
        edited.press(key)
    assert edited.text == text


@given(st.text())
def test_nothing_a_terminal_would_act_on_is_typed_or_pasted_in(text: str) -> None:
    edited = TextInput("")
    edited.insert(text)
    assert all(letter.isprintable() or letter in "\n\t" for letter in edited.text)


def test_pasted_lines_stay_lines_and_the_cursor_stands_behind_them() -> None:
    edited = editor("a|b")
    edited.insert("one\r\ntwo\rthree")
    assert marked(edited) == "aone\ntwo\nthree|b"


def test_what_is_added_is_bounded() -> None:
    edited = TextInput("x" * (LONGEST_TEXT - 2))
    edited.insert("yyyyy")
    assert len(edited.text) == LONGEST_TEXT
    assert (
        len(TextInput("x" * (LONGEST_TEXT + 5)).text) == LONGEST_TEXT + 5
    )  # what was there is kept


def test_another_text_takes_the_place_of_all() -> None:
    edited = editor("a\nb|")
    edited.replace("c")
    assert marked(edited) == "c|"


@given(st.text(alphabet="ab \n日\x1b"), st.lists(st.sampled_from([*sorted(TEXT_KEYS), "x"])))
def test_the_cursor_never_leaves_the_text(text: str, keys: list[str]) -> None:
    edited = TextInput(text)
    for key in keys:
        edited.press(key)
        assert 0 <= edited.cursor_position <= len(edited.text)


def test_undo_brings_back_the_text_as_it_was_to_its_last_letter() -> None:
    edited = editor("a\x1b[2J|\r\n")
    edited.press("x")
    edited.replace("from outside")
    edited.press("c-z")
    assert edited.text == "a\x1b[2Jx\r\n"
    edited.press("c-z")
    assert edited.text == "a\x1b[2J\r\n"


def test_what_is_yanked_is_filtered_as_what_is_typed_is() -> None:
    edited = editor("|one\x1b[2J\ttwo\nthree")
    for key in ("c-k", "down", "c-y"):
        edited.press(key)
    assert "one[2J\ttwo" in edited.text
    assert "\x1b" not in edited.text


def test_lines_cut_one_after_the_other_leave_none_behind() -> None:
    edited = editor("|one\ntwo")
    for _ in range(3):
        edited.press("c-k")
    assert marked(edited) == "|"


def test_what_is_kept_of_a_large_text_for_undo_is_bounded() -> None:
    edited = TextInput("x" * LONGEST_TEXT)
    for _ in range(2 * UNDONE_LETTERS // LONGEST_TEXT):
        edited.press("backspace")
    for _ in range(2 * UNDONE_LETTERS // LONGEST_TEXT):
        edited.press("c-z")
    assert len(edited.text) == LONGEST_TEXT - UNDONE_LETTERS // LONGEST_TEXT
