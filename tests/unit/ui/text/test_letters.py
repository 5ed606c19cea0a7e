"""Letters: every one is spelt, none is lost, and no row is wider than it may be."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from crabhook.present.safe import safe
from crabhook.ui.text.width import (
    CHUNK,
    OWN_SYMBOLS,
    cells,
    clip,
    fit,
    lines_of,
    own_ascii,
    safe_ascii,
    wrapped,
)

WIDE = "日本語 שלום e\u0301 👍🏽 \u202e\x1b[31m\u200d"


def test_our_own_symbols_become_one_letter_of_ascii_each() -> None:
    symbols = "".join(OWN_SYMBOLS)
    assert own_ascii(symbols).isascii()
    assert len(own_ascii(symbols)) == len(symbols)


def test_agents_letters_past_ascii_are_spelt_out() -> None:
    assert safe_ascii("é…") == "<U+00E9><U+2026>"
    assert safe_ascii("\x1b\u202e") == "<U+001B><U+202E>"
    assert safe_ascii("plain") == "plain"


@given(st.text())
def test_spelling_twice_changes_nothing(text: str) -> None:
    for ascii_only in (False, True):
        spell = safe_ascii if ascii_only else safe
        assert spell(spell(text)) == spell(text)


@given(st.text())
def test_an_ascii_speller_gives_ascii_alone(text: str) -> None:
    said = safe_ascii(text)
    assert said.isascii()
    assert said.isprintable()


@given(st.text(alphabet=st.sampled_from(WIDE + "abc ")), st.integers(2, 20))
@example("日本" * CHUNK, 7)
@example("e" + "\u0301" * 3 * CHUNK, 5)
def test_wrapping_loses_nothing_and_keeps_within_the_columns(text: str, columns: int) -> None:
    rows = list(wrapped(text, columns, safe))
    assert "".join(rows) == "".join(
        safe(text[start : start + CHUNK]) for start in range(0, len(text), CHUNK)
    )
    assert all(cells(row) <= columns for row in rows)


@given(st.text(alphabet="ab  日"), st.integers(1, 20))
def test_wrapping_at_words_loses_nothing_but_the_blank_at_a_break(text: str, columns: int) -> None:
    rows = list(wrapped(text, columns, safe, words=True))
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_wrapping_at_words_breaks_between_them() -> None:
    assert list(wrapped("allow or deny", 8, safe, words=True)) == ["allow or", "deny"]
    assert list(wrapped("unbreakable", 5, safe, words=True)) == ["unbre", "akabl", "e"]


def test_a_column_narrower_than_a_letter_still_ends() -> None:
    assert list(wrapped("日本", 1, safe)) == ["日", "本"]
    assert list(wrapped("ab", 0, safe)) == ["a", "b"]


def test_nothing_is_one_empty_row() -> None:
    assert list(wrapped("", 10, safe)) == [""]


def test_a_long_line_is_spelt_only_as_far_as_it_is_read() -> None:
    spelt: list[int] = []

    def spell(text: str) -> str:
        spelt.append(len(text))
        return text

    rows = wrapped("x" * 10_000_000, 80, spell)
    next(rows)
    assert sum(spelt) == CHUNK


@given(st.text(alphabet="ab\n\r\x85\u2028"))
def test_lines_end_at_newlines_alone(text: str) -> None:
    assert list(lines_of(text)) == text.split("\n")


@given(st.text(alphabet=st.sampled_from("ab日e\u0301")), st.integers(0, 12))
def test_fitted_text_takes_exactly_its_cells(text: str, columns: int) -> None:
    said = safe(text)
    assert cells(clip(said, columns)) <= columns
    assert cells(fit(said, columns)) == columns
    if 0 < columns >= cells(said):
        assert fit(said, columns).startswith(said)


def test_what_is_cut_off_is_marked() -> None:
    assert clip("allow", 3) == "al…"
    assert clip("日本語", 4) == "日…"
    assert clip("allow", 1) == "…"


def test_cells_are_those_the_terminal_layer_counts() -> None:
    for letter in "a日⟨␛▸▓…":
        assert cells(letter) == get_cwidth(letter)
