"""Edit, then allow: the text opens, the difference is shown, and only then it is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crabhook.model.errors import CrabhookError
from crabhook.ui.full.editview import DifferenceContent
from crabhook.ui.full.giving import give
from crabhook.ui.full.moment import Mode
from crabhook.ui.full.outside import Errand
from crabhook.ui.full.proposal import Proposal
from crabhook.ui.rewrite import RewriteError

if TYPE_CHECKING:
    from crabhook.broker.card import Card
    from crabhook.model.decision import Decision
    from crabhook.ui.full.edits import Edit
    from crabhook.ui.full.screen import Screen


def open_editor(screen: Screen) -> None:
    """Open the selected card's input, or its tool's output, as text."""
    if screen.card is None:
        return
    try:
        screen.edit = screen.edits.of(screen.card)
    except RewriteError as error:
        screen.say(str(error))
    else:
        screen.go(Mode.EDIT)


def compare(screen: Screen) -> None:
    """Show what the edit changes, to be confirmed; what cannot be sent is said and kept."""
    edit, card = screen.edit, screen.card
    if edit is None or card is None or _begun_anew(screen, edit, card):
        return
    if card.number != edit.number or screen.selection.ended:
        screen.say(f"#{edit.number} has ended: nothing can be sent")
        return
    try:
        decision = edit.decision()
    except RewriteError as error:
        screen.say(str(error))
        return
    try:
        said = tuple(screen.desk.objections(card.number, decision))
    except CrabhookError as error:
        screen.say(str(error))
        return
    _propose(screen, edit, replace(decision, despite=said))


def _propose(screen: Screen, edit: Edit, decision: Decision, *, again: bool = False) -> None:
    """Show the difference; where the rules object, a first yes asks `again`."""
    difference = DifferenceContent(
        edit.number, edit.subject, edit.old, edit.tell(decision), decision.despite, again=again
    )

    def send() -> None:
        if screen.card is not None and _begun_anew(screen, edit, screen.card):
            return
        if decision.despite and not again:
            _propose(screen, edit, decision, again=True)
        else:
            give(screen, decision)

    screen.propose(Proposal(lambda: difference, send, number=edit.number, back=Mode.EDIT))


def _begun_anew(screen: Screen, edit: Edit, card: Card) -> bool:
    """Whether the call was asked about again, and the edit had to begin anew with what it has."""
    if card.number != edit.number or not edit.stale(card):
        return False
    screen.mode = Mode.QUEUE
    open_editor(screen)
    screen.say(f"#{card.number} was asked again, there is more to see: look at the text anew")
    return True


def leave_editor(screen: Screen) -> None:
    """Leave the editor; its text is kept while the card lives."""
    screen.edit = None
    screen.come_back()


def open_outside(screen: Screen) -> None:
    """Ask for the text in the box or the editor to be opened in the operator's own editor."""
    if screen.mode is Mode.EDIT and screen.edit is not None:
        edit = screen.edit
        screen.errand = Errand(edit.editor.text, edit.file_name, edit.editor.replace)
    elif screen.typing is not None:
        box = screen.typing.box
        screen.errand = Errand(box.text, "line.txt", box.replace)
