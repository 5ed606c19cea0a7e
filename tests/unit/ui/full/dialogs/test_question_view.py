"""A form drawn: every option to its last letter, the state of every question, exactly what is sent."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.safe import safe
from crabhook.ui.full.dialogs.question import Form, form_content, review_page
from crabhook.ui.full.panes.card import tab_line
from crabhook.ui.text.layout import Content, Sheet
from tests.support.sitting import QUESTIONS, Sitting

SHEET = Sheet(78, safe)


def opened(tool_input: Any = None) -> tuple[Sitting, Form]:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS if tool_input is None else tool_input)
    form = sitting.form
    assert form is not None
    return sitting, form


def rows(content: Content, sheet: Sheet = SHEET) -> list[str]:
    return [
        "".join(text for _, text in line)
        for place in range(content.count)
        for line in content.item(place).rows(sheet)
    ]


def test_the_question_its_options_own_words_and_the_note_stand_in_order() -> None:
    sitting, form = opened()
    assert rows(form_content(sitting.card, form, focused=True))[:7] == [
        " Which library?",
        " choose one",
        "▸( ) 1 msgspec   fast",
        " ( ) 2 pydantic",
        "     o own words…",
        "     t note…",
    ]


def test_a_choice_and_what_was_typed_are_shown_without_colours() -> None:
    sitting, form = opened()
    form.go(+1)
    form.choose(0)
    form.choose(1)
    form.say("Logging")
    form.note("small")
    shown = rows(form_content(sitting.card, form, focused=False))
    assert shown[1:12] == [
        " choose one or more",
        " [x] 1 Retry",
        " [x] 2 Red, green",
        "      preview",
        "      │ a picture",
        " [ ] 3 Cache",
        "     o own words:",
        "      Logging",
        "     t note:",
        "      small",
    ]


def test_the_preview_of_the_marked_option_is_shown() -> None:
    sitting, form = opened()
    form.go(+1)
    form.move(+1)
    assert any("a picture" in row for row in rows(form_content(sitting.card, form, focused=True)))
    assert not any(
        "a picture" in row for row in rows(form_content(sitting.card, form, focused=False))[:8]
    )


def test_a_long_description_stands_below_its_label_whole() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    one = {"question": "q", "options": [{"label": "a", "description": words}]}
    sitting, form = opened({"questions": [one]})
    content = form_content(sitting.card, form, focused=True)
    option = ["".join(text for _, text in line) for line in content.item(1).rows(SHEET)]
    assert " ".join(row.strip() for row in option[1:]) == words


def test_the_tabs_tell_every_question_and_how_it_stands() -> None:
    _sitting, form = opened()
    form.choose(1)
    form.go(+1)
    line = "".join(text for _, text in tab_line(form, 78, safe))
    assert "(1) Library ✓ pydantic" in line
    assert "▸(2) Features" in line


def test_many_tabs_keep_the_current_one_in_view() -> None:
    many = {"questions": [{"question": f"q{n}", "header": f"long header {n}"} for n in range(50)]}
    _, form = opened(many)
    form.go(+30)
    line = "".join(text for _, text in tab_line(form, 60, safe))
    assert "▸(31) long header 30" in line[:60]


def test_a_question_without_options_asks_for_own_words() -> None:
    sitting, form = opened({"questions": [{"question": "Name?", "kind": "text"}]})
    assert "own words" in rows(form_content(sitting.card, form, focused=True))[1]


def test_the_review_shows_what_will_be_sent_and_what_will_not() -> None:
    sitting, form = opened()
    form.go(+1)
    form.choose(1)
    form.note("why not")
    assert rows(review_page(sitting.card, form)) == [
        " these answers will be sent:",
        " (1) Which library?",
        "      no answer",
        " (2) Which features?",
        '      "Red, green"',
        "      note: why not",
    ]


def test_answers_the_agent_put_there_itself_are_never_pass_for_the_operators() -> None:
    forged = {**QUESTIONS, "answers": {"Which library?": "pydantic", "Delete it?": "yes"}}
    sitting, form = opened(forged)
    form.go(+1)
    form.choose(0)
    shown = "\n".join(rows(review_page(sitting.card, form)))
    assert "pydantic" not in shown
    assert "answer to no question here" in shown
    assert "Delete it?: yes" in shown


def test_an_empty_review_says_that_nothing_would_be_sent() -> None:
    sitting, form = opened()
    assert "nothing is answered yet" in rows(review_page(sitting.card, form))[0]


@given(st.text(max_size=40), st.text(max_size=60), st.text(max_size=60), st.integers(20, 80))
def test_no_row_is_unsafe(label: str, description: str, preview: str, columns: int) -> None:
    option = {"label": label, "description": description, "preview": preview}
    question = {"question": f"q{label}", "header": label, "options": [option, {"label": "b"}]}
    sitting, form = opened({"questions": [question]})
    form.choose(0)
    form.say(label)
    sheet = Sheet(columns, safe)
    for content in (
        form_content(sitting.card, form, focused=True),
        review_page(sitting.card, form),
    ):
        for place in range(content.count):
            for line in content.item(place).rows(sheet):
                assert all(safe(text) == text for _, text in line)
