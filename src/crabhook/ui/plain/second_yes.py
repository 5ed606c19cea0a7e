"""What the plain desk does only after a line that says so: an offered rule, a doubtful decision.

The laws of this file: a number means the rule last printed with it. A rule that would have turned
a past decision round needs a line that says so; so does a person's doubtful decision
(`cards.sentence`), or one about text not yet printed. Programs cannot read a question and are not
asked.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crabhook.datatypes import Bounded
from crabhook.desk.acts import ACTS
from crabhook.desk.commands import AskOffers, Done, Outcome, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offer, Offering
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.wording import until
from crabhook.present.phrases import joined
from crabhook.present.safe import excerpt, safe
from crabhook.present.sentence import LETS, Doubts, doubts, outlasting
from crabhook.ui.commands.decide import (
    covered,
    end_of,
    other_words,
    tried,
    undoing,
    undone,
)
from crabhook.ui.commands.parse import OLDEST, read_target
from crabhook.ui.commands.words import FOR_EVER, WORDS, LineError, Word, read_life
from crabhook.ui.plain.person import PersonFormat
from crabhook.ui.text.rows import Row

ANYWAY = "anyway"
_UNDONE_SHOWN = 10
_LISTED_KEPT = 100  # cards
_LONGEST = 400  # letters of a rule, or of a call, that are printed
_NAMED_BY = 6  # letters of an effect that name it, and more up to the end of a word


class Remembering:
    """Prints tried rules, and knows which were printed; `denies`: rules that deny."""

    def __init__(
        self,
        desk: Replica,
        say: Callable[[str], None],
        person: PersonFormat | None,
        *,
        denies: bool = False,
    ) -> None:
        self._desk, self._say, self._denies = desk, say, denies
        self._word = Word(ACTS["always-deny" if denies else "always-allow"])
        self._shown = self._word.name if person is None else self._word.act.name
        self._listed: Bounded[int, Offering] = Bounded(_LISTED_KEPT)
        self._asked: set[int] = set()

    def list(self, card: Card) -> None:
        """Print the rules offered for a card, at once or as soon as they have been tried."""
        if card.state is not State.WAITING:
            raise LineError(f"#{card.number} has ended", WORDS["list"].usage())
        if card.number in self._asked:
            return
        self._asked.add(card.number)
        ask = AskOffers(card.number, denies=self._denies)
        self._desk.submit(ask, lambda outcome: self._tell(card, outcome))
        if card.number in self._asked:
            self._say(f"· #{card.number}: trying rules on what was decided before")

    def chosen(self, card: Card, rest: str) -> tuple[TakenOffer, str]:
        """Return the offer that a line takes, and the reason behind it, of a denial alone.

        Raises LineError, and then nothing is taken.
        """
        word, usage = self._word.name, self._word.usage(card.number)
        listed = self._listed.get(card.number)
        if listed is None:
            wrong = f"no rules were listed for #{card.number}"
            raise LineError(wrong, f"{card.number} {word}, to see them")
        if not listed.offers:
            raise LineError(f"no rule is offered for #{card.number}", other_words(card))
        place, behind = _first(rest)
        if not re.fullmatch("[0-9]{1,3}", place) or not 0 < int(place) <= len(listed.offers):
            wrong = f"there is no rule {excerpt(place)} for #{card.number}"
            raise LineError(f"{wrong}, only 1 to {len(listed.offers)}", usage)
        offer = listed.offers[int(place) - 1]
        life, anyway, reason = _behind_a_place(behind)
        if reason and not self._denies:
            raise LineError(f'cannot read "{excerpt(behind)}"', usage)
        expires = end_of(read_life(life, usage)) if life else offer.expires
        if offer.undone and not anyway:
            self._say("\n".join(row.line for row in _undone_rows(offer)))
            written = joined(str(card.number), word, place, life, ANYWAY, reason, by=" ")
            raise LineError(f"rule {place} {undoing(offer)}", written)
        return TakenOffer(offer.id, expires), reason

    def _tell(self, card: Card, outcome: Outcome) -> None:
        self._asked.discard(card.number)
        if outcome != Done():
            self._say(f"! {outcome.why}")
            return
        offering = self._desk.offers(card.number, denies=self._denies)
        self._listed[card.number] = offering
        rows = _rows(card.number, self._shown, offering, denies=self._denies)
        self._say("\n".join(row.cut(_LONGEST).line for row in rows))


def _first(text: str) -> tuple[str, str]:
    """Return the first word of a text, and what is behind it."""
    word, *behind = text.split(maxsplit=1) or [""]
    return word, behind[0] if behind else ""


def _behind_a_place(text: str) -> tuple[str, bool, str]:
    """Return the life of a rule as it is written, whether it says `anyway`, and the rest.

    What begins with a digit is a life, rightly written or not, and never a reason.
    """
    life, behind = _first(text)
    if not (life[:1].isdigit() or life.lower() == FOR_EVER):
        life, behind = "", text
    anyway, reason = _first(behind)
    return (life, True, reason) if anyway.lower() == ANYWAY else (life, False, behind)


def _rows(number: int, word: str, offering: Offering, *, denies: bool) -> Iterator[Row]:
    """Yield the offered rules, numbered from narrow to wide."""
    does = "deny" if denies else "allow"
    if not offering.offers:
        yield Row(f"#{number}: no rule is offered. ", offering.why)
        return
    yield Row(f"#{number}: rules that would {does} it from now on, from narrow to wide")
    yield Row(f"  {tried(offering)}")
    for place, offer in enumerate(offering.offers, 1):
        yield Row(f"  {place}  {covered(offer)}: ", offer.covers)
        yield Row("       ", "  ".join(offer.texts))
        yield from (Row(f"     ! {exposed}") for exposed in offer.gives_away)
        yield from _undone_rows(offer)
    end = until(offering.offers[0].expires)
    reason = " REASON" if denies else ""
    yield Row(f"  {does} it and write rule K, {end}: {number} {word} K{reason}")
    yield Row(f"  for longer or shorter: {number} {word} K 7d{reason}, or 12h, or forever")


def _undone_rows(offer: Offer) -> Iterator[Row]:
    if heading := undoing(offer):
        yield Row(f"     ! {heading}:")
    calls, more = undone(offer, _UNDONE_SHOWN)
    for what in calls:
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
    start = re.match(rf".{{{_NAMED_BY},}}?(?=[\s:,]|$)", effect)
    return safe(start[0] if start else effect).casefold()


def asked_for(effect: str, written: str) -> bool:
    """Whether a line names an effect: by its first words at least."""
    written = written.casefold()
    return written.startswith(name_of(effect)) and effect.casefold().startswith(written)


class SecondYes:
    """The decisions that wait for a second yes; without a `person` there are none."""

    def __init__(self, desk: Replica, person: PersonFormat | None) -> None:
        self._desk, self._person = desk, person
        self._asked: dict[int, _Asked] = {}

    def drop(self, number: int) -> bool:
        """Forget what was asked about a card; return whether that was a changed call."""
        asked = self._asked.pop(number, None)
        return asked is not None and asked.changed

    def to(self, line: str) -> Callable[[], None] | None:
        """Return what gives the decision whose effect a line names, as in `18 deletes`."""
        target, named = read_target(line.strip())
        number = next(reversed(self._asked), None) if target == OLDEST else target.number
        if number is None or (asked := self._asked.get(number)) is None:
            return None
        if not any(asked_for(effect, named) for effect in asked.effects):
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
            asked = "; ".join([*effects, *([f"ALLOW + {kept}"] if kept else [])])
            raise LineError(f"{what} wants a second yes, to this: {asked}", ways)
        keeps = bool(decision.permissions)
        left = 0 if self._person is None else self._person.left_to_read(card, keeps=keeps)
        if left and decision.verdict in LETS and not changed:
            ways = joined(WORDS["show"].usage(number), surely, by=" or ")
            raise LineError(f"#{number} was not printed whole", ways)

    def doubts(self, card: Card, decision: Decision) -> Doubts | None:
        """Return what a person has to say yes to a second time; None for nothing."""
        doubted = Doubts() if self._person is None else doubts(card, decision, self._desk)
        return doubted if doubted != Doubts() else None
