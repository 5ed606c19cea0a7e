"""Commands by their names: as if the key had been pressed, with its own guards."""

from __future__ import annotations

import pytest

from crabhook.model.decision import Verdict
from crabhook.ui.full.dialogs.card import FormPage
from crabhook.ui.full.dialogs.help import Palette
from crabhook.ui.full.dialogs.prompts import InputLine
from crabhook.ui.full.keys import KEYS
from crabhook.ui.full.panes.help import commands
from tests.support.sitting import QUESTIONS, Sitting


def at_a_card(**options: int) -> Sitting:
    sitting = Sitting(**options)
    sitting.ask()
    sitting.wait()
    return sitting


def choose(sitting: Sitting, name: str) -> None:
    sitting.press(":")
    sitting.type(name)
    sitting.wait()
    sitting.press("enter")


def test_a_command_is_run_by_its_name() -> None:
    sitting = at_a_card(take_back_ms=0)
    choose(sitting, "hand back")
    assert sitting.verdicts() == [(1, Verdict.ASK)]


def test_a_command_that_asks_for_a_line_asks_for_it() -> None:
    sitting = at_a_card()
    choose(sitting, "deny")
    assert "deny #1" in sitting.text()
    assert isinstance(sitting.top, InputLine)


def test_what_is_pasted_as_keys_runs_nothing() -> None:
    sitting = at_a_card(take_back_ms=0)
    for key in [":", *"allow", "enter", "enter", "y"]:
        sitting.controller.press(key)
    assert not sitting.decided()


def test_a_card_that_came_into_view_a_moment_ago_is_not_decided_by_name() -> None:
    sitting = at_a_card(take_back_ms=0)
    sitting.ask(session_id="other")
    sitting.press(":")
    sitting.type("pass")
    sitting.wait()
    sitting.stroke = 0.04
    sitting.press("escape", "down")
    sitting.press(":")
    sitting.type("pass")
    sitting.press("enter")
    assert not sitting.decided()


def test_what_makes_no_sense_now_is_told_and_not_done() -> None:
    sitting = at_a_card()
    choose(sitting, "decline")
    assert "not now: decline" in sitting.text()
    assert "decline (not now)" in sitting.text()  # not by its colour alone
    assert not sitting.decided()


def test_every_command_is_found_by_its_name() -> None:
    sitting = at_a_card()
    sitting.press(":")
    for key in KEYS:
        if key.name and len(key.keys) < 9:
            palette = Palette(sitting.desk.now())
            sitting.controller.perform((palette,))
            sitting.type(key.name)
            assert any(command.row is key for command in commands(sitting.screen, palette))


def test_letters_are_typed_and_escape_leaves_all_as_it_was() -> None:
    sitting = at_a_card(take_back_ms=0)
    before = sitting.rows_of_text()[5:]
    sitting.press(":")
    sitting.type("gGaqp?/: 1")
    sitting.press("down", "up", "escape")
    sitting.wait()
    assert sitting.rows_of_text()[5:] == before
    assert not sitting.decided()


def test_the_form_is_where_it_was() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    choose(sitting, "own words")
    assert "in your own words" in sitting.text()
    assert isinstance(sitting.screen.stack.below, FormPage)


@pytest.mark.parametrize("text", ["\x1b[2J", "\u202e", "x" * 5000])
def test_what_is_typed_is_harmless(text: str) -> None:
    sitting = at_a_card()
    sitting.press(":")
    sitting.controller.paste(text)
    assert "\x1b" not in sitting.text()
    assert "\u202e" not in sitting.text()


def test_the_palette_stands_over_the_queue_and_the_card_stays_in_view() -> None:
    sitting = at_a_card()
    sitting.press(":")
    sitting.type("wait")
    assert sitting.rows_of_text()[2].startswith(
        "│ ▸ +         wait longer  give it ten minutes more"
    )
    assert "ls -l" in sitting.text()
