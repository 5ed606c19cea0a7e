"""Filling in a form of an MCP server, field by field, and accepting it once it was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.ui.full.box import Purpose
from crabhook.ui.full.fillview import FilledContent
from crabhook.ui.full.giving import give
from crabhook.ui.full.moment import Mode
from crabhook.ui.full.proposal import Proposal

if TYPE_CHECKING:
    from crabhook.ui.full.fillin import FillIn
    from crabhook.ui.full.screen import Screen


def move(screen: Screen, step: int) -> None:
    """Go a row of the form down, or up."""
    if (form := screen.filling) is not None:
        form.move(step)
        _show(screen, form)


def go_field(screen: Screen, step: int) -> None:
    """Go to the field before or after."""
    if (form := screen.filling) is not None:
        form.go(step)
        _show(screen, form)


def choose(screen: Screen, number: int | None = None) -> None:
    """Choose what the operator stands on, or the choice with that number; type where there is none.

    From outside of the form it leads into it.
    """
    form = screen.filling
    if form is None or not form.stops:
        return
    screen.mode = Mode.FILL
    if not form.choose(None if number is None else number - 1) and number is None:
        screen.type(Purpose.FIELD, form.write, text=form.entry.text)
    _show(screen, form)


def enter(screen: Screen) -> None:
    """Choose or type, and go on to the next field; from the last one to the review."""
    form = screen.filling
    if form is None or not form.stops:
        accept(screen)
    elif form.entry.choices:
        _, choice = form.at(form.stop)
        if form.entry.several or not form.entry.chosen(choice):
            form.choose()
        if not form.entry.several:
            _go_on(screen, form)
        _show(screen, form)
    else:
        screen.type(Purpose.FIELD, lambda text: _write(screen, form, text), text=form.entry.text)


def _write(screen: Screen, form: FillIn, text: str) -> None:
    form.write(text)
    if form.entry.wrong:
        screen.say(f"{form.entry.asked.title}: {form.entry.wrong}")
    else:
        _go_on(screen, form)
    _show(screen, form)


def _go_on(screen: Screen, form: FillIn) -> None:
    """Go to the next field; behind the last there is only the review, which a key opens."""
    if form.last:
        screen.say("that was the last field; a shows what would be sent")
    else:
        form.go(+1)


def clear(screen: Screen) -> None:
    """Take back what is given for the field."""
    if (form := screen.filling) is not None and form.stops:
        form.clear()


def accept(screen: Screen) -> None:
    """Show what would be sent, to be confirmed; or the field that keeps it from being sent."""
    card, form = screen.card, screen.filling
    if card is None:
        return
    if form is None:
        give(screen, Decision(Verdict.ACCEPT))
        return
    screen.mode = Mode.FILL
    if (wrong := _wrong(form)) is not None:
        _show(screen, form)
        screen.say(wrong)
        return
    screen.propose(
        Proposal(
            lambda: FilledContent(card, form),
            lambda: give(screen, Decision(Verdict.ACCEPT, content=form.content())),
            number=card.number,
            back=Mode.FILL,
        )
    )


def _wrong(form: FillIn) -> str | None:
    """Stand at what keeps the form from being sent, and say what it is."""
    for entry, said in form.problems():
        form.stand_at_problem()
        return f"{entry.asked.title}: {said}"
    try:
        form.check()
    except DecisionError as error:
        form.blame(str(error))
        return str(error)
    return None


def _show(screen: Screen, form: FillIn) -> None:
    if screen.mode is Mode.FILL:
        screen.view().reveal(form.stop + 1)
