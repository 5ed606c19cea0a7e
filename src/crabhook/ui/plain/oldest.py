"""Which card is meant when a line names none, and whether the operator could have known."""

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk
from crabhook.ui.words import WORDS, LineError, Word

JUST_NOW = 1.0  # seconds in which a person who writes may not have read what has changed


class Oldest:
    """The oldest card that waits and is not put aside.

    Where another card came into its place a moment ago, and not by the
    operator's own doing, a line that names no card would decide one that was
    not meant; such a line is refused.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        card = self._find()
        self._number = card.number if card else None
        self._was: int | None = None
        self._changed_at = 0.0

    def look(self, news: Card, *, ours: bool) -> None:
        """Take in a changed card; `ours` says whether the operator's own word changed it."""
        if self._number is not None and news.number > self._number:
            return  # what becomes of a younger card changes nothing
        card = self._find()
        number = card.number if card else None
        if number == self._number:
            return
        if self._number is not None and not ours:
            self._was, self._changed_at = self._number, self._desk.now()
        self._number = number

    def meant(self, word: Word) -> Card:
        """Return the card a word without a number is about; raises LineError for none."""
        card = self._find()
        if card is None:
            raise self._nothing()
        if word.name != "show" and self._is_news(card):
            before = self._desk.card(self._was) if self._was is not None else None
            if before is not None and not before.outcome:
                wrong = f"#{card.number} has just come back, and is the oldest now"
            else:
                wrong = f"#{self._was} has just ended, and #{card.number} is the oldest now"
            raise LineError(wrong, word.usage(card.number))
        return card

    def _is_news(self, card: Card) -> bool:
        if self._was in (None, card.number):
            return False
        return self._desk.now() - self._changed_at < JUST_NOW

    def _find(self) -> Card | None:
        return next((card for card in self._desk.waiting() if not card.snoozed_until), None)

    def _nothing(self) -> LineError:
        if aside := self._desk.waiting():
            number = aside[0].number
            return LineError("all that waits is put aside", WORDS["show"].usage(number))
        return LineError("nothing waits", f"{WORDS['show'].usage()}, to read what has ended")
