"""The stack of what is open: back leads one down, and what is left is closed."""

from __future__ import annotations

import pytest

from crabhook.ui.full.dialog import Dialog, Go
from crabhook.ui.full.dialogs.card import FormPage, QueueView, TextPage
from crabhook.ui.full.dialogs.edit import EditPage
from crabhook.ui.full.dialogs.help import Finder, KeySearch, KeysPage
from crabhook.ui.full.dialogs.lists import EntryPage, HistoryView, SessionsView
from crabhook.ui.full.dialogs.mcp_form import FillPage
from crabhook.ui.full.dialogs.plan import NotesPage
from crabhook.ui.full.dialogs.prompts import AskLine, Menu, Purpose, YesPage, statement
from crabhook.ui.full.dialogs.question import ReviewPage
from crabhook.ui.full.effects import Close, Enter, ScreenEffect
from tests.support.sitting import QUESTIONS, Sitting

LINE = AskLine(Purpose.FILTER, lambda _: (), subject="the queue")


def perform(sitting: Sitting, *effects: ScreenEffect) -> None:
    sitting.controller.perform(effects)


@pytest.mark.parametrize(
    ("way", "back"),
    [
        ((Go(TextPage),), QueueView),
        ((Go(FillPage),), QueueView),
        ((Go(), Go(NotesPage)), QueueView),
        ((Enter(),), QueueView),
        ((Enter(), Go(ReviewPage)), FormPage),
        ((Go(HistoryView), Go(EntryPage)), HistoryView),
    ],
)
def test_a_page_leads_back_to_what_it_belongs_to(
    way: tuple[ScreenEffect, ...], back: type[Dialog]
) -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.press("escape")
    assert isinstance(sitting.top, QueueView)
    perform(sitting, *way)
    sitting.press("escape")
    assert type(sitting.top) is back


@pytest.mark.parametrize("view", [SessionsView, HistoryView])
def test_a_view_leads_back_to_the_queue(view: type[Dialog]) -> None:
    sitting = Sitting()
    perform(sitting, Go(TextPage), Go(view))
    assert sitting.screen.stack.dialogs == (sitting.top,)
    sitting.press("escape")
    assert isinstance(sitting.top, QueueView)


def test_each_dialog_leads_back_to_where_it_was_opened() -> None:
    sitting = Sitting()
    menu = Menu("which?", ())
    perform(sitting, Go(TextPage), menu, KeysPage(), KeySearch(finder=Finder()))
    stack, came_by = sitting.screen.stack, list[type[Dialog]]()
    while len(stack.dialogs) > 1:
        came_by.append(type(stack.top))
        stack.back()
    assert came_by == [KeySearch, KeysPage, Menu, TextPage]


def test_a_yes_leads_back_to_where_it_was_asked() -> None:
    sitting = Sitting()
    page = YesPage(lambda: statement(("yes?", "")), tuple)
    perform(sitting, Go(SessionsView), page, Close(page.carry_out))
    assert isinstance(sitting.top, SessionsView)


def test_a_list_in_place_of_a_list_leads_back_past_both() -> None:
    sitting = Sitting()
    second = Menu("and which of these?", ())
    perform(sitting, Menu("which?", ()), second)
    assert sitting.top is second
    sitting.screen.stack.back()
    assert isinstance(sitting.top, QueueView)


@pytest.mark.parametrize("leave", [Close(), Go(HistoryView)])
def test_a_typed_line_that_is_left_is_kept_among_the_earlier_lines(leave: ScreenEffect) -> None:
    sitting = Sitting()
    perform(sitting, LINE)
    sitting.type("risk:danger")
    perform(sitting, leave, LINE)
    sitting.press("up")
    assert sitting.line is not None
    assert sitting.line.box.text == "risk:danger"


def test_nothing_leads_into_a_dialog_that_was_left() -> None:
    sitting = Sitting()
    perform(sitting, Go(TextPage), Go(EditPage))
    assert isinstance(sitting.top, TextPage)


def test_a_stack_is_restored_as_it_stood() -> None:
    sitting = Sitting()
    stack = sitting.screen.stack
    perform(sitting, Go(TextPage))
    stood = stack.dialogs
    perform(sitting, Menu("which?", ()), Go())
    stack.restore(stood)
    assert isinstance(sitting.top, TextPage)
    assert stack.dialogs == stood
