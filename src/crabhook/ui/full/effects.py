"""What the handler of a key returns: what shall happen, as values that the controller performs.

A handler is given what it needs, changes the state of its own dialog alone,
and returns the rest.  Where it raises a CrabhookError, the operator reads why.  What
follows upon a command is performed once the desk has done it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from crabhook.desk.commands import Command, Done, Outcome, TakenOffer
from crabhook.model.card import Card
from crabhook.model.decision import Decision
from crabhook.ui.full.filters import Mode


class Effect:
    """Something that shall happen on the screen or at the desk."""

    __slots__ = ()


Effects: TypeAlias = Sequence[Effect]

# On the screen.


@dataclass(frozen=True, slots=True)
class Say(Effect):
    """Show a sentence to the operator; an empty sentence leaves the last in view."""

    text: str


@dataclass(frozen=True, slots=True)
class Go(Effect):
    """Send keys elsewhere."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class Visit(Effect):
    """Send keys elsewhere, to come back from there to where they go now."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class Reveal(Effect):
    """Scroll as little as shows an item of what is in view; in one `mode` alone if one is named."""

    item: int
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class Scroll(Effect):
    """Scroll rows or pages down, up where they are negative."""

    rows: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True)
class ScrollFar(Effect):
    """Scroll to the start (-1) or to the end (+1)."""

    step: int


@dataclass(frozen=True, slots=True)
class PassOver(Effect):
    """Select the next card that is not put aside."""


@dataclass(frozen=True, slots=True)
class EditOutside(Effect):
    """Let a text be edited in the operator's own editor; `done` is told the new text."""

    text: str
    file_name: str
    done: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Copy(Effect):
    """Put a text into the terminal's clipboard, letter for letter."""

    text: str


@dataclass(frozen=True, slots=True)
class Quit(Effect):
    """Leave the desk, at the second time within a moment."""


@dataclass(frozen=True, slots=True)
class Leave(Effect):
    """Leave the desk; unless it is `sure`, a yes is asked for while somebody waits."""

    sure: bool = False


@dataclass(frozen=True, slots=True)
class RunFound(Effect):
    """Press the key of the command that is marked in the palette."""


# At the desk.


@dataclass(frozen=True, slots=True)
class Give(Effect):
    """Decide the selected card.

    With an allow may go a `rule` for such calls from now on.  `said` is shown
    unless something went wrong.  `sure`: what the operator was asked about it, and said yes to.
    """

    decision: Decision
    rule: TakenOffer | None = None
    said: str = ""
    sure: str = ""


@dataclass(frozen=True, slots=True)
class GiveAll(Effect):
    """Decide several cards alike."""

    cards: Sequence[Card]
    decision: Decision


@dataclass(frozen=True, slots=True)
class TakeBack(Effect):
    """Take back the answer held for a card, or else the answer held last."""

    number: int | None


@dataclass(frozen=True, slots=True)
class Submit(Effect):
    """Submit a command to the desk; `then` is told what became of it, and returns what to do."""

    command: Command
    then: Callable[[Outcome], Effects]


def submit(command: Command, *done: Effect) -> Submit:
    """Return the effect that submits a command, and what follows once it is done.

    Where it is not done, the operator reads why.
    """
    return Submit(command, lambda outcome: done if outcome == Done() else (Say(outcome.why),))
