"""The stack of what is open: back leads one down, and what is left is closed."""

from __future__ import annotations

import pytest

from crabhook.ui.full.dialogs.prompts import AskLine, Menu, Proposal, Purpose, statement
from crabhook.ui.full.filters import VIEWS, Mode
from crabhook.ui.full.focus import Focus

LINE = AskLine(Purpose.FILTER, lambda _: (), subject="the queue")


def page() -> Proposal:
    return Proposal(lambda: statement(("yes?", "")), lambda: ())


@pytest.mark.parametrize(
    ("page", "back"),
    [
        (Mode.TEXT, Mode.QUEUE),
        (Mode.FORM, Mode.QUEUE),
        (Mode.FILL, Mode.QUEUE),
        (Mode.NOTES, Mode.QUEUE),
        (Mode.REVIEW, Mode.FORM),
        (Mode.ENTRY, Mode.HISTORY),
        (Mode.SESSIONS, Mode.QUEUE),
        (Mode.HISTORY, Mode.QUEUE),
    ],
)
def test_a_page_leads_back_to_what_it_belongs_to(page: Mode, back: Mode) -> None:
    focus = Focus()
    focus.go(page)
    assert focus.mode is page
    assert focus.view in VIEWS
    focus.back()
    assert focus.mode is back


def test_each_dialog_leads_back_to_where_it_was_opened() -> None:
    focus = Focus()
    focus.go(Mode.TEXT)
    focus.open_menu(Menu("which?", ()))
    focus.visit(Mode.HELP)
    focus.search_keys(0.0)
    came_by = []
    while len(focus.layers) > 1:
        came_by.append(focus.mode)
        focus.back()
    assert came_by == [Mode.SEARCH, Mode.HELP, Mode.MENU, Mode.TEXT]
    assert focus.mode is Mode.QUEUE


def test_a_yes_leads_back_to_where_it_was_asked() -> None:
    focus = Focus()
    focus.go(Mode.SESSIONS)
    focus.open_proposal(page())
    assert focus.confirm() == ()
    assert focus.mode is Mode.SESSIONS
    assert focus.proposal is None


def test_a_list_in_place_of_a_list_leads_back_past_both() -> None:
    focus = Focus()
    focus.open_menu(Menu("which?", ()))
    second = Menu("and which of these?", ())
    focus.open_menu(second)
    assert focus.menu is second
    focus.back()
    assert focus.mode is Mode.QUEUE


def test_a_typed_line_that_is_left_is_kept_among_the_earlier_lines() -> None:
    for leave in (Focus.back, lambda focus: focus.go(Mode.HISTORY)):
        focus = Focus()
        focus.open_line(LINE, None)
        assert focus.typing is not None
        focus.typing.box.insert("risk:danger")
        leave(focus)
        assert focus.typing is None
        focus.open_line(LINE, None)
        focus.typing.recall(-1)
        assert focus.typing.box.text == "risk:danger"


def test_nothing_leads_into_a_dialog_that_was_left() -> None:
    focus = Focus()
    focus.go(Mode.TEXT)
    focus.go(Mode.EDIT)
    assert focus.mode is Mode.TEXT
    assert focus.edit is None


def test_a_stack_is_restored_as_it_stood() -> None:
    focus = Focus()
    focus.go(Mode.FORM)
    stood = focus.layers
    focus.open_menu(Menu("which?", ()))
    focus.go(Mode.QUEUE)
    focus.restore(stood)
    assert focus.mode is Mode.FORM
    assert focus.layers == stood
