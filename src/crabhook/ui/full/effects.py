"""The effects that a key's handler returns; the controller performs them.

A handler changes the state of its own dialog alone and returns the rest. If it raises a
CrabhookError, the operator reads why. Effects that follow a command wait until the desk has done
it.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.desk.commands import Command, Done, Outcome, TakenOffer
from crabhook.model.card import Card
from crabhook.model.decision import Decision
from crabhook.ui.text.layout import Detail


class ScreenEffect:
    """Something that shall happen on the screen or at the desk."""

    __slots__ = ()


Effects: TypeAlias = Sequence[ScreenEffect]

# On the screen.


@frozen
class Say(ScreenEffect):
    """Show a sentence to the operator; an empty sentence leaves the last in view."""

    text: str


@frozen
class Close(ScreenEffect):
    """Leave the dialog on top, then do what `then` returns."""

    then: Callable[[], Effects] = tuple


@frozen
class Enter(ScreenEffect):
    """Go into the selected card: to its form, if it has one, or else to its text."""


@frozen
class Look(ScreenEffect):
    """Move the window on what the large part shows: `move` gets it.

    `within`: only while a dialog of that class is on top.
    """

    move: Callable[[Detail], object]
    within: type[ScreenEffect] = ScreenEffect


def reveal(item: int, within: type[ScreenEffect] = ScreenEffect) -> Look:
    """Return the effect that scrolls as little as needed to show an item."""
    return Look(lambda window: window.reveal(item), within)


@frozen
class Uncover(ScreenEffect):
    """Show the secrets of the selected card, or cover them again."""


@frozen
class Unfold(ScreenEffect):
    """Show the folded blanks of the selected card, or fold them again."""


@frozen
class PassOver(ScreenEffect):
    """Select the next card that is not put aside."""


@frozen
class EditOutside(ScreenEffect):
    """Let the operator's own editor edit a text; `done` gets the new text."""

    text: str
    file_name: str
    done: Callable[[str], object]


@frozen
class Copy(ScreenEffect):
    """Put a text into the terminal's clipboard, letter for letter."""

    text: str


@frozen
class Quit(ScreenEffect):
    """Leave the desk, at the second time within a moment."""


@frozen
class Leave(ScreenEffect):
    """Leave the desk; unless it is `sure`, a yes is asked for while somebody waits."""

    sure: bool = False


@frozen
class RunFound(ScreenEffect):
    """Press the key of the command that is marked in the palette."""


# At the desk.


@frozen
class Give(ScreenEffect):
    """Decide the selected card.

    An allow or a denial may bring a `rule` for such calls from now on. `said` is shown on success.
    `sure` is what the operator confirmed.
    """

    decision: Decision
    rule: TakenOffer | None = None
    said: str = ""
    sure: str = ""


@frozen
class GiveAll(ScreenEffect):
    """Decide several cards alike."""

    cards: Sequence[Card]
    decision: Decision


@frozen
class TakeBack(ScreenEffect):
    """Take back the answer held for a card, or else the answer held last."""

    number: int | None


@frozen
class Submit(ScreenEffect):
    """Submit a command to the desk; `then` gets the outcome and returns the effects that follow."""

    command: Command
    then: Callable[[Outcome], Effects]


def submit(command: Command, *done: ScreenEffect) -> Submit:
    """Return the effect that submits a command, with what follows; a failure is shown."""
    return Submit(command, lambda outcome: done if outcome == Done() else (Say(outcome.why),))
