"""How the operator wants the desk to behave, to look, and to call.

The law of calling: a typing operator is not disturbed; what came meanwhile and still waits calls
after the typing.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from crabhook.datatypes import frozen
from crabhook.model.card import Card, State
from crabhook.model.decision import Verdict
from crabhook.present.summary import is_plan, is_question
from crabhook.ui.text.style import Theme
from crabhook.vocabulary import vocabulary

QUIET = 5.0  # seconds after a key in which the desk does not call
APART = 3.0  # seconds between two calls, however much arrives


class CardKind(StrEnum):
    """The kinds of card for which an operator can choose how to be called."""

    CALL = "call"
    QUESTION = "question"
    PLAN = "plan"
    FORM = "form"
    STOP = "stop"


def kind_of(card: Card) -> CardKind:
    """Return what kind of card it is; any other event held on request is like a call."""
    if is_question(card.event) or is_plan(card.event):
        return CardKind.QUESTION if is_question(card.event) else CardKind.PLAN
    kinds = {Verdict.ACCEPT: CardKind.FORM, Verdict.KEEP_GOING: CardKind.STOP}
    return next((kinds[each] for each in kinds if each in card.choices.verdicts), CardKind.CALL)


@frozen
class Attention:
    """The ways to call the operator, each for some kinds of card."""

    bell: frozenset[CardKind] = frozenset()
    notify: frozenset[CardKind] = frozenset()  # a desktop notification
    title: frozenset[CardKind] = frozenset()  # a count in the terminal's title
    command: frozenset[CardKind] = frozenset()  # runs `program`
    sequence: str = "osc9"  # the kind of escape sequence that notifies
    program: tuple[str, ...] = ()


class Watch:
    """Knows for which cards the operator has not been called yet; times are on the desk's clock."""

    def __init__(self, attention: Attention, now: float) -> None:
        self.attention = attention
        self._uncalled: dict[int, Card] = {}
        self._seen: set[int] = set()
        self._called_at = now - APART
        self._key_at = now - QUIET

    def news(self, card: Card, *, needed: bool = True) -> None:
        """Take in a card: a new card calls; an ended card, or a card put aside, stops calling.

        `needed`: whether a yes of who sits here would count.
        """
        number = card.number
        if card.state is not State.WAITING or card.snoozed_until or not needed:
            self._uncalled.pop(number, None)
            self._seen.discard(number)  # a card put aside calls again when it is back
        elif number not in self._seen:
            self._seen.add(number)
            disturbing = self.attention.bell, self.attention.notify, self.attention.command
            if any(kind_of(card) in way for way in disturbing):
                self._uncalled[number] = card

    def key(self, now: float) -> None:
        """Take in that the operator pressed a key."""
        self._key_at = now

    @property
    def due(self) -> float | None:
        """When the desk should call the operator; None when there is nothing to call for."""
        if not self._uncalled:
            return None
        return max(self._key_at + QUIET, self._called_at + APART)

    def call(self, now: float) -> tuple[Card, ...]:
        """Return the cards to call for now, each once."""
        if (due := self.due) is None or now < due:
            return ()
        cards = tuple(self._uncalled.values())
        self._uncalled.clear()
        self._called_at = now
        return cards

    def counted(self, waiting: Mapping[CardKind, int]) -> int:
        """Return how many cards the terminal's title counts, of so many of each kind."""
        return sum(waiting.get(kind, 0) for kind in self.attention.title)


@frozen
class PageToOpen:
    """Where a person opens this server's page, what to know of it, and its code for a phone.

    `code` is the rows of `ui.web.qr.qr_lines`, none where no phone could use the page.
    """

    address: str
    hints: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


@frozen
class DeskOptions:
    """The operator's choices; and where the desk is, which is no choice."""

    arming_ms: int = 400  # a card in view so long can be decided by a key; 0 ignores `Rhythm` too
    take_back_ms: int = 2000  # an answer is held so long, ▲▲ two and a half times; 0 sends at once
    advance: bool = True  # a decision selects the next waiting card
    theme: Theme = Theme.AUTO
    ascii: bool = False  # the terminal shows only ASCII
    attention: Attention = field(default_factory=Attention)
    reasons: tuple[str, ...] = ()  # offered at a denial
    elsewhere: bool = False  # the server goes on without the desk
    page: PageToOpen | None = None  # of the server that runs here
    # What `install` could still connect.
    unhooked: tuple[str, ...] = field(default_factory=lambda: tuple(sorted(vocabulary().hooked)))

    @property
    def arming(self) -> float:
        """The arming delay in seconds."""
        return self.arming_ms / 1000

    @property
    def take_back(self) -> float:
        """The take-back moment in seconds."""
        return self.take_back_ms / 1000
