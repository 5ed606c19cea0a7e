"""Moving about: between cards, through a request or a list, into and out of things, and leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.ui.full.dialogs import mcp_form, plan
from crabhook.ui.full.filters import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from crabhook.ui.full.screen import Screen

QUIT_WITHIN = 2.0  # seconds between the two presses
_FAR = 1 << 30


def move(screen: Screen, step: int) -> None:
    """Go a card, a row of a form or a list, or a row of text down; up where `step` is negative."""
    if screen.mode is Mode.QUEUE:
        _select(screen, lambda: screen.selection.step(step))
    elif screen.mode is Mode.FORM and screen.form is not None:
        screen.form.move(step)
        screen.view().reveal(screen.form.draft.cursor + 1)
    elif screen.mode is Mode.FILL:
        mcp_form.move(screen, step)
    elif screen.mode is Mode.NOTES:
        plan.move(screen, step)
    elif screen.mode is Mode.MENU and screen.menu is not None:
        screen.menu.move(step)
        screen.view().reveal(screen.menu.cursor + 1)
    else:
        screen.view().scroll(step)


def go_far(screen: Screen, step: int) -> None:
    """Go to the first card or row, or to the last."""
    if screen.mode is Mode.QUEUE:
        selection = screen.selection
        _select(screen, selection.first if step < 0 else selection.last)
    elif screen.mode in (Mode.FORM, Mode.MENU, Mode.FILL, Mode.NOTES):
        move(screen, step * _FAR)
    elif step < 0:
        screen.view().to_start()
    else:
        screen.view().to_end()


def _select(screen: Screen, go: Callable[[], None]) -> None:
    before, ended = screen.card, screen.selection.ended
    go()
    if before is not None and ended and screen.card is not before:
        screen.forget(before.number)


def page(screen: Screen, step: int) -> None:
    """Turn a page of what is in view."""
    view = screen.view()
    view.scroll(step * view.page)


def enter(screen: Screen) -> None:
    """Go into the selected card."""
    if screen.form is not None:
        screen.mode = Mode.FORM
    else:
        screen.mode = Mode.FILL if screen.filling is not None else Mode.TEXT


def back(screen: Screen) -> None:
    """Go back to where one came from."""
    if screen.mode in (Mode.HELP, Mode.MENU):
        screen.come_back()
    elif screen.mode is Mode.CONFIRM and screen.proposal is not None:
        screen.mode = screen.proposal.back
    else:
        screen.mode = Mode.FORM if screen.mode is Mode.REVIEW else Mode.QUEUE


def leave_desk(screen: Screen) -> None:
    """Quit at the second press; at the first say what that would do."""
    now = screen.desk.now()
    asked, screen.quit_asked_at = screen.quit_asked_at, now
    if asked is not None and now - asked <= QUIT_WITHIN:
        screen.done = True
        return
    waiting = len(screen.selection.waiting())
    requests = "request" if waiting == 1 else "requests"
    screen.say(
        f"Ctrl-C again to quit; {waiting} waiting {requests} will be released with no opinion"
    )
