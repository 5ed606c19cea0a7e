"""A proposal is carried out only by a yes, and only as it was read."""

from __future__ import annotations

from crabhook.present.safe import safe
from crabhook.ui.full.dialogs.prompts import YesPage, statement
from crabhook.ui.full.effects import Effects
from crabhook.ui.text.layout import Content, Sheet, line_cells
from tests.support.sitting import Sitting

HOSTILE = "\x1b]0;x\x07 " + "long " * 40


def said(*sentences: tuple[str, str]) -> Content:
    return statement(*sentences)


def test_a_statement_says_our_words_and_an_agents_behind_its_bar() -> None:
    content, sheet = said(("ours", ""), ("about", HOSTILE)), Sheet(40, safe)
    lines = [line for place in range(content.count) for line in content.item(place).rows(sheet)]
    assert all(line_cells(line) <= 40 for line in lines)
    rows = ["".join(text for _, text in line) for line in lines]
    assert rows[:2] == ["ours", "about"]
    assert all(row[0] in "│┆" for row in rows[2:])
    assert not any("\x1b" in row for row in rows)


def proposing(done: list[str]) -> Sitting:
    sitting = Sitting()
    content = [said(("do it?", ""))]

    def carry_out() -> Effects:
        done.append("done")
        return ()

    sitting.controller.perform((YesPage(lambda: content[0], carry_out),))
    sitting.shown = content  # type: ignore[attr-defined]
    sitting.draw()
    return sitting


def test_a_yes_counts_once_the_page_was_in_view_long_enough_with_no_card_at_all() -> None:
    done: list[str] = []
    sitting = proposing(done)
    sitting.press("enter", "y")
    assert not done
    sitting.wait()
    sitting.press("y", "y", "enter")
    assert done == ["done"]
    assert "O orders" in sitting.help_line()


def test_another_content_has_to_be_read_anew() -> None:
    done: list[str] = []
    sitting = proposing(done)
    sitting.wait()
    sitting.shown[0] = said(("do that?", ""))  # type: ignore[attr-defined]
    sitting.press("y")
    assert not done
    assert "do that?" in sitting.text()


def test_no_other_key_is_a_yes_and_escape_is_a_no() -> None:
    done: list[str] = []
    sitting = proposing(done)
    sitting.wait()
    sitting.press("a", "space", "1", "d", "p", "right", "tab", "escape", "enter", "y")
    assert not done


def test_arriving_cards_change_nothing_about_a_proposal() -> None:
    done: list[str] = []
    sitting = proposing(done)
    sitting.wait()
    sitting.ask()
    assert "do it?" in sitting.text()
    sitting.press("y")
    assert done == ["done"]
