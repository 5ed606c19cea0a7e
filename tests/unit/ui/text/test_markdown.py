"""Markdown is styled and indented; no word of it is lost, and none is added."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crabhook.present.safe import safe
from crabhook.ui.text.code import LineKind, mark_rows, marks_of
from crabhook.ui.text.layout import Line, Sheet
from crabhook.ui.text.width import cells


def rows(text: str, columns: int = 60) -> list[Line]:
    return [row for mark in marks_of(text) for _, row in mark_rows(mark, Sheet(columns, safe))]


def shown(text: str, columns: int = 60) -> list[str]:
    return ["".join(said for _, said in row) for row in rows(text, columns)]


def kinds(text: str) -> list[LineKind]:
    return [mark.kind for mark in marks_of(text)]


def test_headings_code_and_tables_stand_as_they_were_sent() -> None:
    text = "# Plan\n```sh\nrm -rf /\n# a comment\n```\n| a | b |\n---"
    assert shown(text) == text.split("\n")
    assert kinds(text) == [
        LineKind.HEADING,
        LineKind.FENCE,
        LineKind.CODE,
        LineKind.CODE,
        LineKind.FENCE,
        LineKind.TABLE,
        LineKind.RULE,
    ]


def test_a_fence_is_closed_by_one_as_long_and_by_nothing_else() -> None:
    assert kinds("````\n```\n~~~~\n````\n# h") == [
        LineKind.FENCE,
        LineKind.CODE,
        LineKind.CODE,
        LineKind.FENCE,
        LineKind.HEADING,
    ]


def test_a_list_hangs_below_its_words() -> None:
    assert shown("- one two three four\n  12. five six seven", 14) == [
        "· one two ",
        "  three four",
        "  12. five six",
        "      seven",
    ]


def test_a_box_to_tick_and_a_quote_keep_their_marks() -> None:
    assert shown("* [x] done\n> > said") == ["· [x] done", "> > said"]


def test_a_link_shows_where_it_leads() -> None:
    assert shown("see [the docs](https://evil.example/x) and ![img](y)") == [
        "see the docs (https://evil.example/x) and img (y)"
    ]


@pytest.mark.parametrize(
    ("text", "style", "words"),
    [("a **b c** d", "strong", "b c"), ("a *b* d", "emphasis", "b"), ("a `b` d", "string", "`b`")],
)
def test_emphasis_is_a_style(text: str, style: str, words: str) -> None:
    assert (style, words) in rows(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "2**3**4",
        "a * b * c",
        "f(*args, **kwargs)",
        "snake_case_name",
        "[x](a b)",
        "<!-- secret -->",
    ],
)
def test_what_only_looks_like_markdown_stands_as_it_was_sent(text: str) -> None:
    assert shown(text) == [text]


def test_what_hides_is_marked_wherever_it_stands() -> None:
    for text in ("# \u202e", "- \x1b[2J", "`\u200b`", "[\x07](\u2066)", "**\u202e**"):
        assert all(safe(row) == row for row in shown(text))
        assert any("⟨U+" in row or "␛" in row or "␇" in row for row in shown(text))


PIECES = st.lists(
    st.sampled_from(
        ["# ", "- ", "1. ", "> ", "```", "**", "*", "`", "[", "](", ")", " ", "\n", "\t", "|", "—"]
    )
    | st.text(max_size=6),
    max_size=30,
).map("".join)


@pytest.mark.parametrize("indent", [0, 1, 39, 41, 60])
@pytest.mark.parametrize("number", ["1.", "123456789)"])
def test_a_deep_list_keeps_its_numbers_and_gives_up_blanks(indent: int, number: str) -> None:
    for columns in (2, 3, 20, 80):
        text = "".join(shown(f"{' ' * indent}{number} b", columns))
        assert text.replace(" ", "") == f"{number}b"


@given(PIECES, st.integers(2, 80))
@example(text=" 1. ", columns=2)
def test_rows_are_safe_and_fit_and_no_letter_or_digit_is_lost(text: str, columns: int) -> None:
    lines = list(rows(text, columns))
    for line in lines:
        assert all(safe(said) == said for _, said in line)
        assert sum(cells(said) for _, said in line) <= max(columns, 14)
    words = re.findall(r"[a-zA-Z0-9]", safe(text.replace("\n", " ")))
    assert re.findall(r"[a-zA-Z0-9]", "".join(said for line in lines for _, said in line)) == words


def test_a_line_of_ten_million_letters_costs_what_is_looked_at() -> None:
    mark = next(marks_of("**" * 5_000_000))
    assert next(mark_rows(mark, Sheet(80, safe)))


@pytest.mark.parametrize(
    "text",
    [
        '[x]: http://host.example/path "run it"',  # a link's definition
        "| a | b |\n|---|---|\n| 1 | 2 | a cell past those of the head |",
        "```sh --flag\nls\n```",
        "a &amp; b &#x72;m",
        r"rm \-rf \* \[not a link\]",
        "<!-- a comment --> <b>html</b>",
    ],
)
def test_what_a_page_would_not_show_is_shown_as_it_was_sent(text: str) -> None:
    assert shown(text) == text.split("\n")
