"""How a card stands with the operator: selected or not, ready for keys or not, answered unsent."""

from dataclasses import dataclass

from crabhook.broker.card import Card
from crabhook.broker.states import State
from crabhook.ui.answers import Held
from crabhook.ui.full.clock import Clock, bar
from crabhook.ui.full.paper import Line

HELD_BAR = 6  # cells


@dataclass(frozen=True, slots=True)
class Standing:
    """A card as the operator has it before them.

    `armed`: keys may decide it.  `marked`: it is to be decided with others.
    """

    card: Card
    selected: bool = False
    armed: bool = False
    held: Held | None = None
    marked: bool = False

    @property
    def aside(self) -> bool:
        """Whether the operator has put the card aside."""
        return self.card.snoozed_until > 0 and not self.ended

    @property
    def ended(self) -> bool:
        """Whether nothing can be done about the card any more."""
        return self.card.state is not State.WAITING

    @property
    def mark(self) -> str:
        """The mark before the selected card: hollow until it is armed."""
        if not self.selected:
            return " "
        return "▸" if self.armed or self.ended else "▹"

    @property
    def style(self) -> str:
        """The style of its words."""
        if self.ended:
            return "ended"
        return "selected" if self.selected else "dim" if self.aside else ""

    @property
    def number_style(self) -> str:
        """The style of its number: dim until it is armed."""
        return "unarmed" if self.selected and not self.armed and not self.ended else self.style

    @property
    def tick(self) -> str:
        """The sign behind the mark of a card that is to be decided with others."""
        return "✓" if self.marked else " "

    def sending(self, clock: Clock) -> Line:
        """Return that an answer is about to be sent, and how soon; nothing where none is."""
        if self.held is None:
            return []
        left = bar(self.held.left(clock.now), HELD_BAR)
        return [("held", f"{self.held.decision.verdict.upper()} {left} u takes it back")]
