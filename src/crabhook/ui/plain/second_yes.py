"""What the plain desk does only after a line that says so: an offered rule, a doubtful decision.

The laws of this file: a number means the rule last printed with it. A rule that would have allowed
a denied call needs a line that says so; so does a person's doubtful decision (`cards.sentence`), or
one about text not yet printed. Programs cannot read a question and are not asked.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crabhook.datatypes import Bounded
from crabhook.desk.commands import AskOffers, Done, Outcome, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offer, Offering
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.wording import until
from crabhook.ui.cards.sentence import LETS, Doubts, doubts, outlasting
from crabhook.ui.commands.decide import covered, denials, end_of, let_through, other_words, tried
from crabhook.ui.commands.parse import OLDEST, read_target
from crabhook.ui.commands.words import WORDS, LineError, read_life
from crabhook.ui.plain.person import ForAPerson
from crabhook.ui.text.rows import Row, joined
from crabhook.ui.text.safe import excerpt, safe

ANYWAY = "anyway"
_DENIALS_SHOWN = 10
_LISTED_KEPT = 100  # cards
_LONGEST = 400  # letters of a rule, or of a call, that are printed
_NAMED_BY = 6  # letters of an effect that name it, and more up to the end of a word


class Remembering:
    """Prints tried rules, and knows which were printed."""

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
    """Yield the offered rules, numbered from narrow to wide."""
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


class _Asked(NamedTuple):
    """A decision that wants a second yes to these effects."""

    effects: tuple[str, ...]
    changed: bool
    give: Callable[[], None]


def name_of(effect: str) -> str:
    """Return the first words of an effect, by which a line names it."""
    found = re.match(rf".{{{_NAMED_BY},}}?(?=[\s:,]|$)", effect)
    return safe(found[0] if found else effect).casefold()


def asked_for(effect: str, said: str) -> bool:
    """Whether a line names an effect: by its first words at least."""
    said = said.casefold()
    return said.startswith(name_of(effect)) and effect.casefold().startswith(said)


class SecondYes:
    """The decisions that wait for a second yes; without a `person` there are none."""

    def __init__(self, desk: Replica, person: ForAPerson | None) -> None:
        self._desk, self._person = desk, person
        self._asked: dict[int, _Asked] = {}

    def drop(self, number: int) -> bool:
        """Forget what was asked about a card; return whether that was a changed call."""
        asked = self._asked.pop(number, None)
        return asked is not None and asked.changed

    def to(self, line: str) -> Callable[[], None] | None:
        """Return what gives the decision whose effect a line names, as in `18 deletes`."""
        target, said = read_target(line.strip())
        number = next(reversed(self._asked), None) if target == OLDEST else target.number
        if number is None or (asked := self._asked.get(number)) is None:
            return None
        if not any(asked_for(effect, said) for effect in asked.effects):
            return None
        del self._asked[number]
        return asked.give

    def ask(self, card: Card, decision: Decision, *, plain: bool, give: Callable[[], None]) -> None:
        """Raise LineError where a person must say yes a second time, or read first.

        `give` gives the decision all the same; `plain`: an allow with at most a note.
        """
        number, changed = card.number, decision.updated_input is not None
        self._asked.pop(number, None)
        if card.state is not State.WAITING:
            return
        plain = plain and not changed and decision == Decision(decision.verdict, note=decision.note)
        surely = f"{number} allow!" if plain and decision.verdict is Verdict.ALLOW else ""
        if doubt := self.doubts(card, decision):
            effects = (*doubt.dangers, *doubt.unasked)
            self._asked[number] = _Asked(effects, changed, give)
            name = name_of(effects[0]) if doubt.dangers else doubt.mode
            ways = joined(surely, f"{number} {safe(name)}", by=" or ")
            what = f"#{number}{' as you changed it' if changed else ''}"
            kept = outlasting(card.event, decision, str)
            told = "; ".join([*effects, *([f"ALLOW + {kept}"] if kept else [])])
            raise LineError(f"{what} wants a second yes, to this: {told}", ways)
        keeps = bool(decision.permissions)
        unprinted = self._person is not None and self._person.unprinted(card, keeps=keeps)
        if unprinted and decision.verdict in LETS and not changed:
            ways = joined(WORDS["show"].usage(number), surely, by=" or ")
            raise LineError(f"#{number} was not printed whole", ways)

    def doubts(self, card: Card, decision: Decision) -> Doubts | None:
        """Return what a person has to say yes to a second time; None for nothing."""
        found = Doubts() if self._person is None else doubts(card, decision, self._desk)
        return found if found != Doubts() else None
