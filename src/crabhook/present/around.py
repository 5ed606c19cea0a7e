"""What the desk knows around a card; how its like were decided is a help to memory, no advice."""

from crabhook.datatypes import frozen
from crabhook.desk.commands import AskContext
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.present import sentence
from crabhook.present.summary import names_plan

_LAST_WORDS = "the agent said"


@frozen
class CardContext:
    """What the desk knows about a card besides the card itself; not yet safe to show."""

    words: str = ""  # the agent's last words or its plan, as `whose` says
    before: str = ""  # counts the decisions on similar calls
    whose: str = _LAST_WORDS
    prompt: str = ""  # the user's last request


NOTHING_AROUND = CardContext()


def around(card: Card, desk: Replica) -> CardContext:
    """Return what is known around a card now; its agent's last words may follow in a moment.

    Words that the event tells itself are none of these.
    """
    read = desk.around(card.number)
    tells_them = card.event.fields.get("last_assistant_message") is not None
    words = "" if read is None or tells_them else read.words
    whose = "the plan's file" if names_plan(card.event) else _LAST_WORDS
    before, prompt = sentence.decided_before(card, desk), sentence.last_prompt(card, desk)
    return CardContext(words, before, whose, prompt)


class CardContexts:
    """The contexts of the cards that were looked at; each is found once."""

    def __init__(self, desk: Replica) -> None:
        self._desk = desk
        self._found: dict[int, CardContext] = {}
        self._asked: set[int] = set()

    def of(self, card: Card) -> CardContext:
        """Return a card's context; its agent's last words may follow in a moment."""
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
