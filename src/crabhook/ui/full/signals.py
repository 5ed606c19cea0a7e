"""The ways to call a person: what a terminal is sent, and what a program of theirs is told.

The law of this file: nothing an agent sent is in any of it but text made safe
and short; a program learns numbers and the kind of a card, and no text at all.
"""

from collections.abc import Callable, Mapping, Sequence

from crabhook.broker.card import Card
from crabhook.ui.attention import Attention, kind_of
from crabhook.ui.safe import safe
from crabhook.ui.summary import project, tool_label

_LONGEST = 80  # letters of a notification
_END = "\x1b\\"

SEQUENCES: Mapping[str, Callable[[str], str]] = {
    "osc9": lambda text: f"\x1b]9;{text}{_END}",
    "osc777": lambda text: f"\x1b]777;notify;crabhook;{text}{_END}",
    "osc99": lambda text: f"\x1b]99;i=crabhook;{text}{_END}",
}


def notification(cards: Sequence[Card], sequence: str, *, in_tmux: bool = False) -> str:
    """Return the escape sequence that shows a notification about these cards on the desktop."""
    sent = SEQUENCES[sequence](_told(cards))
    if in_tmux:  # which passes on what stands between these, its escapes doubled
        sent = f"\x1bPtmux;{sent.replace(chr(0x1B), chr(0x1B) * 2)}{_END}"
    return sent


def _told(cards: Sequence[Card]) -> str:
    """Return who asks, in one line without anything that could end or divide a sequence."""
    first = cards[0]
    said = f"crabhook: #{first.number} {tool_label(first.event)} {project(first.event)}"
    more = f" and {len(cards) - 1} more" if len(cards) > 1 else ""
    return safe(said)[:_LONGEST].replace(";", ",") + more


def title(waiting: int) -> str:
    """Return the terminal's title."""
    return f"crabhook ({waiting})" if waiting else "crabhook"


def called_by(attention: Attention, cards: Sequence[Card]) -> Mapping[str, Sequence[Card]]:
    """Return which of the cards call in which way: bell, notify, command."""
    ways = {"bell": attention.bell, "notify": attention.notify, "command": attention.command}
    return {
        name: [card for card in cards if kind_of(card) in kinds] for name, kinds in ways.items()
    }


def told_to_program(cards: Sequence[Card]) -> Mapping[str, str]:
    """Return the environment variables that tell the operator's program what it is run for."""
    newest = cards[-1]
    return {
        "CRABHOOK_CARD": str(newest.number),
        "CRABHOOK_KIND": kind_of(newest).value,
        "CRABHOOK_CARDS": str(len(cards)),
    }
