"""Answering a card's questions, one after the other, and sending the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import QuestionError
from crabhook.ui.full.box import Purpose
from crabhook.ui.full.giving import give
from crabhook.ui.full.moment import Mode

if TYPE_CHECKING:
    from crabhook.ui.full.screen import Screen


def choose_number(screen: Screen, key: str) -> None:
    """Choose the option with that number, or take the choice back."""
    if screen.form is not None:
        screen.mode = Mode.FORM
        screen.form.choose(int(key) - 1)
        screen.view().reveal(screen.form.draft.cursor + 1)


def choose(screen: Screen) -> None:
    """Choose the row the operator stands on; below the options, type."""
    form = screen.form
    if form is None:
        return
    beyond = form.draft.cursor - len(form.question.options)
    if beyond < 0:
        form.choose(form.draft.cursor)
    else:
        (own_words if beyond == 0 else remark)(screen)


def own_words(screen: Screen) -> None:
    """Type an answer in own words."""
    if (form := screen.form) is not None:
        screen.mode = Mode.FORM
        screen.type(Purpose.WORDS, form.say, text=form.draft.words)


def remark(screen: Screen) -> None:
    """Type a note beside the answer."""
    if (form := screen.form) is not None:
        screen.mode = Mode.FORM
        screen.type(Purpose.REMARK, form.note, text=form.draft.note)


def next_question(screen: Screen) -> None:
    """Go to the next question; from the last one to the review."""
    form = screen.form
    if form is not None and form.current + 1 < len(form.questions):
        form.go(+1)
    else:
        review(screen)


def go_question(screen: Screen, step: int) -> None:
    """Go to the question before or after."""
    if screen.form is not None:
        screen.form.go(step)


def review(screen: Screen) -> None:
    """Show exactly what would be sent."""
    screen.mode = Mode.REVIEW


def send(screen: Screen) -> None:
    """Send the answers that were reviewed."""
    try:
        updated = screen.form.updated_input() if screen.form else None
    except QuestionError as error:
        screen.say(str(error))
        return
    if updated is None:
        screen.say("nothing is answered yet, so there is nothing to send; esc goes back")
    else:
        give(screen, Decision(Verdict.ALLOW, updated_input=updated))
