"""Safe text: whatever acts, hides or reorders is a visible mark, and nothing else is changed."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.safe import TAB, hidden, runs_leftward, safe, safe_lines
from tests.support.rows import every_row

NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@given(st.text(st.characters(codec=None)))
def test_nothing_unsafe_is_left(text: str) -> None:
    said = safe(text)
    assert not [letter for letter in said if unicodedata.category(letter) in NEVER]
    assert not [letter for letter in said if letter.isspace() and letter != " "]


@given(st.text())
def test_safe_text_stays_as_it_is(text: str) -> None:
    assert safe(safe(text)) == safe(text)


@given(st.text(alphabet=st.sampled_from("ab\x1b\u202e\u200b\n\r\x00"), max_size=6))
def test_different_texts_never_look_the_same(text: str) -> None:
    assert safe(text) != safe(text + "\u200b")
    assert (safe(text) == text) == text.isprintable()


@every_row(
    "text, said",
    [
        ("ls -l", "ls -l"),
        ("日本 שלום é", "日本 שלום é"),
        ("\x1b[31m", "␛[31m"),
        ("a\nb\r\tc", "a␊b␍␉c"),
        ("\x7f\x9b", "␡⟨U+009B⟩"),
        ("\u202eevil\u2066", "⟨U+202E⟩evil⟨U+2066⟩"),
        ("\u00a0\u3000", "⟨U+00A0⟩⟨U+3000⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\u3164\u2800\ufe0f", "⟨U+3164⟩⟨U+2800⟩⟨U+FE0F⟩"),
        ("e\u0301\u0301\u0301", "e\u0301\u0301⟨U+0301⟩"),
        ("ก\u0e47\u0e47\u0e47", "ก\u0e47\u0e47⟨U+0E47⟩"),
        ("\u1100\u1161\u11a8\u1161", "\u1100\u1161\u11a8⟨U+1161⟩"),
    ],
)
def test_marks_say_which_letter_it_was(text: str, said: str) -> None:
    assert safe(text) == said


def test_lines_are_split_at_newlines_alone() -> None:
    assert safe_lines("a\r\nb\n\tc\u2028d") == ["a", "b", f"{TAB}c⟨U+2028⟩d"]


def test_letters_that_a_terminal_may_reorder_are_known() -> None:
    for text in ("mv א ב", "\u0645", "\u0661"):
        assert runs_leftward(text)
    for text in ("mv a 1", "日本 é", "\u202e", ""):
        assert not runs_leftward(text)


def test_hidden_letters_are_counted() -> None:
    assert hidden("plain\n\ttext") == 0
    assert hidden("\u202e\x1b日") == 2
