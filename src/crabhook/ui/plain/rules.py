"""`remember` on the plain desk: lists the rules offered for a card, and takes one of them.

The law of this file: a number means the rule that was printed with it last, and a rule that would
have let a denied call through is taken only by the line that says so.
"""

import re
from collections.abc import Callable, Iterator

from crabhook.bounded import Bounded
from crabhook.desk.commands import AskOffers, Done, Outcome, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offer, Offering
from crabhook.model.card import Card, State
from crabhook.model.wording import until
from crabhook.ui.commands.decide import covered, denials, end_of, let_through, other_words, tried
from crabhook.ui.commands.words import WORDS, LineError, read_life
from crabhook.ui.text.rows import Row
from crabhook.ui.text.safe import excerpt

ANYWAY = "anyway"
_DENIALS_SHOWN = 10
_LISTED_KEPT = 100  # cards
_LONGEST = 400  # letters of a rule, or of a call, that are printed


class Remembering:
    """Prints what is offered, when it has been tried, and knows what was printed."""

    def __init__(self, desk: Replica, say: Callable[[str], None]) -> None:
        self._desk, self._say = desk, say
        self._listed: Bounded[int, Offering] = Bounded(_LISTED_KEPT)
        self._asked: set[int] = set()

    def list(self, card: Card) -> None:
        """Print the rules offered for a card, at once or as soon as they have been tried."""
        if card.state is not State.WAITING:
            raise LineError(f"#{card.number} has ended", WORDS["list"].usage())
        if card.number in self._asked:
            return
        self._asked.add(card.number)
        self._desk.submit(AskOffers(card.number), lambda outcome: self._tell(card, outcome))
        if card.number in self._asked:
            self._say(f"· #{card.number}: trying rules on what was decided before")

    def chosen(self, card: Card, rest: str) -> TakenOffer:
        """Return the offer that a line takes; raises LineError, and then nothing is taken."""
        usage = WORDS["remember"].usage(card.number)
        listed = self._listed.get(card.number)
        if listed is None:
            wrong = f"no rules were listed for #{card.number}"
            raise LineError(wrong, f"{card.number} remember, to see them")
        if not listed.offers:
            raise LineError(f"no rule is offered for #{card.number}", other_words(card))
        place, *more = rest.split()
        if not re.fullmatch("[0-9]{1,3}", place) or not 0 < int(place) <= len(listed.offers):
            wrong = f"there is no rule {excerpt(place)} for #{card.number}"
            raise LineError(f"{wrong}, only 1 to {len(listed.offers)}", usage)
        offer = listed.offers[int(place) - 1]
        anyway = [word.lower() for word in more[-1:]] == [ANYWAY]
        lives = more[:-1] if anyway else more
        if len(lives) > 1:
            raise LineError(f'cannot read "{excerpt(" ".join(more))}"', usage)
        expires = end_of(read_life(lives[0], usage)) if lives else offer.expires
        if offer.denied and not anyway:
            self._say("\n".join(row.line for row in _denied_rows(offer)))
            wrong = f"rule {place} {let_through(offer)}"
            raise LineError(wrong, f"{card.number} remember {' '.join([place, *lives])} {ANYWAY}")
        return TakenOffer(offer.id, expires)

    def _tell(self, card: Card, outcome: Outcome) -> None:
        self._asked.discard(card.number)
        if outcome != Done():
            self._say(f"! {outcome.why}")
            return
        offering = self._listed[card.number] = self._desk.offers(card.number)
        self._say("\n".join(row.cut(_LONGEST).line for row in _rows(card, offering)))


def _rows(card: Card, offering: Offering) -> Iterator[Row]:
    """Yield what is offered, numbered from narrow to wide."""
    number = card.number
    if not offering.offers:
        yield Row(f"#{number}: no rule is offered: ", offering.why)
        return
    yield Row(f"#{number}: rules that would allow it from now on, from narrow to wide")
    yield Row(f"  {tried(offering)}")
    for place, offer in enumerate(offering.offers, 1):
        yield Row(f"  {place}  {covered(offer)}: ", offer.covers)
        yield Row("       ", "  ".join(offer.texts))
        yield from (Row(f"     ! {said}") for said in offer.gives_away)
        yield from _denied_rows(offer)
    end = until(offering.offers[0].expires)
    yield Row(f"  allow it and write rule K, {end}: {number} remember K")
    yield Row(f"  for longer or shorter: {number} remember K 7d, or 12h, or forever")


def _denied_rows(offer: Offer) -> Iterator[Row]:
    if said := let_through(offer):
        yield Row(f"     ! {said}:")
    denied, more = denials(offer, _DENIALS_SHOWN)
    for what in denied:
        yield Row("       - ", what)
    if more:
        yield Row(f"       {more}")
