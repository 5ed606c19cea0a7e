"""How the operator wants the desk to behave and to look."""

from dataclasses import dataclass

from crabhook.ui.attention import UNDISTURBED, Attention


@dataclass(frozen=True, slots=True)
class DeskOptions:
    """The operator's choices.

    `arming_ms`: for how long a card must have been in view before a key can
    decide it.  `take_back_ms`: how long an allow is held back before it is
    sent; 0 sends at once.  `colour` and `ascii`: what the terminal can show.
    `attention`: how the operator is called.
    """

    arming_ms: int = 400
    take_back_ms: int = 600
    colour: bool = True
    ascii: bool = False
    attention: Attention = UNDISTURBED

    @property
    def arming(self) -> float:
        """The arming delay in seconds."""
        return self.arming_ms / 1000

    @property
    def take_back(self) -> float:
        """The take-back moment in seconds."""
        return self.take_back_ms / 1000
