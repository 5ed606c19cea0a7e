"""The mouse chooses and scrolls and never decides; what is copied is exactly what was sent."""

from __future__ import annotations

from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.errors import CrabhookError
from crabhook.ui.full.notify import LONGEST_COPY, clipboard
from tests.support.examples import examples
from tests.support.sitting import QUESTIONS, Sitting

HOSTILE = "echo \x1b]52;c;AAAA\x07 \u202e; ls\x00\n\x1b[2J"
WAYS = (
    (),
    ("enter",),
    ("?",),
    (":",),
    ("/",),
    ("d",),
    ("e",),
    ("O",),
    ("space", "a"),
    ("i",),
    ("A",),
)


def many(count: int = 40) -> Sitting:
    sitting = Sitting(columns=120, rows=40, take_back_ms=0)
    sitting.ask("AskUserQuestion", QUESTIONS, session_id="asks")
    for number in range(count):
        sitting.ask(tool_input={"command": f"ls {number}"}, session_id=f"s{number % 5}")
    sitting.press("home", "escape")
    return sitting


def test_a_click_selects_and_the_wheel_scrolls_the_queue_and_leaves_the_selection() -> None:
    sitting = many()
    sitting.controller.click(9)
    assert sitting.card.number == 9
    sitting.controller.wheel(3, over_queue=True)
    assert min(sitting.draw().cards.values()) == 4
    sitting.controller.wheel(300, over_queue=True)
    seen = set(sitting.draw().cards.values())
    assert max(seen) == 41
    assert 9 not in seen
    assert sitting.card.number == 9
    sitting.press("down")
    assert sitting.card.number == 10
    assert 10 in sitting.draw().cards.values()


def test_a_click_on_a_card_that_is_gone_changes_nothing() -> None:
    sitting = many()
    sitting.controller.click(9)
    sitting.leave(20)
    sitting.controller.click(20)
    sitting.controller.click(99)
    assert sitting.card.number == 9


def test_a_card_that_was_clicked_is_armed_like_any_that_came_into_view() -> None:
    sitting = many()
    sitting.wait()
    sitting.controller.click(9)
    sitting.draw()
    sitting.press("a")
    assert "only just come into view" in sitting.text()
    assert not sitting.decided()


@examples(60)
@given(
    way=st.sampled_from(WAYS),
    doings=st.lists(st.tuples(st.booleans(), st.integers(-5, 45)), min_size=1, max_size=12),
)
def test_the_mouse_never_decides(way: tuple[str, ...], doings: list[tuple[bool, int]]) -> None:
    sitting = many()
    sitting.press("down")
    for key in way:
        sitting.wait()
        sitting.press(key)
    for clicks, number in doings:
        sitting.wait()
        if clicks:
            sitting.controller.click(number)
        else:
            sitting.controller.wheel(number, over_queue=number % 2 == 0)
    sitting.wait(20.0)
    assert not sitting.decided()
    assert not sitting.screen.answers.waiting
    assert not sitting.desk.orders()


@pytest.mark.parametrize("command", ["npm ci", HOSTILE, "日本語 👍🏽", ""])
def test_what_is_copied_is_exactly_the_command_and_nothing_of_it_is_sent_raw(command: str) -> None:
    sitting = Sitting()
    sitting.ask(tool_input={"command": command, "description": "words"})
    sitting.press("y")
    sent = sitting.controller.take_copy()
    assert sent.startswith("\x1b]52;c;")
    assert sent.endswith("\x07")
    inner = sent.removeprefix("\x1b]52;c;").removesuffix("\x07")
    assert inner.isascii()
    assert b64decode(inner, validate=True).decode() == command
    assert sitting.controller.take_copy() == ""
    assert f"copied as it was sent: {len(command)} letters" in sitting.text()
    assert not sitting.decided()


@pytest.mark.parametrize("text", ["x" * (LONGEST_COPY + 1), "lone \ud800"])
def test_what_no_clipboard_takes_is_not_copied_and_that_is_said(text: str) -> None:
    with pytest.raises(CrabhookError, match="not copied"):
        clipboard(text)
