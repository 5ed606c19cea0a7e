"""The terminal's own background: told by its environment, or by an answer among the keys."""

from __future__ import annotations

import os
import pty

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.text.style import AskedInput, BackgroundAnswers, known_light, may_be_asked
from tests.support.examples import examples

WHITE, BLACK = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:1e/1e/2e\x07"


@pytest.mark.parametrize(
    ("value", "light"),
    [("0;15", True), ("15;0", False), ("0;default;7", True), ("15;8", False)]
    + [(unclear, None) for unclear in ("", "15;default", "0;99", ";", "x")],
)
def test_the_environment_tells_the_ground_where_it_can(value: str, *, light: bool | None) -> None:
    assert known_light({"COLORFGBG": value}) is light
    assert known_light({}) is None


def test_a_terminal_that_would_print_the_question_is_not_asked() -> None:
    terms = ["xterm-256color", "tmux-256color", "dumb", "linux", "screen", ""]
    assert [term for term in terms if may_be_asked({"TERM": term})] == terms[:2]


@given(
    st.lists(st.sampled_from([WHITE, BLACK, "a", "\x1b", "\x1b[A", "]", "11;", "r", "é"])),
    st.data(),
)
@examples(100)
def test_an_answer_is_never_a_key_and_no_key_is_lost(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts)
    told: list[bool] = []
    cut = data.draw(st.integers(0, len(whole)))
    if whole[:cut].endswith("\x1b"):  # alone at the end of what came, it is the key
        cut -= 1
    answers = BackgroundAnswers(told.append)
    typed = answers.take(whole[:cut]) + answers.take(whole[cut:]) + answers.take("|")
    assert "rgb:" not in typed
    assert typed == whole.replace(WHITE, "").replace(BLACK, "") + "|"
    assert told == [part == WHITE for part in parts if part in (WHITE, BLACK)]


def test_keys_around_an_answer_come_from_a_real_terminal() -> None:
    ours, theirs = pty.openpty()
    told: list[bool] = []
    try:
        with os.fdopen(theirs, encoding="utf-8") as stdin:
            keys = AskedInput(stdin, told.append)
            with keys.raw_mode():
                os.write(ours, f"a{WHITE}b".encode())
                assert [press.data for press in keys.read_keys()] == ["a", "b"]
    finally:
        os.close(ours)
    assert told == [True]
