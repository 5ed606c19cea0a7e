"""The input box: a line of the operator's own, edited, and lines typed before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.full.dialogs.prompts import AskLine, InputLine, Purpose
from crabhook.ui.full.text_input import (
    KEPT_LINES,
    LINE_KEYS,
    LONGEST_LINE,
    UNDONE_STEPS,
    LineInput,
)
from tests.support.rows import every_row
from tests.support.sitting import Sitting


def box(text: str = "", cursor: int | None = None) -> LineInput:
    made = LineInput([], text)
    made.cursor_position = len(text) if cursor is None else cursor
    return made


@every_row(
    "key, before, after",
    [
        ("x", "ab|cd", "abx|cd"),
        ("left", "ab|cd", "a|bcd"),
        ("left", "|ab", "|ab"),
        ("right", "ab|cd", "abc|d"),
        ("right", "ab|", "ab|"),
        ("home", "ab|cd", "|abcd"),
        ("c-a", "ab|cd", "|abcd"),
        ("end", "ab|cd", "abcd|"),
        ("c-e", "ab|cd", "abcd|"),
        ("backspace", "ab|cd", "a|cd"),
        ("backspace", "|ab", "|ab"),
        ("delete", "ab|cd", "ab|d"),
        ("delete", "ab|", "ab|"),
        ("c-u", "ab|cd", "|cd"),
        ("c-k", "ab|cd", "ab|"),
        ("c-w", "one two |x", "one |x"),
        ("c-w", "one|", "|"),
        ("c-left", "one two|", "one |two"),
        ("c-left", "|one", "|one"),
        ("home", "one\ntwo|", "|one\ntwo"),
        ("c-right", "one| two", "one two|"),
        ("c-right", "one|", "one|"),
    ],
)
def test_each_key_edits_the_line(key: str, before: str, after: str) -> None:
    edited = box(before.replace("|", ""), before.index("|"))
    assert edited.press(key)
    assert (
        edited.text[: edited.cursor_position] + "|" + edited.text[edited.cursor_position :] == after
    )


def test_a_key_that_is_no_edit_is_left_alone() -> None:
    edited = box("ab")
    assert not edited.press("pageup")
    assert edited.text == "ab"


@given(st.text())
def test_nothing_a_terminal_would_act_on_gets_in(text: str) -> None:
    edited = box()
    edited.insert(text)
    assert edited.text.isprintable()
    assert edited.cursor_position == len(edited.text)


def test_pasted_lines_become_one() -> None:
    edited = box()
    edited.insert("one\ntwo\tthree")
    assert edited.text == "one two three"


def test_a_line_is_bounded() -> None:
    edited = box()
    edited.insert("x" * LONGEST_LINE * 2)
    edited.press("y")
    assert len(edited.text) == LONGEST_LINE


@given(st.lists(st.sampled_from([*sorted(LINE_KEYS), "x", "日"])))
def test_the_cursor_never_leaves_the_line(keys: list[str]) -> None:
    edited = box("some text")
    for key in keys:
        edited.press(key)
        assert 0 <= edited.cursor_position <= len(edited.text)


def test_lines_typed_before_come_back_and_the_new_one_after_them() -> None:
    history: list[str] = []
    for line in ("one", "two", "two", "  "):
        LineInput(history, line).leave()
    assert history == ["one", "two"]
    edited = LineInput(history, "new")
    shown = []
    for step in (-1, -1, -1, +1, +1, +1):
        edited.recall(step)
        shown.append(edited.text)
    assert shown == ["two", "one", "one", "two", "new", "new"]


def test_only_so_many_lines_are_kept() -> None:
    history: list[str] = []
    for number in range(KEPT_LINES * 2):
        LineInput(history, str(number)).leave()
    assert len(history) == KEPT_LINES
    assert history[-1] == str(KEPT_LINES * 2 - 1)


def test_leaving_keeps_the_line() -> None:
    history: list[str] = []
    LineInput(history, "why").leave()
    assert history == ["why"]


@every_row("purpose", Purpose)
def test_every_box_says_which_card_it_is_for(purpose: Purpose) -> None:
    line = InputLine(Sitting().screen, AskLine(purpose, lambda _: ()), 18)
    assert "#18" in line.prompt


def test_a_box_about_no_card_says_what_it_is_about() -> None:
    ask = AskLine(Purpose.REASON, lambda _: (), subject="3 marked")
    assert "3 marked" in InputLine(Sitting().screen, ask, None).prompt


def test_another_text_takes_the_place_of_the_line() -> None:
    edited = box("one")
    edited.replace("two\nlines\x1b")
    assert (edited.text, edited.cursor_position) == ("two lines", len("two lines"))


@pytest.mark.parametrize("undo", ["c-z", "c-_"])
def test_undo_takes_back_what_was_typed_in_one_go_then_what_was_cut(undo: str) -> None:
    edited = box("one two")
    for key in ("c-w", "s", "i", "x", undo):
        edited.press(key)
    assert edited.text == "one "
    edited.press(undo)
    assert edited.text == "one two"
    edited.press(undo)
    assert edited.text == "one two"


def test_what_was_cut_comes_back_where_the_cursor_is() -> None:
    edited = box("one two three")
    for key in ("c-w", "c-w", "home", "c-y"):
        edited.press(key)
    assert edited.text == "two threeone "


@given(st.text(alphabet="ab \x1b\x07\u202e日"))
def test_nothing_a_terminal_would_act_on_is_yanked_into_a_line(
    text: str,
) -> None:
    edited = box(text)
    for key in ("c-u", "c-y"):
        edited.press(key)
    assert edited.text.isprintable()


def test_what_is_kept_for_undo_is_bounded() -> None:
    edited = box()
    for _ in range(UNDONE_STEPS - 1):
        edited.insert("x")
        edited.press("left")
    for _ in range(3 * UNDONE_STEPS):
        edited.press("c-z")
    assert edited.text == ""
    for _ in range(2 * UNDONE_STEPS):
        edited.insert("x")
    for _ in range(3 * UNDONE_STEPS):
        edited.press("c-z")
    assert len(edited.text) == UNDONE_STEPS
