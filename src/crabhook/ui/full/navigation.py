"""Moving about: between cards, through a request or a list, and into a card."""

from crabhook.ui.full.dialogs import mcp_form, plan
from crabhook.ui.full.effects import Effects, Go, Reveal, Scroll, ScrollFar
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.screen import Screen

_FAR = 1 << 30


def move(screen: Screen, step: int) -> Effects:
    """Go a card, a row of a form or a list, or a row of text down; up where `step` is negative."""
    mode, menu = screen.focus.mode, screen.focus.menu
    if mode is Mode.QUEUE:
        screen.select(lambda: screen.selection.step(step))
        return ()
    if mode is Mode.FORM and (form := screen.form) is not None:
        form.move(step)
        return (Reveal(form.draft.cursor + 1),)
    if mode is Mode.FILL:
        return mcp_form.move(screen.filling, step)
    if mode is Mode.NOTES:
        return plan.move(screen.plan, step)
    if mode is Mode.MENU and menu is not None:
        menu.move(step)
        return (Reveal(menu.cursor + 1),)
    return (Scroll(rows=step),)


def go_far(screen: Screen, step: int) -> Effects:
    """Go to the first card or row, or to the last."""
    if screen.focus.mode is Mode.QUEUE:
        selection = screen.selection
        screen.select(selection.first if step < 0 else selection.last)
        return ()
    if screen.focus.mode in (Mode.FORM, Mode.MENU, Mode.FILL, Mode.NOTES):
        return move(screen, step * _FAR)
    return (ScrollFar(step),)


def enter(screen: Screen) -> Effects:
    """Go into the selected card."""
    if screen.form is not None:
        return (Go(Mode.FORM),)
    return (Go(Mode.FILL if screen.filling is not None else Mode.TEXT),)
