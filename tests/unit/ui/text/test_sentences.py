"""Sentences wrapped at words, with whole commands."""

import re

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from crabhook.ui.text.sentences import wrap_sentences

SENTENCES = st.lists(
    st.text("ab日`", min_size=1, max_size=9) | st.just("`crabhook up --operators 0.0.0.0:7444`"),
    max_size=12,
).map(" ".join)


@given(SENTENCES, st.integers(1, 60), st.sampled_from(["", "note: "]), st.sampled_from(["", "  "]))
def test_rows_hold_every_word_in_order_and_are_as_narrow_as_asked(
    text: str, columns: int, first: str, rest: str
) -> None:
    rows = list(wrap_sentences(text, columns, first=first, rest=rest))
    words = [row.removeprefix(rest if place else first) for place, row in enumerate(rows)]
    assert " ".join(words) == text
    for word, row in zip(words, rows, strict=True):
        if get_cwidth(row) > columns:
            assert re.fullmatch("(`[^`]*`|[^ ])+", word), "only what cannot be broken is broader"


@given(SENTENCES, st.integers(1, 60))
def test_no_command_is_broken(text: str, columns: int) -> None:
    command = "`crabhook up --operators 0.0.0.0:7444`"
    text = f"Start it with {command}. {text.replace('`', '')}"
    assert sum(command in row for row in wrap_sentences(text, columns)) == 1


def test_a_command_that_does_not_fit_begins_a_row() -> None:
    said = "No server runs. Start one with `crabhook up --operators 0.0.0.0:7444`, then invite."
    assert list(wrap_sentences(said, 40)) == [
        "No server runs. Start one with",
        "`crabhook up --operators 0.0.0.0:7444`,",
        "then invite.",
    ]
