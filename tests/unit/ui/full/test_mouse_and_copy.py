"""The mouse chooses and scrolls and never decides; what is copied is exactly what was sent."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.ui.full.notify import LONGEST_COPY, clipboard
from tests.support.examples import examples
from tests.support.sitting import QUESTIONS, Sitting

if TYPE_CHECKING:
    from collections.abc import Hashable

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
    sitting.controller.wheel(3, over_view=True)
    assert min(sitting.draw().named.values()) == 4
    sitting.controller.wheel(300, over_view=True)
    seen = set(sitting.draw().named.values())
    assert max(seen) == 41
    assert 9 not in seen
    assert sitting.card.number == 9
    sitting.press("down")
    assert sitting.card.number == 10
    assert 10 in sitting.draw().named.values()


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
            sitting.controller.wheel(number, over_view=number % 2 == 0)
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


def place_of(sitting: Sitting, words: str) -> tuple[Hashable, int]:
    """The name of the row that tells these words, and where on the screen it is."""
    rows = sitting.rows_of_text()
    at = next(at for at, row in enumerate(rows) if words in row)
    return sitting.seen.named[at], at


@pytest.mark.parametrize(("view", "count"), [("H", 60), ("S", 60)])
def test_a_click_selects_a_row_of_a_view_and_the_wheel_scrolls_it(view: str, count: int) -> None:
    sitting = Sitting(columns=120, rows=24, take_back_ms=0)
    for number in range(count):
        asked = sitting.ask(tool_input={"command": f"ls {number:03}"}, session_id=f"s{number:03}")
        if view == "H":
            sitting.desk.answer(asked, Decision(Verdict.ALLOW))
    sitting.wait()
    sitting.press(view)
    sitting.wait()
    listing = sitting.screen.listing
    assert listing is not None
    name, _ = place_of(sitting, "ls 055" if view == "H" else "s003")
    sitting.controller.click(name)
    assert listing.key(listing.chosen) == name
    above = set(sitting.draw().named.values())
    sitting.controller.wheel(3, over_view=True)
    assert listing.key(listing.chosen) == name
    assert len(above - set(sitting.draw().named.values())) == 3
    sitting.controller.wheel(300, over_view=True)
    last = set(sitting.draw().named.values())
    assert listing.key(listing.rows()[-1]) in last
    assert name not in last
    sitting.press("down")
    assert listing.key(listing.chosen) in sitting.draw().named.values()
    assert len(sitting.decided()) == (count if view == "H" else 0)


def test_a_click_in_the_history_where_an_entry_is_open_goes_to_the_row() -> None:
    sitting = Sitting(columns=160, rows=40, take_back_ms=0)
    for number in range(3):
        asked = sitting.ask(tool_input={"command": f"ls {number}"})
        sitting.desk.answer(asked, Decision(Verdict.ALLOW))
    sitting.press("H")
    sitting.wait()
    name, _ = place_of(sitting, "ls 0")
    sitting.press("enter")
    sitting.controller.click(name)
    assert "│ ls 0" in sitting.text()
    sitting.controller.click(("gone", "too"))
    sitting.controller.click(999)
    assert "│ ls 0" in sitting.text()
