"""The text being edited fits its sheet, shows its cursor once, and is never raw."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.present.safe import safe
from crabhook.ui.full.dialogs.edit import Edit, cursor_place, difference_page, edit_content
from crabhook.ui.full.text_input import TEXT_KEYS, TextInput
from crabhook.ui.text.layout import Content, Line, Sheet, line_cells
from tests.support.sitting import Sitting

SHEET = Sheet(24, safe)
TEXTS = st.text(alphabet="ab \t\n日\x1b\u202e\u0301", max_size=120)


def asked() -> Card:
    sitting = Sitting()
    sitting.ask()
    return sitting.card


CARD = asked()


def editing(text: str) -> Edit:
    return Edit(CARD, "input", text, TextInput(text), lambda _: Decision(Verdict.ALLOW), str)


def lines(content: Content) -> list[Line]:
    return [line for place in range(content.count) for line in content.item(place).rows(SHEET)]


@given(TEXTS, st.lists(st.sampled_from(sorted(TEXT_KEYS)), max_size=20))
def test_one_cursor_is_shown_where_it_is_said_to_be(text: str, keys: list[str]) -> None:
    edit = editing(text)
    for key in keys:
        edit.editor.press(key)
    content = edit_content(edit)
    shown = [
        (place, row)
        for place in range(content.count)
        for row, line in enumerate(content.item(place).rows(SHEET))
        if any(style == "cursor" for style, _ in line)
    ]
    assert cursor_place(edit, SHEET) in shown
    assert all(place == shown[0][0] for place, _ in shown)


@given(TEXTS)
def test_no_row_is_too_wide_or_unsafe(text: str) -> None:
    for line in lines(edit_content(editing(text))):
        assert line_cells(line) <= SHEET.columns
        assert all(safe(part) == part for _, part in line)


def test_what_is_edited_is_behind_the_bar_of_an_agents_text() -> None:
    rows = ["".join(text for _, text in line) for line in lines(edit_content(editing("a\nb")))]
    assert rows == ["│ a", "│ b "]  # the cursor is behind the last letter


def test_a_line_is_another_item_when_it_or_the_cursor_in_it_changes() -> None:
    edit = editing("ab\ncd")
    content = edit_content(edit)
    first, second = content.item(0).key, content.item(1).key
    edit.editor.press("left")
    assert content.item(0).key == first
    assert content.item(1).key != second


def test_a_difference_takes_out_and_puts_in_and_is_another_when_it_changes() -> None:
    edit = editing("ls\x1b")
    edit.subject = "command"
    one = difference_page(edit, "ls -l")
    rows = ["".join(text for _, text in line) for line in lines(one)]
    assert rows == ["the command as it will be sent", "│ - ls␛", "│ + ls -l"]
    assert one.key != difference_page(edit, "ls -a").key
