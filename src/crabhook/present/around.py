"""What the desk knows around a card; decisions of such calls help memory, as no advice."""

from collections.abc import Sequence
from itertools import islice

from crabhook.desk.commands import AskContext
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, FeedEntry
from crabhook.present import sentence
from crabhook.present.card import CardDocument, card_document
from crabhook.present.document import LAST_WORDS, CardContext, LastCalls
from crabhook.present.summary import names_plan

CALLS_SHOWN = 5  # of a card's session


def around(card: Card, desk: Replica) -> CardContext:
    """Return what is known around a card now; its agent's last words may follow in a moment.

    Words that the event tells itself are none of these.
    """
    read = desk.around(card.number)
    tells_them = card.event.fields.get("last_assistant_message") is not None
    words = "" if read is None or tells_them else read.words
    whose = "the plan's file" if names_plan(card.event) else LAST_WORDS
    before, prompt = sentence.decided_before(card, desk), sentence.last_prompt(card, desk)
    return CardContext(words, before, whose, prompt)


def calls_before(card: Card, feed: Sequence[FeedEntry]) -> LastCalls:
    """Return the last calls of the card's session that ended before it, the newest last."""
    calls = (
        entry
        for entry in reversed(feed)
        if entry.event.tool is not None
        and entry.outcome
        and entry.event.session_key == card.event.session_key
    )
    return LastCalls((*islice(calls, CALLS_SHOWN),)[::-1])


class CardDocuments:
    """The documents of cards that are looked at; what is known around each is found once."""

    def __init__(self, desk: Replica) -> None:
        self._desk = desk
        self._found: dict[int, CardContext] = {}
        self._asked: set[int] = set()
        self._last: CardDocument | None = None

    def of(self, card: Card) -> CardDocument:
        """Return what a card says; its agent's last words may follow in a moment."""
        context, last = self._context(card), self._last
        if last is None or last.context is not context or last.card != card:
            last = self._last = card_document(card, context)
        return last

    def _context(self, card: Card) -> CardContext:
        if context := self._found.get(card.number):
            return context
        if card.number not in self._asked:
            self._asked.add(card.number)
            self._desk.submit(AskContext(card.number))
        context = around(card, self._desk)
        if self._desk.around(card.number) is not None:
            self._found[card.number] = context
        return context

    def forget(self, number: int) -> None:
        """Forget a card that nobody looks at."""
        self._found.pop(number, None)
        self._asked.discard(number)
